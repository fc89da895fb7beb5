#!/bin/sh
# commands.sh PAGE... - every command that a page shows does what it is shown for, in a copy of the course.
#
# Commands stand in ```sh blocks, which run whole, and in the text between backquotes: build/PROGRAM … runs, of
# make TARGET it is asked whether there is such a target. A block with a comment before it is left out:
#
#     <!-- by hand: PROGRAM -->     compile_lines.sh runs it, as it does lines that begin with "cc"
#     <!-- not run: REASON -->      for example on a machine without a GPU
#
# Files that pages take for granted (x.npy, q.npy, yours.npy …) are there. A command must end with 0.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1

# The copy has what is built too, with its times, so that nothing is built again. The course may have come without git.
{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './build/*' ! -path './.git/*'; } | tar -cf - -T - | (cd "$work" && tar -xf -) || exit 2
mkdir "$work/build"
for built in build/obj build/tests build/*.a build/compare build/0*; do
    [ -e "$built" ] && cp -Rp "$built" "$work/build/"
done
for name in q k v key_mask; do
    cp "common/data/$name.npy" "$work/"
done
cp common/data/scores.npy "$work/x.npy"
(cd "$work" && build/03_online_softmax --input x.npy --output yours.npy --quiet &&
    build/04_flash_no_tiling --q q.npy --k k.npy --v v.npy --key-mask key_mask.npy --causal --output o.npy --quiet
) >"$work/log" || { cat "$work/log"; exit 2; }

awk -v out="$work/block" '
    FNR == 1 { leave = inside = 0 }
    /^<!-- (by hand|not run): / { leave = 1; next }
    /^```sh/ && !leave { inside = 1; file = out (++count); print FILENAME >(file ".page"); next }
    /^```/ { inside = leave = 0; next }
    inside && !/^(cc|\.\/a\.out) / { print >file }' "$@"

bad=0 ran=0
check() {  # page, script
    ran=$((ran + 1))
    (cd "$work" && timeout 300 sh -e "$2") >"$work/log" 2>&1 </dev/null && return
    bad=1
    echo "$1: this does not end well:"
    sed 's/^/    /' "$2"
    tail -n 5 "$work/log" | sed 's/^/    > /'
}

for page in "$work"/block*.page; do
    [ -s "${page%.page}" ] && check "$(cat "$page")" "${page%.page}"
done
for page; do
    grep -o '`build/0[^`]*`\|`make [^`]*`' "$page" | tr -d '`' | sort -u >"$work/commands"
    while read -r command; do
        case $command in make*) command="make -n ${command#make }" ;; esac
        echo "$command" >"$work/script"
        check "$page" "$work/script"
    done <"$work/commands"
done
[ "$ran" -gt 0 ] || { echo "no command in: $*"; exit 1; }
[ "$bad" -eq 0 ] && echo "$ran commands of the pages do what they are shown for"
exit "$bad"
