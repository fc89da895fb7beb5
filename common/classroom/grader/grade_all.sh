#!/bin/sh
# grade_all.sh BUILD FOLDER [REPORTS [SEED]] CHAPTER - grades every submission in FOLDER, as many at a time as make may.
# grade_all.sh one NUMBER                                   - grades one of them, by what the first has exported
#
# A submission is a folder or an archive; its name is the student's. REPORTS (BUILD/reports/class-03 unless given) gets
# a folder of reports for each, and grades.csv, a line for each; if it is interrupted, for each that was graded by then.
# All get the same seed. JOBS in the environment is what make is to be told, as -j2. What else grade.sh wants is in the
# environment too.
if [ "$1" = one ]; then
    chapter=$known
else
    build=$1 folder=$2 reports=$3 seed=$4 chapter=$5
    [ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
fi
command=grade-all
. "$(dirname "$0")/class.sh"
case $seed in *[!0-9]* | ?????????????????*) die SEED "expected a whole number, found '$seed'" ;; esac
# How far they are, on a terminal.
bar() {
    [ -t 2 ] || return 0
    awk -v done="$(ls "$reports"/submissions/*/done 2>/dev/null | grep -c .)" -v all="$all" 'BEGIN {
        for (k = 0; k < 40; k++) bar = bar (k * all < done * 40 ? "#" : ".")
        printf "\r[%s] %d of %d ", bar, done, all }' >&2
}

# A student's reports stand under the submission's name.
if [ "$1" = one ]; then
    trap 'exit 2' INT TERM HUP  # what is interrupted is not done
    name=$(submission "$2")
    there=$reports/submissions/$name
    mkdir -p "$there"
    QUIET=1 sh "$(dirname "$0")/grade.sh" "$build" "$folder/$name" "$there" "$seed" "$known" "$name" 2>"$there/said" </dev/null
    touch "$there/done"
    bar
    exit 0
fi

mkdir -p "$reports/submissions" 2>/dev/null || die REPORTS "expected a folder that you may write to, found '$reports'"
rm -f "$reports"/submissions/*/done "$reports"/submissions/*/row.csv
bar
interrupted=''
export build folder reports seed known
trap 'interrupted=yes' INT TERM HUP
# shellcheck disable=SC2086  # JOBS is a word, or none
make -s --no-print-directory $JOBS -f common/classroom/grader/each.mk COMMAND="sh $0 one" FIRST=1 LAST="$all"
[ -t 2 ] && printf '\r\033[K' >&2

line=0 graded=0 failed=0
while [ "$line" -lt "$all" ]; do
    line=$((line + 1))
    name=$(submission "$line")
    there=$reports/submissions/$name
    [ -f "$there/done" ] || continue  # this was interrupted before
    if [ -f "$there/row.csv" ]; then
        graded=$((graded + 1))
    else
        failed=$((failed + 1)) note="not graded: $(head -n 1 "$there/said")"
        printf '%s\n' "grade-all: $name: $note" >&2
        printf 'submission,note\n%s,%s\n' "$(field "$name")" "$(field "$note")" >"$there/row.csv"
    fi
done
table
echo "${interrupted:+Incomplete, for it was interrupted: }$graded of $all graded with seed $seed: $reports/grades.csv"
[ -z "$interrupted" ] || exit 2
[ "$failed" -eq 0 ]
