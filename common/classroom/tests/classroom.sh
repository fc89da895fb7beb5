#!/bin/sh
# classroom.sh FOLDER CHAPTER... - what is not about a single starter: points, figures and their answers, bad input,
# and the commands in a starter. EARLIER_03, CC and CXX come from the Makefile.
case $1 in /*) work=$1 ;; *) work=$PWD/$1 ;; esac
build=${BUILD:-build}
shift
here=common/classroom
failed=0
said=$work/said
rm -rf "$work"
mkdir -p "$work" || exit 2

complain() { printf 'classroom: %s\n' "$*"; failed=1; }
same() { [ "$2" = "$3" ] || complain "$1: got \"$2\", expected \"$3\""; }

# ---- points: those of exercise/points are those of the table in exercise/README.md -----------------------
for chapter; do
    points=$chapter/exercise/points
    . $here/starter/exercise.sh
    for part in $(exercise_parts); do
        worth=$(exercise_worth "$part")
        told=$(sed -n "s/^|[^|]*\`$part\`[^|]*|[^|]*| *\([0-9]*\) |.*/\1/p" "$chapter/exercise/README.md")
        [ "$worth" -eq 0 ] || same "$chapter, points of $part in exercise/README.md" "$told" "$worth"
        for file in $(exercise_gaps "$part"); do
            [ -f "$chapter/${file%:*}" ] || complain "$points: there is no ${file%:*}"
        done
        [ "$worth" -eq 0 ] || { [ -z "$(exercise_gaps "$part")" ] && [ "$part" != tests ]; } || same "$chapter, hints of $part" \
            "$(awk -f $here/starter/hints.awk "$chapter/exercise/README.md" | grep -c "^@.* $part .*[123] ")" 3
    done
    same "$chapter, points of the questions one by one" "$(awk '/^## / { among = /^## Questions/ }
        among && match($0, /^[0-9]+\. \([0-9]+ points?\)/) { sub(/^[0-9]+\. \(/, ""); sum += $1 } END { print sum + 0 }' "$chapter/exercise/README.md")" \
        "$(exercise_worth questions)"
    # Every gap belongs to a part.
    gaps=$(find "$chapter" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | xargs grep -h '// BEGIN SOLUTION' | wc -l)
    same "$chapter, gaps" "$(exercise_lines | awk '$1 == "part" { print $3 }' | tr ',' '\n' | grep -c ':')" "$((gaps))"
done

# ---- figures: each is in its question, and another seed changes it -------------------------------
for chapter; do
    for seed in 0 1 2 3; do
        sh $here/starter/numbers.sh "$chapter/exercise/numbers" $seed >"$work/numbers" || complain "$chapter/exercise/numbers"
        awk -f $here/starter/variant.awk "$work/numbers" "$chapter/exercise/README.md" >"$work/exercise.$seed"
        grep '^figure' "$work/numbers" | while read -r _ question name published now; do
            awk -v q="$question" '/^[0-9]+\. \(/ { now = $1 + 0; sub(/^[0-9]+\. \([^)]*\)/, "") }
                                  /^<!-- / { now = -1 } /^## Questions/ { among = 1; now = -1 } among && now == q' "$work/exercise.$seed" |
                tr -c '0-9A-Za-z_.\n' '\n' | sed 's/\.$//' | grep -qx -e "$now" || echo "$chapter, question $question, seed $seed: $name = $now ($published as published)"
        done >"$said"
        [ ! -s "$said" ] || complain "not in the question: $(cat "$said")"
    done
    cmp -s "$work/exercise.0" "$chapter/exercise/README.md" || complain "$chapter: seed 0 changes the exercise"
    cmp -s "$work/exercise.1" "$chapter/exercise/README.md" && complain "$chapter: seed 1 changes nothing"
done

# The answers that a program can give: its counts equal the key.
all() { sed -n 's/^ *all  *\([0-9][0-9 ]*[0-9]\)   *[0-9].*/\1/p' | tr -d ' ' | head -n 1; }
for seed in 0 1 2 3; do
    value() { awk -v k="$1" -v q="$2" -v n="$3" '$1 == k && $2 == q && $3 == n { print $5 }' "$work/numbers"; }
    key() { value answer "$1" "$2"; }
    fig() { value figure "$1" "$2"; }
    sh $here/starter/numbers.sh 04_flash_no_tiling/exercise/numbers $seed >"$work/numbers"
    same "04, question 1, seed $seed" "$(key 1 all)" "$("$build/04_flash_no_tiling" --n-q "$(fig 1 n_q)" --n-k "$(fig 1 n_k)" \
        --d "$(fig 1 d)" --heads "$(fig 1 H)" --causal --traffic | all)"
    sh $here/starter/numbers.sh 05_flash_tiled_cpu/exercise/numbers $seed >"$work/numbers"
    same "05, question 1, seed $seed" "$(key 1 fa1)" "$("$build/05_flash_tiled_cpu" --n-q "$(fig 1 N)" --d "$(fig 1 d)" \
        --step fa1 --sram "$(fig 1 M)" --traffic | all)"
    same "05, question 1, standard, seed $seed" "$(key 1 standard)" "$("$build/05_flash_tiled_cpu" --n-q "$(fig 1 N)" --d "$(fig 1 d)" \
        --step standard --br 1 --traffic | all)"
    tiles=$("$build/05_flash_tiled_cpu" --n-q "$(fig 4 N)" --causal --step masks --br "$(fig 4 Br)" --bc "$(fig 4 Bc)" --traffic |
        sed -n 's/^ *\([0-9 ]*\) tiles full, \([0-9 ]*\) partial, \([0-9 ]*\) skipped.*/\1,\2,\3/p' | tr -d ' ')
    same "05, question 4, seed $seed" "$(key 4 whole),$(key 4 partial),$(key 4 skipped)" "$tiles"
    sh $here/starter/numbers.sh 06_flash_tiled_cuda/exercise/numbers $seed >"$work/numbers"
    same "06, question 5, seed $seed" "$(key 5 fa2)" "$("$build/06_flash_tiled_cuda" --n-q "$(fig 5 N)" --d "$(fig 5 d)" --step fa2 | all)"
    # A quarter of the question's figures: the same formulas, and a 64th of the time.
    awk '/^figure 3 / { for (k = 4; k <= NF; k++) $k /= 4 } 1' 07_backward/exercise/numbers >"$work/quarter"
    sh $here/starter/numbers.sh "$work/quarter" $seed >"$work/numbers"
    for step in standard fa1 fa2; do
        same "07, question 3, $step, seed $seed" "$(key 3 $step)" "$("$build/07_backward" --n-q "$(fig 3 N)" --d "$(fig 3 d)" \
            --step $step --sram "$(fig 3 M)" | all)"
    done
done

# ---- bad input: one line, 2, and nothing written -------------------------------------------------
refused() {  # expected words, arguments of starter.sh...
    words=$1
    shift
    sh $here/starter/starter.sh "$@" >"$said" 2>&1
    same "starter.sh $*: status" $? 2
    same "starter.sh $*: lines" "$(($(wc -l <"$said")))" 1
    grep -q "$words" "$said" || complain "starter.sh $*: says \"$(cat "$said")\", not \"$words\""
    [ ! -e "$work/new" ] || complain "starter.sh $*: has written something"
}
refused 'expected the name of a folder' 03_online_softmax ''
refused 'it is there already' 03_online_softmax "$work"
refused 'there is no folder' 03_online_softmax "$work/none/new"
points=03_online_softmax/exercise/points
refused "expected one of: $(exercise_parts | tr '\n' ' ' | sed 's/ $//')\$" 03_online_softmax "$work/new" mirge
refused 'comes by itself' 03_online_softmax "$work/new" tests,merge
refused 'expected a whole number' 03_online_softmax "$work/new" '' 1.5
refused 'expected letters, digits' 03_online_softmax "$work/new one"
[ -z "$(find "$work" -name '.starter*')" ] || complain 'starter.sh leaves a folder behind'

# ---- the commands in a starter, here of one part and with other figures --------------------------
starter=$work/merge
EARLIER=$EARLIER_03 sh $here/starter/starter.sh 03_online_softmax "$starter" merge,questions 5 >"$said" || complain "no starter: $(cat "$said")"
mkdir -p "$starter/course/build" && cp -Rp "$build/obj" "$build"/*.a "$starter/course/build/"
in_starter() { (unset BUILD; cd "$starter" && MAKEFLAGS='' make -s --no-print-directory "$@") >"$said" 2>&1; }
grep -q 'Marking guide\|<details>\|course only' "$starter/course/03_online_softmax/exercise/README.md" && complain 'exercise/README.md of a starter has what it should not'
grep -q 'scores 1, 3, 2 and 4' "$starter/course/03_online_softmax/exercise/README.md" && complain 'SEED=5 does not change the figures'
for level in 1 2 3 3; do
    in_starter hint || complain "make hint fails: $(cat "$said")"
    grep -q "^merge, hint $level of 3" "$said" || complain "hint $level is not given: $(cat "$said")"
done
awk 'length($0) > 96' "$said" | grep -q . && complain "a hint's line is too long: $(cat "$said")"
in_starter -j2 hint || complain "make -j2 fails: $(cat "$said")"
in_starter -j2 all
grep -q 'resetting jobserver' "$said" && complain 'a starter does not take the number of jobs that it is given'
in_starter hint PART=passes && complain 'make hint takes a part that is not in the starter'
in_starter progress && grep -q '^merge  *[0-9]*  not tested yet .* 3$' "$said" || complain "make progress: $(cat "$said")"
# What is written below a STUB that returns is never reached.
awk '{ print } /STUB: write here/ { print "    return b;" }' "$starter/03_online_softmax/softmax_state.c" >"$work/below.c"
cp "$starter/03_online_softmax/softmax_state.c" "$work/untouched.c"
cp "$starter/03_online_softmax/answers.txt" "$work/untouched.txt"
cp "$work/below.c" "$starter/03_online_softmax/softmax_state.c"
in_starter test && complain 'a merge below its STUB passes'
grep -q '^    03_online_softmax/softmax_state.c, line [0-9]*: the line with STUB is still there$' "$said" || complain "of a STUB that is left it is said: $(cat "$said")"
cp "$work/untouched.c" "$starter/03_online_softmax/softmax_state.c"
sed 's|^.*STUB: write here.*|    int unused; return a.m > b.m ? a : b;|' "$starter/03_online_softmax/softmax_state.c" >"$work/wrong.c"
cp "$work/wrong.c" "$starter/03_online_softmax/softmax_state.c"
in_starter test && complain 'a wrong merge passes'
grep -q '^merge  *not yet  *[1-9][0-9]* of [0-9]* tests* fails*;' "$said" && grep -q 'merge::' "$said" || complain "of a wrong merge it is said: $(cat "$said")"
grep -qx '0 of 3 points so far; 6 more are marked after you hand in' "$said" || complain "of the points of a wrong merge it is said: $(cat "$said")"
same 'messages about one mistake' "$(grep -c "In function\|warning: unused variable" "$said")" 2
# Its first failing test runs in a debugger's process, and stops in the merge. The course's objects are reused, except those debugged.
debug=$starter/course/build/debug
mkdir -p "$debug" && cp -Rp "$build/obj" "$build"/*.a "$debug/"
rm -rf "$debug"/obj/common/tests "$debug"/obj/03_online_softmax
mkdir "$work/debugger"
printf '#!/bin/sh\nwhile [ "$1" != --args ]; do echo "$1"; shift; done\nshift\nexec "$@"\n' >"$work/debugger/gdb"
chmod +x "$work/debugger/gdb"
(PATH=$work/debugger:$PATH; in_starter debug) || complain "make debug fails: $(cat "$said")"
command=$(sed -n 's/^    \(cd course && gdb .*--debug .*\)/\1/p' "$said")
(cd "$starter" && PATH=$work/debugger:$PATH && eval "$command") >"$said" 2>&1
same "$command: status" $? 1
grep -qx "break softmax_state.c:$(awk '/int unused/ { print FNR }' "$work/wrong.c")" "$said" && grep -q 'test_softmax_state.c:[0-9]*: ' "$said" || complain "$command: $(cat "$said")"
rm -rf "$debug"
sed 's|a.m > b.m ? a : b|a.m, (struct softmax_state){ a.m, softmax_merge(b, a).l }|' "$work/wrong.c" >"$starter/03_online_softmax/softmax_state.c"
LIMIT=5 in_starter test && complain 'a merge that never ends passes'
grep -q '^merge  *not yet' "$said" || complain "of a merge that never ends it is said: $(cat "$said")"
sed 's|return a.m > b.m ? a : b|for (;;) a.m += b.m|' "$work/wrong.c" >"$starter/03_online_softmax/softmax_state.c"
LIMIT=5 in_starter test && complain 'a merge that hangs passes'
grep -q 'STUB' "$said" && complain "of a STUB that is gone it is said: $(cat "$said")"
grep -q 'merge/\*: still running after 5 seconds. Is there a loop in merge' "$said" || complain "of a merge that hangs it is said: $(cat "$said")"
cp 03_online_softmax/softmax_state.c "$starter/03_online_softmax/softmax_state.c"
touch "$starter/03_online_softmax/softmax_state.c"
in_starter test || complain "the right merge fails: $(cat "$said")"
in_starter progress && grep -q '^merge  *[0-9]*  done  *20' "$said" || complain "make progress after it: $(cat "$said")"
# make watch tests a part when one of its files changes, and gives a hint for the key h.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    printf '0.l2 = 1.135\n' >"$work/first.txt"
    (sleep 4; cp "$work/first.txt" "$starter/03_online_softmax/answers.txt"; sleep 3; printf h; sleep 2; printf q) |
        (cd "$starter" && MAKEFLAGS='' script -qec 'make -s watch' /dev/null) >"$said"
    tr -d '\r' <"$said" | grep -q '^merge  *done' && grep -q '^questions  *1 of 1 ' "$said" && grep -q 'Every part that has hints is done' "$said" || complain "make watch: $(cat "$said")"
    cp "$work/untouched.txt" "$starter/03_online_softmax/answers.txt"
fi
in_starter submit || complain "make submit fails: $(cat "$said")"
same 'what is handed in' "$(tar -tzf "$starter/submission.tar.gz" | sort | tr '\n' ' ')" \
    '03_online_softmax/answers.txt 03_online_softmax/softmax_state.c STARTER '
# Lines that are no numbers are reported, so that a comma costs no points.
sed -e 's/^0.l2 =$/0.l2 = 1.135/' -e 's/^0.l3 =$/0.l3 = 1,503/' -e 's/^1.moves =$/1.moves = about 7/' "$starter/03_online_softmax/answers.txt" >"$work/answers.txt"
cp "$work/answers.txt" "$starter/03_online_softmax/answers.txt"
in_starter test PART=questions && complain 'numbers that are none are taken'
grep -q '^questions  *1 of 4 ' "$said" && grep -q '^    0.l3 = 1,503: expected a number' "$said" && grep -q '^    1.moves = about 7: expected' "$said" ||
    complain "of numbers that are none it is said: $(cat "$said")"
in_starter submit && grep -q "answers.txt: 1 of 4" "$said" && grep -q '0.l3 = 1,503: expected' "$said" || complain "make submit says of the numbers: $(cat "$said")"
rm "$starter/03_online_softmax/answers.txt" "$starter/submission.tar.gz"
in_starter test PART=questions && complain 'answers.txt that is not there is taken'
grep -q '^questions  *to be written  *there is no 03_online_softmax/answers.txt$' "$said" || complain "of answers.txt that is not there it is said: $(cat "$said")"
ln -s /etc/hostname "$starter/03_online_softmax/answers.txt"
in_starter submit && complain 'make submit takes a link'

# Without Criterion: what is missing, by name. A compiler that does not find it stands for that.
mkdir "$work/bin"
for tool in sh sed awk grep mktemp rm cat printf make dirname basename getconf cut env uname tr id; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done
printf '#!/bin/sh\nfor a; do case $a in *try.c) grep -q criterion "$a" && exit 1 ;; esac; done\nPATH=%s exec %s "$@"\n' "$PATH" "${CC:-cc}" >"$work/bin/cc"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/c++"
chmod +x "$work/bin/cc" "$work/bin/c++"
(cd "$starter/course" && PATH="$work/bin" CC=cc CXX=c++ sh common/setup.sh test) >"$said" 2>&1 && complain 'a missing Criterion is not noticed'
grep -q 'Criterion' "$said" || complain "of a missing Criterion it is said: $(cat "$said")"
(cd "$starter/course" && PATH="$work/bin" CC=cc CXX='c++ -w' sh common/setup.sh run) >"$said" 2>&1 || complain "of a compiler with an option it is said: $(cat "$said")"

# ---- other starters ---------------------------------------------------------------------------------

# The tests to begin with are there, build and pass, for every chapter.
for chapter; do
    starter=$work/tests-of-$chapter
    EARLIER=$(eval "echo \"\$EARLIER_${chapter%%_*}\"") sh $here/starter/starter.sh "$chapter" "$starter" tests >"$said" 2>&1 || complain "$(cat "$said")"
    [ -z "$(find "$starter/$chapter/tests" "$starter/course/$chapter/tests" -type f ! -name test_mine.c)" ] || complain "$chapter: the starter for tests has tests"
    mkdir -p "$starter/course/build" && cp -Rp "$build/obj" "$build"/*.a "$starter/course/build/"
    in_starter STRICT=-Werror test || complain "$chapter, tests to begin with: $(cat "$said")"
    grep -Eq '^tests  *written  *(1 test passes|[1-9][0-9]* tests pass);' "$said" || complain "$chapter, tests to begin with: $(cat "$said")"
    in_starter hint && grep -q '^tests, hint 1 of 3' "$said" || complain "$chapter, a hint for tests: $(cat "$said")"
    in_starter help && ! grep -q racecheck "$said" || complain "$chapter: a starter for tests offers what it has not: $(cat "$said")"
    in_starter progress && grep -Eq '^tests .* written [1-9][0-9]* tests? ' "$said" || complain "$chapter, progress of tests: $(cat "$said")"
    case $chapter in 04_* | 05_*)  # make write and make look: the library's rules, and STEP=mine, here without NumPy
        in_starter -n library || complain "$chapter, the library in a starter: $(cat "$said")"
        (cd "$starter/course" && PYTHONPATH=common/python python3 -B -c 'import sys; from unittest.mock import MagicMock
sys.modules.update(numpy=MagicMock(), flash=MagicMock(steps=lambda: ["05/fa1", "04/flash_no_tiling"]))
import write; write.name_of("mine")') >"$said" 2>&1 || complain "$chapter, STEP=mine in a starter: $(cat "$said")" ;;
    esac
    rm -rf "$starter"
done

# The planted bugs go into the starter's kernels, and the first is reported there; racecheck-06 holds the course to all.
bugs=$work/bugs
EARLIER=$EARLIER_06 sh $here/starter/starter.sh 06_flash_tiled_cuda "$bugs" bugs >"$said" 2>&1 || complain "$(cat "$said")"
# shellcheck disable=SC2046  # names
python3 common/tools/course.py pages --only links $(find "$bugs" -name '*.md') >"$said" || complain "bugs: $(cat "$said")"
mkdir -p "$bugs/course/build" && cp -Rp "$build/obj" "$build"/*.a "$bugs/course/build/"
(cd "$bugs" && MAKEFLAGS='' make -s help) | grep -q '^make racecheck-06 ' || complain 'bugs: make help does not tell of racecheck-06'
for bug in 1 2 3 4; do
    for go in apply undo; do
        (cd "$bugs" && awk -f course/common/tools/mistakes.awk $go course course/06_flash_tiled_cuda/exercise/planted.txt $bug) >"$said" 2>&1 || complain "bug $bug: $(cat "$said")"
        [ $bug$go = 1apply ] || continue
        (unset BUILD; cd "$bugs" && MAKEFLAGS='' make -s racecheck-06) >"$said" 2>&1 && complain 'bugs: the first is not reported'
        grep -q 'data race' "$said" || complain "bugs: of the first it is said: $(cat "$said")"
    done
    grep -q "^# Bug $bug:" "$bugs/06_flash_tiled_cuda/answers.txt" || complain "bugs: answers.txt does not ask for $bug"
done
rm -rf "$bugs"

# ---- a starter's report of its tests, here a program with fixed output --------------------------
fake=$work/fake/course
mkdir -p "$fake/build/tests" "$fake/common" "$fake/06_flash_tiled_cuda/exercise" "$fake/06_flash_tiled_cuda/kernels/1_float32" "$fake/06_flash_tiled_cuda/kernels/parts" "$fake/06_flash_tiled_cuda/exercise"
cp -Rp $here "$fake/common/classroom"
cp 06_flash_tiled_cuda/exercise/points "$fake/06_flash_tiled_cuda/exercise/"
cp 06_flash_tiled_cuda/kernels/1_float32/fa1.cu "$fake/06_flash_tiled_cuda/kernels/1_float32/"
awk -v gaps='1 2' -f $here/starter/cut.awk 06_flash_tiled_cuda/kernels/parts/registers.cuh >"$fake/06_flash_tiled_cuda/kernels/parts/registers.cuh"
awk -v gaps='2' -f $here/starter/cut.awk 06_flash_tiled_cuda/kernels/parts/fragments.cuh >"$fake/06_flash_tiled_cuda/kernels/parts/fragments.cuh"
printf 'chapter 06_flash_tiled_cuda\nparts fa1,warp,fragments,bugs\n' >"$fake/../STARTER"
printf '# Bug 1: the report\n\nwhat it says,\nand more\n\n# Bug 2: the report\n\n' >"$fake/06_flash_tiled_cuda/answers.txt"
cat >"$fake/build/tests/06_flash_tiled_cuda" <<'END'
#!/bin/sh
for word; do case $word in --tap=*) echo 'not ok - fa1::is_right (0.10s)' >"${word#--tap=}" ;; esac; done
printf '[----] before\nCUDA on the CPU: deadlock: nobody comes\n    in kernel k\n[FAIL] behind\n    far behind\nCUDA on the CPU: again\n'
END
cp -R "$fake/06_flash_tiled_cuda" "$work/fake/"
chmod +x "$fake/build/tests/06_flash_tiled_cuda"
(cd "$fake" && sh common/classroom/starter/student.sh test) >"$said" 2>&1
same "the CPU's report in a starter" "$(grep -c '^        CUDA on the CPU: deadlock: nobody comes$\|^            in kernel k$\|behind\|again' "$said")" 2
grep -q 'registers.cuh, lines [0-9]* and [0-9]*, between' "$said" && grep -q 'fragments.cuh, line [0-9]*, between' "$said" || complain "of empty gaps it is said: $(cat "$said")"
grep -q '^fa1  *not yet  *1 of 1 test fails; ' "$said" || complain "of one test that fails it is said: $(cat "$said")"
grep -q '^bugs  *1 of 2 ' "$said" || complain "of bugs it is said: $(cat "$said")"
(cd "$fake" && sh common/classroom/starter/student.sh progress) | grep -q '^bugs .* written 1 of 2' || complain 'progress does not know of the bugs'

# ---- a page loses solutions, and nothing else ---------------------------------------------------
awk -f $here/starter/page.awk 06_flash_tiled_cuda/kernels/parts/registers.cuh 06_flash_tiled_cuda/pages/registers.md >"$said"
grep -q 'acc->S\[r\]\[c\] += q\[r\].x \* key.x' "$said" || complain 'page.awk takes add_scores away, which nobody has to write'
grep -q '__shfl_xor_sync\|rescale' "$said" && complain 'page.awk leaves the solution on a page'
awk -f $here/starter/page.awk 07_backward/steps/fa1.c 07_backward/steps/fa2.c 07_backward/pages/tiles.md >"$said"
grep -q '^static void fa2_tile' "$said" && complain 'page.awk leaves on a page what another source has outside of its gaps'

# ---- the proof of a starter can fail -------------------------------------------------------------
made=$work/cpu/chapter/kernels/some.o
mkdir -p "${made%/*}"
echo 'int f(int x); int f(int x) { int y = x; return 1; }' >"$work/warned.cpp"
echo 'int f(int x); int f(int x) { return x; }' >"$work/quiet.cpp"
looked_at() { KERNELS=$1 sh $here/tests/kernels.sh "${CXX:-c++}" -Wall -Werror -c "$2" -o "$made" >"$said" 2>&1; }
looked_at other "$work/warned.cpp" && complain 'kernels.sh takes a warning where there is no object'
looked_at some "$work/warned.cpp" && complain 'kernels.sh takes a warning'
echo object >"$made"
touch -t 200001010000 "$made"
looked_at other "$work/quiet.cpp" || complain "kernels.sh: $(cat "$said")"
grep -qx object "$made" && [ -n "$(find "$made" -newer common/classroom/tests/kernels.sh)" ] || complain 'kernels.sh does not leave an object as new'
looked_at 'one some' "$work/quiet.cpp" && ! grep -qx object "$made" || complain "kernels.sh does not make what it is told to: $(cat "$said")"
awk -v gaps=1 -f $here/tests/leaks.awk 05_flash_tiled_cpu/steps/fa1.c 05_flash_tiled_cpu/steps/fa1.c | grep -q . ||
    complain 'leaks.awk does not see a solution'
awk -v gaps=1 -f $here/tests/leaks.awk 05_flash_tiled_cpu/steps/fa1.c 05_flash_tiled_cpu/README.md | grep -q . ||
    complain 'leaks.awk does not see a solution on a page'
[ $failed -ne 0 ] || { echo 'classroom: points, figures, refusals, the commands of a starter'; rm -rf "$work"; }
exit $failed
