# Accesses of the backward pass against M: counted dots on the closed forms. Columns: step M accesses.
load 'common/tools/plots/style.gp'
N = 256.0
d = 32.0
tiles(size) = ceil(N / size)
Bs(M) = ceil(M / (2 * d))
standard(M) = 14 * N * N + (5 + 5 * tiles(Bs(M))) * N * d
Bc(M) = ceil(M / (4 * d))
Br(M) = Bc(M) < d ? Bc(M) : d
fa1(M) = 5 * N * d + tiles(Bc(M)) * (5 * N * d + 2 * N)
fa2(M) = 7 * N * d + N + tiles(Bc(M)) * (4 * N * d + 2 * N)
split(M) = 9 * N * d + 3 * N + tiles(Bc(M)) * (2 * N * d + 2 * N) + 2 * tiles(Br(M)) * N * d
recompute(M) = 6 * d * N * N + 6 * N * d + N

set margins 8, 15, 4.8, 2.4
set logscale xy
set xrange [d:N * d]
set yrange [1e5:3e7]
set xtics ("32\nd" 32, 64, 128, 256, 512, "1 024\nd^2" 1024, '2 048' 2048, "4 096\n4 d^2" 4096, \
           "8 192\nN d" 8192)
set format y '10^{%T}'
set xlabel 'M, elements of fast memory' offset 0, -0.4
set ylabel 'accesses to slow memory'
unset key
set samples 500
end = 8900
set label 1 "standard,\nby tiles" at end, 1.25e6 textcolor rgb orange
set label 2 'fa1' at end, fa1(N * d) * 0.82 textcolor rgb green
set label 3 'fa2' at end, fa2(N * d) * 0.62 textcolor rgb blue
set label 4 'split' at end, split(N * d) * 1.1 textcolor rgb pink
set label 5 'recompute' at end, recompute(1) textcolor rgb ink
set title 'backward, N = 256, d = 32; the dots are counted' textcolor rgb ink
of(step) = sprintf("< awk '$1 == \"%s\" { print $2, $3 }' %s", step, data)
plot recompute(x) with lines linewidth 1.5 linecolor rgb ink, \
     standard(x) with lines linewidth 2.5 linecolor rgb orange, \
     split(x) with lines linewidth 2.5 linecolor rgb pink, \
     fa1(x) with lines linewidth 2.5 linecolor rgb green, \
     fa2(x) with lines linewidth 2.5 linecolor rgb blue, \
     of('recompute') with points pointtype 7 pointsize 0.5 linecolor rgb ink, \
     of('standard') with points pointtype 7 pointsize 0.7 linecolor rgb orange, \
     of('split') with points pointtype 7 pointsize 0.7 linecolor rgb pink, \
     of('fa1') with points pointtype 7 pointsize 0.7 linecolor rgb green, \
     of('fa2') with points pointtype 7 pointsize 0.7 linecolor rgb blue
