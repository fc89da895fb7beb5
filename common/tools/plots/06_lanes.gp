# Which lane of a warp has which scores of a tile. Columns: key, row, lane.
load 'common/tools/plots/style.gp'
set terminal svg size 760,400 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 7, 2, 3.4, 2.6
unset key
unset grid
set border 0
set size ratio -1
set xrange [0:32]
set yrange [16:0]
set tics scale 0
set xtics ('0' 0.5, '8' 8.5, '16' 16.5, '24' 24.5) offset 0, 0.4
set ytics ('0' 0.5, '4' 4.5, '8' 8.5, '12' 12.5) offset 0.6, 0
set xlabel 'keys of the tile' offset 0, 0.6
set ylabel 'rows of the warp' offset 1, 0
set style fill solid 1 noborder
tint(lane) = lane == 9 ? 0x0072B2 : word('0xf2f4f5 0xcfe3f0 0xf2f4f5 0xf2f4f5', int(lane) / 8 + 1) + 0
set for [k = 0:32] arrow k + 1 from k, 0 to k, 16 nohead linecolor rgb '#ffffff' front
set for [k = 0:16] arrow k + 40 from 0, k to 32, k nohead linecolor rgb '#ffffff' front
set title 'number: the lane; blue: what lane 9 has; pale blue: the lanes that share its rows' textcolor rgb ink
plot data using ($1 + 0.5):($2 + 0.5):(0.5):(0.5):(tint($3)) with boxxyerror linecolor rgb variable, \
     data using ($1 + 0.5):($2 + 0.5):(sprintf('%d', $3)):($3 == 9 ? 0xffffff : 0x59626b) \
         with labels font ',10' textcolor rgb variable
