#!/bin/sh
# run_tests.sh PROGRAM RESULT SOURCE... - runs a Criterion program and believes only what it can see.
#
# With LEAVE_OUT, suites whose names fit that pattern are skipped, and it is said how many tests those are.
# Leaves "passed failed skipped" in RESULT. A program that ran fewer tests than its sources define,
# hung, or crashed has failed, whatever its exit status says. The wrong versions are tried all the same, but for a
# student (STUDENT is set), whose lesson they are not made from: then it ends with 1.
program=$1 result=$2
shift 2
export OMP_WAIT_POLICY=passive  # threads that wait leave their core to the other tests
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
