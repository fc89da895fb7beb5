# The thread block of each tile of scores. Columns: kernel, tile of keys, tile of queries, block.
load 'common/tools/plots/style.gp'
set terminal svg size 760,270 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set multiplot layout 1,2 margins 0.07,0.99,0.12,0.78 spacing 0.09,0
unset key
unset grid
set border 0
set size ratio -1
set xrange [0:8]
set yrange [4:0]
set size ratio 0.5
set tics scale 0
unset xtics
unset ytics
set xlabel 'keys' offset 0, 0.6
set ylabel 'queries' offset 0.5, 0
set title textcolor rgb ink offset 0, -0.3
set style fill solid 1 noborder
tint(block) = word('0xcfe3f0 0xf8dccb 0xcbeae1 0xf4e2ec', int(block) + 1) + 0
of(kernel) = sprintf("< awk '$1 == \"%s\"' %s", kernel, data)
set for [k = 0:8] arrow k + 1 from k, 0 to k, 4 nohead linecolor rgb ink front
set for [k = 0:4] arrow k + 20 from 0, k to 8, k nohead linecolor rgb ink front

set title "fa1: a head is one block's work,\none tile after the other"
plot of('fa1') using ($2 + 0.5):($3 + 0.5):(0.5):(0.5):(tint($4)) with boxxyerror linecolor rgb variable, \
     of('fa1') using ($2 + 0.5):($3 + 0.5):(sprintf('%d', $5)) with labels textcolor rgb ink
unset ylabel
set title "fa2: each row of tiles is a block of its own,\nand they can run at the same time"
plot of('fa2') using ($2 + 0.5):($3 + 0.5):(0.5):(0.5):(tint($4)) with boxxyerror linecolor rgb variable, \
     of('fa2') using ($2 + 0.5):($3 + 0.5):(sprintf('%d', $5)) with labels textcolor rgb ink
unset multiplot
