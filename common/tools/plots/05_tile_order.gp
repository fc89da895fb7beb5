# The order of tiles. Columns: step when key query visible, a line for each pair.
load 'common/tools/plots/style.gp'
set terminal svg size 760,340 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set multiplot layout 1,3 margins 0.055,0.99,0.15,0.84 spacing 0.05,0
unset key
unset grid
set border 0
set size ratio -1
set xrange [0:8]
set yrange [8:0]
set tics scale 0
set xtics ('0' 0.5, '2' 2.5, '4' 4.5, '6' 6.5) offset 0, 0.4
set ytics ('0' 0.5, '2' 2.5, '4' 4.5, '6' 6.5) offset 0.6, 0
set xlabel 'keys' offset 0, 0.9
set ylabel 'queries' offset 1.6, 0
set title textcolor rgb ink offset 0, -0.3
set style fill solid 1 noborder

tint(place) = word('0xcfe3f0 0xf8dccb 0xcbeae1 0xf4e2ec', int(place) / 2 + 1) + 0
pairs(step) = sprintf("< awk '$1 == \"%s\" && $5' %s", step, data)
numbers(step) = sprintf("< awk '$1 == \"%s\" && !seen[$2]++ { print $3, $4, $2 }' %s", step, data)
set for [k = 0:4] arrow 2 * k + 1 from 2 * k, 0 to 2 * k, 8 nohead linecolor rgb ink front
set for [k = 0:4] arrow 2 * k + 2 from 0, 2 * k to 8, 2 * k nohead linecolor rgb ink front

set title "fa1: a block of keys stays,\nall queries are processed"
plot pairs('fa1') using ($3 + 0.5):($4 + 0.5):(0.5):(0.5):(tint($3)) \
         with boxxyerror linecolor rgb variable, \
     numbers('fa1') using ($1 + 1):($2 + 1):(sprintf('%d', $3)) with labels textcolor rgb ink
unset ylabel
set title "fa2: a block of queries stays,\nall keys are processed"
plot pairs('fa2') using ($3 + 0.5):($4 + 0.5):(0.5):(0.5):(tint($4)) \
         with boxxyerror linecolor rgb variable, \
     numbers('fa2') using ($1 + 1):($2 + 1):(sprintf('%d', $3)) with labels textcolor rgb ink
set title "masks, causal: white is\nmasked; no number: skipped"
plot pairs('masks') using ($3 + 0.5):($4 + 0.5):(0.5):(0.5):(tint($4)) \
         with boxxyerror linecolor rgb variable, \
     numbers('masks') using ($1 + 0.5):($2 + 1.5):(sprintf('%d', $3)) with labels textcolor rgb ink
unset multiplot
