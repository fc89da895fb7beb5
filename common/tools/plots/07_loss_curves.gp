# Three descents. Columns: step standard complete wrong_scale.
load 'common/tools/plots/style.gp'
set margins 9, 17, 4, 2.4
set logscale y
set xrange [0:300]
set yrange [4e-4:0.08]
set ytics ('0.001' 0.001, '0.01' 0.01, '0.05' 0.05)
set xlabel 'step of gradient descent'
set ylabel 'loss'
unset key
set label 1 "standard (line)\ncomplete (dots)" at 305, 0.0027 textcolor rgb blue
set label 2 'scale forgotten' at 305, 0.00062 textcolor rgb orange
set title "Training Q, K and V from random numbers to the real layer's output" textcolor rgb ink
plot data using 1:4 with lines linewidth 2.5 linecolor rgb orange, \
     data using 1:2 with lines linewidth 2.5 linecolor rgb blue, \
     data using 1:3 every 20 with points pointtype 7 pointsize 0.8 linecolor rgb blue
