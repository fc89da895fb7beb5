# Extra memory against N. Columns: step N accesses, bytes of stored matrices, bytes of fast memory.
# A broken axis shows 0 below the logarithmic scale.
load 'common/tools/plots/style.gp'
zero = 25
set margins 10, 18, 3.6, 2.4
set logscale xy
set xrange [56:16384]
set yrange [12:1e10]
set xtics (64, 256, '1 024' 1024, '4 096' 4096, '16 384' 16384)
set ytics ('0' zero, '100 B' 1e2, '1 kB' 1e3, '10 kB' 1e4, '100 kB' 1e5, '1 MB' 1e6, '10 MB' 1e7, \
           '100 MB' 1e8, '1 GB' 1e9, '10 GB' 1e10)
set xlabel 'N, queries and keys' offset 0, 0.3
unset key
set arrow 1 from 52, 45 to 60, 60 nohead linecolor rgb ink front
set arrow 2 from 52, 36 to 60, 48 nohead linecolor rgb ink front

x = 18500
set label 1 "standard: S and P,\n8 N^2" at x, 2.2e9 textcolor rgb orange
set label 2 "05 fa1: m and l, 8 N" at x, 6e4 textcolor rgb green
set label 3 "05 fa2: nothing" at x, zero textcolor rgb blue
set label 4 "fa1, fa2: tiles" at x, 3e5 textcolor rgb ink
set label 5 "04 one pass: a row" at x, 520 textcolor rgb ink
set title 'bytes stored whole in slow memory, the dots counted; dashed: held in fast memory' \
    textcolor rgb ink
whole(step) = sprintf("< awk '$1 == \"%s\" { print $2, $4 ? $4 : %g }' %s", step, zero, data)
fast(step) = sprintf("< awk '$1 == \"%s\" { print $2, y = $5 } END { print 16384, y }' %s", \
                     step, data)
plot 8 * x**2 with lines linewidth 2.5 linecolor rgb orange, \
     8 * x with lines linewidth 2.5 linecolor rgb green, \
     zero with lines linewidth 2.5 linecolor rgb blue, \
     fast('fa2') with lines linewidth 1.2 dashtype '-' linecolor rgb ink, \
     fast('one_pass') with lines linewidth 1.2 dashtype '-' linecolor rgb ink, \
     whole('standard') with points pointtype 7 pointsize 0.7 linecolor rgb orange, \
     whole('fa1') with points pointtype 7 pointsize 0.7 linecolor rgb green, \
     whole('fa2') with points pointtype 7 pointsize 0.7 linecolor rgb blue
