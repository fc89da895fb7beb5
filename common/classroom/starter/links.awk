# awk -v folder=CHAPTER -f links.awk NAMES PAGE - PAGE, a page of that folder, with links only to NAMES, the starter's files
# and folders, or the web. Other links become plain text.

function leads_somewhere(link,    path) {
    if (link ~ /^(https?:|mailto:|#)/) return 1
    sub(/#.*/, "", link)
    sub(/\/$/, "", link)
    path = folder "/" link
    sub(/^\.\//, "", path)
    while (sub(/[^\/]+\/\.\.\//, "", path)) continue
    return path in there
}
function with_links(text,    all, link, words) {
    while (match(text, /!?\[[^][]*\]\([^()]*\)/)) {
        link = words = substr(text, RSTART, RLENGTH)
        sub(/.*\]\(<?/, "", link)
        sub(/>?\)$/, "", link)
        sub(/^!?\[/, "", words)
        sub(/\]\([^()]*\)$/, "", words)
        all = all substr(text, 1, RSTART - 1) (leads_somewhere(link) ? substr(text, RSTART, RLENGTH) : words)
        text = substr(text, RSTART + RLENGTH)
    }
    return all text
}
NR == FNR { there[$0] = 1; next }
/^```/ {
    if (!fenced) { printf "%s", with_links(prose); prose = "" }
    fenced = !fenced
    print
    next
}
fenced { print; next }
{ prose = prose $0 "\n" }
END { printf "%s", with_links(prose) }
