# The running maximum and sum along one row of 64 random scores. Column: j x_j m l.
load 'common/tools/plots/style.gp'
set multiplot layout 2,1 margins 0.10,0.97,0.14,0.97 spacing 0,0.06
unset key

set xrange [0:65]
set format x ''
set yrange [-3.2:3.2]
set ytics 1
set ylabel 'scores'
set label 1 'm, the maximum so far' at 20,2.05 textcolor rgb blue
set label 2 'the scores x_j' at 41,-2.6 textcolor rgb ink
plot data using 1:2 with points pointtype 7 pointsize 0.45 linecolor rgb ink, \
     data using 1:3 with steps linewidth 2.5 linecolor rgb blue

unset label
set format x '%g'
set xlabel 'j' offset 0,0.4
set ylabel 'sum'
set ytics autofreq
set yrange [0:*]
set label 1 'l, the sum of e^{x - m}  so far' at 44,3.1 textcolor rgb orange
plot data using 1:4 with lines linewidth 2.5 linecolor rgb orange
unset multiplot
