#!/bin/sh
# grade_all.sh BUILD FOLDER [REPORTS [SEED]] CHAPTER - grades every submission in FOLDER, several at a time.
#
# A submission is a folder or an archive; its name is the student's. REPORTS (BUILD/reports/class unless given) gets
# a folder of reports for each, and grades.csv, a line for each. All get the same seed. JOBS in the environment says
# how many at a time; as many as there are cores otherwise. What else grade.sh wants is in the environment too.
build=$1 folder=$2 reports=${3:-$1/reports/class} seed=$4 chapter=$5

command=grade-all
. common/classroom/class.sh
why=$(exercise_refused "$PART")
[ -z "$why" ] || die PART "$why"
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
case $JOBS in *[!0-9]* | 0*) die JOBS "expected how many at a time, found '$JOBS'" ;; esac
[ -n "$JOBS" ] || JOBS=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

rm -rf "$reports/submissions"
mkdir -p "$reports/submissions" || exit 2
rm -f "$reports/grades.csv"

# Worker N of JOBS takes every JOBS-th submission, and a student's reports stand under the submission's name.
worker() {
    ls "$folder" | awk -v n="$1" -v jobs="$JOBS" 'NR % jobs == n { print NR }' | while read -r line; do
        name=$(submission "$line")
        there=$reports/submissions/$name
        mkdir -p "$there"
        QUIET=1 sh common/classroom/grade.sh "$build" "$folder/$name" "$there" "$seed" "$chapter" "$name" \
            2>"$there/said" </dev/null || touch "$there/failed"
        touch "$there/done"
    done
}
number=0
while [ "$number" -lt "$JOBS" ]; do
    worker "$number" &
    number=$((number + 1))
done

# How far they are, on a terminal.
finished() { ls "$reports"/submissions/*/done 2>/dev/null | grep -c .; }
while [ -t 2 ] && [ "$(finished)" -lt "$all" ]; do
    awk -v done="$(finished)" -v all="$all" 'BEGIN {
        for (k = 0; k < 40; k++) bar = bar (k * all < done * 40 ? "#" : ".")
        printf "\r[%s] %d of %d ", bar, done, all }' >&2
    sleep 1
done
wait
[ -t 2 ] && printf '\r\033[K' >&2

line=0 failed=0
while [ "$line" -lt "$all" ]; do
    line=$((line + 1))
    name=$(submission "$line")
    row=$reports/submissions/$name/row.csv
    if [ -f "$row" ]; then
        [ -f "$reports/grades.csv" ] || head -n 1 "$row" >"$reports/grades.csv"
        tail -n 1 "$row" >>"$reports/grades.csv"
    else
        failed=$((failed + 1))
        echo "grade-all: $name: not graded: $(head -n 1 "$reports/submissions/$name/said")" >&2
    fi
done
echo "$((all - failed)) of $all graded with seed $seed: $reports/grades.csv"
[ "$failed" -eq 0 ]
