#!/bin/sh
# starter.sh CHAPTER OUT [PARTS] [SEED] - writes a chapter's starter to the folder OUT (the README.md above describes
# it). From the Makefile come EARLIER, the linked sources of earlier chapters, and FLAGS, C's options. Writes nothing
# on an error.
chapter=$1 out=$2 parts=$3 seed=${4:-0}
number=${chapter%%_*}
here=common/classroom/starter
points=$chapter/exercise/points
. "$here/exercise.sh"

refuse() { printf '%s\n' "make starter-$number: $1" >&2; exit 2; }

[ -n "$out" ] || refuse "OUT: expected the name of a folder to be written, as in OUT=starter"
[ ! -e "$out" ] && [ ! -L "$out" ] || refuse "OUT=$out: it is there already; expected a name that is free"
case $out in *[!A-Za-z0-9_./-]*) refuse "OUT=$out: expected letters, digits and ._-/ only, for make cannot handle others" ;; esac
parent=$(dirname "$out")
[ -d "$parent" ] && [ -w "$parent" ] || refuse "OUT=$out: there is no folder $parent that you may write to"
case $seed in '' | *[!0-9]*) refuse "SEED=$seed: expected a whole number, 0 for the figures as published" ;; esac
[ "${#seed}" -le 9 ] || refuse "SEED=$seed: expected at most 9 digits"

# Without PART=, all parts with points that fit together; tests and bugs have starters of their own, since
# they begin with the right chapter.
whole_chapter='tests bugs'
known=$(exercise_parts | tr '\n' ' ')
if [ -z "$parts" ]; then
    for part in $known; do
        case " $whole_chapter " in *" $part "*) continue ;; esac
        [ "$(exercise_worth "$part")" -eq 0 ] || parts="$parts $part"
    done
fi
parts=$(echo "$parts" | tr ',' ' ')
for part in $parts; do
    case " $known " in *" $part "*) ;; *) refuse "PART=$part: expected one of: ${known% }" ;; esac
    case " $whole_chapter " in *" $part "*)
        # shellcheck disable=SC2086
        [ "$(set -- $parts; echo $#)" -eq 1 ] || refuse "PART=$part: comes by itself, for it begins with the chapter as it should be" ;;
    esac
done
parts=$(echo $parts)
stubbed=
case " $whole_chapter " in *" $parts "*) ;; *) stubbed=$(exercise_stubbed $parts) ;; esac
case $parts in tests) with_tests= ;; *) with_tests=yes ;; esac

work=$(mktemp -d "$parent/.starter-XXXXXX") || refuse "OUT=$out: cannot write in $parent"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

list() { find "$@" 2>/dev/null | sort; }
each() { printf '%s\n' "$@"; }

# The chapter without solutions; the sources of common and earlier chapters that it needs.
own=$(list "$chapter" -type f ! -name planted.txt ! -path "$chapter/machines/*" \
    ! -name '*.md' ! -name '*.ipynb' ! -path '*/exercise/numbers*' ! -path '*/tests/*')
[ -z "$with_tests" ] || own="$own $(list "$chapter/tests" -type f ! -name mine.c ! -name 'mistakes.*')"
[ "$parts" != bugs ] || own="$own $chapter/exercise/planted.txt common/tools/mistakes.awk common/tools/racecheck_cuda.sh"
# shellcheck disable=SC2086
{
    each $own $EARLIER common/tests/*.c | grep -E '\.cu?$' >"$work/sources"
    awk -f $here/needed.awk "$work/sources" | grep -vE '^common/tests/(test|fuzz)_'
    each $own "$points"
    list common/check common/cpu common/files common/lab common/measure common/problem common/program common/setup.sh common/docs/GLOSSARY.md
    list common/data common/tests/golden -type f ! -name '*.py'
    case $own in *.cu*) list common/cuda -type f ! -name '*.md' ! -path '*/tests/*' ;; esac
    case $number in 04 | 05)  # the model in which the student's step can write
        for file in python.mk binding.c "steps_$number.c" fetch.sh find.sh model.sh flash.py look.py write.py write_check.py write_reference.json; do
            [ ! -f "common/python/$file" ] || echo "common/python/$file"
        done ;;
    esac
    list common/tests/alone -type f
    each common/tools/typed.mk common/tools/build.mk common/tools/tests.mk common/tools/chapters.mk
    each common/classroom/starter/exercise.sh common/classroom/starter/gaps.awk common/classroom/starter/student.sh
} | sort -u >"$work/files"
course=$work/course  # everything but the student's files
mkdir "$course"
tar -cf "$work/files.tar" -T "$work/files" && tar -xpf "$work/files.tar" -C "$course" || exit 2
rm "$work/sources" "$work/files" "$work/files.tar"
mkdir "$course/common/earlier"
for other in "$course"/0[1-7]_*; do
    [ "$other" = "$course/$chapter" ] || mv "$other" "$course/common/earlier/"
done
[ -n "$with_tests" ] || rm -f "$course"/common/tests/softmax_rows.* "$course"/common/tests/softmax_program.*

# The gaps, and their repetitions in later steps.
for file in $({
    for part in $parts $stubbed; do exercise_gaps "$part" | tr ' ' '\n' | sed 's/:.*//'; done
    grep -rl '// BEGIN LATER' "$chapter" --include='*.c' | sed "s|^$chapter/||"
} | sort -u); do
    awk -v gaps="$(exercise_numbers "$file" $parts)" -v others="$(exercise_numbers "$file" $stubbed)" -v parts="$(echo $parts $stubbed)" -f $here/cut.awk "$chapter/$file" >"$course/$chapter/$file" || exit 2
done

# The exercise without hints and marking guide, the hints, and the chapter's pages without solutions.
figures=$chapter/exercise/numbers.private  # the teacher's own
[ -f "$figures" ] || figures=$chapter/exercise/numbers
sh $here/numbers.sh "$figures" "$seed" >"$work/numbers" &&
    awk -f $here/variant.awk "$work/numbers" "$chapter/exercise/README.md" >"$work/exercise.md" &&
    awk -v chapter="$chapter" -v parts="$parts" -v others="$(echo $stubbed)" -f $here/handout.awk "$work/exercise.md" >"$course/$chapter/exercise/README.md" || exit 2
awk -f $here/hints.awk "$chapter/exercise/README.md" >"$course/common/hints.txt" || exit 2
gapped=$(for part in $parts $stubbed; do exercise_gaps "$part"; done | tr ' ' '\n' | sed -n "s|^\(..*\):.*|$chapter/\1|p" | sort -u)
for page in "$chapter"/*.md "$chapter"/pages/*.md; do
    [ -f "$page" ] || continue
    mkdir -p "$course/$(dirname "$page")"
    # shellcheck disable=SC2086
    awk -f $here/page.awk $gapped "$page" | sed '/^cc /{ s/^/cd course \&\& /; s/ -I\. / -I. -Icommon\/earlier /; s/ \(0[1-7]_\)/ common\/earlier\/\1/g; s|common/earlier/\('"$chapter"'\)|\1|g; }' >"$course/$page" || exit 2
done
# The student's files.
mkdir "$work/$chapter"
for part in $parts; do
    for file in $(exercise_gaps "$part" | tr ' ' '\n' | sed 's/:.*//' | sort -u); do
        mkdir -p "$work/$chapter/$(dirname "$file")"
        cp -p "$course/$chapter/$file" "$work/$chapter/$file" || exit 2
    done
done
case " $parts " in *' tests '*)
    mkdir -p "$work/$chapter/tests" "$course/$chapter/tests"
    cp "$chapter/tests/mine.c" "$work/$chapter/tests/test_mine.c" || exit 2 ;;
esac
case $parts in bugs)
    for bug in 1 2 3 4; do
        printf '# Bug %s: the report; which two threads do what to which memory; an order that goes wrong; the repair\n\n' $bug
    done >"$work/$chapter/answers.txt" ;;
esac
case " $parts " in *' questions '*)
    awk -f $here/form.awk "$work/numbers" "$work/exercise.md" >"$work/$chapter/answers.txt" || exit 2 ;;
esac
rm "$work/numbers" "$work/exercise.md"

cp Makefile LICENSE "$course/"
{
    echo "chapter $chapter"
    echo "parts $(echo "$parts" | tr ' ' ',')"
    echo "seed $seed"
    echo "course $(git describe --always --tags --dirty 2>/dev/null || echo unknown)"
} >"$work/STARTER"
# shellcheck disable=SC2086  # words, one a line
each $FLAGS -Icourse -Icourse/common/earlier >"$work/compile_flags.txt"

# The folder's first files: lines `@KIND@ …` are for starters with parts of that kind.
case $parts in tests | bugs | questions) kinds=$parts ;; *) kinds=code ;; esac
[ ! -f "$work/$chapter/answers.txt" ] || kinds="$kinds answers"
title=$(sed -n '1s/^# //p' "$chapter/exercise/README.md")
cp $here/folder/Makefile "$work/"
for page in README.md AGENTS.md; do
    awk -v kinds="$kinds" -v title="$title" -v chapter="$chapter" -v number="$number" '
        FILENAME ~ /Makefile$/ { if (sub(/^#\? /, "")) help = help (help == "" ? "" : "\n") $0; next }
        match($0, /^@[a-z]+@ /) { if (!index(" " kinds " ", " " substr($0, 2, RLENGTH - 3) " ")) next; $0 = substr($0, RLENGTH + 1) }
        /^1\. / { n = 0 }
        /^[0-9]+\. / { sub(/^[0-9]+/, ++n) }
        { gsub(/@TITLE@/, title); gsub(/@CHAPTER@/, chapter); gsub(/@NUMBER@/, number); gsub(/@HELP@/, help); print }' \
        $here/folder/Makefile "$here/folder/$page" >"$work/$page" || exit 2
done

# Links only to files in the starter, or the web.
(cd "$work" && find . -mindepth 1 | sed 's|^\./||') >"$work/names"
(cd "$work" && find . -name '*.md' | sed 's|^\./||') | while read -r page; do
    awk -v folder="$(dirname "$page")" -f $here/links.awk "$work/names" "$work/$page" >"$work/page" && cp "$work/page" "$work/$page" || exit 2
done
rm -f "$work/names" "$work/page"

chmod 755 "$work"
mv "$work" "$out" || refuse "OUT=$out: cannot be written"
trap - EXIT
echo "$out: chapter $number, parts: $parts"
