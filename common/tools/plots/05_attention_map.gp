# Weights P of real attention, 24 queries by 24 keys. Columns: query key weight, and their tokens.
load 'common/tools/plots/style.gp'
set terminal svg size 760,610 dynamic enhanced font 'Helvetica,15' background '#ffffff'
n = 24
set margins 0, 0, 0, 2
unset key
unset grid
unset tics
set border 0
set size ratio -1
set xrange [-4.6:n + 3.4]
set yrange [n + 0.2:-2.7]
set style fill solid 1 noborder
set title 'P of head 0: the first 24 of 164 tokens, in tiles of 8 by 8' textcolor rgb ink

# White to blue by the square root of the weight, so that small ones show.
mix(from, to, share) = int(from + (to - from) * share)
colour(weight) = (mix(255, 0, sqrt(weight)) * 256 + mix(255, 114, sqrt(weight))) * 256 + \
                 mix(255, 178, sqrt(weight))
set for [k = 0:n:8] arrow k + 1 from k, 0 to k, n nohead linecolor rgb ink front
set for [k = 0:n:8] arrow k + 2 from 0, k to n, k nohead linecolor rgb ink front

set label 1 'queries ↓' right at -0.5, -1.6 textcolor rgb ink font ',12'
set label 2 'keys →' right at -0.5, -0.8 textcolor rgb ink font ',12'
set label 3 'weight' at n + 0.7, 8.3 textcolor rgb ink font ',12'
set for [k = 0:4] label k + 4 sprintf('%.2f', k / 4.0) at n + 1.9, 9.5 + k \
    textcolor rgb ink font ',12'
plot sprintf("< awk '$3 >= 0.005' %s", data) \
         using ($2 + 0.5):($1 + 0.5):(0.5):(0.5):(colour($3)) \
         with boxxyerror linecolor rgb variable, \
     sprintf("< awk '$2 == 0' %s", data) using (-0.3):($1 + 0.5):4 \
         with labels right font ',12' noenhanced textcolor rgb ink, \
     sprintf("< awk '$1 == 0' %s", data) using ($2 + 0.4):(-0.3):5 \
         with labels left rotate by 60 font ',12' noenhanced textcolor rgb ink, \
     for [k = 0:4] '+' every ::0::0 using (n + 1.2):(9.5 + k):(0.5):(0.5):(colour(k / 4.0)) \
         with boxxyerror linecolor rgb variable
