#!/bin/sh
# stepper_test.sh BUILD RESULT - the tile stepper in a browser without a window: its tests, at the width
# of a telephone and of a desk, and wrong versions of the page, which the tests must reject.
#
# Leaves "passed failed skipped" in RESULT. Without Chromium it skips; with BROWSER=required that is a
# failure. Another name or place of the browser: CHROMIUM=…
build=$1 result=$2
page=05_flash_tiled_cpu/stepper.html
name=$(basename "$result") work=$build/stepper
mkdir -p "$work" "$(dirname "$result")"

report() {  # passed failed skipped, then what went wrong on standard input
    printf '%-32s %4d passed, %d failed, %d skipped\n' "$name" "$1" "$2" "$3"
    sed 's/^/    /'
    echo "$1 $2 $3" >"$result"
    [ "$2" -eq 0 ]
    exit
}

for browser in ${CHROMIUM:-chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable}; do
    command -v "$browser" >/dev/null && break
    browser=''
done
if [ -z "$browser" ] && [ "$BROWSER" = required ]; then
    echo 'no chromium here, and BROWSER=required (sh common/setup.sh lint installs it)' | report 0 1 0
elif [ -z "$browser" ]; then
    echo 'skipped: no chromium here' | report 0 0 1
fi

# ---- what the tests take besides the page: free choices, and the tiles for an M --------------------

free='3,fa1,6,5,4,4 4,fa1,8,8,5,3 5,fa1,1,1,1,1 6,fa1,8,2,8,8 7,fa1,5,3,1,2
    3,fa2,6,5,4,4 4,fa2,8,8,3,5 5,fa2,1,1,1,1 6,fa2,8,1,1,8 9999,fa2,3,7,2,1
    3,masks,6,5,4,4 4,masks,8,8,3,5 0,masks,8,2,5,3 6,masks,8,1,1,8 7,masks,8,3,8,1'
{
    # shellcheck disable=SC2086
    sh common/tools/stepper_traces.sh "$build" $free || exit 2
    echo '<script type="text/plain" class="sizes">'
    for kernel in fa1 fa2; do
        for M in 1 7 32 100 513 1024; do
            for d in 1 3 8; do
                "$build/05_flash_tiled_cpu" --kernel $kernel --n-q 8 --d $d --sram $M --traffic |
                    sed -n "s/^Tiles .*Br = \([0-9]*\) .*Bc = \([0-9]*\) .*/$kernel,$M,$d,\1,\2/p"
            done
        done
    done
    echo '</script>'
} >"$work/data.html"
expected=$(grep -c "await test('" common/tests/stepper.js)

# try PAGE WIDTH HEIGHT STOP_EARLY: its verdicts in $work/verdict, and the number of tests passed in $passed.
# What the browser itself complains of is a line that is not ok; so are addresses elsewhere.
try() {
    {
        echo "<script>const stopEarly = $4, errors = []; addEventListener('error', e => errors.push(e.message));</script>"
        cat "$1" "$work/data.html"
        echo '<script>'
        cat common/tests/stepper.js
        echo '</script>'
    } | sed '1{h;d};2G' >"$work/test.html"  # the first line goes behind <!DOCTYPE html>
    ${TIMEOUT:-timeout 60} "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$2,$3" \
        --user-data-dir="$work/profile" --enable-logging=stderr --virtual-time-budget=60000 \
        --dump-dom "file://$PWD/$work/test.html" >"$work/dom" 2>"$work/said"
    {
        sed -n '/<pre id="verdict">/,/<\/pre>/p' "$work/dom" | grep -E '^(not )?ok - ' | sed 's/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g'
        sed -n 's/.*CONSOLE[^ ]* /not ok - console: /p' "$work/said"
        grep -nE '(src|href)="?(https?:)?//|url\(|@import|fetch\(|XMLHttpRequest' "$1" | grep -v 'url(#' |
            sed 's/^/not ok - the page reaches for something elsewhere: line /'
    } >"$work/verdict"
    passed=$(grep -c '^ok - ' "$work/verdict")
    [ "$passed" -eq "$expected" ] && ! grep -q '^not ok' "$work/verdict"
}

all=0 failed=0
: >"$work/wrong"
: >"$work/not_rejected"
for window in '400 900' '1400 1000'; do
    # shellcheck disable=SC2086
    try $page $window false || {
        echo "$passed of $expected tests passed in a window of $window:"
        grep '^not ok' "$work/verdict"
        [ -s "$work/verdict" ] || tail -n 5 "$work/said"
    } >>"$work/wrong"
    all=$((all + passed)) failed=$((failed + expected - passed))
done
if [ -s "$work/wrong" ]; then
    [ $failed -gt 0 ] || failed=1
    report $all $failed 0 <"$work/wrong"
fi

# ---- wrong versions: a name and what sed makes of the page -----------------------------------------

while IFS=: read -r wrong change; do
    sed "$change" "$page" >"$work/wrong.html"
    if cmp -s "$page" "$work/wrong.html"; then
        echo "$wrong: changes nothing in the page"
    elif try "$work/wrong.html" 400 900 true; then
        echo "$wrong: not rejected"
    elif ! grep -q 'ok - ' "$work/verdict"; then
        echo "$wrong: the page did not run"
    else
        all=$((all + 1))
        continue
    fi >>"$work/not_rejected"
    failed=$((failed + 1))
done <<'END'
output_not_rescaled:s/O: O.map(x => float(x \* rescale))/O: [...O]/
old_output_not_multiplied_back:s/float(x \* float(old \/ sum))/float(x * expMinus(m, most))/
scale_forgotten:s/float(scale \* dot(/float(dot(/
own_key_hidden:s/|| j <= i;/|| j < Math.max(1, i);/
br_and_bc_exchanged:s/{ Br: queries, Bc: keys } : { Br: keys, Bc: queries }/{ Br: keys, Bc: queries } : { Br: queries, Bc: keys }/
keys_loaded_for_every_tile:s/const rows = t.rows, keys = n === 0 || tiles.* : 0;/const rows = t.rows, keys = t.cols * d;/
output_stored_for_every_tile:s/'O stores': ends ? /'O stores': true ? /
skipped_tiles_counted:s/keys += Math.min(N, p.Bc \* .*/keys += N;/
number_changed_in_a_trace:0,/^0,2,l,1\.36787939/s/^0,2,l,1\.36787939/0,2,l,1.36887939/
old_maximum_shown:s|<b>${number(t.m\[r\], 2)}</b>|<b>${number(before.m, 2)}</b>|
step_back_stays:s/goTo(step - 1); });/goTo(step); });/
arrows_in_fields_too:s/ || target === 'INPUT'//
wider_than_a_telephone:s/^main { /main { min-width: 420px; /
complains_to_the_console:s/^function draw() {/&console.error('draw');/
fetches_a_font:s|<style>|<link rel="stylesheet" href="https://fonts.example/a.css"><style>|
END
if [ -s "$work/not_rejected" ]; then
    report $all $failed 0 <"$work/not_rejected"
fi
report $all 0 0 </dev/null
