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
mkdir "$work/bin"
for compiler in gcc clang; do
    printf '#!/bin/sh\nexec %s -Wall -Wextra -Werror -o %s "$@"\n' "$compiler" "$work/program" \
        >"$work/bin/cc"
    chmod +x "$work/bin/cc"
    while read -r line; do
        echo "$compiler: $line"
        (PATH=$work/bin:$PATH sh -c "$line") && "$work/program" --quiet || bad=1
    done <"$work/lines"
done
exit $bad
