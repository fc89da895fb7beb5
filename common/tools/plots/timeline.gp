# A GPU's units working on one block (common/tools/timeline.py). First lines "# number name", from the top;
# columns: row, begin, end, kind (1 copies, 2 sums in memory, 3 exponentials, 4 and up products), label. Two
# scales, so that pictures can be compared.
load 'common/tools/plots/style.gp'
rows = int(system("grep -c '^# ' " . data))
set terminal svg size 760,(90 + 46 * rows) dynamic enhanced font 'Helvetica,15' background '#ffffff'
set margins 17, 4, 3.4, 1
unset key
unset ytics
unset grid
set border 1
set grid xtics linetype 0 linecolor rgb ink linewidth 0.6
stats data using 3 name 'last' nooutput
cycles = last_max <= 8000 ? 8000 : last_max <= 14000 ? 14000 : 2000 * ceil(last_max / 2000)
# The letters that fit into a box. Longer labels are smaller; very narrow boxes have none.
letters(width) = width > 0.03 * cycles ? width / (0.0118 * cycles) : 0
small(label, width) = letters(width) > 0 && letters(width) < strlen(label)
stats data using (small(strcol(5), $3 - $2)) name 'small' nooutput
set xrange [0:cycles]
set yrange [rows - 0.5:-0.5]
set xtics cycles <= 8000 ? 1000 : 2000
set xlabel 'cycles of a multiprocessor, by published rates' offset 0, 0.4
do for [k = 1:rows] {
    set label k system(sprintf("sed -n '%dp' %s | sed 's/^# [0-9]* //'", k, data)) \
        at graph 0, first k - 1 right offset -1, 0 textcolor rgb ink
}
set style fill solid 1 border rgb '#ffffff'
tint(kind) = word('0x59626b 0xCC79A7 0xD55E00 0x0072B2 0x009E73 0x56B4E9 0x8a6d00 0x4b5563', int(kind)) + 0
boxes = "data using (($2 + $3) / 2):1:2:3:($1 - 0.36):($1 + 0.36):(tint($4)) with boxxyerror linecolor rgb variable"
labels(which, size) = sprintf(", data using (($2 + $3) / 2):1:(%s ? strcol(5) : '') " . \
    "with labels noenhanced font ',%d' textcolor rgb '#ffffff'", which, size)
eval "plot " . boxes . labels("letters($3 - $2) >= strlen(strcol(5))", 11) . \
    (small_max > 0 ? labels("small(strcol(5), $3 - $2)", 8) : '')
