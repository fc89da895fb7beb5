# The roofline of one core, and the steps. Columns: operations a byte of slow memory, GFLOP/s, name; the first
# line is "roof", GB/s, GFLOP/s.
load 'common/tools/plots/style.gp'
bandwidth = system(sprintf("awk '$1 == \"roof\" { print $2 }' %s", data)) + 0
peak = system(sprintf("awk '$1 == \"roof\" { print $3 }' %s", data)) + 0
roof(x) = bandwidth * x < peak ? bandwidth * x : peak
set margins 9, 14, 4.2, 2.4
set logscale xy
set xrange [1:64]
set yrange [1:300]
set xtics (1, 2, 4, 8, 16, 32, 64)
set ytics (1, 10, 100)
set xlabel 'operations for each byte from or to slow memory, counted' offset 0, 0.2
set ylabel 'GFLOP/s'
unset key
set samples 400
set label 1 sprintf('%.0f GFLOP/s of FMA', peak) right at 60, peak * 1.22 textcolor rgb ink
set label 3 'standard' right at 5.8, 2.75 textcolor rgb blue
set label 2 sprintf('%.0f GB/s copied', bandwidth) at 1.1, bandwidth * 2.6 textcolor rgb ink
set title 'one core, d = 64, N = 2 048' textcolor rgb ink
steps = "< awk '$1 != \"roof\"' ".data
plot roof(x) with lines linewidth 2.5 linecolor rgb ink, \
     steps using 1:2 with points pointtype 7 pointsize 0.9 linecolor rgb blue, \
     steps using ($1 * 1.08):2:(strcol(3) eq 'standard' ? '' : strcol(3)) with labels left noenhanced \
         textcolor rgb blue
