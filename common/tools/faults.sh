#!/bin/sh
# faults.sh BUILD - what each program does when the machine fails: a table, on standard output.
# faults.sh BUILD CASE KIND... - the same of a case for kinds of faults; ends with 1 if something is wrong.
# faults.sh BUILD test RESULT - some faults, and the wrong versions in common/tests/mistakes.txt, for make test.
#
# common/tests/faults.c fails the n-th call of a kind, for each n that there is (of allocations from the 300th on, every
# 29th). A program may end with 0, with all its files new; with 2, its own line, and all files as they were; or by the
# signal that was sent, with all files new or all old. Python may raise an exception, and OpenMP may end its process with a
# line, which cannot be prevented. All else is wrong: it crashed, hung, left a file half-written or some files new and some
# old, or changed or left out files without a word. CC and MAKE come from the Makefile.
build=$1
shift

# Name, output files, command.
cases() {
    cat <<'END'
01 o c : 01_standard_softmax --quiet --rows 2 --cols 5 --output o --csv c
02 o c : 02_safe_softmax --quiet --rows 2 --cols 5 --output o --csv c
03 o c : 03_online_softmax --quiet --rows 2 --cols 5 --output o --csv c
04 o l c : 04_flash_no_tiling --quiet --n-q 5 --d 4 --output o --lse l --csv c
05 o l c : 05_flash_tiled_cpu --quiet --n-q 5 --d 4 --threads 2 --output o --lse l --csv c
06 o l c : 06_flash_tiled_cuda --device cpu --quiet --n-q 5 --d 16 --threads 2 --kernel fa2 --output o --lse l --csv c
06-bf16 o l t : 06_flash_tiled_cuda --device cpu --quiet --dtype bf16 --n-q 5 --d 64 --threads 2 --output o --lse l --timeline t
06-profile o : 06_flash_tiled_cuda --device cpu --n-q 5 --d 16 --kernel fa2 --profile --output o
07 o l q k v c : 07_backward --quiet --n-q 5 --d 4 --threads 2 --output o --lse l --dq q --dk k --dv v --csv c
07-complete o q v : 07_backward --device cpu --quiet --n-q 65 --d 64 --threads 2 --kernel cuda_complete --output o --dq q --dv v
07-ordered o q t : 07_backward --device cpu --quiet --dtype bf16 --n-q 5 --d 64 --kernel cuda_ordered --output o --dq q --timeline t
python o : python
grader report.txt report.json gradescope.json classroom50.json row.csv : grader/grade HERE BUILD 03_online_softmax . . 1 - name refused
END
}
# Kinds of faults, as rows of the table name them.
kinds() {
    case $1 in
    memory) echo alloc ;;
    threads) echo thread ;;
    files) echo open ;;
    disk) echo write short fsync link rename close ftruncate named-write named-fsync named-rename named-close ;;
    signals) echo term-write term-fsync term-link term-rename term-close term-named-fsync term-named-rename quit-rename kill-write kill-fsync ;;
    *) echo "$1" ;;
    esac
}

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
shim=$room/faults.so
${CC:-cc} -std=c17 -O2 -shared -fPIC common/tests/faults.c -o "$shim" -ldl 2>/dev/null
limit=$(command -v timeout || command -v gtimeout) && limit="$limit -s KILL 60"

# Can the shim be put under the program? Not on every system, nor under a sanitizer.
works() {
    set -- "$build"/0[1-7]_*
    ! LD_PRELOAD=$shim FAULT=alloc:1 FAULT_FIRED=$room/fired "$1" >"$room/out" 2>&1 && [ -e "$room/fired" ]
}

# Sets files, program and run, the command of a case, and fills $room/right with what it writes when nothing fails.
begin() {
    files='' here=$PWD
    case $build in /*) ;; *) build=$here/$build ;; esac
    # shellcheck disable=SC2046
    set -- $(cases | grep "^$1 " | sed "s|HERE|$here|; s|BUILD|$build|")
    shift
    while [ "$1" != : ]; do files="$files $1"; shift; done
    shift
    program=${1##*/} run="$build/$*"
    if [ "$program" = python ]; then
        . common/python/find.sh
        [ -n "$python" ] && [ -e "$build/libflash.so" ] || return 2
        python=$("$python" -c 'import sys; print(sys.executable)')  # and not a script that starts it
        run="env FLASH_LIBRARY=$build/libflash.so PYTHONPATH=$here/common/python $python $room/case.py" program=course
        cat >"$room/case.py" <<'END'
import ctypes
import numpy as np
import flash
x = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
arm = getattr(ctypes.CDLL(None), "faults_arm", lambda on: None)
arm(1)
try:
    O, lse = flash.forward(x, x, x, threads=2)
    gradients = flash.backward(x, x, x, O, lse, x, threads=2)
finally:
    arm(0)
with open("o", "wb") as file:
    np.save(file, np.concatenate([O, *gradients]))
END
    fi
    [ "$program" = course ] || [ -x "${run%% *}" ] || return 2
    rm -rf "$room/right"
    mkdir "$room/right"
    (cd "$room/right" && $run >out 2>err) || { cat "$room/right/err"; return 1; }
}

# One run with a fault. Sets verdict, which is "none" if the fault never came.
try() { # kind n
    kind=$1 sent='' named=''
    case $kind in term-*) sent=15 kind=${kind#term-} ;; quit-*) sent=3 kind=${kind#quit-} ;; kill-*) sent=9 kind=${kind#kill-} ;; esac
    case $kind in named-*) named=1 kind=${kind#named-} ;; esac
    rm -rf "$room/run" "$room/fired"
    mkdir "$room/run"
    for file in $files; do echo old >"$room/run/$file"; done
    (cd "$room/run" || exit
        export FAULT=$kind:$2 FAULT_FIRED="$room/fired" FAULT_SIGNAL=$sent FAULT_NAMED=$named
        [ $program != course ] || export FAULT_ARM=1
        # shellcheck disable=SC2086
        $limit env LD_PRELOAD="$shim" ${run#env } >"$room/out" 2>"$room/err") 2>/dev/null
    status=$?
    verdict=none
    [ -e "$room/fired" ] || return
    old='' new=''
    verdict=fine
    for file in $files; do
        first=''
        IFS= read -r first <"$room/run/$file" 2>/dev/null
        IFS= read -r right <"$room/right/$file"
        if [ "$first" = old ]; then old=1; continue; fi
        new=1
        case $file in
        c | t | classroom50.json) [ "$first" = "$right" ] && [ -z "$(tail -c 1 "$room/run/$file")" ] ;;
        *) cmp -s "$room/run/$file" "$room/right/$file" ;;
        esac || verdict=half-written
    done
    last=$(tail -n 1 "$room/err")
    case $(ls -A "$room/run") in *.course*) verdict=half-written ;; esac
    [ $verdict = fine ] || return
    case $status,$sent,$old$new in
    0,,1 | 0,15,1 | 0,3,1) case $kind,$new$sent in write,1 | fsync,1 | link,1 | rename,1 | close,1) verdict=silent ;; esac
        [ -z "$old" ] && cmp -s "$room/out" "$room/right/out" || verdict=silent ;;
    0,*) verdict=silent ;;
    143,15,1 | 131,3,1 | 137,9,1) ;;
    143,15,* | 131,3,* | 137,9,*) verdict=half-written ;;
    137,*) verdict=hung ;;
    1,*) case $program,$last,$new in course,*Error*, | course,libgomp:*,) ;; *) verdict=crashed ;; esac ;;
    2,*) case $last in "$program: "*) ;; *) verdict=silent ;; esac
        case $new,$last in ,* | 1,*' new already)') ;; *) verdict=silent ;; esac ;;
    *) verdict=crashed ;;
    esac
}

# All runs of one case and kind, or group of kinds: a row of the table if there are any. Fails if something is wrong.
row() { # case kind
    runs=0 crashed=0 hung=0 half=0 silent=0
    for each in $(kinds "$2"); do
        n=1
        while try "$each" $n; [ $verdict != none ]; do
            runs=$((runs + 1))
            case $verdict in
            crashed) crashed=$((crashed + 1)) ;;
            hung) hung=$((hung + 1)) ;;
            half-written) half=$((half + 1)) ;;
            silent) silent=$((silent + 1)) ;;
            esac
            [ $verdict = fine ] || echo "    $1 $each:$n: $verdict, status $status, files: old ${old:-0}, new ${new:-0}: $last" >&2
            [ "$each" != alloc ] || [ $n -lt "${DENSE:-300}" ] || n=$((n + ${STRIDE:-29} - 1))
            n=$((n + 1))
        done
    done
    [ $runs = 0 ] || printf '| %-11s | %-18s | %5d | %7d | %4d | %12d | %16d |\n' "$1" "$2" $runs $crashed $hung $half $silent
    [ $((crashed + hung + half + silent)) = 0 ]
}

if ! works; then
    echo 'faults: skipped: the shim cannot be put under the programs here'
    [ "$1" != test ] || echo '0 0 1' >"$2"
    exit 0
fi
case $1 in
'')
    echo '| case        | fault              |  runs | crashed | hung | half-written | silently changed |'
    echo '|-------------|--------------------|-------|---------|------|--------------|------------------|'
    for case in $(cases | cut -d ' ' -f 1); do
        begin "$case" || { echo "| $case: not tried: it is not built, or does not run here |" && continue; }
        for kind in memory threads files disk signals; do row "$case" "$kind"; done
    done
    ;;
test)
    result=$2 passed=0 failed=0 copy=$room/copy
    export STRIDE=60 DENSE=5 CC # of allocations
    mkdir -p "$copy/build" "$(dirname "$result")"
    cp -Rp Makefile common 0* "$copy/"
    cp -Rp "$build/obj" "$copy/build/obj"
    count() { # good name text
        if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
        [ "$1" = 0 ] && [ -n "$QUIET" ] || printf '%-48s %s\n' "$2" "$3"
        [ "$1" = 0 ] || sed 's/^/    /' "$room/log" | tail -n 20
    }
    # Each wrong version is made in the copy, and must be rejected where the course is not.
    mkdir "$room/mistakes" && awk -f common/tools/mistakes.awk split "$room/mistakes" common/tests/mistakes.txt || exit 2
    for mistake in "$room"/mistakes/*; do
        name=common-faults.${mistake##*/}
        set -- $(sed -n 's/^Caught by: *//p' "$mistake")
        sh common/tools/faults.sh "$build" "$@" >"$room/log" 2>&1
        count $? "common-faults.$1" "the course itself, $*"
        program=$(cases | sed -n "s/^$1 .* : \([^ ]*\) .*/\1/p")
        if awk -f common/tools/mistakes.awk apply "$copy" "$mistake" >"$room/log" 2>&1 &&
            (cd "$copy" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s QUIET=1 BUILD=build "build/$program") >>"$room/log" 2>&1; then
            ! (cd "$copy" && sh common/tools/faults.sh build "$@") >"$room/log" 2>&1
            count $? "$name" "is to be rejected by $*"
        else
            count 1 "$name" 'no longer applies, or compiles'
        fi
        for file in $(sed -n 's/^File: //p' "$mistake"); do cp "$file" "$copy/$file"; done
    done
    printf '%-32s %4d passed, %d failed, 0 skipped\n' common-faults $passed $failed
    echo "$passed $failed 0" >"$result"
    ;;
*)
    case=$1 good=0
    shift
    begin "$case" || exit 1
    for kind; do row "$case" "$kind" || good=1; done
    exit $good
    ;;
esac
