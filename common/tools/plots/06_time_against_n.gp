# GPU time against N: the plain formula and FlashAttention-2. First line "# GPU"; columns: kernel, N,
# milliseconds.
load 'common/tools/plots/style.gp'
set terminal svg size 760,340 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 9, 20, 3.4, 2.4
set logscale x 2
set logscale y
set xrange [450:18500]
set xtics (512, '1 024' 1024, '2 048' 2048, '4 096' 4096, '8 192' 8192, '16 384' 16384)
set ytics 10
set format y '10^{%T}'
set xlabel 'words of text' offset 0, 0.4
set ylabel 'milliseconds'
unset key
set title 'float32, 16 heads of d = 64, on an ' . system(sprintf("sed -n '1s/^# //p' '%s'", data)) textcolor rgb ink
of(kernel) = sprintf("< awk '$1 == \"%s\" { print $2, $3 }' '%s'", kernel, data)
last(kernel) = real(system(sprintf("awk '$1 == \"%s\" { y = $3 } END { print y }' '%s'", kernel, data)))
set label 1 'the plain formula' at 19500, last('naive') textcolor rgb orange
set label 2 'FlashAttention-2' at 19500, last('fa2') textcolor rgb blue
plot of('naive') with linespoints linewidth 2.5 pointtype 7 pointsize 0.6 linecolor rgb orange, \
     of('fa2') with linespoints linewidth 2.5 pointtype 7 pointsize 0.6 linecolor rgb blue
