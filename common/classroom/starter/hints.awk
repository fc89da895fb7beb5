# awk -f hints.awk exercise/README.md - the hints, each after a line `@ PART… LEVEL TITLE`. They are under a heading that names their
# parts in backticks and parentheses, and are folded.

/^## / { among = /^## Hints/; parts = "" }
/^##+ / && among {
    parts = ""
    line = $0
    while (match(line, /`[a-z0-9]+`/)) {
        parts = parts " " substr(line, RSTART + 1, RLENGTH - 2)
        line = substr(line, RSTART + RLENGTH)
    }
    next
}
among && /^<details><summary>/ {
    gsub(/<[^>]*>/, "")
    level = $0
    sub(/:.*/, "", level)
    sub(/^[0-9]*: */, "")
    print "@" parts, level, $0
    inside = 1
    text = 0
    next
}
/^<\/details>/ { inside = 0 }
inside && NF && after_blank && text { print "" }
inside { after_blank = NF == 0; if (NF) { print; text = 1 } }
