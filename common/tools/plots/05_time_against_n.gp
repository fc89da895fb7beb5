# Time for each visible query-key pair against N: complete and the peers. Columns: causal, name, N,
# nanoseconds a pair.
load 'common/tools/plots/style.gp'
set logscale x 2
set xrange [112:4700]
set yrange [0:*]
set xtics (128, 256, 512, '1 024' 1024, '2 048' 2048, '4 096' 4096) font ',12'
set xlabel 'N' offset 0, 0.4
most = system(sprintf("awk '$4 > m { m = $4 } END { print m }' %s", data)) + 0
set yrange [0:most * 1.08]
of(causal, name) = sprintf("< awk '$1 == %d && $2 == \"%s\" { print $3, $4 }' %s", causal, name, data)
set multiplot layout 1, 2
do for [causal = 0:1] {
    set lmargin causal ? 5 : 8
    set rmargin 2
    set title (causal ? 'causal' : 'no mask') textcolor rgb ink
    if (causal) { unset ylabel; unset key } else {
        set ylabel 'ns per pair, d = 64, two threads' offset 0.5, 0
        set key top right Left reverse samplen 2 spacing 1.2
    }
    plot of(causal, 'PyTorch') with linespoints linewidth 2.5 pointtype 7 pointsize 0.5 linecolor rgb orange title 'PyTorch', \
         of(causal, 'OpenBLAS') with linespoints linewidth 2.5 pointtype 7 pointsize 0.5 linecolor rgb pink title 'OpenBLAS', \
         of(causal, 'ONNX') with linespoints linewidth 2.5 pointtype 7 pointsize 0.5 linecolor rgb yellow title 'ONNX Runtime', \
         of(causal, 'OpenVINO') with linespoints linewidth 2.5 pointtype 7 pointsize 0.5 linecolor rgb sky title 'OpenVINO', \
         of(causal, 'oneDNN') with linespoints linewidth 2.5 pointtype 7 pointsize 0.5 linecolor rgb green title 'oneDNN', \
         of(causal, 'complete') with linespoints linewidth 2.5 pointtype 7 pointsize 0.5 linecolor rgb blue title 'complete'
}
unset multiplot
