#!/bin/sh
# mutant.sh CHAPTER MISTAKE RESULT FOLDER - proves that the tests of CHAPTER reject a wrong version.
#
# Copies the chapter to FOLDER, makes the MISTAKE there (a file with one entry of mistakes.txt), and demands that each test
# after its "Caught by:" fails with the copy. Without a mistake ("") it demands that a copy is not rejected for being
# one: a file of each folder, compiled as a mutant's are, gives the chapter's own object byte for byte, whose tests
# make has run (TESTED names the results); or, where one differs or make has not, no test fails with the copy. CC, FLAGS,
# WATCH_FLAGS, LIBS and what the tests are linked from (TESTS) come from the Makefile, and for CUDA
# sources CXX, CXX_FLAGS and INSTRUMENTED_FLAGS. Of these objects, all in OBJ, the copy replaces those that are made
# from what the mistake changes, as the compiler has noted in the .d file beside each. Leaves "passed failed
# skipped" in RESULT. With STUDENT set, a mistake that does not fit a changed lesson is skipped.
chapter=$1 mistake=$2 result=$3 folder=$4
log=$folder/log
name=$(basename "$result")
export OMP_WAIT_POLICY=passive  # as in run_tests.sh
rm -rf "$folder"
mkdir -p "$folder" "$(dirname "$result")"

# A result from long ago, so that make tries the mistake again the next time.
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

# Which of these tests fail, as the program reports; of all its tests if none is named.
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

# The tests that failed when make ran the chapter's own.
failed_before=$(for tested in $TESTED; do failed_in "$tested.tap"; done)

rm -f "$result" "$result.fails"
unharmed=$(dirname "$result")/$chapter.unharmed
cp -R "$chapter" "$folder/"
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

changed=$(sed -n 's/^File: *//p' "$mistake" 2>/dev/null)
tried=$(sed -n 's/^Tried in: *//p' "$mistake" 2>/dev/null | tr ',' ' ')

# ---- which objects are made anew ----------------------------------------------------------------

# What an object of the chapter is made from, and as which variant: c, watched, cpu or instrumented. Of other objects the
# source is nothing. (No command is run for it, as there are some hundred objects, and as many mutants.)
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

# The files of a folder are compiled with the same flags, but for lanes.c: the shortest of each folder and variant.
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

# Those of the objects that are made from a file that the mistake changes. Without a mistake, some of each kind.
affected_of() {  # object...
    [ -n "$mistake" ] || { shortest_of "$@"; return; }
    names=$(for file in $changed; do basename "$file" | sed 's/\.cu$/.cpp/'; done | paste -s -d '|' -)
    for object; do
        shift
        if [ -f "${object%.o}.d" ]; then set -- "$@" "${object%.o}.d"; else echo "$object"; fi
    done
    grep -lE "/($names)( |:|\$)" "$@" /dev/null | sed 's/\.d$/.o/'
}

# Kernels have a variant that some tests watch, and one for the others. In chapter 07 the suites about kernels begin
# with cuda_.
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

# Many kernels and steps include a header. The mistake may say in which of them it is tried ("Tried in:"), or some of the
# named tests are about one: suite `fa2` is about fa2.cu. Then the others stay as they are. That cannot have a mutant
# rejected, it can only let it survive.
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

# Which line is which, a debugger needs to be told, and the tests that count by lines; else it only takes time.
case "$named " in
' ' | *banks::* | *profile*) without_lines='' ;;
*) without_lines=-g0 ;;
esac

# ---- compiling ----------------------------------------------------------------------------------

# CUDA sources become C++ beside one another, as in the Makefile.
to_cpp() {  # source...
    for file; do
        as=$folder/cuda/$(echo "$file" | sed 's/\.cu$/.cpp/')
        mkdir -p "$(dirname "$as")"
        [ -f "$as" ] ||
            { echo "#line 1 \"$file\""; sed -E -f common/cuda/emulator/to_cpp.sed "$folder/$file"; } >"$as"
    done
}

# Compiles a file of the copy. In the object it has the name that it has in the course.
compile() {  # source, variant, object
    step='' watch=''
    case $1 in */fast/* | */lanes.c) step=$FAST_FLAGS ;; esac
    case $2 in
    watched) watch="$WATCH_FLAGS @$OBJ/watched/${chapter%%_*}/names" ;;
    instrumented) watch=$INSTRUMENTED_FLAGS ;;
    esac
    names="-ffile-prefix-map=$folder/cuda/=$OBJ/cuda/ -ffile-prefix-map=$folder/= $without_lines"
    # shellcheck disable=SC2046,SC2086  # lists of words; what the copy has not is the course's
    case $1 in
    *.c) $CC -I"$folder" $FLAGS $step $watch $names -c "$folder/$1" -o "$3" ;;
    *.cu)
        to_cpp "$1" $(find "$chapter/kernels" -name '*.cuh')
        $CXX -I"$folder/cuda" -I"$folder" -I"$OBJ/cuda" $CXX_FLAGS $watch $names -c "$folder/cuda/${1%.cu}.cpp" -o "$3"
        ;;
    esac
}

# Do two objects hold the same code? What they tell a debugger may differ.
is_same() {  # new, old
    strip -S -o "$1.new" "$1" && strip -S -o "$1.old" "$2" && cmp -s "$1.new" "$1.old"
}

# Compiles what has changed and links it with the other objects that are given. The objects whose code is
# not that of the course's own are `differing`, and what has been compiled is `compiled`.
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

# Where nothing but kernels has been compiled anew, tests that go through all kernels need to look at these only.
kernels_in_question() {
    for source in $compiled; do
        kernel=$(basename "$source" .cu)
        case $source in *.c) return ;; esac
        cat "$chapter/kernels/table.h" "$chapter/kernels/host/kernels.c" 2>/dev/null |
            grep -qE "^STEP\([A-Z0-9_]+, ${kernel%%[0-9]*}|\.name = \"cuda_${kernel%%[0-9]*}" || return
    done
    for source in $compiled; do basename "$source" .cu; done | sort -u | tr '\n' ' '
}

# Has make just run the tests of this very program?
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
    [ -z "$failed_before$failed" ] || lasting=no  # what fails today may not fail tomorrow
    verdict 0 "a copy with nothing wrong in it is not rejected"
fi
for test in $named; do
    echo " $(echo $failed) " | grep -q " $test " || verdict 1 "SURVIVES $test; failed: ${failed:-nothing}"
done
verdict 0 "caught by $(echo $named)"
