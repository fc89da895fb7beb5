# Sourced by grading.sh and mutants.sh, whose tests do not look at one another: two halves of them at a time, in
# processes of their own. `build`, `result` and `wanted` are theirs; is_mine says whether the next test is this half's.
if [ -z "$wanted$SHARE" ]; then
    for half in 0 1; do
        SHARE=$half sh "$0" "$build" "$result.$half" &
    done
    wait
    # shellcheck disable=SC2046  # three numbers
    set -- $(awk '{ for (k = 1; k <= 3; k++) n[k] += $k } END { if (NR == 2) print n[1], n[2], n[3]; else print 0, 1, 0 }' \
        "$result.0" "$result.1" 2>/dev/null || echo 0 1 0)
    rm -f "$result.0" "$result.1"
    printf '%-32s %4d passed, %d failed, %d skipped\n' "$(basename "$result")" "$1" "$2" "$3"
    echo "$*" >"$result"
    [ "$2" -eq 0 ]
    exit
fi
turn=0
is_mine() {
    turn=$((turn + 1))
    [ -z "$SHARE" ] || [ $((turn % 2)) -eq "$SHARE" ]
}
