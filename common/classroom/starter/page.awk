# awk -f page.awk SOURCE… PAGE - PAGE without listings that quote these sources' solutions. Lines that a source also has
# outside its gaps do not count: the head of a loop is no solution.

function bare(line) {
    sub(/\/\/.*/, "", line)
    sub(/^[-+ ]*/, "", line)
    gsub(/[ \t]+/, " ", line)
    sub(/ $/, "", line)
    return line
}
FNR == 1 {  # the last source has ended
    for (text in gap) if (!(text in elsewhere)) solution[text] = 1
    split("", gap)
    split("", elsewhere)
    inside = later = 0
}
FILENAME !~ /\.md$/ {
    if (/\/\/ BEGIN LATER/) later = 1
    else if (/\/\/ END LATER/) later = 0
    else if (/\/\/ BEGIN SOLUTION/) inside = 1
    else if (/\/\/ END SOLUTION/) inside = 0
    else if (length(bare($0)) < 12) next
    else if (inside) gap[bare($0)] = 1
    else if (!later) elsewhere[bare($0)] = 1
    next
}
/^```/ && !fenced {
    fenced = 1
    block = $0
    shows = 0
    next
}
/^```/ {
    fenced = 0
    print shows ? "```text\n(what you write)" : block
    print
    next
}
fenced {
    block = block "\n" $0
    if (bare($0) in solution) shows = 1
    next
}
{ print }
