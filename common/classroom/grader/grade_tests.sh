#!/bin/sh
# grade_tests.sh submission SUBMISSION [CHAPTER] - finds the tests in it, and asks make for what follows
# grade_tests.sh CHAPTER FILE                    - how many of the chapter's wrong versions the tests in FILE reject
# grade_tests.sh wrong CHAPTER                   - the names of these wrong versions
#
# SUBMISSION is a folder or an archive that has CHAPTER/tests/test_mine.c, perhaps in another folder, or a folder with
# such an archive in it. Wrong versions that only the instrumented build can tell from the right one, or tests with more
# memory, are left out; and where a chapter has steps, which its exercise is about, those of its kernels and of its program.
#
# The tests are compiled and run by a user who owns nothing, as confine.c does it: with a folder as their whole file
# system, in which nothing lasts from one version to the next, with no network, and with limits. No path and no word
# tells them which version they are tried on, and all versions are linked alike, without what a debugger needs. A wrong
# version is tried together with the right one, in random order, more than once if they reject it: tests that fail at random, or by
# the clock or the order of things, reject the right one too, or not the wrong one each time. What they start is ended
# with them.
#
# Tests can read the code of what they call. So what a wrong version changes is compiled as chance has it, and once more
# without the change, again by chance, for the right version that it is tried with: the code of one says nothing of the other.
#
# The tests that are handed out with the exercise are a program of their own. What it rejects does not count, and the
# students' tests are not tried on it.
#
# What a grading has found out is said at once, and stays where the grading is interrupted.
#
# For the first JOBS is what make is to be told, as -j2; for the second the environment is that of common/tools/mutant.sh.
# Both come from the Makefile. LIMIT: seconds of the processor's time for one of the tests' processes, five times as much
# by the clock for all of them. All runs may take LIMIT by the clock for each version; what is not tried by then is not rejected.
build=${BUILD:-build}
MOST_BYTES=5000000  # of an archive
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
MOST_SOURCE=200000  # bytes of tests
MEMORY=2048 FILES=16 SCRATCH=64  # MB
AT_ONCE=2                        # of the tests in it, and each may have as many threads as there are cores, twice
PAIRS=20                         # of runs with a wrong version and the right one: so many in all, one at least for each
TASKS=$((40 + AT_ONCE * 2 * cores))

if [ "$1" = submission ]; then
    submission=$2 given=$2
    bad() { printf '%s\n' "make grade-tests: SUBMISSION=$given: $1" >&2; exit 2; }
    [ -n "$submission" ] || bad 'expected a folder or an archive that a starter made'
    [ -f "$submission" ] || [ -d "$submission" ] || bad 'there is no such file or folder'
    . "$(dirname "$0")/archive.sh"
    case $submission in /*) ;; -* | *:*) submission=./$submission ;; esac  # no option, and no host for tar
    archive=$([ ! -d "$submission" ] || only_archive "$submission")
    submission=${archive:-$submission}
    case $submission in *.zip) command -v unzip >/dev/null || bad 'expected unzip to be installed, to read a .zip' ;; esac
    found=$(mktemp -d) || exit 2
    trap 'rm -rf "$found"' EXIT
    trap 'exit 2' INT TERM HUP PIPE  # not before make has come to its end
    case $submission in *.zip) submission=$(literal "$submission" "$found") ;; esac
    [ -d "$submission" ] || [ "$(wc -c <"$submission")" -le $MOST_BYTES ] || bad "expected at most $MOST_BYTES bytes"
    (limit_unpacking
    case $submission in
    *.tar.gz | *.tgz | *.tar) tar -tf "$submission" ;;
    *.zip) unzip -Z1 "$submission" ;;
    *) (cd "$submission" && find . -type f) | sed 's|^\./||' ;;
    esac) >"$found/names" 2>/dev/null
    for chapter in ${3:-0[1-7]_*}; do
        file=$chapter/tests/test_mine.c
        member=$(grep -E "^([^-].*/)?$file\$" "$found/names")  # - would be an option
        case $member in
        '') continue ;;
        *'
'*) bad "$file is there more than once" ;;
        esac
        (limit_unpacking
        case $submission in
        *.tar.gz | *.tgz | *.tar) tar -xOf "$submission" -- "$member" ;;
        *.zip) unzip -P '' -p "$submission" "$member" ;;  # it would ask for a password
        *) cat "$submission/$member" ;;
        esac) 2>/dev/null | head -c $((MOST_SOURCE + 1)) >"$found/test_mine.c"
        [ "$(wc -c <"$found/test_mine.c")" -le $MOST_SOURCE ] || bad "$file: expected at most $MOST_SOURCE bytes"
        # shellcheck disable=SC2086  # JOBS is a word, or none
        make -s --no-print-directory $JOBS QUIET=1 BUILD="$build" "grade-tests-${chapter%%_*}" MINE="$found/test_mine.c"
        exit
    done
    bad "expected a file ${3:-0N_…}/tests/test_mine.c in it"
fi

if [ "$1" = wrong ]; then
    mkdir -p "$build/mistakes/$2"
    awk -f common/tools/mistakes.awk split "$build/mistakes/$2" "$2/tests/mistakes.txt" || exit 2
    for name in $(sed -n 's/^Name: //p' "$2/tests/mistakes.txt"); do
        mistake=$build/mistakes/$2/$name
        [ ! -d "$2/steps" ] || grep -q -e '^File: [^/]*/steps/' -e '^File: [^/]*/fast/' "$mistake" || continue
        sed -n 's/^Caught by: *//p' "$mistake" | tr ', ' '\n\n' | grep -v -e '^accesses::' -e '::leave_no_race$' -e '^banks::' \
            -e '^count::of_every' -e 2_to_the_31 -e '^make$' -e '^cuda-check$' -e '^$' >/dev/null && echo "$name"
    done
    exit 0
fi

# Whoever calls this as root has a user for each run that nobody else is.
as=''
if [ "$(id -u)" -eq 0 ]; then
    user=$((40000 + $$ % 20000))
    as="--user $user"
fi
theirs() { if [ -n "$as" ]; then chown "$user" "$@"; fi; }

# On a terminal standard error shows how many versions have been tried.
erase() { [ ! -t 2 ] || printf '\r%40s\r' '' >&2; }

# grade_tests.sh link FOLDER LINKER WORD...: links a version with the tests that are handed out, and leaves in FOLDER/link
# the words of it.
if [ "$1" = link ]; then
    folder=$2
    shift 2
    echo "$*" >"$folder/link"
    exec "$@"
fi

# grade_tests.sh compile COMPILER WORD… -c SOURCE -o OBJECT: compiles with some of the flags in BUILD/grader/neutral, which
# change the code and not what it does, and with idle instructions between the others. $ASSEMBLER turns it into an object.
if [ "$1" = compile ]; then
    shift
    before=''
    for word; do
        shift
        case $before,$word in
        *,-c) set -- "$@" -S ;;
        -o,*) object=$word && set -- "$@" "$word.s" ;;
        *) set -- "$@" "$word" ;;
        esac
        before=$word
    done
    chance=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
    # shellcheck disable=SC2046  # a list of words
    "$@" $(awk -v seed="$chance" 'BEGIN { srand(seed % 2147483647) } { n = int(rand() * (NF + 1)); if (n > 0) print $n }' "$build/grader/neutral") || exit
    awk -v seed="$chance" 'BEGIN { srand(seed % 2147483647) }
        { sub(/@gnu_unique_object/, "@object"); print }  # what is unique cannot be made local
        /^[ \t]*#[ \t]*(NO_)?APP/ { is_asm = !/NO_APP/ }
        /^\t[a-z]/ && !is_asm && !/[;!]/ && rand() < 0.2 { print "\tnop" }' "$object.s" >"$object.idle.s"
    $ASSEMBLER -c "$object.idle.s" -o "$object"
    exit
fi

# grade_tests.sh one CHAPTER WORK NUMBER: runs the tests on version NUMBER of WORK/versions ("right": as it should be),
# and leaves a line in WORK/verdicts: "passes NAME TESTS", "fails NAME TESTS", "known NAME" if the tests that are handed
# out reject it, or "broken NAME"; "fails right TESTS" also if they rejected the right one when both were tried again. Of a
# wrong one that is not rejected it says so. BUILD/grader/versions keeps the wrong versions, each with what the tests that
# are handed out say of it, for the next student's; and in `right` the right one that it is tried with.
if [ "$1" = one ]; then
    chapter=$2 work=$3
    ! grep -q '^fails right ' "$work/verdicts" 2>/dev/null || exit 0  # no points any more
    name=$(sed -n "${4}p" "$work/versions")
    folder=$work/$4 mistake=$build/mistakes/$chapter/$name version=$build/grader/versions/$chapter/$name
    new=$version.$$
    trap 'rm -rf "$new"; exit 2' INT TERM HUP  # what is interrupted has no verdict
    mkdir "$folder"
    broken() {  # files that say why
        echo "broken $name" >>"$work/verdicts"
        erase
        { echo "broken $name"; cat "$@" 2>/dev/null; } >&2
        exit 2
    }
    # Runs the tests in $folder/$1, which leave $1.tap, $1.errors and $1.verdict.
    run() {  # program, seconds
        root=$folder/root
        mkdir -p "$root/tmp" "$root/dev/shm" "$root/proc/self"
        ln -s /tests "$root/proc/self/exe"  # all that Criterion needs of it, where it cannot be mounted
        cp -R "$work/libraries/." "$root/" && cp "$folder/$1" "$root/tests" && : >"$root/tap"
        chmod -R go+rX "$root"
        chmod 1777 "$root/tmp" "$root/dev/shm"
        theirs "$root/tap"
        begun=$(date +%s)
        # shellcheck disable=SC2086  # lists of words
        "$build/grader/confine" $as --root "$root" --hide "$PWD" --scratch $SCRATCH --seconds "$2" --memory $MEMORY \
            --resident $MEMORY --file $FILES --tasks $TASKS --errors "$folder/errors" --verdict "$folder/verdict" \
            --set OMP_WAIT_POLICY=passive --set LC_ALL=C -- ./tests --tap=tap --jobs=$AT_ONCE
        # what is open has its path in /proc, and that must not say which version this is
        for kind in errors verdict; do [ ! -f "$folder/$kind" ] || mv "$folder/$kind" "$folder/$1.$kind"; done
        [ "$1" = handed_out ] || echo $(($(date +%s) - begun)) >>"$work/took"
        cp "$root/tap" "$folder/$1.tap"
        rm -rf "$root"
        ! grep -q -e '^not started' -e '^interrupted' "$folder/$1.verdict" || broken "$folder/$1.verdict"
    }
    # Links the student's tests as $folder/$1 with the version in $2, and with the code of the other, in $3, which nothing calls:
    # so what a program has in it, such as a constant or a function of a library, says nothing.
    link_as() {
        unused=$3/unused.o
        [ -f "$unused" ] || unused=''
        words=$(sed "s|[^ ]*/$chapter/tests/mine.o|$work/room/made/test_mine.o $unused|; s|-o [^ ]*/tests |-o $folder/$1 -Wl,-s -fno-lto |" "$2/link")
        $words >"$folder/log" 2>&1
        [ -x "$folder/$1" ] || broken "$folder/log"
    }
    # Runs what was linked as $1; what they say of $2 is in $verdict.
    try() {
        run "$1" "$(cat "$work/limit")"
        passed=$(grep -a '^ok ' "$folder/$1.tap" | grep -avc '# SKIP') failed=$(grep -ac '^not ok ' "$folder/$1.tap")
        case $failed,$(cat "$folder/$1.verdict") in
        0,'exited 0') verdict="passes $2 $passed" ;;
        *) verdict="fails $2 $failed" ;;
        esac
    }
    # The wrong version and the right one, both each time and in random order, so that no run tells by its number which it
    # is of. $verdict is of the wrong one if it is the same each time, and the right one passes each time.
    try_both() {
        again=''
        link_as right "$version/right" "$version"
        for byte in $(od -An -v -N$((1 + PAIRS / $(grep -vxc right "$work/versions"))) -tu1 /dev/urandom); do
            order='mine right'
            [ $((byte % 2)) -eq 0 ] || order='right mine'
            for which in $order; do
                case $which in mine) try mine "$name" && of_mine=$verdict ;; *) try right right ;; esac
                case $which,$verdict in right,fails*) return ;; esac
            done
            verdict=$of_mine
            case $verdict in passes*) return ;; esac
            again=', or not each time'
        done
    }
    # shellcheck disable=SC2086  # a list of words
    is_kept() { [ -f "$version/verdict" ] && [ -z "$(find "$mistake" $TESTS common/tools/mutant.sh -newer "$version/verdict")" ]; }
    # Builds a version with the tests that are handed out, and stops there, for the tool finds none of the name that it asks
    # for. What is left of it is its objects, and the words that link them.
    make_version() {  # mistake, folder
        mkdir -p "$2"
        as_it_is=$CC
        LINKER="sh $0 link $2 $LINKER" ASSEMBLER=$as_it_is CC="sh $0 compile $as_it_is" CXX="sh $0 compile $CXX" WITNESS='' \
            sh common/tools/mutant.sh "$chapter" "$1" "$folder/result" "$2/copy" >"$folder/said" 2>&1
        mv "$2/copy/tests" "$folder/handed_out" 2>/dev/null || { cat "$2/copy/log" >>"$folder/said"; rm -rf "$new"; broken "$folder/said"; }
        find "$2/copy" -type f ! -name '*.o' -exec rm {} +
        # kernels' functions of a name are one in a program, unless they are no group any more
        case $chapter in 06*) apart=-Wl,--force-group-allocation ;; *) apart='' ;; esac
        { $as_it_is -r -nostdlib $apart "$2"/copy/*.o -o "$2/unused.o" && objcopy -w --localize-symbol='*' "$2/unused.o"; } 2>/dev/null || rm -f "$2/unused.o"
        words=$(sed "s|$new|$version|g" "$2/link") && echo "$words" >"$2/link"
    }
    # One of the same files that adds an empty line to each.
    harmless() {
        printf 'Name: harmless\nCaught by: mine::none\n'
        for file in $(sed -n 's/^File: //p' "$mistake" | sort -u); do
            echo "File: $file" && sed 's/^/ /' "$file" && echo +
        done
    }
    if [ "$name" = right ]; then
        version=$work
    elif ! is_kept; then
        sed -e 's/^Caught by:.*/Caught by: mine::none/' -e '/^Tried in:/d' "$mistake" >"$folder/mistake"
        make_version "$folder/mistake" "$new"
        run handed_out 20
        if [ "$(cat "$folder/handed_out.verdict")" = 'exited 0' ]; then
            harmless >"$folder/mistake"
            make_version "$folder/mistake" "$new/right"
        fi
        cp "$folder/handed_out.verdict" "$new/verdict"
        is_kept || { rm -rf "$version" && mv "$new" "$version"; }  # unless others were faster
        rm -rf "$new"
    fi
    if [ "$name" != right ] && [ "$(cat "$version/verdict")" != 'exited 0' ]; then
        verdict="known $name"
    elif [ "$name" != right ] && [ "$(awk '{ all += $1 } END { print all + 0 }' "$work/took")" -ge $((${LIMIT:-20} * $(grep -vxc right "$work/versions"))) ]; then
        verdict="passes $name" again=', and not tried, because the tests took too long before'
    else
        link_as mine "$version" "$version/right"
        case $name in right) try mine right ;; *) try_both ;; esac
    fi
    echo "$verdict" >>"$work/verdicts"
    [ "$name" != right ] || exit 0
    erase
    case $verdict in passes*) echo "    not rejected$again: $(sed -n 's/^Symptom: *//p' "$mistake")  ($name)" ;; esac
    [ ! -t 2 ] || printf '%d of %d wrong versions' "$(grep -vc ' right ' "$work/verdicts")" "$(grep -vxc right "$work/versions")" >&2
    exit 0
fi

chapter=$1 mine=$2 grader=$build/grader
command -v "${CC%% *}" >/dev/null || { echo "make grade-tests: $CC: expected a compiler" >&2; exit 2; }
umask 022  # users who own nothing read what is made here
work=$(mktemp -d "${TMPDIR:-/tmp}/grade-tests.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' INT TERM HUP PIPE  # as when somebody reads the first line only
chmod 711 "$work"
echo "${LIMIT:-20}" >"$work/limit"
CC=$CC sh common/classroom/grader/prepare.sh "$build" || exit 2

# ---- the tests become an object -----------------------------------------------------------------

. "$(dirname "$0")/room.sh"
file=headers/$chapter/tests/test_mine.c
mkdir -p "$room/${file%/*}"
cp "$mine" "$room/$file"
# Headers are those of the copy, and Criterion's too if it is anywhere else than the system's.
flags=$(for flag in $FLAGS; do
    case $flag in
    (-I.) flag=-Iheaders ;;
    (/usr/*) ;;
    (/*) mkdir -p "$room/headers/unpacked" && cp -R "$flag/criterion" "$room/headers/unpacked/" && flag=headers/unpacked ;;
    esac
    printf '%s ' "$flag"
done)
# shellcheck disable=SC2086,SC2154  # lists of words; room.sh's
if ! in_room "$work/log" '' "$compiler" ${CC#"${CC%% *}"} $flags -fno-common -c "$file" -o made/test_mine.o || [ -n "$other" ]; then
    [ -n "$other" ] || compiler_works || { echo "make grade-tests: $CC: expected to compile an empty program here, found: $found" >&2; exit 2; }
    [ -z "$other" ] || echo "it includes $other, which is not among the chapter's headers" >"$work/log"
    sed "s|headers/||g" "$work/log" | tr -cd ' -~\n' | head -n 20
    echo 'The tests do not compile: 0 points.'
    exit 1
fi
# What they define is for themselves: another expf would tell them how it is called, and they need not look at any output.
# It leaves common and unique symbols as they are.
if command -v objcopy >/dev/null; then
    objcopy -w --localize-symbol='*' "$room/made/test_mine.o" || exit 2
    if nm -g --defined-only "$room/made/test_mine.o" | grep -q ''; then
        echo 'The tests define a symbol that cannot be made local, as by asm: 0 points.'
        exit 1
    fi
fi

# ---- with the right version, and with the wrong ones ---------------------------------------------

{
    echo right
    sh "$0" wrong "$chapter"
} >"$work/versions"
last=$(wc -l <"$work/versions")

# The right one, with the tests that are handed out, says what else a program of this chapter needs.
mkdir "$work/libraries"
# shellcheck disable=SC2086
sh "$0" link "$work" $LINKER $TESTS -o "$work/tests" $LIBS >"$work/log" 2>&1 && command -v ldd >/dev/null &&
    ldd "$work/tests" | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$work/libraries$(dirname "$library")"
        cp -L "$library" "$work/libraries$library"
    done

# Why tests came to no end, in words.
ended() {
    case $(cat "$work/1/mine.verdict") in
    time) echo "    they took more than ${LIMIT:-20} s of the processor's time, or five times as much by the clock" ;;
    *) cat "$work/1/mine.verdict" ;;
    esac
}

one() { sh "$0" one "$chapter" "$work" "$1"; }
verdict() { tail -n 1 "$work/verdicts"; }
# How many of the wrong versions have been tried, and how many rejected.
tried() { grep -vc ' right ' "$work/verdicts"; }
rejected() { grep -v ' right ' "$work/verdicts" | grep -c '^fails'; }

started=$(date +%s)
one 1 || exit 2
took=$(($(date +%s) - started))
case $(verdict) in
'passes right 0') echo 'There is no test in it: 0 points.'; exit 1 ;;
passes*) ;;
fails*)
    if grep -aq '^not ok ' "$work/1/mine.tap"; then sed -n 's/^not ok - \([^ ]*\).*/    \1/p' "$work/1/mine.tap"; else head -c 400 "$work/1/mine.errors"; ended; fi |
        tr -cd ' -~\n' | head -n 100
    echo 'These tests reject the right version (or do not come to their end): 0 points.'
    exit 1 ;;
esac
# A wrong version that does not end need not take a hundred times as long as the right one, whose other code may be slower.
longest=$((2 * $(cat "$work/limit")))
echo $((4 + 4 * took < longest ? 4 + 4 * took : longest)) >"$work/limit"

all=$(grep -vxc right "$work/versions")
interrupted() {
    erase
    echo "Incomplete, for it was interrupted: after $(tried) of $all wrong versions the tests reject $(rejected)."
    exit 2
}
trap interrupted INT TERM HUP
make -s --no-print-directory -f common/classroom/grader/each.mk COMMAND="sh $0 one $chapter $work" FIRST=2 LAST="$last" || exit 2
erase
if grep -q '^fails right ' "$work/verdicts"; then
    echo 'These tests reject the right version when they are run on it again: 0 points.'
    exit 1
fi
points=$chapter/exercise/points
. common/classroom/starter/exercise.sh
known=$(grep -c '^known' "$work/verdicts")
# The course's own tests are public, and earn all points.
awk -v mine="$mine" '{ gsub(/[ \t]/, "") }
    length < 25 || /^#/ { next }
    FILENAME != mine { if (FILENAME ~ /\/mine\.c$/) handed_out[$0]; else course[$0]; next }
    !($0 in handed_out) { all++; same += $0 in course }
    END { if (2 * same > all) printf "    %d of %d lines stand in the course\047s own tests\n", same, all }' "$chapter"/tests/*.c "$mine"
echo "The tests pass with the right version and reject $(rejected) of $((all - known)) wrong ones$(
    [ "$known" -eq 0 ] || echo " (and $known that the tests handed out reject)"): $(exercise_lines |
    awk -v share="$(rejected)" -v all="$((all - known))" '$2 + 0 > 0 && $3 == "mutants" { printf "%.1f of %d points", all ? $2 * share / all : 0, $2 }')."
