#!/bin/sh
# compile_lines.sh README... - runs the compile line of each page, exactly, with gcc and with clang.
#
# A compile line is a line that begins with "cc " in a page. It must build without a warning, with
# nothing but a compiler, and the program must verify itself.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

grep -h '^cc ' "$@" | sort -u >"$work/lines"
[ -s "$work/lines" ] || { echo "no compile line in: $*"; exit 1; }
while read -r line; do
    program=${line##*-o }
    for compiler in gcc clang; do
        mkdir "$work/bin"
        printf '#!/bin/sh\nexec %s -Wall -Wextra -Werror "$@"\n' "$compiler" >"$work/bin/cc"
        chmod +x "$work/bin/cc"
        echo "$compiler: $line"
        (PATH=$work/bin:$PATH sh -c "${line% -o *} -o $work/$program") &&
            "$work/$program" --quiet || bad=1
        rm -rf "$work/bin"
    done
done <"$work/lines"
exit $bad
