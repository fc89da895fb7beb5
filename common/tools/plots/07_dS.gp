# The lane that makes an element of dS, and the one that needs it for dQ. Columns: x, y, lane, from lane 9.
load 'common/tools/plots/style.gp'
set terminal svg size 760,420 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 5, 2, 3.4, 2.6
unset key
unset grid
set border 0
set size ratio -1
set xrange [0:36]
set yrange [16:0]
set tics scale 0
unset xtics
set ytics ('0' 0.5, '4' 4.5, '8' 8.5, '12' 12.5) offset 0.6, 0
set label 1 'dS^T: a row is a key; so it is made, and meets Q' at 8, 17 center textcolor rgb ink
set label 2 'dS: a row is a query; so it meets K' at 28, 17 center textcolor rgb ink
set style fill solid 1 noborder
tint(lane, made) = made == 1 ? 0x0072B2 : int(lane) / 4 == 2 ? 0xcfe3f0 : 0xf2f4f5
set title 'the number is the lane; blue: the elements that lane 9 makes' textcolor rgb ink
plot data using ($1 + 0.5):($2 + 0.5):(0.46):(0.46):(tint($3, $4)) with boxxyerror linecolor rgb variable, \
     data using ($1 + 0.5):($2 + 0.5):(sprintf('%d', $3)):($4 == 1 ? 0xffffff : 0x59626b) \
         with labels font ',10' textcolor rgb variable
