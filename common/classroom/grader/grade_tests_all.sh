#!/bin/sh
# grade_tests_all.sh FOLDER CHAPTER [REPORTS] - how many wrong versions the tests of every submission in FOLDER reject.
#
# One submission after the other, for each is tried on as many wrong versions at a time as make may (JOBS, as in
# grade_tests.sh). REPORTS (BUILD/reports/tests unless given) gets what is said of each, in a file of its name, and
# tests.csv, a line for each; but none for the one that it is at when it is interrupted.
build=${BUILD:-build} folder=$1 chapter=$2 reports=${3:-${BUILD:-build}/reports/tests}
command=grade-tests-all
. common/classroom/grader/class.sh
worth=$(exercise_lines | awk '$3 == "mutants" { sum += $2 } END { print sum + 0 }')

rm -rf "$reports/submissions"
mkdir -p "$reports/submissions" || exit 2
echo 'submission,rejected,versions,earned,points,note' >"$reports/tests.csv"
number=0 interrupted=''
trap 'interrupted=yes' INT TERM HUP
while [ "$number" -lt "$all" ]; do
    number=$((number + 1))
    name=$(submission "$number")
    [ -t 2 ] && printf '\r%d of %d ' "$number" "$all" >&2
    said=$reports/submissions/$name
    BUILD=$build sh "$(dirname "$0")/grade_tests.sh" submission "$folder/$name" "$known" >"$said" 2>&1 </dev/null
    [ -z "$interrupted" ] || break
    # a name that begins like a formula must not become one in a spreadsheet
    sed '/^make.*\*\*\*/d' "$said" | NAME=$name awk -v worth="$worth" '
        { last = $0 }
        END {
            name = ENVIRON["NAME"]
            gsub(/[[:cntrl:]]/, " ", name)
            if (name ~ /^[=+@-]/) name = "\047" name
            gsub(/"/, "\"\"", name)
            if (match(last, /reject [0-9]+ of [0-9]+ wrong ones/)) {
                split(substr(last, RSTART, RLENGTH), word, " ")
                rejected = word[2]; versions = word[4]
                earned = sprintf("%.1f", versions > 0 ? worth * rejected / versions : 0)
            } else {
                earned = "0.0"
                gsub(/"/, "\"\"", last)
            }
            printf "\"%s\",%s,%s,%s,%d,\"%s\"\n", name, rejected, versions, earned, worth, (rejected == "" ? last : "")
        }' >>"$reports/tests.csv"
done
[ -t 2 ] && printf '\r\033[K' >&2
if [ -n "$interrupted" ]; then
    echo "Incomplete, for it was interrupted: $((number - 1)) of $all graded: $reports/tests.csv"
    exit 2
fi
echo "$all graded: $reports/tests.csv"
