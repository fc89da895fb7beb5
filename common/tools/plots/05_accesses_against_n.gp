# Accesses against N: counted dots on the closed forms. Columns: step N accesses.
load 'common/tools/plots/style.gp'
d = 64.0
M = 49152.0
tiles(n, size) = ceil(n / size)
row_by_row(N) = 2 * N * N * d + 6 * N * N + 2 * N * d
standard(N) = 2 * N * d + 2 * tiles(N, M / (2 * d)) * N * d + 6 * N * N
fa1(N) = 3 * N * d + 5 * N + tiles(N, M / (4 * d)) * (3 * N * d + 4 * N)
fa2(N) = 2 * N * d + N + 2 * tiles(N, M / (4 * d)) * N * d

set margins 8, 16, 3.6, 2.4
set logscale xy
set xrange [56:16384]
set yrange [1e4:1e11]
set xtics (64, 256, '1 024' 1024, '4 096' 4096, '16 384' 16384)
set ytics 10
set format y '10^{%T}'
set xlabel 'N, queries and keys' offset 0, 0.3
set ylabel 'accesses to slow memory'
unset key
set samples 300

x = 18500
set label 1 "04 standard,\nrow by row" at x, 6e10 textcolor rgb pink
set label 2 "05 standard,\nby tiles" at x, 4.2e9 textcolor rgb orange
set label 3 '05 fa1' at x, 4.0e8 textcolor rgb green
set label 4 '05 fa2' at x, 1.45e8 textcolor rgb blue
set title 'd = 64, M = 49 152 elements (192 kB); the dots are counted' textcolor rgb ink
of(step) = sprintf("< awk '$1 == \"%s\" { print $2, $3 }' %s", step, data)
plot row_by_row(x) with lines linewidth 2.5 linecolor rgb pink, \
     standard(x) with lines linewidth 2.5 linecolor rgb orange, \
     fa1(x) with lines linewidth 2.5 linecolor rgb green, \
     fa2(x) with lines linewidth 2.5 linecolor rgb blue, \
     of('row_by_row') with points pointtype 7 pointsize 0.7 linecolor rgb pink, \
     of('standard') with points pointtype 7 pointsize 0.7 linecolor rgb orange, \
     of('fa1') with points pointtype 7 pointsize 0.7 linecolor rgb green, \
     of('fa2') with points pointtype 7 pointsize 0.7 linecolor rgb blue
