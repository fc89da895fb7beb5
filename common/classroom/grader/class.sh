# shellcheck shell=sh
# What a command for a whole class begins with: sourced by grade_all.sh and grade_tests_all.sh, which set $command, $folder and
# $chapter. Refuses what is none, and sets $known, the chapter's folder, $points, and $all, how many submissions there are.
. common/classroom/starter/exercise.sh

die() {
    echo "$command: $1: $2" >&2
    exit 2
}
[ -d "$folder" ] || die FOLDER "expected a folder of submissions, found '$folder'"
known=$(exercise_chapter "$chapter")
[ -n "$known" ] || die CHAPTER "expected the chapter that they are of, as in CHAPTER=03, found '$chapter'"
points=$known/exercise/points
all=$(ls "$folder" | grep -c .)
[ "$all" -gt 0 ] || die "$folder" 'expected submissions, found an empty folder'

# The name of submission number $1.
submission() { ls "$folder" | sed -n "${1}p"; }
