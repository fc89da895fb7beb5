# Which lane has which element of A, B and C. Columns: x, y, lane.
load 'common/tools/plots/style.gp'
set terminal svg size 560,420 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 4, 1, 2.6, 2.6
unset key
unset grid
set border 0
set size ratio -1
set xrange [0:28]
set yrange [16:0]
set tics scale 0
unset xtics
set ytics ('0' 0.5, '4' 4.5, '8' 8.5, '12' 12.5) offset 0.6, 0
set label 1 'A: rows of Q or P' at 4, 17 center textcolor rgb ink
set label 2 'B: K^T  or V' at 14, 9 center textcolor rgb ink
set label 3 'C: S or O' at 24, 17 center textcolor rgb ink
set label 4 '×' at 9, 4 center textcolor rgb ink
set label 5 '→' at 19, 4 center textcolor rgb ink
set style fill solid 1 noborder
tint(lane) = lane == 9 ? 0x0072B2 : int(lane) / 4 == 2 ? 0xcfe3f0 : 0xf2f4f5
set title 'number: the lane; blue: what lane 9 has' textcolor rgb ink
plot data using ($1 + 0.5):($2 + 0.5):(0.46):(0.46):(tint($3)) with boxxyerror linecolor rgb variable, \
     data using ($1 + 0.5):($2 + 0.5):(sprintf('%d', $3)):($3 == 9 ? 0xffffff : 0x59626b) \
         with labels font ',12' textcolor rgb variable
