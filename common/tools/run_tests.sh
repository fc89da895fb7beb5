#!/bin/sh
# run_tests.sh PROGRAM RESULT SOURCE... - runs a Criterion program and verifies its result.
#
# Skips suites that match the pattern LEAVE_OUT, and counts them. Writes "passed failed skipped" to RESULT. A
# program that ran fewer tests than its sources define, hung or crashed has failed, whatever its exit status.
# Wrong versions still run after a failure, but not for a student (STUDENT is set), whose lesson they do not
# fit: then it exits with 1.
program=$1 result=$2
shift 2
export OMP_WAIT_POLICY=passive  # waiting threads yield their core
mkdir -p "$(dirname "$result")"
name=$(basename "$result") log=$result.log tap=$result.tap
rm -f "$tap"

expected=$(cat "$@" | grep -cE '^(TEST|Test)\(')
limit=$(command -v timeout || command -v gtimeout) && limit="$limit 1200"
$limit "$program" ${LEAVE_OUT:+"--filter=!($LEAVE_OUT)/*"} --tap="$tap" >"$log" 2>&1
status=$?

touch "$tap"
skipped=$(grep -c '^ok .*# SKIP' "$tap")
passed=$(($(grep -c '^ok ' "$tap") - skipped))
failed=$(grep -c '^not ok ' "$tap")
missing=$((expected - passed - failed - skipped))
[ "$missing" -gt 0 ] && failed=$((failed + missing))
[ "$failed" -eq 0 ] && [ "$status" -ne 0 ] && failed=1

{
    printf '%-32s %4d passed, %d failed, %d skipped\n' "$name" "$passed" "$failed" "$skipped"
    left_out=$(grep -c '# SKIP test was skipped$' "$tap")
    [ "$left_out" -eq 0 ] || echo "    skipped: the $left_out tests of suites $LEAVE_OUT"
    grep -v '# SKIP test was skipped$' "$tap" | sed -n 's/^ok - \(.*\) *# SKIP \(.*\)/    skipped: \1: \2/p'
    if [ "$failed" -gt 0 ]; then
        sed 's/^/    /' "$log"
        [ "$missing" -gt 0 ] && echo "    $missing of $expected tests did not run (status $status)"
    fi
} >"$log.shown"
cat "$log.shown"
echo "$passed $failed $skipped" >"$result"
[ "$failed" -eq 0 ] || [ -z "$STUDENT" ]
