# awk -f page.awk SOURCE… PAGE - PAGE without what quotes the solutions of these sources. A line that a source has
# outside of its gaps too does not count: the head of a loop makes no solution of what it stands in.

function bare(line) {
    sub(/\/\/.*/, "", line)
    sub(/^[-+ ]*/, "", line)
    gsub(/[ \t]+/, " ", line)
    sub(/ $/, "", line)
    return line
}
FNR == 1 {  # the source before this one is at its end
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
