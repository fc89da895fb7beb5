# 16-bit kernels on a GPU as bars, and PyTorch's fastest backends as lines. First lines "# GPU", "#N d N"
# and "# d backend TFLOP/s"; columns: place, kernel, TFLOP/s for d = 128, for d = 64, and units: 1 mma, 2
# wgmma, 3 mma with all options.
load 'common/tools/plots/style.gp'
set terminal svg size 760,580 dynamic enhanced font 'Helvetica,15' background '#ffffff'
awk(program) = system(sprintf("awk '%s' '%s'", program, data))
peer(d, backend) = real(awk(sprintf('$1 == "#" && $2 == %d && $3 == "%s" { y = $4 } END { print y + 0 }', d, backend)))
kernels = int(awk('/^[1-9]/ { n++ } END { print n }'))
top = real(awk('NR > 1 && !/^#N/ { for (k = 3; k <= 4; k++) if ($k + 0 > top && $k ~ /^[0-9]/) top = $k + 0 } END { print top }'))
ceiling = 100 * ceil(top / 100)
set yrange [0:ceiling]  # the same in both panels
set ytics 200
set grid noxtics ytics
set ylabel 'TFLOP/s'
set xrange [0.4:kernels + 0.6]
unset xtics
set style fill solid 1 noborder
set lmargin 8
set rmargin 10
tint(kind) = word('0x0072B2 0xD55E00 0x59626b', int(kind)) + 0
unset key
set label 3 awk('NR == 1 { sub("# ", ""); print }') . ', bf16' at screen 0.02, 0.955 textcolor rgb ink
set label 4 'mma' at screen 0.43, 0.955 textcolor rgb blue
set label 5 'wgmma' at screen 0.51, 0.955 textcolor rgb orange
set label 6 'mma, every option' at screen 0.62, 0.955 textcolor rgb ink
set label 7 'PyTorch' at screen 0.885, 0.955 textcolor rgb ink
set multiplot
do for [panel = 1:2] {
    d = panel == 1 ? 128 : 64
    set tmargin at screen panel == 1 ? 0.87 : 0.49
    set bmargin at screen panel == 1 ? 0.56 : 0.17
    N = awk(sprintf('$1 == "#N" && $2 == %d { print int($3 / 1000) " " substr($3, length($3) - 2) }', d))
    set title sprintf('d = %d, %s', d, N eq '' ? 'not measured yet' : 'N = ' . N . ', no mask') textcolor rgb ink offset 0, -0.6
    set label 8 (peer(d, 'flash') + peer(d, 'cudnn') > 0 ? '' : "not\nmeasured\nyet") at graph 1.01, 0.7 textcolor rgb ink
    do for [k = 1:2] {
        unset arrow k
        unset label k
        backend = word('flash cudnn', k)
        y = peer(d, backend)
        if (y > 0) {
            set arrow k from graph 0, first y to graph 1, first y nohead front linewidth 2 dashtype 2 \
                linecolor rgb word(pink . ' ' . green, k)
            set label k sprintf('%s %.0f', backend, y) at graph 1.01, first y front textcolor rgb word(pink . ' ' . green, k)
        }
    }
    if (panel == 2) {
        do for [k = 3:7] {
            unset label k
        }
        set xtics () scale 0 rotate by 35 right offset 0.8, 0 noenhanced
        do for [k = 1:kernels] {
            set xtics add (awk(sprintf('$1 == %d { print $2 }', k)) k)
        }
    }
    plot data using 1:(column(panel + 2)):(0.8):(tint($5)) with boxes linecolor rgb variable, \
         data using 1:(0.05 * ceiling):(column(panel + 2) > 0 ? sprintf('%.0f', column(panel + 2)) : '') \
             with labels font ',12' textcolor rgb '#ffffff'
}
unset multiplot
