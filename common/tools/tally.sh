#!/bin/sh
# tally.sh RESULT... - adds up the results; one that is missing could not be built and has failed.
#
# With STUDENT set, wrong versions that were not tried, because the lesson has been changed or fails
# its tests, are skipped.
passed=0 failed=0 skipped=0 untried=0
for result; do
    name=$(basename "$result")
    if [ -f "$result" ] && read -r p f s <"$result"; then
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        case $name in *.*) untried=$((untried + s)) ;; esac
        continue
    fi
    case $STUDENT$name in
    yes*.*) untried=$((untried + 1)) skipped=$((skipped + 1)) ;;
    *)
        echo "$name: did not build, or left no result"
        failed=$((failed + 1))
        ;;
    esac
done
[ "$untried" -eq 0 ] ||
    echo "$untried wrong versions were not tried: they are made from the lesson as it was published"
[ "$((passed + failed))" -gt 0 ] || { echo "no test was run"; failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
