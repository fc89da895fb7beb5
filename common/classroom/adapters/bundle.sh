#!/bin/sh
# bundle.sh gradescope|classroom50 CHAPTER OUT [PART [SEED [SEEDS]]] - what those take for an autograder.
#
# gradescope: OUT is a .zip to be uploaded, with setup.sh and run_autograder at its root. classroom50: OUT is a folder
# to be put into autograders/ASSIGNMENT/ of the classroom, with autograder.py. Both hold the course as folder course,
# chapter 06 only if it is what is graded, or 07, whose kernels run on its devices. Without a SEED every submission is
# graded with numbers of its own. SEEDS is a list NAME,SEED of the seeds of the questions. Nothing is written if OUT exists.
kind=$1 chapter=$2 out=$3 part=$4 seed=$5 seeds=$6
here=common/classroom/adapters

die() {
    echo "$kind: $1: $2" >&2
    exit 2
}
. common/classroom/starter/exercise.sh
folder=$(exercise_chapter "$chapter")
[ -n "$folder" ] && grep -q "^${folder%%_*} " common/classroom/grader/programs ||
    die CHAPTER "expected a chapter that is graded by outputs, as in CHAPTER=03, found '$chapter'"
[ -n "$out" ] || die OUT 'expected a name for what is made'
[ ! -e "$out" ] || die OUT "expected a new name, but '$out' is there already"
points=$folder/exercise/points
why=$(exercise_refused "$part")
[ -z "$why" ] || die PART "$why"
[ -z "$seeds" ] || [ -f "$seeds" ] || die SEEDS "expected a file of lines NAME,SEED, found '$seeds'"
case $seed in *[!0-9]*) die SEED "expected a whole number, found '$seed'" ;; esac
[ "$kind" = classroom50 ] || command -v zip >/dev/null || die zip 'expected it to be installed: Gradescope wants a .zip'

there=$(dirname "$out")
mkdir -p "$there" 2>/dev/null && [ -w "$there" ] || die OUT "expected a name in a folder that you may write to, found '$out'"

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$kind/course"
case $folder in 06_* | 07_*) kernels=none ;; *) kernels=06_flash_tiled_cuda ;; esac
tar -cf - --exclude=$kernels --exclude='*.svg' --exclude=results --exclude=golden --exclude='mistakes.*' \
    Makefile LICENSE common 0[1-7]_* | (cd "$work/$kind/course" && tar -xf -)
[ -z "$seeds" ] || cp "$seeds" "$work/$kind/course/seeds.csv"
for file in "$here/$kind"/*; do
    sed "s/@CHAPTER@/$folder/; s/@PART@/$part/; s/@SEED@/$seed/" "$file" >"$work/$kind/$(basename "$file")"
    chmod 755 "$work/$kind/$(basename "$file")"
done
if [ "$kind" = gradescope ]; then
    (cd "$work/gradescope" && zip -qr "$work/out.zip" .) && mv "$work/out.zip" "$out"
else
    mv "$work/classroom50" "$out"
fi && echo "$out: $(exercise_lines | awk -v parts="$part" '
    $3 ~ /^(output|counts|sanitizer|numbers)$/ && $1 != "part" && (parts == "" || index("," parts ",", "," $1 ",")) { sum += $2 }
    END { print sum + 0 }') points in all"
