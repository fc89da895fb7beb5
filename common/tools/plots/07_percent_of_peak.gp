# Percent of peak in the backward pass, a dot for each step. Columns: place, step and threads, percent for d =
# 64, d = 64 causal, d = 128, d = 128 causal, N.
load 'common/tools/plots/style.gp'
set margins 17, 4, 3.4, 2.6
rows = system(sprintf("wc -l < %s", data)) + 0
N = system(sprintf("awk 'NR == 1 { print $NF }' %s", data)) + 0
set xrange [0:100]
set yrange [rows + 0.6:0.4]
set border 1
set xtics 0, 20
set format x '%g %%'
set xlabel 'of the FMA peak of the cores that it uses' offset 0, 0.3
set ytics scale 0
set grid x y
set key at graph 0.18, 0.96 top left Left reverse samplen 1 spacing 1.25
set title sprintf('backward, one head, N = %d', N) textcolor rgb ink
plot data using 3:1:ytic(2) with points pointtype 7 pointsize 1.1 linecolor rgb blue title 'd = 64', \
     data using 5:1 with points pointtype 7 pointsize 1.1 linecolor rgb orange title 'd = 128', \
     data using 4:1 with points pointtype 6 pointsize 1.3 linewidth 2 linecolor rgb blue title 'd = 64, causal', \
     data using 6:1 with points pointtype 6 pointsize 1.3 linewidth 2 linecolor rgb orange title 'd = 128, causal'
