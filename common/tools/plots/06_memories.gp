# A kernel's memories, one below the other. Columns, tab-separated: level, half its width, name, owner, size,
# size on this machine.
load 'common/tools/plots/style.gp'
set terminal svg size 760,400 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 1, 1, 1, 2.4
unset key
unset grid
unset xtics
unset ytics
set border 0
set xrange [-5:5]
set yrange [3.5:0.5]
set datafile separator "\t"
set style fill solid 1 noborder
set title "on ".system(sprintf("sed -n 's/^# machine: //p' %s", data)) noenhanced textcolor rgb ink
tint(level) = level == 1 ? 0xcfe3f0 : level == 2 ? 0xcbeae1 : 0xf8dccb
boxes = "< grep -v '^#' ".data
plot boxes using (0):1:2:(0.36):(tint($1)) with boxxyerror linecolor rgb variable, \
     boxes using (0):($1 - 0.2):(sprintf('{/=17 %s}  %s', strcol(3), strcol(4))) with labels textcolor rgb '#333333', \
     boxes using (0):($1 + 0.02):5 with labels noenhanced textcolor rgb '#333333', \
     boxes using (0):($1 + 0.21):6 with labels noenhanced textcolor rgb ink
