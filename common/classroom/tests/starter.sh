#!/bin/sh
# starter.sh CHAPTER PARTS FOLDER - proves a starter, PARTS as for starter.sh, or "" for what it gives by itself:
#
#     it builds without a warning; untouched, its tests fail and print where to write; nothing crashes or hangs;
#     each part passes with its solution; no page and no file shows the solution; its links lead somewhere;
#     it begins with a README.md, and has few names at its top.
#
# The tests run in the whole exercise. Of a part only the student's files are compiled, unless it is not in the whole. What the
# course has built already is not built again, its largest problems (SHORT=yes) are left to its own tests, and only kernels
# that a part's tests run are made (kernels.sh). EARLIER, CC and CXX come from the Makefile.
chapter=$1 parts=$2 folder=$3 build=${BUILD:-build}
points=$chapter/exercise/points
. common/classroom/starter/exercise.sh
name=${chapter%%_*}${parts:+ $parts}

fail() {
    printf '%-16s %s\n' "$name" "$1"
    [ ! -s "$folder.log" ] || tail -n 25 "$folder.log" | sed 's/^/    /'
    exit 1
}
# The course's objects, with their times: not those of later chapters, and kernels only where the chapter has some.
seed() {
    rm -rf "$folder/course/build"
    mkdir -p "$folder/course/build/obj"
    cp -p "$build"/*.a "$folder/course/build/"
    for there in "$build"/obj/*; do
        objects=${there##*/}
        case $objects in
        0[1-7]_*) [ "${objects%%_*}" -le "${chapter%%_*}" ] || continue ;;
        cpu | instrumented | cuda) [ -d "$chapter/kernels" ] || continue ;;
        common | watched) ;;
        *) continue ;;
        esac
        cp -Rp "$there" "$folder/course/build/obj/"
    done
}
# The kernels that parts are tested and graded by.
kernels_of() {
    for part; do
        exercise_tests "$part" | tr ' ' '\n' | sed -e 's|/.*||' -e 's|^cuda_||'
        awk -v number="${chapter%%_*}" -v part="$part" '$1 == number && $2 == part { print $3 }' common/classroom/grader/programs
    done | tr '\n' ' '
}
# Empties the gaps of the parts $*, and fills all others.
solve() {
    for file in $files $later; do
        awk -v gaps="$(exercise_numbers "$file" "$@")" -v parts="$*" -f common/classroom/starter/cut.awk "$chapter/$file" >"$folder.text"
        for there in "$folder/$chapter/$file" "$folder/course/$chapter/$file"; do
            [ ! -f "$there" ] || cmp -s "$folder.text" "$there" || cp "$folder.text" "$there"
        done
    done
}
run() { (unset BUILD; cd "$folder" && MAKEFLAGS='' LIMIT=120 make "$@") >"$folder.log" 2>&1; }

rm -rf "$folder" "$folder.log"
mkdir -p "$(dirname "$folder")"
sh common/classroom/starter/starter.sh "$chapter" "$folder" "$parts" >"$folder.log" 2>&1 || fail 'is not written'
parts=$(sed -n 's/^parts //p' "$folder/STARTER" | tr ',' ' ')
case $parts in tests | bugs) stubbed='' ;; *) stubbed=$(exercise_stubbed $parts) ;; esac
gapped=$(for part in $parts $stubbed; do exercise_gaps "$part"; done)
files=$(echo "$gapped" | tr ' ' '\n' | sed -n "s|:.*||p" | sort -u)
later=$(grep -rl '// BEGIN LATER' "$chapter" --include='*.c' | sed "s|^$chapter/||")

# shellcheck disable=SC2046  # names
python3 common/tools/course.py pages --only links $(find "$folder" -name '*.md') >"$folder.log" || fail 'has a link that leads nowhere'
grep -q "](course/$chapter/README.md)" "$folder/README.md" && grep -q "](course/$chapter/exercise/README.md)" "$folder/AGENTS.md" && ! grep -n '@[A-Za-z]*@' "$folder"/*.md >"$folder.log" ||
    fail 'has no README.md and AGENTS.md that lead to the lesson and the exercise'
[ "$(ls "$folder" | wc -l)" -le 7 ] || fail 'has more than seven names at its root, where build, progress.log and submission.tar.gz are to come'
find "$folder/$chapter" -type f | sed "s|^$folder/$chapter/||" | grep -vxF "$(for part in $parts; do exercise_files "$part" | tr ' ' '\n' | sed 's/:.*//'; done)" >"$folder.log" &&
    fail 'has files outside course that the student does not write'

# No solution: not in its gap, and no four lines of it in a row anywhere, but in the files that a line
# `shown PART FILES` names.
for gap in $gapped; do
    awk -f common/classroom/starter/gaps.awk "$folder/course/$chapter/${gap%:*}" | grep -q "^${gap#*:} .*untouched" || fail "$gap still has its solution"
done
leaks=$(for part in $parts $stubbed; do
    shown=$(exercise_lines | awk -v part="$part" '$1 == "shown" && $2 == part { gsub(/,/, "|", $3); print $3 }')
    for file in $(exercise_gaps "$part" | tr ' ' '\n' | sed -n 's|:.*||p' | sort -u); do
        numbers=$(exercise_numbers "$file" "$part")
        find "$folder" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.md' -o -name '*.txt' -o -name '*.html' \) |
            grep -vE "$chapter/(${shown:-none})\$" |
            xargs awk -v gaps="$numbers" -f common/classroom/tests/leaks.awk "$chapter/$file"
    done
done)
[ -z "$leaks" ] || { echo "$leaks" >"$folder.log"; fail 'shows the solution'; }

case " $parts " in *' passes '*)
    ! grep -n 'fast_exp(' "$folder/course/$chapter/lanes.c" >"$folder.log" || fail 'shows the passes in lanes.c, with other names' ;;
esac

# All included headers exist. Existing objects would not show it: make does not miss an old header.
list_of() { find "$folder/course" -name '*.c' -o -name '*.cu' -o -name '*.cpp' | sed -e "s|^$folder/course/||" -e 's|^common/earlier/||' -e 's|\.[a-z]*$||'; }
list_of | while read -r stem; do cat "$build/obj/$stem.d" "$build/obj/cpu/$stem.d" 2>/dev/null; done | tr ' \\' '\n\n' |
    sed -e '/^$/d' -e '/:$/d' -e '/^\//d' -e 's|^.*/obj/cuda/\(.*\)\.cpp$|\1.cu|' -e 's|^.*/obj/cuda/||' | sort -u |
    while read -r file; do [ -f "$folder/course/$file" ] || [ -f "$folder/course/common/earlier/$file" ] || echo "there is no $file"; done >"$folder.log"
[ ! -s "$folder.log" ] || fail 'lacks what it includes'

# An editor compiles as the tests do, a part of a starter as the whole.
for file in $([ -n "$2" ] || echo "$files"); do
    case $file in *.c) ;; *) continue ;; esac
    # shellcheck disable=SC2046  # options
    (cd "$folder" && ${CC:-cc} $(cat compile_flags.txt) -Werror -fsyntax-only "$chapter/$file") >"$folder.log" 2>&1 || fail "has a compile_flags.txt with which $file does not compile"
done

# Untouched.
seed
if [ -n "$2" ] && [ "$(exercise_worth "$2")" -gt 0 ]; then
    run -C course STRICT=-Werror $(cd "$folder/course" && sh common/classroom/starter/student.sh objects) || fail 'does not build'
    proved=compiles
else
    export KERNELS="$(kernels_of $parts)" CXX="sh $PWD/common/classroom/tests/kernels.sh ${CXX:-c++}"
    run STRICT=-Werror all || fail 'does not build'
    run STRICT=-Werror test SHORT=yes && fail 'passes untouched'
    [ -f "$folder/progress.log" ] || fail 'has tests that do not build'
    for part in $parts; do
        [ -n "$(exercise_gaps "$part")" ] || continue
        [ -n "$(exercise_tests "$part")" ] || fail "$part has no tests"
        grep "^$part  *to be written .*write it in $chapter/.*END SOLUTION ([1-9][0-9]* of [0-9]* tests* fails*)" "$folder.log" >/dev/null ||
            fail "$part does not say what to write"
    done
    grep -iE 'signal|crash|timed? ?out|still running|abort' "$folder"/course/build/tap* "$folder/course/build/failed" >"$folder.crash" 2>/dev/null &&
        { mv "$folder.crash" "$folder.log"; fail 'crashes untouched'; }
    proved='builds, fails untouched'
fi

# The parts' solutions come in one by one; each passes where the next parts are empty.
for part in $([ -n "$2" ] || echo "$parts"); do
    [ -n "$(exercise_tests "$part")" ] || continue
    solve $(exercise_stubbed "$part")
    KERNELS=$(kernels_of "$part")
    run STRICT=-Werror test PART="$part" SHORT=yes || fail "$part fails with its solution"
    grep -q "^$part  *done  *[1-9]" "$folder.log" || fail "$part runs no test"
done

# With all solutions it is the course itself, which runs all its tests.
solve
find "$folder/$chapter" "$folder/course/$chapter" -name '*.[ch]*' | while read -r file; do cmp -s "$file" "$chapter/${file#*/"$chapter"/}" || echo "$file"; done >"$folder.log"
[ ! -s "$folder.log" ] || fail 'is not the course with the solution back'
printf '%-16s %s\n' "$name" "$proved, is the course with its solution, does not show it"
rm -rf "$folder" "$folder.log" "$folder.crash" "$folder.text"
