#!/bin/sh
# compile_lines.sh README... - runs the compile lines of each page, exactly, with gcc and with clang.
#
# A compile line is a line that begins with "cc " in a page, and lines behind it that begin with "./a.out" run
# what it has made. Where one is not enough, the page has a comment
# "by hand: PROGRAM" and behind it a block of commands that make the program. It must be built without a
# warning, with nothing but a compiler, and must verify itself.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

grep -h -e '^cc .*[^\\]$' -e '^\./a\.out ' "$@" >"$work/lines"
awk -v out="$work/block" '
    /^<!-- by hand: / { block++; print $4 >(out block ".program"); next }
    block && /^```sh/ { inside = 1; next }
    /^```/ { inside = 0 }
    inside { print >(out block) }
    FNR == 1 { inside = 0 }' "$@"
[ -s "$work/lines" ] || { echo "no compile line in: $*"; exit 1; }

mkdir "$work/bin"
compiler_is() {  # name in the pages, compiler, options
    printf '#!/bin/sh\nexec %s -Wall -Wextra -Werror %s "$@"\n' "$2" "$3" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
for compiler in gcc clang; do
    compiler_is cc $compiler "-o $work/program"
    while read -r line; do
        echo "$compiler: $line"
        case $line in
        cc*) (PATH=$work/bin:$PATH sh -c "$line") && "$work/program" --quiet || bad=1 ;;
        *) sh -c "$work/program ${line#./a.out}" >"$work/log" || { cat "$work/log"; bad=1; } ;;
        esac
    done <"$work/lines"
    compiler_is cc $compiler
    [ $compiler = gcc ] && cxx=g++ || cxx=clang++
    compiler_is c++ $cxx '-Wno-unknown-pragmas -Wno-pass-failed'  # "unroll" is for nvcc
    for program in "$work"/block*.program; do
        [ -f "$program" ] || continue
        echo "$compiler and $cxx: $(cat "$program")"
        rm -rf "$(dirname "$(cat "$program")")"
        (PATH=$work/bin:$PATH sh -e "${program%.program}") && "$(cat "$program")" --quiet || bad=1
    done
done
exit $bad
