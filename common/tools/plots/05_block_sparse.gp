# Accesses against the share of blocks in a random mask: counted dots on the predicted line.
# Columns: blocks kept, blocks in all, accesses.
load 'common/tools/plots/style.gp'
N = 512.0
d = 32.0
size = 32.0
predicted(share) = 2 * N * d + N + 2 * share * (N / size) * N * d

set margins 10, 4, 3.6, 2.4
set xrange [0:104]
set yrange [0:620]
set xtics 20 format '%g %%'
set xlabel 'blocks kept by the mask' offset 0, 0.3
set ylabel 'accesses, thousands'
unset key
set label 1 'masks: 2 N d + N + 2 · 32 d a kept block' at 42, 150 textcolor rgb blue
set label 2 'Q, O and lse, whatever is kept' at 42, 65 textcolor rgb ink
set title 'N = 512, d = 32, tiles and blocks of 32 by 32; the dots are counted' textcolor rgb ink
plot 1e-3 * predicted(0) with lines linewidth 1.2 dashtype '-' linecolor rgb ink, \
     [0:100] 1e-3 * predicted(x / 100) with lines linewidth 2.5 linecolor rgb blue, \
     data using (100 * $1 / $2):(1e-3 * $3) with points pointtype 7 pointsize 0.7 linecolor rgb blue
