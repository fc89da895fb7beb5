# Pieces of eight rows in shared memory, plain and swizzled. Columns: x, row, piece.
load 'common/tools/plots/style.gp'
set terminal svg size 760,360 dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 7, 2, 3.4, 2.6
unset key
unset grid
set border 0
set size ratio -1
set xrange [0:18]
set yrange [8:0]
set tics scale 0
set ytics ('0' 0.5, '2' 2.5, '4' 4.5, '6' 6.5) offset 0.6, 0
set xtics ('0' 0.5, '12' 3.5, '28' 7.5, '0' 10.5, '12' 13.5, '28' 17.5) offset 0, 0.4
set xlabel 'the first of four banks, rows as they come and swizzled' offset 0, 0.4
set ylabel 'rows of 64 elements' offset 1, 0
set style fill solid 1 noborder
tint(piece) = piece == 3 ? 0x0072B2 : 0xf2f4f5
set title 'the number is the piece; blue: the eight that ldmatrix reads together' textcolor rgb ink
plot data using ($1 + 0.5):($2 + 0.5):(0.46):(0.46):(tint($3)) with boxxyerror linecolor rgb variable, \
     data using ($1 + 0.5):($2 + 0.5):(sprintf('%d', $3)):($3 == 3 ? 0xffffff : 0x59626b) \
         with labels font ',12' textcolor rgb variable
