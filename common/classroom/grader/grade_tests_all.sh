#!/bin/sh
# grade_tests_all.sh FOLDER CHAPTER [REPORTS] - how many wrong versions the tests of every submission in FOLDER reject.
#
# One submission after the other, for each is tried on as many wrong versions at a time as make may (JOBS, as in
# grade_tests.sh). REPORTS (BUILD/reports/class-03 unless given) gets what is said of each, in a file of its name, and
# grades.csv, a line for each; but none for the one that it is at when it is interrupted.
build=${BUILD:-build} folder=$1 chapter=$2 reports=$3
command=grade-tests-all
. "$(dirname "$0")/class.sh"
part=$(exercise_lines | awk '$3 == "mutants" { print $1; exit }')

mkdir -p "$reports/submissions" 2>/dev/null || die REPORTS "expected a folder that you may write to, found '$reports'"
rm -f "$reports"/submissions/*/tests.csv
number=0 interrupted=''
trap 'interrupted=yes' INT TERM HUP
while [ "$number" -lt "$all" ]; do
    number=$((number + 1))
    name=$(submission "$number")
    [ -t 2 ] && printf '\r%d of %d ' "$number" "$all" >&2
    there=$reports/submissions/$name
    mkdir -p "$there"
    BUILD=$build sh "$(dirname "$0")/grade_tests.sh" submission "$folder/$name" "$known" >"$there/tests.txt" 2>&1 </dev/null
    [ -z "$interrupted" ] || break
    note=$(sed '/^make.*\*\*\*/d' "$there/tests.txt" | tail -n 1)
    earned=$(echo "$note" | sed -n 's/.*: \([0-9.]*\) of [0-9]* points\.$/\1/p')
    case $earned in '' | 0.0) earned=0.0 note="$part: $note" ;; *) note=$(sed -n "s/^ *\([0-9]* of [0-9]* lines stand\)/$part: \1/p" "$there/tests.txt") ;; esac
    printf 'submission,%s mutants,note\n%s,%s,%s\n' "$part" "$(field "$name")" "$earned" "$(field "$note")" >"$there/tests.csv"
done
[ -t 2 ] && printf '\r\033[K' >&2
table
if [ -n "$interrupted" ]; then
    echo "Incomplete, for it was interrupted: $((number - 1)) of $all graded: $reports/grades.csv"
    exit 2
fi
echo "$all graded: $reports/grades.csv"
