#!/bin/sh
# docs.sh docs|docs-check FILE... - fills the marked blocks of pages from real runs.
#
#     <!-- text: build/03_online_softmax -->      the command's output, fenced as ```text
#     <!-- c: sed -n '/^void/,/^}/p' FILE -->     the same, fenced as ```c
#     <!-- table: COMMAND -->                     the same, as it is: Markdown
#     <!-- html: COMMAND -->                      the same, as it is, in a page of that language
#     <!-- timed: COMMAND -->                     times: with the date, renewed only with TIMES=1
#     …
#     <!-- end -->
#
# docs rewrites the files; docs-check changes nothing and fails where a block is stale. Commands run
# in the course's folder. A command may fail with 1 (diff does), not with more.
mode=$1
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
stale=0

fill() {  # file -> its text with fresh blocks, on standard output
    awk -v mode="$mode" -v out="$work/out" -v today="$(date +%Y-%m-%d)" '
        function block(kind, command,    fence, status, line, blank) {
            status = system("NO_COLOR=1 sh -c \047" quoted(command) "\047 >" out " 2>&1 </dev/null")
            if (status > 1) {
                print FILENAME ": this command failed: " command >"/dev/stderr"
                while ((getline line < out) > 0) print "    " line >"/dev/stderr"
                exit 2
            }
            fence = kind == "table" || kind == "html" ? "" : "```"
            if (fence) print fence (kind == "timed" ? "text" : kind)
            blank = 0  # blank lines wait until another line follows
            while ((getline line < out) > 0) {
                sub(/[ \t]+$/, "", line)
                if (line == "") { blank++; continue }
                for (; blank > 0; blank--) print ""
                print line
            }
            close(out)
            if (fence) print fence
            if (kind == "timed") print "\nMeasured on " today "."
        }
        function quoted(s) { gsub(/\047/, "\047\\\047\047", s); return s }
        /^<!-- [a-z]+: .* -->$/ {
            kind = $2; sub(/:$/, "", kind)
            command = $0; sub(/^<!-- [a-z]+: /, "", command); sub(/ -->$/, "", command)
            print
            keep = kind == "timed" && !(mode == "docs" && ENVIRON["TIMES"])
            if (!keep) block(kind, command)
            inside = 1
            next
        }
        /^<!-- end -->$/ { inside = 0 }
        !inside || keep
        END { if (inside) { print FILENAME ": a block has no end" >"/dev/stderr"; exit 2 } }
    ' "$1"
}

for file; do
    fill "$file" >"$work/new" || exit 2
    if cmp -s "$file" "$work/new"; then
        continue
    elif [ "$mode" = docs ]; then
        cat "$work/new" >"$file"
        echo "rewrote $file"
    else
        echo "stale: $file (make docs renews it)"
        diff "$file" "$work/new" | head -n 20
        stale=1
    fi
done
exit $stale
