# The style of all pictures: SVG on white, Okabe-Ito colours, labels next to the lines,
# no frame.
set terminal svg size 760,460 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set encoding utf8
ink = '#59626b'
blue = '#0072B2'; orange = '#D55E00'; green = '#009E73'; pink = '#CC79A7'; yellow = '#E69F00'; sky = '#56B4E9'
set border 3 linecolor rgb ink linewidth 1
set tics nomirror textcolor rgb ink
set xlabel textcolor rgb ink
set ylabel textcolor rgb ink
set grid linetype 0 linecolor rgb ink linewidth 0.6
set key noenhanced textcolor rgb ink
