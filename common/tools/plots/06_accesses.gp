# Accesses against N: counted dots on the closed forms. Columns: kernel N accesses.
load 'common/tools/plots/style.gp'
d = 64.0
tiles(n, size) = ceil(n / size)
naive(N) = N * N * (4 * d + 5) + N * d + N
standard(N) = 2 * N * d + 2 * tiles(N, 96) * N * d + 6 * N * N
fa1(N) = 3 * N * d + 5 * N + tiles(N, 64) * (3 * N * d + 4 * N)
fa2(N) = 2 * N * d + N + 2 * tiles(N, 128) * N * d

set margins 8, 16, 3.6, 2.4
set logscale xy
set xrange [56:16384]
set yrange [1e4:1e11]
set xtics (64, 256, '1 024' 1024, '4 096' 4096, '16 384' 16384)
set ytics 10
set format y '10^{%T}'
set xlabel 'N, queries and keys' offset 0, 0.3
set ylabel 'accesses to global memory'
unset key
set samples 300
x = 18500
set label 1 'naive' at x, 7e10 textcolor rgb pink
set label 2 "05 standard,\nby tiles" at x, 1.1e10 textcolor rgb orange
set label 3 'fa1' at x, 1.0e9 textcolor rgb green
set label 4 'fa2' at x, 2.6e8 textcolor rgb blue
set title 'd = 64, 48 kB of shared memory a block; the dots are counted' textcolor rgb ink
of(kernel) = sprintf("< awk '$1 == \"%s\" { print $2, $3 }' %s", kernel, data)
plot naive(x) with lines linewidth 2.5 linecolor rgb pink, \
     standard(x) with lines linewidth 2.5 linecolor rgb orange, \
     fa1(x) with lines linewidth 2.5 linecolor rgb green, \
     fa2(x) with lines linewidth 2.5 linecolor rgb blue, \
     of('naive') with points pointtype 7 pointsize 0.7 linecolor rgb pink, \
     of('standard') with points pointtype 7 pointsize 0.7 linecolor rgb orange, \
     of('fa1') with points pointtype 7 pointsize 0.7 linecolor rgb green, \
     of('fa2') with points pointtype 7 pointsize 0.7 linecolor rgb blue
