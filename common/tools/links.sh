#!/bin/sh
# links.sh PAGE... - every link of the pages to something in the course must lead there, and to the heading
# that it names. Links to other places are left alone: a test must not need the network.
bad=0

# The headings of a page as links name them: small letters, hyphens for spaces, nothing else but words.
anchors() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}

links() {  # page -> its links, one a line, but for those in code
    awk '/^```/ { code = !code } !code' "$1" | sed 's/`[^`]*`//g' | grep -o '](<*[^)>]*)' | sed 's/^](<*//; s/>*)$//'
}

for page; do
    for link in $(links "$page"); do
        case $link in http://* | https://* | mailto:*) continue ;; esac
        file=$(dirname "$page")/${link%%#*} heading=''
        case $link in '#'*) file=$page ;; esac
        case $link in *'#'*) heading=${link#*#} ;; esac
        if [ ! -e "$file" ]; then
            echo "$page: there is no $link"
            bad=1
        elif [ -n "$heading" ] && ! anchors "$file" | grep -qx -e "$heading"; then
            echo "$page: $link: that page has no such heading"
            bad=1
        fi
    done
done
exit $bad
