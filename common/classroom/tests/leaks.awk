# awk -v gaps='1 2' -f leaks.awk SOURCE FILE… - where a FILE has four lines in a row of a solution that SOURCE has in these
# gaps. Short lines do not count.

function bare(line) {
    sub(/\/\/.*/, "", line)
    sub(/^[-+ ]*/, "", line)
    gsub(/[ \t]+/, " ", line)
    sub(/ $/, "", line)
    return length(line) < 12 ? "" : line
}
NR == FNR {
    if (/\/\/ BEGIN SOLUTION/) inside = index(" " gaps " ", " " ++n " ") > 0
    else if (/\/\/ END SOLUTION/) inside = 0
    else if (inside && (text = bare($0)) != "") { follows[before, text] = 1; before = text }
    next
}
FNR == 1 { above = ""; run = 1 }
(text = bare($0)) != "" {
    run = (above, text) in follows ? run + 1 : 1
    if (run >= 4) print FILENAME ":" FNR ": " text
    above = text
}
