#!/bin/sh
# layers.sh - includes go down only, from a room of the course to one below it, and never in a circle.
#
# Lowest first: cpu; problem and files; measure; check; program; cuda; the chapters, a later one above those before it;
# then what stands on all of them: classroom, peers, python and tools, and what a chapter has for peers and python. Tests
# may include anything. Names both files of each include that goes up, and the folders of each circle.
work=$(mktemp) || exit 2
trap 'rm -f "$work"' EXIT
find common 0[1-7]_* -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | grep -v '/tests/' | sort |
    xargs grep -Hn '^ *# *include "' | sed -n 's/^\([^:]*\):\([0-9]*\):.*include "\([^"]*\)".*/\1 \2 \3/p' | awk -v circles="$work" '
    BEGIN {
        n = split("cpu problem,files measure check program cuda", rooms, " ")
        for (k = 1; k <= n; k++) {
            m = split(rooms[k], names, ",")
            for (j = 1; j <= m; j++) level["common/" names[j]] = k
        }
        for (k = 1; k <= 7; k++) chapter[k] = n + k
        top = n + 8
    }
    function level_of(path,    parts) {
        split(path, parts, "/")
        if (path ~ /\/program\/(python|peers)\//) return top
        if (parts[1] ~ /^0[1-7]_/) return chapter[substr(parts[1], 2, 1)]
        return ("common/" parts[2]) in level ? level["common/" parts[2]] : top
    }
    function room(path,    parts, k) {
        k = split(path, parts, "/")
        return k > 2 || parts[1] ~ /^0/ ? parts[1] "/" (k > 2 ? parts[2] : "") : parts[1]
    }
    {
        if ($3 !~ /^(common|0[1-7]_[a-z_]*)\//) { print $1 ":" $2 ": " $3 ": expected a path from the top of the course"; bad = 1; next }
        if (level_of($3) > level_of($1)) { print $1 ":" $2 ": includes " $3 ", which is above it"; bad = 1 }
        if (room($1) != room($3)) print room($3), room($1) >circles
    }
    END { exit bad }'
bad=$?
sort -u "$work" | tsort >/dev/null 2>"$work.said" || bad=1
if [ -s "$work.said" ]; then
    echo 'a circle of folders:'
    sed 's/^tsort: //' "$work.said"
    bad=1
fi
rm -f "$work.said"
exit $bad
