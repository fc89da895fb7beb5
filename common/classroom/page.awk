# awk -f page.awk SOURCE… PAGE - PAGE without what quotes the solutions of these sources.

function bare(line) {
    sub(/\/\/.*/, "", line)
    sub(/^[-+ ]*/, "", line)
    gsub(/[ \t]+/, " ", line)
    sub(/ $/, "", line)
    return line
}
FILENAME !~ /\.md$/ {
    if (/\/\/ BEGIN SOLUTION/) inside = 1
    else if (/\/\/ END SOLUTION/) inside = 0
    else if (inside && length(bare($0)) >= 12) solution[bare($0)] = 1
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
