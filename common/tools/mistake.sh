#!/bin/sh
# mistake.sh BUILD CHAPTER NAME - a wrong version of the chapter: what it changes, what the program then prints, and the tests that
# fail. Without a NAME the names. The environment is that of common/tools/mutant.sh; PROGRAM and TESTS are what the program and its
# tests are linked from.
build=$1 chapter=$2 name=$3
mistake=$build/mistakes/$chapter/$name
if [ -z "$name" ] || ! grep -qx "Name: $name" "$chapter/tests/mistakes.txt"; then
    sed -n -e 's/^Name: //p' -e 's/^Symptom: /    /p' "$chapter/tests/mistakes.txt"
    [ -z "$name" ] || { echo "make mistake-${chapter%%_*}: NAME=$name: expected one of these names" >&2; exit 2; }
    exit 0
fi
of() { sed -n "s/^$1: *//p" "$mistake"; }
made=$build/mistake/$chapter-$name
limit=$(command -v timeout || command -v gtimeout) && limit="$limit ${LIMIT:-60}"
mkdir -p "$made"
echo "$(of Symptom)"
of Fix | sed 's/^/Instead: /'
sh common/tools/mutant.sh "$chapter" "$mistake" "$made/result" "$made/tests" >"$made/said"
for file in $(of File); do
    echo
    diff -U 3 --label "$file" --label "$file, wrong" "$file" "$made/tests/$file"
done

# Without a test: the program, linked with the same objects.
sed 's/^Caught by:.*/Caught by: mine::none/' "$mistake" >"$made/no_test"
TESTS=$PROGRAM sh common/tools/mutant.sh "$chapter" "$made/no_test" "$made/result" "$made/program" >/dev/null
echo
echo "What $build/$chapter prints then, where it is not what it was:"
$limit "$build/$chapter" >"$made/right.txt" 2>&1
$limit "$made/program/tests" >"$made/wrong.txt" 2>&1
diff "$made/right.txt" "$made/wrong.txt" | grep '^>' | head -n 12 | grep . || echo '    nothing: its own examples do not show it'

echo
echo 'The tests that fail:'
for test in $(of 'Caught by' | tr ',' ' '); do
    case $test in *::*) ;; *) echo "    $test"; continue ;; esac
    $limit "$made/tests/tests" --filter="${test%::*}/${test#*::}" 2>&1 | grep -e '^\[FAIL\]' -e '^\[----\] [^ ]*: ' -e 'Assertion' | head -n 4 | sed 's/^\[....\] /    /'
    grep -q 'no longer' "$made/said" && sed 's/^/    /' "$made/said"
done
exit 0
