#!/bin/sh
# tally.sh RESULT... - adds up the results; one that is missing could not be built and has failed.
passed=0 failed=0 skipped=0
for result; do
    if [ -f "$result" ] && read -r p f s <"$result"; then
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    else
        echo "$(basename "$result"): did not build, or left no result"
        failed=$((failed + 1))
    fi
done
[ "$((passed + failed))" -gt 0 ] || { echo "no test was run"; failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
