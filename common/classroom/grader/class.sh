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

# How many submissions there are, and the name of number $1: any name that a file may have.
submissions() { set -- "$folder"/*; [ -e "$1" ] && echo $#; }
submission() { number=$1; set -- "$folder"/*; shift "$((number - 1))"; printf '%s\n' "${1##*/}"; }
all=$(submissions) || die "$folder" 'expected submissions, found an empty folder'
