#!/bin/sh
# chain.sh FOLDER... - from a chapter's README.md on, the first link under "Next" (or behind "**Next:**")
# leads from page to page: to each of them once, exercises apart, and then out of the chapter.
bad=0

next_of() {  # page -> where its "Next" leads first
    awk '/^```/ { code = !code } code { next }
        /^## / { inside = $0 == "## Next" }
        /^\*\*Next:\*\*/ { inside = 1 }
        inside && match($0, /\]\([^)#]*/) { print substr($0, RSTART + 2, RLENGTH - 2); exit }' "$1"
}

for chapter; do
    at=README.md seen=' '
    while :; do
        case "$seen" in *" $at "*)
            echo "$chapter/$at: the pages before lead to it twice"
            bad=1
            break
            ;;
        esac
        seen="$seen$at "
        to=$(next_of "$chapter/$at")
        case $at,$to in
        *,) echo "$chapter/$at: no link under \"Next\"" ;;
        pages/*,../README.md) to=README.md ;;
        *,../*) break ;;
        pages/*) to=pages/$to ;;
        esac
        [ -z "$to" ] || [ -e "$chapter/$to" ] || echo "$chapter/$at: there is no $to"
        [ -f "$chapter/$to" ] || { bad=1; break; }
        at=$to
    done
    for page in "$chapter"/*.md "$chapter"/pages/*.md; do
        [ -f "$page" ] || continue
        page=${page#"$chapter/"}
        case $seen in *" $page "*) continue ;; esac
        echo "$chapter/$page: no \"Next\" leads to it"
        bad=1
    done
done
exit $bad
