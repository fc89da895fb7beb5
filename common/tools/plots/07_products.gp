# The five products of a tile: Br queries, Bc keys, rows of d. Columns: place x y width height colour name.
load 'common/tools/plots/style.gp'
set terminal svg size 760,330 dynamic enhanced font 'Helvetica,15' background '#ffffff'
unset key
unset grid
set border 0
unset tics
set margins 1, 1, 0.5, 2.2
set xrange [0:76]
set yrange [33:0]
set style fill solid 1 noborder
set title "blue: rows of queries, loaded for each tile; orange: rows of keys, which stay; green: pairs" \
    textcolor rgb ink
tint(colour) = colour eq 'query' ? 0xcfe3f0 : colour eq 'key' ? 0xf8dccb : 0xcbeae1
plot data using ($1 + $3 / 2):($2 + $4 / 2):($3 / 2):($4 / 2):(tint(strcol(5))) \
         with boxxyerror linecolor rgb variable, \
     data using ($1 + $3 / 2):($2 + $4 / 2):6 with labels textcolor rgb ink, \
     data using ($7):($8):9 with labels textcolor rgb ink
