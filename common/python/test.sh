#!/bin/sh
# test.sh RESULT [NAME FOLDER] - the tests of the library and of flash.py.
#
# Writes "passed failed skipped" to RESULT. NAME: a mistake of mistakes.txt, built in a copy in FOLDER; each test after "Caught by:" must
# fail. Without NumPy all is skipped. MAKE and BUILD come from the Makefile.
result=$1 wrong=$2 folder=$3
name=$(basename "$result") log=$result.log
export PYTHONDONTWRITEBYTECODE=1
export OMP_WAIT_POLICY=passive  # as in run_tests.sh
. common/python/find.sh
mkdir -p "$(dirname "$result")"
rm -f "$result"

if [ -z "$python" ]; then
    echo "0 0 0" >"$result"
    [ -n "$wrong" ] && exit 0
    printf '%-32s %4d passed, 0 failed, 1 skipped\n    skipped: python: no python3 with NumPy here\n' "$name" 0
    echo "0 0 1" >"$result"
    exit 0
fi
limit=$(command -v timeout || command -v gtimeout) && limit="$limit 600"
here=$PWD

if [ -z "$wrong" ]; then
    # shellcheck disable=SC2086
    $limit "$python" common/python/test_flash.py "$result" >"$log" 2>&1
    status=$?
    [ -s "$result" ] || echo "0 1 0" >"$result"
    read -r passed failed skipped <"$result"
    expected=$(cat common/python/test_*.py | grep -c '^    def test_')
    missing=$((expected - passed - failed - skipped))
    [ "$missing" -gt 0 ] && failed=$((failed + missing))
    [ "$failed" -eq 0 ] && [ "$status" -ne 0 ] && failed=1
    echo "$passed $failed $skipped" >"$result"
    printf '%-32s %4d passed, %d failed, %d skipped\n' "$name" "$passed" "$failed" "$skipped"
    sed -n "s/^\\(test_[a-z0-9_]*\\) .* skipped '\\(.*\\)'$/    skipped: \\1: \\2/p" "$log"
    [ "$failed" -eq 0 ] || sed 's/^/    /' "$log"
    [ "$failed" -eq 0 ]
    exit
fi

verdict() {  # status, text
    printf '%-48s %s\n' "$name" "$2"
    [ "$1" -eq 0 ] && echo "1 0 0" >"$result"
    [ "$1" -eq 0 ] || echo "0 1 0" >"$result"
    [ "$1" -eq 0 ] || tail -n 20 "$log" | sed 's/^/    /'
    exit "$1"
}
rm -rf "$folder"
mkdir -p "$folder/build" "$folder/mistakes"
awk -f common/tools/mistakes.awk split "$folder/mistakes" common/python/mistakes.txt || exit 1
mistake=$folder/mistakes/$wrong
named=$(sed -n 's/^Caught by: *//p' "$mistake" | tr ',' ' ')
cp -Rp Makefile common 0* "$folder/"
awk -f common/tools/mistakes.awk apply "$folder" "$mistake" >"$log" 2>&1 || verdict 1 "no longer applies"
library=$here/$BUILD/libflash.so
case $(sed -n 's/^File: //p' "$mistake") in
*.c | *.h)
    cp -Rp "$BUILD/obj" "$folder/build/obj"
    (cd "$folder" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $MAKE -s --no-print-directory library BUILD=build QUIET=1) >>"$log" 2>&1 ||
        verdict 1 "no longer compiles"
    library=$folder/build/libflash.so
    ;;
esac
case $library in /*) ;; *) library=$here/$library ;; esac
for test in $named; do
    # shellcheck disable=SC2086
    (export FLASH_LIBRARY="$library"
     $limit "$python" "$folder/common/python/test_flash.py" "$log.counts" "$test") >>"$log" 2>&1 &&
        verdict 1 "SURVIVES $test"
    grep -q "^\(FAIL\|ERROR\): $test \|course: out of memory" "$log" || verdict 1 "$test broke before it could fail"
done
rm -rf "$folder"
verdict 0 "caught by $(echo $named)"
