#!/bin/sh
# stepper_test.sh BUILD RESULT - the tile stepper in a browser without a window: its tests, at the width
# of a telephone and of a desk, and wrong versions of the page, which the tests must reject.
#
# Leaves "passed failed skipped" in RESULT. Without Chromium it skips; with BROWSER=required that is a
# failure. Another name or place of the browser: CHROMIUM=…
build=$1 result=$2
page=05_flash_tiled_cpu/pages/stepper.html
name=$(basename "$result") work=$build/stepper
mkdir -p "$work" "$(dirname "$result")"

report() {  # passed failed skipped, then what went wrong on standard input
    printf '%-32s %4d passed, %d failed, %d skipped\n' "$name" "$1" "$2" "$3"
    sed 's/^/    /'
    echo "$1 $2 $3" >"$result"
    [ "$2" -eq 0 ]
}

for browser in ${CHROMIUM:-chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable}; do
    command -v "$browser" >/dev/null && break
    browser=''
done
# shellcheck disable=SC2153
if [ -z "$browser" ] && [ "$BROWSER" = required ]; then
    echo 'no chromium here, and BROWSER=required (sh common/setup.sh lint installs it)' | report 0 1 0
    exit
elif [ -z "$browser" ]; then
    echo 'skipped: no chromium here' | report 0 0 1
    exit
fi
limit=$(command -v timeout || command -v gtimeout) && limit="$limit 600"

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

# ---- the pages: as it is, in two widths, and wrong versions of it -----------------------------------

# page, name, width, whether one failure is enough: the page with its tests, and a frame for it
frame() {
    {
        echo "<script>const stopEarly = $4, errors = []; addEventListener('error', e => errors.push(e.message));</script>"
        cat "$1" "$work/data.html"
        echo '<script>'
        cat common/tests/stepper.js
        echo '</script>'
    } | sed '1{h;d;};2G' >"$work/$2.html"  # the first line goes behind <!DOCTYPE html>
    echo "<iframe name=\"$2\" src=\"$2.html\" style=\"border: 0; width: $3px; height: 900px\"></iframe>" >>"$work/all.html"
    grep -nE '(src|href)="?(https?:)?//|url\(|@import|fetch\(|XMLHttpRequest' "$1" | grep -v 'url(#' |
        sed "s/^/$2: not ok - the page reaches for something elsewhere: line /" >>"$work/verdicts"
}

: >"$work/verdicts"
: >"$work/wrong"
echo '<!DOCTYPE html><pre id="verdicts"></pre>' >"$work/all.html"
echo "<script>addEventListener('message', e => { document.getElementById('verdicts').textContent += e.data; });</script>" \
    >>"$work/all.html"
frame $page telephone 400 false
frame $page desk 1400 false

# a name, what has to be said of it, and what sed makes of the page
cat >"$work/changes" <<'END'
output_not_rescaled:the page computes:s/O: O.map(x => float(x \* rescale))/O: [...O]/
old_output_not_multiplied_back:the page computes:s/float(x \* float(old \/ sum))/float(x * expMinus(m, most))/
scale_forgotten:the page computes:s/float(scale \* dot(/float(dot(/
own_key_hidden:the page computes:s/|| j <= i;/|| j < Math.max(1, i);/
br_and_bc_exchanged:M gives:s/{ Br: queries, Bc: keys } : { Br: keys, Bc: queries }/{ Br: keys, Bc: queries } : { Br: queries, Bc: keys }/
keys_loaded_for_every_tile:its accesses:s/const rows = t.rows, keys = n === 0 || tiles.* : 0;/const rows = t.rows, keys = t.cols * d;/
output_stored_for_every_tile:its accesses:s/'O stores': ends ? /'O stores': true ? /
skipped_tiles_counted:its accesses:s/keys += Math.min(N, p.Bc \* .*/keys += N;/
number_changed_in_a_trace:the page computes:0,/^0,2,l,1\.36787939/s/^0,2,l,1\.36787939/0,2,l,1.36887939/
old_maximum_shown:m, l, O and:s|<b>${number(t.m\[r\], 2)}</b>|<b>${number(before.m, 2)}</b>|
step_back_stays:a step back:s/goTo(step - 1); });/goTo(step); });/
arrows_in_fields_too:keys do:s/ || target === 'INPUT'//
wider_than_a_telephone:nothing is wider:s/^main { /main { min-width: 420px; /
complains_to_the_console:console:s/^    measure();/&console.error('here');/
fetches_a_font:the page reaches:s|<style>|<link rel="stylesheet" href="https://fonts.example/a.css"><style>|
END
while IFS=: read -r wrong because change; do
    sed "$change" "$page" >"$work/changed"
    cmp -s "$page" "$work/changed" && echo "$wrong: changes nothing in the page" >>"$work/wrong"
    frame "$work/changed" "$wrong" 400 true
done <"$work/changes"

# ---- the browser, and what it said -----------------------------------------------------------------

$limit "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --enable-logging=stderr --virtual-time-budget=60000 --host-resolver-rules="MAP * ~NOTFOUND" \
    --dump-dom "file://$PWD/$work/all.html" \
    >"$work/dom" 2>"$work/said"
sed -n '/<pre id="verdicts">/,/<\/pre>/p' "$work/dom" | sed 's/<[^>]*>//g; s/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g' |
    grep -E '^[a-z_]+: (not )?ok - ' >>"$work/verdicts"
sed -n 's/.*CONSOLE[^ ]* \(.*\), source: .*\/\([a-z_]*\)\.html.*/\2: not ok - console: \1/p' "$work/said" >>"$work/verdicts"

tests=$(grep -c "await test('" common/tests/stepper.js)
all=0 failed=0
for name_of in telephone desk; do
    passed=$(grep -c "^$name_of: ok - " "$work/verdicts")
    all=$((all + passed)) failed=$((failed + tests - passed))
    [ "$passed" -eq "$tests" ] || echo "$passed of $tests tests passed as on a $name_of"
    grep "^$name_of: not ok" "$work/verdicts"
done >>"$work/wrong"
while IFS=: read -r wrong because _; do
    if grep -q "^$wrong: not ok - $because" "$work/verdicts"; then
        all=$((all + 1))
    else
        failed=$((failed + 1))
        echo "$wrong: expected to fail because $because, and the verdicts are"
        grep "^$wrong: " "$work/verdicts" | tail -n 3
    fi
done <"$work/changes" >>"$work/wrong"
[ -s "$work/verdicts" ] || tail -n 5 "$work/said" >>"$work/wrong"
[ -s "$work/wrong" ] && [ $failed -eq 0 ] && failed=1
report $all $failed 0 <"$work/wrong"
