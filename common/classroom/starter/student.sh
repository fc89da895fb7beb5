#!/bin/sh
# student.sh test|debug|hint|watch|progress|submit|sync|objects [PART] - a starter's commands, in its folder course. The
# student's files, in the folder above, are copied over the course's.
chapter=$(sed -n 's/^chapter //p' ../STARTER)
points=$chapter/exercise/points
. common/classroom/starter/exercise.sh
command=$1 only=$2
parts=$(sed -n 's/^parts //p' ../STARTER | tr ',' ' ')
set -f  # suite/* is a test filter
export OMP_WAIT_POLICY=passive  # waiting threads leave their core to other tests

if [ -n "$only" ]; then
    case " $parts " in *" $only "*) ;; *) echo "make $command: PART=$only: expected one of: $parts" >&2; exit 2 ;; esac
fi

# Copies the student's files, of all parts or of $1, to their places.
files_of() { for one in ${1:-$parts}; do exercise_files "$one" | tr ' ' '\n' | sed -e 's/:.*//' -e '/^-$/d'; done | sort -u; }
for file in $(files_of); do
    mine=../$chapter/$file
    if [ -f "$mine" ]; then
        cmp -s "$mine" "$chapter/$file" || { mkdir -p "$chapter/$(dirname "$file")" && cp "$mine" "$chapter/$file"; }
    elif exercise_lines | grep -q "[ ,]$file:"; then
        echo "make $command: there is no $chapter/$file; expected it where the starter had it" >&2
        exit 2
    else
        rm -f "$chapter/$file"
    fi
done

# A part's empty gaps, as "FILE, lines 22 and 40", or nothing.
empty_gaps() {
    for gap in $(exercise_gaps "$1"); do
        awk -f common/classroom/starter/gaps.awk "$chapter/${gap%:*}" |
            awk -v n="${gap#*:}" -v file="$chapter/${gap%:*}" '$1 == n && $3 == "untouched" { print file, $2 }'
    done | awk '
        function put() { if (file != "") printf "%s%s, line%s %s", (files++ ? " and " : ""), file, (many ? "s" : ""), lines (many ? " and " : "") last }
        $1 != file { put(); file = $1; lines = ""; last = $2; many = 0; next }
        { lines = lines (many ? ", " : "") last; last = $2; many = 1 }
        END { put(); if (files) print "" }'
}
# Lines with a STUB next to new code, which the STUB may make unreachable.
stubs_left() {
    for gap in $(exercise_gaps "$1"); do
        awk -f common/classroom/starter/gaps.awk "$chapter/${gap%:*}" |
            awk -v n="${gap#*:}" -v file="$chapter/${gap%:*}" '$1 == n && $3 == "touched" && $4 != "" { print "    " file ", line " $4 ": the line with STUB is still there" }'
    done
}
# The questions' numbers: how many there are, how many are answered, and lines that are no numbers.
numbers() {
    [ ! -f "$chapter/answers.txt" ] || awk '
        { sub(/\r$/, "") }
        /^[0-9]+\.[A-Za-z_0-9]+ *=/ {
            asked++
            value = $0
            sub(/^[^=]*= */, "", value)
            gsub(/[ \t]/, "", value)
            if (value ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/) given++
            else if (value != "") bad = bad "\n    " $0 ": expected a number, as 1234 or 1.5e3"
        }
        END { printf "%d of %d%s\n", given, asked, bad }' "$chapter/answers.txt"
}
# As in "1 test passes", "2 tests pass", "1 of 2 tests fails".
of_number() { if [ "$1" -eq 1 ]; then echo "$2"; else echo "$3"; fi; }
that_pass() { echo "$passed $(of_number "$passed" 'test passes' 'tests pass')"; }
that_fail() { echo "$failed of $((passed + failed)) $(of_number $((passed + failed)) test tests) $(of_number "$failed" fails fail)"; }
whole_missing() { for file in $(exercise_whole "$1"); do [ -f "$chapter/$file" ] || echo "$chapter/$file"; done; }

# Runs one filter's tests; ends them, and writes build/hangs, when no test has begun or ended for $limit seconds.
limit=${LIMIT:-15}
run_filter() {
    rm -f build/hangs
    "build/tests/$chapter" --filter="$1" --tap=build/tap.1 --verbose >build/log 2>&1 &
    running=$!
    (
        idle=0 before=''
        while sleep 1; do
            now=$(wc -c <build/log)
            if [ "$now" = "$before" ]; then idle=$((idle + 1)); else idle=0; fi
            before=$now
            [ ! -t 2 ] || [ $idle -lt 3 ] || printf '\r%s waits for a test: %d of at most %d seconds ' "$part" $idle "$limit" >&2
            [ $idle -lt "$limit" ] || { : >build/hangs && kill -9 $running; }  # and its children
        done
    ) &
    watching=$!
    trap 'kill -9 $running $watching; exit 130' INT TERM
    wait $running
    kill $watching
    trap - INT TERM
    [ ! -t 2 ] || printf '\r\033[K' >&2
} 2>/dev/null

# Runs a part's tests. Leaves failed ones in build/failed, counts in $passed and $failed, and the emulator's first
# report, which ends its test, in build/engine.
run_tests() {  # part
    : >build/tap
    : >build/engine
    filters=$(exercise_tests "$1")
    [ "$1" = tests ] && filters='*/*'
    for filter in $filters; do
        run_filter "$filter"
        cat build/tap.1 >>build/tap 2>/dev/null
        rm -f build/tap.1
        [ -s build/engine ] || awk '/^CUDA on the CPU:/ && !n++ { wanted = 1; print; next } wanted && /^ +[^ ]/ { print; next } { wanted = 0 }' build/log >build/engine
        if [ -f build/hangs ]; then
            echo "not ok - $filter: still running after $limit seconds. Is there a loop in $1 that never ends?" >>build/tap
            hanging=$1
            break
        fi
    done
    passed=$(grep '^ok ' build/tap | grep -vc '# SKIP')
    failed=$(grep -c '^not ok ' build/tap)
    awk '/^(not )?ok / { wanted = /^not ok /; if (wanted) { sub(/^not ok - /, ""); sub(/ *\([0-9.]*s\)$/, ""); print "    " $0 } next }
         wanted && /^ +(- |---|\.\.\.|assertions:|failures:)/ { next }
         /^#/ { wanted = 0 }
         wanted && NF { sub(/^ */, "        "); sub(/Assertion failed: /, ""); print }' build/tap >build/failed
}

note() { echo "$(date '+%Y-%m-%d %H:%M') $*" >>../progress.log; }

test_part() {
    part=$1 title=$(exercise_title "$1")
    missing=$(whole_missing "$part" | tr '\n' ' ')
    case $part in
    questions | bugs)
        if [ ! -f "$chapter/answers.txt" ]; then
            say "$part" 'to be written' "there is no $chapter/answers.txt"
            note "$part empty"
            return 1
        fi
        if [ "$part" = bugs ]; then
            # A heading per bug, with text for a person to grade.
            given=$(awk '/^# Bug/ { asked++; empty = 1; next } NF && empty { given++; empty = 0 } END { printf "%d of %d", given, asked }' "$chapter/answers.txt")
            say "$part" "$given" "a person reads $chapter/answers.txt"
            note "$part written $given"
            return 0
        fi
        given=$(numbers | head -n 1)
        say "$part" "$given" "numbers are in $chapter/answers.txt; a person reads the text"
        note "$part written $given"
        numbers | grep '^    ' && return 1
        return 0 ;;
    esac
    if [ -n "$missing" ]; then
        say "$part" 'to be written' "$title: write ${missing% }"
        note "$part empty"
        return 1
    fi
    gaps=$(empty_gaps "$part")
    [ -n "$(exercise_tests "$part")" ] || [ "$part" = tests ] || { say "$part" 'there' "$title: a person reads it"; note "$part written"; return 0; }
    run_tests "$part"
    if [ -n "$gaps" ]; then
        say "$part" 'to be written' "$title: write it in $gaps, between BEGIN SOLUTION and END SOLUTION ($(that_fail))"
        note "$part empty"
        return 1
    elif [ "$((passed + failed))" -eq 0 ]; then
        say "$part" 'no test ran' "look at course/build/log"
        return 1
    elif [ "$failed" -gt 0 ]; then
        say "$part" 'not yet' "$(that_fail); the first of them:"
        awk '/^    [^ ]/ { n++ } n <= 3' build/failed | head -n 24
        sed 's/^/        /' build/engine
        stubs_left "$part"
        note "$part fails $failed of $((passed + failed))"
        sed -n "s/^not ok - \(.*\)::\([^: ]*\).*/$part \1\/\2/p" build/tap | head -n 1 >>build/first_failed
        return 1
    fi
    if [ "$part" = tests ]; then
        # Never complete: tests are graded by wrong versions, which only the course has.
        say "$part" 'written' "$(that_pass); how many wrong versions they reject is counted after you hand in"
        note "$part written $passed"
        return 0
    fi
    say "$part" 'done' "$(that_pass)"
    note "$part done $passed of $passed"
}
say() { printf '%-10s %-14s %s\n' "$1" "$2" "$3"; }

case $command in
test)
    status=0 points_now=0 points_tested=0 points_more=0
    rm -f build/first_failed
    hanging=''
    for part in ${only:-$parts}; do
        tested=$(exercise_tested "$part")
        if [ -n "$hanging" ] && [ -n "$(exercise_tests "$part")" ]; then  # which this part may need
            say "$part" 'not tested' "because $hanging does not come to its end"
            points_tested=$((points_tested + tested)) points_more=$((points_more + $(exercise_worth "$part") - tested))
            continue
        fi
        if test_part "$part"; then points_now=$((points_now + tested)); else status=1; fi
        points_tested=$((points_tested + tested))
        points_more=$((points_more + $(exercise_worth "$part") - tested))
    done
    [ $points_tested -eq 0 ] || echo "$points_now of $points_tested points so far$([ $points_more -eq 0 ] || echo "; $points_more more are marked after you hand in")"
    [ -n "$WATCH" ] || exit $status ;;  # make would say that there was an error
objects)
    # For a header, the first kernel that includes it: all would show the same messages.
    files_of | while read -r file; do
        [ -f "$chapter/$file" ] || continue
        case $file in
        *.c) echo "build/obj/$chapter/${file%.c}.o" ;;
        *.cu) echo "build/obj/cpu/$chapter/${file%.cu}.o" ;;
        *.cuh) grep -rl --include='*.cu' "\"$chapter/$file\"" "$chapter" | sort | sed -n '1s|\(.*\)\.cu$|build/obj/cpu/\1.o|p' ;;
        esac
    done ;;
debug)
    # The part and its first failed test; else the first part with gaps, and its first test.
    failed=$(grep "^${only:-.*} " build/first_failed 2>/dev/null | head -n 1)
    part=${only:-${failed%% *}}
    [ -n "$part" ] || part=$(for p in $parts; do [ -z "$(exercise_gaps "$p")" ] || echo "$p"; done | head -n 1)
    gap=$(exercise_gaps "${part:-none}" | tr ' ' '\n' | head -n 1)
    [ -z "$gap" ] || line=$(awk -f common/classroom/starter/gaps.awk "$chapter/${gap%:*}" | awk -v n="${gap#*:}" '$1 == n { print $2 + 1 }')
    filter=${failed#* }
    filter=${filter:-$(exercise_tests "${part:-none}" | tr ' ' '\n' | head -n 1)}
    run="build/debug/tests/$chapter --debug '${filter:-*}'"
    if command -v gdb >/dev/null; then
        debugger="gdb${gap:+ -ex 'break ${gap%:*}:$line'} -ex run --args"
    elif command -v lldb >/dev/null; then
        debugger="lldb${gap:+ -o 'breakpoint set -f ${gap%:*} -l $line'} -o run --"
    else
        echo "make debug: there is no gdb and no lldb here; expected one of them, each in a package of its name" >&2
        exit 2
    fi
    echo "$([ -n "$failed" ] && echo 'On the first test that failed:' || echo 'On the first test of the part:')"
    echo "    cd course && $debugger $run"
    echo 'On the program:'
    echo "    cd course && $debugger build/debug/$chapter" ;;
watch)
    # Each part's files as last tested. On a terminal, polls for a key every second.
    if [ -t 0 ]; then
        before=$(stty -g)
        trap 'stty "$before"' EXIT
        trap 'exit 0' INT TERM HUP
        stty -icanon -echo min 0 time 10
    fi
    while :; do
        changed=''
        for part in ${only:-$parts}; do
            now=$(for file in $(files_of "$part"); do cat "../$chapter/$file" 2>/dev/null; done | cksum)
            eval "[ \"\$seen_$part\" = \"$now\" ] || { seen_$part='$now' changed=yes; (cd .. && WATCH=yes MAKEFLAGS='' make -s test PART=$part </dev/null); }"
        done
        [ -z "$changed" ] || echo 'Waiting for a file to change. h: the next hint, q: the end'
        key=q
        if [ -t 0 ]; then key=$(dd bs=1 count=1 2>/dev/null); elif ! sleep 1; then exit; else key=''; fi
        case $key in h) (cd .. && MAKEFLAGS='' make -s hint PART="$only") ;; q) exit 0 ;; esac
    done ;;
hint)
    last() { sed -n "s/^[^ ]* [^ ]* $1 //p" ../progress.log 2>/dev/null | tail -n 1; }
    part=$only
    for p in $parts; do
        [ -n "$part" ] && break
        grep -q "^@.* $p .*[123] " "common/hints.txt" || continue
        case $(last "$p") in done*) ;; *) part=$p ;; esac
    done
    [ -n "$part" ] || { echo "Every part that has hints is done."; exit 0; }
    grep -q "^@.* $part .*[123] " "common/hints.txt" || { echo "$part has no hints."; exit 0; }
    given=$(grep -c " $part hint " ../progress.log 2>/dev/null)
    level=$((${given:-0} < 3 ? ${given:-0} + 1 : 3))
    awk -v part="$part" -v level="$level" '
        /^@/ { flush(); wanted = 0; for (k = 2; k <= NF && $k !~ /^[123]$/; k++) if ($k == part) wanted = 1
               wanted = wanted && $k == level; if (wanted) { sub(/^@.* [123] /, ""); print part ", hint " level " of 3: " $0 } next }
        # Paragraphs, wrapped at 96 characters, never within backticks.
        function flush() { if (row != "") print "    " row; row = "" }
        wanted && NF == 0 { flush(); print "" }
        wanted {
            for (k = 1; k <= NF; k++) {
                word = word (word == "" ? "" : " ") $k
                if (gsub(/`/, "`", word) % 2) continue
                if (row != "" && length(row " " word) > 92) flush()
                row = row (row == "" ? "" : " ") word
                word = ""
            }
        }
        END { flush() }' "common/hints.txt"
    [ "${given:-0}" -ge 3 ] || note "$part hint $level" ;;
progress)
    printf '%-10s %6s  %-24s %-18s %s\n' part points state 'done since' hints
    for part in $parts; do
        awk -v part="$part" -v worth="$(exercise_worth "$part")" '
            $3 == part && $4 == "hint" { hints = $5; next }
            $3 == part { state = $4; for (k = 5; k <= NF; k++) state = state " " $k
                         if ($4 == "done") { if (since == "") since = $1 " " $2 } else since = "" }
            END { if (state == "") state = "not tested yet"; if (state == "empty") state = "to be written"
                  sub(/^done .*/, "done", state); if (state ~ /^fails|^written [0-9]+$/) state = state " test" (state ~ / 1$/ ? "" : "s")
                  printf "%-10s %6d  %-24s %-18s %s\n", part, worth, state, (since == "" ? "-" : since), (hints == "" ? "-" : hints) }' \
            "$([ -f ../progress.log ] && echo ../progress.log || echo /dev/null)"
    done ;;
submit)
    files=STARTER
    for file in $(files_of); do
        if [ -L "../$chapter/$file" ]; then
            echo "make submit: $chapter/$file: a link; expected a file" >&2
            exit 2
        fi
        [ -f "../$chapter/$file" ] && files="$files $chapter/$file"
    done
    # shellcheck disable=SC2086
    COPYFILE_DISABLE=1 tar -czf ../submission.tar.gz -C .. $files || exit 2
    echo "submission.tar.gz:"
    echo "$files" | tr ' ' '\n' | sed 's/^/    /'
    for part in $parts; do
        [ -z "$(empty_gaps "$part")$(whole_missing "$part")" ] || echo "$part is still to be written."
        [ "$part" != questions ] || echo "Numbers in answers.txt: $(numbers)"
    done ;;
sync) ;;
*) echo "student.sh: $command: expected test, debug, hint, watch, progress, submit, sync or objects" >&2; exit 2 ;;
esac
