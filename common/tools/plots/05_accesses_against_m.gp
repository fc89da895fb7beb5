# Accesses against M: counted dots on the closed forms, and where a step begins to beat standard
# attention. Columns: step M accesses.
load 'common/tools/plots/style.gp'
N = 256.0
d = 32.0
tiles(size) = ceil(N / size)
standard(M) = 2 * N * d + 2 * tiles(ceil(M / (2 * d))) * N * d + 6 * N * N
Bc(M) = ceil(M / (4 * d))
fa1(M) = 3 * N * d + 5 * N + tiles(Bc(M)) * (3 * N * d + 4 * N)
fa2_of(Br) = 2 * N * d + N + 2 * tiles(Br) * N * d
fa2(M) = fa2_of(Bc(M))
fa2_paper(M) = fa2_of(Bc(M) < d ? Bc(M) : d)

# The least M above which fa1, or fa2, has fewer accesses, up to M = N d.
one = N * d
while (one > d && fa1(one - 1) < standard(one - 1)) { one = one - 1 }
two = N * d
while (two > d && fa2(two - 1) < standard(two - 1)) { two = two - 1 }

set margins 8, 15, 4.8, 2.4
set logscale xy
set xrange [d:N * d]
set yrange [6e4:1e7]
set xtics ("32\nd" 32, 64, 128, 256, 512, "1 024\nd^2" 1024, '2 048' 2048, "4 096\n4 d^2" 4096, \
           "8 192\nN d" 8192)
set format y '10^{%T}'
set xlabel 'M, elements of fast memory' offset 0, -0.4
set ylabel 'accesses to slow memory'
unset key
set samples 500

end = 8900
set label 1 "standard,\nby tiles" at end, 5.6e5 textcolor rgb orange
set label 2 'fa1' at end, fa1(N * d) * 0.95 textcolor rgb green
set label 3 'fa2' at end, fa2(N * d) textcolor rgb blue
set label 4 "fa2 with fa1's tiles" right at 4000, 1.2e5 textcolor rgb ink
grouped(n) = n < 1000 ? sprintf('%d', n) : sprintf('%d %03d', n / 1000, int(n) % 1000)
moves_less(step, M) = sprintf("%s moves less from\nM = %s on, %.2f d^2", step, grouped(M), M / d**2)
set label 5 moves_less('fa1', one) at one * 1.04, 1.75e6 textcolor rgb green
set label 6 moves_less('fa2', two) right at two * 0.87, 3.1e5 textcolor rgb blue
set style arrow 1 head filled size screen 0.012, 18 linewidth 1.2
set arrow 1 from one * 1.15, 0.98e6 to one, fa1(one) * 1.1 arrowstyle 1 linecolor rgb green
set arrow 2 from two * 0.85, 3.9e5 to two, fa2(two) * 0.93 arrowstyle 1 linecolor rgb blue
set title 'N = 256, d = 32; the dots are counted' textcolor rgb ink
of(step) = sprintf("< awk '$1 == \"%s\" { print $2, $3 }' %s", step, data)
plot fa2_paper(x) with lines linewidth 1.2 linecolor rgb ink, \
     standard(x) with lines linewidth 2.5 linecolor rgb orange, \
     fa1(x) with lines linewidth 2.5 linecolor rgb green, \
     fa2(x) with lines linewidth 2.5 linecolor rgb blue, \
     of('fa2_paper') with points pointtype 7 pointsize 0.5 linecolor rgb ink, \
     of('standard') with points pointtype 7 pointsize 0.7 linecolor rgb orange, \
     of('fa1') with points pointtype 7 pointsize 0.7 linecolor rgb green, \
     of('fa2') with points pointtype 7 pointsize 0.7 linecolor rgb blue
