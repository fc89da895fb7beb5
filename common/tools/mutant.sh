#!/bin/sh
# mutant.sh CHAPTER MISTAKE RESULT FOLDER - proves that CHAPTER's tests reject a wrong version.
#
# Copies the files that MISTAKE, a file with one entry of mistakes.txt, changes to FOLDER, applies it, and demands
# that each test after its "Caught by:" fails. MISTAKE "" tests the method: of a copy of CHAPTER, one file of each
# folder, compiled like a mutant's, must give the chapter's own object byte for byte, if make ran its tests (TESTED
# names the results); otherwise no test may fail with the copy. The Makefile sets compilers, flags, LIBS and the
# tests' objects (TESTS). Only objects in OBJ whose .d file names a changed file are rebuilt. Writes "passed failed
# skipped" to RESULT. With STUDENT set, a mistake that no longer applies is skipped.
chapter=$1 mistake=$2 result=$3 folder=$4
log=$folder/log
name=$(basename "$result")
export OMP_WAIT_POLICY=passive  # as in run_tests.sh
rm -rf "$folder"
mkdir -p "$folder" "$(dirname "$result")"

# Dates the result back, so that make tries the mistake again.
again() {  # passed failed skipped reason
    echo "$*" >"$result"
    touch -t 200001010000 "$result"
    exit 0
}

lasting=''
verdict() {  # status, text
    printf '%-48s %s\n' "$name" "$2"
    if [ "$1" -ne 0 ]; then
        sed 's/^/    /' "$log" | tail -n 20
        again 0 1 0
    fi
    [ -z "$lasting" ] || again 1 0 0
    echo "1 0 0" >"$result"
    exit 0
}

failed_in() { sed -n 's/^not ok - \([a-z0-9_]*::[a-z0-9_]*\).*/\1/p' "$1" 2>/dev/null; }  # tap file

failing() {  # program, suite::test...
    program=$1
    shift
    only=$(kernels_in_question)
    limit=$(command -v timeout || command -v gtimeout) && limit="$limit 300"
    [ $# -gt 0 ] || set -- '*::*'
    for test; do
        # shellcheck disable=SC2086
        ONLY_KERNELS=$only $limit "$program" --filter="${test%::*}/${test#*::}" --tap="$program.tap" >>"$log" 2>&1
        failed_in "$program.tap"
        rm -f "$program.tap"
    done
}

failed_before=$(for tested in $TESTED; do failed_in "$tested.tap"; done)

rm -f "$result" "$result.fails"
unharmed=$(dirname "$result")/$chapter.unharmed
changed=$(sed -n 's/^File: *//p' "$mistake" 2>/dev/null)
tried=$(sed -n 's/^Tried in: *//p' "$mistake" 2>/dev/null | tr ',' ' ')
for file in ${changed:-"$chapter"}; do
    mkdir -p "$folder/$(dirname "$file")"
    cp -R "$file" "$folder/$file" 2>/dev/null
done
named=''
if [ -n "$mistake" ]; then
    named=$(sed -n 's/^Caught by: *//p' "$mistake" | tr ',' ' ')
    case $named in make*) echo "0 0 0" >"$result" && exit ;; esac  # only machine code shows it: make cuda-check
    if ! awk -f common/tools/mistakes.awk apply "$folder" "$mistake" >"$log" 2>&1; then
        [ -z "$STUDENT" ] || again 0 0 1 changed
        verdict 1 "no longer applies"
    fi
    for test in $named; do
        if { echo "$failed_before"; cat "$unharmed.fails" 2>/dev/null; } | grep -qx "$test"; then
            printf '%-48s %s\n' "$name" "not tried: $test fails without it too"
            again 0 0 1 failing
        fi
    done
fi

# ---- which objects to rebuild --------------------------------------------------------------------

# The source of a chapter's object and its variant: c, watched, cpu or instrumented; no source for other
# objects. Starts no process: there are hundreds of objects and mutants.
source_of() {  # object
    source='' variant=c object=${1#"$OBJ"/}
    case $object in
    watched/*) variant=watched object=${object#watched/*/} ;;
    cpu/* | instrumented/*) variant=${object%%/*} object=${object#*/} ;;
    esac
    case $object,$variant in
    "$chapter"/tests/*) ;;
    "$chapter"/*,cpu | "$chapter"/*,instrumented) source=${object%.o}.cu ;;
    "$chapter"/*) source=${object%.o}.c ;;
    esac
}

# The shortest file of each folder and variant: a folder's files share their flags, except lanes.c.
shortest_of() {  # object...
    for each; do
        source_of "$each"
        case $source in
        '') ;;
        */lanes.c) echo "0 lanes $each" ;;
        *) echo "$(wc -c <"$source") ${source%/*},$variant $each" ;;
        esac
    done | sort -n | awk '!($2 in had) { had[$2] = 1; print $3 }'
}

# The objects made from a changed file; without a mistake, some of each kind.
affected_of() {  # object...
    [ -n "$mistake" ] || { shortest_of "$@"; return; }
    names=$(for file in $changed; do basename "$file" | sed 's/\.cu$/.cpp/'; done | paste -s -d '|' -)
    for object; do
        shift
        if [ -f "${object%.o}.d" ]; then set -- "$@" "${object%.o}.d"; else echo "$object"; fi
    done
    grep -lE "/($names)( |:|\$)" "$@" /dev/null | sed 's/\.d$/.o/'
}

# Some tests use the instrumented variant of kernels, others the plain one. Chapter 07's suites of kernels
# begin with cuda_.
is_looked_at() {  # variant
    [ -n "$named" ] || return 0
    for test in $named; do
        case ${test#cuda_},$1 in
        *::leave_no_race,cpu | banks::*,cpu) ;;
        *::leave_no_race,* | banks::*,* | count::*,*) return 0 ;;
        *,instrumented) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

# Many kernels and steps include a header. "Tried in:" or the named tests (suite `fa2` is about fa2.cu)
# restrict those rebuilt. That can only let a mutant survive, never reject it.
is_tested() {  # source, affected sources
    case $changed in *.cuh | */steps/*.h | */fast/*.h) ;; *) return 0 ;; esac
    of_some=no this=${1##*/}
    for kernel in $tried; do
        [ "${this%.*}" != "$kernel" ] || return 0
        of_some=yes
    done
    for test in $named; do
        suite=${test%%::*} suite=${suite#cuda_}
        case $this in "$suite".c | "$suite".cu | "$suite"[0-9]*.cu) return 0 ;; esac
        case $2 in */"$suite".c* | */"$suite"[0-9]*.cu*) of_some=yes ;; esac
    done
    [ $of_some = no ]
}

# Line numbers take time; only debugging tests and those that count by lines need them.
case "$named " in
' ' | *banks::* | *profile*) without_lines='' ;;
*) without_lines=-g0 ;;
esac

# ---- compiling ----------------------------------------------------------------------------------

to_cpp() {  # source...
    for file; do
        case $file in *.cu | *.cuh) ;; *) continue ;; esac
        as=$folder/cuda/$(echo "$file" | sed 's/\.cu$/.cpp/')
        mkdir -p "${as%/*}"
        [ -f "$as" ] || [ ! -f "$folder/$file" ] ||
            { echo "#line 1 \"$file\""; sed -E -f common/cuda/emulator/to_cpp.sed "$folder/$file"; } >"$as"
    done
}

copy_or_original() {  # folder of copies, file, folder of originals
    if [ -f "$1$2" ]; then echo "$1$2"; else echo "$3$2"; fi
}

compile() {  # source, variant, object
    step='' watch=''
    case $1 in */fast/* | */lanes.c) step=$FAST_FLAGS ;; esac
    case $2 in
    watched) watch="$WATCH_FLAGS @$OBJ/watched/${chapter%%_*}/names" ;;
    instrumented) watch=$INSTRUMENTED_FLAGS ;;
    esac
    names="-ffile-prefix-map=$folder/cuda/=$OBJ/cuda/ -ffile-prefix-map=$folder/= $without_lines"
    # shellcheck disable=SC2046,SC2086  # lists of words; what the copy has not, headers too, is the course's
    case $1 in
    *.c) $CC -I"$folder" $FLAGS $step $watch $names -c "$(copy_or_original "$folder/" "$1" '')" -o "$3" ;;
    *.cu)
        to_cpp "$1" $changed
        $CXX -I"$folder/cuda" -I"$OBJ/cuda" -I"$folder" $CXX_FLAGS $watch $names \
            -c "$(copy_or_original "$folder/cuda/" "${1%.cu}.cpp" "$OBJ/cuda/")" -o "$3"
        ;;
    esac
}

# Do two objects hold the same code? Debug information may differ.
is_same() {  # new, old
    strip -S -o "$1.new" "$1" && strip -S -o "$1.old" "$2" && cmp -s "$1.new" "$1.old"
}

# Compiles what changed and links it with the other objects. `compiled` lists the sources, `differing`
# the objects whose code differs from the original.
build() {  # program, object...
    program=$1 affected='' differing='' compiled=''
    shift
    anew=" $(affected_of "$@" | tr '\n' ' ') "
    for old; do
        source_of "$old"
        case $anew in *" $old "*) [ -n "$source" ] && is_looked_at "$variant" && affected="$affected $source $variant" ;; esac
    done
    for old; do
        shift
        new=$old
        source_of "$old"
        case "$affected " in
        *" ${source:-none} $variant "*)
            if is_tested "$source" "$affected"; then
                new=$folder/$(basename "$program")-$(echo "${old#"$OBJ"/}" | tr / -)
                compile "$source" "$variant" "$new" || return 1
                compiled="$compiled $source"
                [ -n "$mistake" ] || is_same "$new" "$old" || differing="$differing $old"
            fi
            ;;
        esac
        set -- "$@" "$new"
    done
    # shellcheck disable=SC2086
    $LINKER ${without_lines:+-Wl,-S} "$@" -o "$program" $LIBS
}

# If only kernels were rebuilt, tests of all kernels need only these.
kernels_in_question() {
    for source in $compiled; do
        kernel=$(basename "$source" .cu)
        case $source in *.c) return ;; esac
        cat "$chapter/kernels.c" "$chapter/kernels/host/kernels.c" 2>/dev/null |
            grep -qE "^        \.name = \"(cuda_)?${kernel%%[0-9]*}" || return
    done
    for source in $compiled; do basename "$source" .cu; done | sort -u | tr '\n' ' '
}

has_run() {
    [ -z "$mistake$differing" ] && echo " $TESTED " | grep -q "/$chapter "
}

# shellcheck disable=SC2086
build "$folder/tests" $TESTS >>"$log" 2>&1 || verdict 1 "no longer compiles"
# shellcheck disable=SC2086
has_run || failed=$(failing "$folder/tests" $named)

if [ -z "$mistake" ]; then
    # shellcheck disable=SC2086
    printf '%s ' $failed_before $failed | tr ' ' '\n' | sort -u >"$result.fails"
    for test in $failed; do
        echo " $(echo $failed_before) " | grep -q " $test " || verdict 1 "a copy of the chapter fails: $(echo $failed)"
    done
    [ -z "$failed_before$failed" ] || lasting=no  # a failure may not last
    verdict 0 "a copy with nothing wrong in it is not rejected${differing:+; these objects differ when compiled anew, so all tests ran:$differing}"
fi
for test in $named; do
    echo " $(echo $failed) " | grep -q " $test " || verdict 1 "SURVIVES $test; failed: ${failed:-nothing}"
done
verdict 0 "caught by $(echo $named)"
