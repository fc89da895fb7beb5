# shellcheck shell=sh disable=SC2154
# Sourced by grading.sh: the course's wrong versions, chapter 06's kernels, and outputs that others have made.

# What a student writes of a file.
gaps() { sed -n '/BEGIN SOLUTION/,/END SOLUTION/p' "$1"; }
# Each such mistake costs points of its part, whatever sees it: the output, the counts or a sanitizer.
for number in 01 02 03 04 05 06 07; do
    is_wanted "wrong_versions_of_$number" || continue
    wrong='' tried=0 chapter=$(echo "$number"_*)
    for file in $(awk -v n=$number '$1 == n { print $5 }' common/classroom/grader/programs | uniq); do
        programs=$(awk -v n=$number -v f="$file" '$1 == n && $5 == f { print $3 }' common/classroom/grader/programs | paste -s -d '|' -)
        parts=$(awk -v n=$number -v f="$file" '$1 == n && $5 == f { print $2 }' common/classroom/grader/programs | paste -s -d , -)
        rm -rf "$work/mistakes" && mkdir "$work/mistakes"
        awk -f common/tools/mistakes.awk split "$work/mistakes" "$chapter/tests/mistakes.txt"
        for mistake in $(grep -lx "File: $chapter/$file" "$work"/mistakes/*); do
            rm -rf "$work/in/$chapter" && mkdir -p "$work/in/$chapter"
            sed -n 's/^File: //p' "$mistake" | while read -r changed; do mkdir -p "$work/in/${changed%/*}" && cp "$changed" "$work/in/$changed"; done
            awk -f common/tools/mistakes.awk apply "$work/in" "$mistake"
            [ "$(gaps "$chapter/$file")" != "$(gaps "$work/in/$chapter/$file")" ] || continue
            for builds in 'plain|counted' .; do  # the sanitizers only where the others see nothing
                BUILDS=$builds PART=$parts grade "$work/in" $number
                seen=$(grep -E "^    WRONG  ($programs)," "$work/reports/report.txt" | grep -v 'the file compiles')
                [ -z "$seen" ] || break
            done
            [ -n "$seen" ] && ! grep -q 'does not compile' "$work/reports/report.txt" || wrong="$wrong ${mistake##*/}"
            tried=$((tried + 1))
        done
    done
    if [ -z "$wrong" ] && [ "$tried" -gt 0 ]; then pass; else fail "of $tried these lose no points, or do not compile:$wrong"; fi
done

# Chapter 06: its files as they are, and two with a mistake in them, the last as the starter has it.
kernels() { mkdir -p "$work/in/06_flash_tiled_cuda" && cp -R 06_flash_tiled_cuda/kernels "$work/in/06_flash_tiled_cuda/"; }
earned() { for of in 'fa1 output' 'fa1 sanitizer' 'warp output' 'warp sanitizer' 'fragments output' 'fragments sanitizer' 'swizzle counts'; do column "$of"; done | tr '\n' ' '; }
if is_wanted kernels_that_are_right; then
    kernels
    PART=fa1,warp,fragments,swizzle grade "$work/in" 06
    if [ "$(earned)" = '7 1 7 1 7 1 4 ' ]; then pass; else fail "it earned $(earned)"; fi
fi
if is_wanted kernels_that_are_wrong; then
    kernels
    (cd "$work/in/06_flash_tiled_cuda/kernels" &&
        sed -i.before 's/smem->keep\[r\] = old \/ divisor/smem->keep[r] = old/' 1_float32/fa1.cu &&
        sed -i.before '/BEGIN SOLUTION/,/END SOLUTION/d' parts/swizzle.cuh && sed -i.before 's|// STUB: ||' parts/swizzle.cuh)
    BUILDS='plain|counted' PART=fa1,swizzle grade "$work/in" 06
    if [ "$(column 'fa1 output')" -lt 4 ] && [ "$(column 'swizzle counts')" = 0 ] && report | grep -q 'cycles of shared memory where'; then pass; else fail 'it earned points'; fi
fi
# One that includes the course's own, and one that is quick and wrong: few cycles of shared memory, and not the output.
if is_wanted kernels_that_cheat; then
    mkdir -p "$work/in/06_flash_tiled_cuda/kernels/1_float32" "$work/in/06_flash_tiled_cuda/kernels/parts"
    echo "#include \"$course/06_flash_tiled_cuda/kernels/1_float32/fa1.cu\"" >"$work/in/06_flash_tiled_cuda/kernels/1_float32/fa1.cu"
    sed 's/(c ^ turn);/(c ^ turn ^ (r >= 16));/' 06_flash_tiled_cuda/kernels/parts/swizzle.cuh >"$work/in/06_flash_tiled_cuda/kernels/parts/swizzle.cuh"
    # asm for the compiler alone, because launch bounds are taken out before; and a section without the word for an attribute
    seen=0
    while IFS= read -r lines; do
        { cat 06_flash_tiled_cuda/kernels/parts/registers.cuh; printf '%b\n' "$lines"; } >"$work/in/06_flash_tiled_cuda/kernels/parts/registers.cuh"
        BUILDS=plain PART=warp grade "$work/in" 06
        ! report | grep -q 'registers.cuh: it has asm' || seen=$((seen + 1))
    done <<'END'
static int number __as__launch_bounds__(1)m__("x") = []() { return 1; }();
[ [gnu::section("x")] ] static int number;
#define both 16), section("x"\n__align__(both) static int number;
END
    BUILDS='plain|counted' PART=fa1,swizzle grade "$work/in" 06
    if [ $seen -eq 3 ] && [ "$(column 'fa1 output')" = 0 ] && [ "$(column 'swizzle counts')" = 0 ] && report | grep -q 'does not compile\|it includes' &&
        report | grep -q 'swizzle, tiles .* wrong O at b, h, i, c'; then pass; else fail 'it earned points, or it is not said why'; fi
fi

if is_wanted check_against; then
    wrong=''
    against() {  # status, words, stage
        sh "$scripts/check_against.sh" "$build" "$work/in" "$3" >"$work/said" 2>&1
        status=$?
        [ $status -eq "$1" ] || wrong="$wrong; stage $3: status $status, expected $1: $(cat "$work/said")"
        grep -q -- "$2" "$work/said" || wrong="$wrong; stage $3: expected '$2' in: $(cat "$work/said")"
        [ "$1" -ne 2 ] || [ "$(grep -c . "$work/said")" -eq 1 ] || wrong="$wrong; stage $3: expected one line: $(cat "$work/said")"
    }
    against 2 'x.npy: expected the input' 03
    against 2 'STAGE: expected 01 to 07' 8
    cp common/data/scores.npy "$work/in/x.npy"
    against 2 'expected an output: y.npy' 03
    "$build/01_standard_softmax" --quiet --input "$work/in/x.npy" --output "$work/in/y.npy" >/dev/null
    against 0 '^y .* ok' 01
    cp "$work/in/x.npy" "$work/in/y.npy"
    against 1 'at row, column = [0-9]*, [0-9]*: yours' 01
    cp common/data/key_mask.npy "$work/in/y.npy"
    against 2 'y.npy: expected numbers of shape (164, 164), found (2, 164)' 01
    for name in q k v; do cp "common/data/$name.npy" "$work/in/"; done
    "$build/04_flash_no_tiling" --q "$work/in/q.npy" --k "$work/in/k.npy" --v "$work/in/v.npy" --causal --quiet \
        --output "$work/in/o.npy" --lse "$work/in/lse.npy" >/dev/null
    against 1 '^lse .*WRONG' 04
    echo '--causal' >"$work/in/options.txt"
    against 0 '^lse .* ok' 04
    echo '--scale x' >"$work/in/options.txt"
    against 2 'scale' 04
    echo '--causal' >"$work/in/options.txt"
    cp "$work/in/q.npy" "$work/in/do.npy"
    "$build/07_backward" --q "$work/in/q.npy" --k "$work/in/k.npy" --v "$work/in/v.npy" --do "$work/in/do.npy" --causal --quiet \
        --dq "$work/in/dq.npy" --dk "$work/in/dk.npy" --dv "$work/in/dv.npy" >/dev/null
    against 0 '^dv .* ok' 07
    echo '--causal --softcap 2' >"$work/in/options.txt"
    against 1 '^dq .*WRONG' 07
    "$build/05_flash_tiled_cpu" --q "$work/in/q.npy" --k "$work/in/k.npy" --v "$work/in/v.npy" --causal --softcap 2 --quiet \
        --output "$work/in/o.npy" --lse "$work/in/lse.npy" >/dev/null
    against 0 '^lse .* ok' 05
    echo '--causal' >"$work/in/options.txt"
    cp "$work/in/dq.npy" "$work/in/dk.npy"
    against 1 '^dk .*WRONG' 07
    head -c 1000 "$work/in/dv.npy" >"$work/dv.npy" && cp "$work/dv.npy" "$work/in/dv.npy"
    against 2 'dv.npy: ' 07
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi

# The page's own lines, by a Python that has NumPy, and the same with scores that are not scaled.
if is_wanted numpy_as_the_page_says; then
    python=$(BUILD=$build; . common/python/find.sh; echo "$python")
    case $python in /* | python3 | '') ;; *) python=$PWD/$python ;; esac
    if [ -n "$python" ]; then
        wrong=''
        sed -n '/^## From NumPy/,/^## From PyTorch/p' common/classroom/pages/check_against.md | sed -n '/^```python/,/^```$/p' | sed '/^```/d' >"$work/in/page.py"
        sed 's| / np.float32(4)||' "$work/in/page.py" >"$work/in/wrong.py"
        for of in page:0:ok wrong:1:WRONG; do
            rm -rf "$work/in/mine"
            (cd "$work/in" && "$python" "${of%%:*}.py") >"$work/said" 2>&1 || wrong="$wrong; $(cat "$work/said")"
            sh "$scripts/check_against.sh" "$build" "$work/in/mine" 04 >"$work/said" 2>&1
            status=$? expected=${of#*:}
            [ $status -eq "${expected%:*}" ] && grep -q "^o .*${of##*:}\$" "$work/said" || wrong="$wrong; of ${of%%:*}: $(cat "$work/said")"
        done
        if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
