#!/bin/sh
# mutant.sh CHAPTER PATCH RESULT FOLDER - proves that the tests of CHAPTER reject a wrong version.
#
# Copies the chapter to FOLDER, applies PATCH, and demands that each test that the patch names in its
# "Caught by:" lines fails with the copy. Without a patch ("") it demands that none fails, so that a copy
# is not rejected for being a copy. CC, FLAGS, LIBS and what the tests (TESTS) and the witness (WITNESS)
# are linked from come from the Makefile, and for CUDA sources CXX, CXX_FLAGS and WATCHED_FLAGS. Of these
# objects, all in OBJ, the copy replaces those that the patch changes; all of the chapter's where it changes
# a C header, or where there is no patch; those that include it where it changes a header of CUDA's. Leaves
# "passed failed skipped" in RESULT. With STUDENT set, a patch that does not fit a changed lesson is skipped.
chapter=$1 patch=$2 result=$3 folder=$4
copy=$folder/$chapter log=$folder/log
name=$(basename "$result")
export OMP_WAIT_POLICY=passive  # as in run_tests.sh
rm -rf "$folder"
mkdir -p "$folder" "$(dirname "$result")"

verdict() {  # status, text
    printf '%-48s %s\n' "$name" "$2"
    [ "$1" -eq 0 ] && echo "1 0 0" >"$result"
    [ "$1" -eq 0 ] || sed 's/^/    /' "$log" | tail -n 20
    exit "$1"
}

# Which of these tests fail, by the program's own word; of all its tests if none is named.
failing() {  # program, suite::test...
    program=$1
    shift
    limit=$(command -v timeout || command -v gtimeout) && limit="$limit 300"
    [ $# -gt 0 ] || set -- '*::*'
    for test; do
        # shellcheck disable=SC2086
        $limit "$program" --filter="${test%::*}/${test#*::}" --tap="$program.tap" >>"$log" 2>&1
        sed -n 's/^not ok - \([a-z0-9_]*::[a-z0-9_]*\).*/\1/p' "$program.tap"
        rm -f "$program.tap"
    done
}

rm -f "$result"
cp -R "$chapter" "$folder/"
named=''
if [ -n "$patch" ]; then
    named=$(sed -n 's/^Caught by: *//p' "$patch" | tr ',' ' ')
    [ -n "$named" ] || verdict 1 "names no test that catches it"
    if ! patch -s -p1 -d "$folder" <"$patch" >"$log" 2>&1; then
        [ -z "$STUDENT" ] || { echo "0 0 1" >"$result"; touch -t 200001010000 "$result"; exit 0; }
        verdict 1 "no longer applies"
    fi
fi

sources() {  # name... -> the chapter's files that are called so, but for tests and main.c
    find "$chapter" -path "$chapter/tests" -prune -o -name "$1" -print | grep -v '/main\.c$'
}
# The CUDA sources that include a header, through other headers too.
includers() {
    for file in $(grep -l "#include \"$(basename "$1")\"" "$chapter"/*/*.cu "$chapter"/*/*.cuh); do
        case $file in *.cuh) includers "$file" ;; *) echo "$file" ;; esac
    done | sort -u
}
changed=$(sed -n 's|^+++ b/||p' "$patch" 2>/dev/null)
case $changed in
'' | *.h) changed="$(sources '*.c') $(sources '*.cu')" ;;
*.cuh) changed=$(includers "$changed") ;;
*) changed="$changed $(ls "$chapter"/counted.c "$chapter"/*/counted.c 2>/dev/null)" ;;  # they include it
esac

# CUDA sources become C++ beside one another, as in the Makefile.
for file in $(sources '*.cu') $(sources '*.cuh'); do
    as=$folder/cuda/$(echo "$file" | sed 's/\.cu$/.cpp/')
    mkdir -p "$(dirname "$as")"
    { echo "#line 1 \"$copy/${file#"$chapter"/}\""; sed -E -f common/cuda/to_cpp.sed "$folder/$file"; } >"$as"
done

# Compiles a changed file as it is in a variant: c, cpu or watched.
compile() {  # variant, file, object, extra flags for all but counted.c
    own=$4
    case $2 in */counted.c) own='' ;; esac
    case $2 in */rungs/*) own="$own $RUNG_FLAGS" ;; esac
    # shellcheck disable=SC2086  # lists of words; ../ leads out of the copy, to the chapter's place
    case $1 in
    c) $CC $FLAGS $own -I"$chapter" -I"$chapter/steps" -I"$chapter/rungs" -c "$folder/$2" -o "$3" ;;
    cpu) $CXX $CXX_FLAGS -I"$folder/$(dirname "$2")" -c "$folder/cuda/${2%.cu}.cpp" -o "$3" ;;
    watched) $CXX $CXX_FLAGS $WATCHED_FLAGS -I"$folder/$(dirname "$2")" -c "$folder/cuda/${2%.cu}.cpp" -o "$3" ;;
    esac
}

# Compiles what has changed and links it with the other objects that are given.
build() {  # program, extra flags for all but counted.c, object...
    program=$1 flags=$2
    shift 2
    for file in $changed; do
        case $file,$named in
        *.cu,*leave_no_race* | *.cu,*banks::* | *.cu,*count::* | *.cu,) variants='cpu watched' ;;
        *.cu,*) variants=cpu ;;  # no test that is named watches it
        *) variants=c ;;
        esac
        for variant in $variants; do
            object=$folder/$(basename "$program")-$variant-$(echo "${file%.*}" | tr / -).o
            compile "$variant" "$file" "$object" "$flags" || return 1
            for old; do
                shift
                case $old in
                "$OBJ/${file%.c}.o" | "$OBJ/witnessed/${file%.c}.o" | "$OBJ/$variant/${file%.cu}.o") old=$object ;;
                esac
                set -- "$@" "$old"
            done
        done
    done
    # shellcheck disable=SC2086
    $LINKER "$@" -o "$program" $LIBS
}

of_witness=$(echo "$named" | tr ' ' '\n' | grep '^witness::')
of_tests=$(echo "$named" | tr ' ' '\n' | grep -v '^witness::')
if [ -z "$patch" ] || [ -n "$of_tests" ]; then
    # shellcheck disable=SC2086
    build "$folder/tests" '' $TESTS >>"$log" 2>&1 || verdict 1 "no longer compiles"
    # shellcheck disable=SC2086
    failed=$(failing "$folder/tests" $of_tests)
fi
if [ -n "$WITNESS" ] && { [ -z "$patch" ] || [ -n "$of_witness" ]; }; then
    # shellcheck disable=SC2086
    build "$folder/witness" "$WITNESS_FLAGS" $WITNESS >>"$log" 2>&1 ||
        verdict 1 "no longer compiles with the witness"
    # shellcheck disable=SC2086
    failed="$failed $(failing "$folder/witness" $of_witness)"
fi

if [ -z "$patch" ]; then
    if [ -n "$(echo $failed)" ]; then
        [ -z "$STUDENT" ] || exit 1  # the same tests have just failed, and said so
        verdict 1 "a copy of the chapter fails: $(echo $failed)"
    fi
    verdict 0 "a copy with nothing wrong in it is not rejected"
fi
for test in $named; do
    echo " $(echo $failed) " | grep -q " $test " || verdict 1 "SURVIVES $test; failed: ${failed:-nothing}"
done
verdict 0 "caught by $(echo $named)"
