#!/bin/sh
# compile_lines.sh README... - runs the compile lines of each page, exactly, with gcc and with clang.
#
# A compile line is a line that begins with "cc " in a page, and lines behind it that begin with "./a.out" run
# what it has made. Where one is not enough, the page has a comment
# "by hand: PROGRAM" and behind it a block of commands that make the program. It must be built without a
# warning, with nothing but a compiler, and must verify itself. They are typed into bash or zsh: {a,b} is both.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

grep -h -e '^cc .*[^\\]$' -e '^\./a\.out ' "$@" >"$work/lines"
awk -v out="$work/block" '
    /^<!-- by hand: / { block++; wanted = 1; print $4 >(out block ".program"); next }
    wanted && /^```sh/ { inside = 1; wanted = 0; next }
    /^```/ { inside = 0 }
    inside { print >(out block) }
    FNR == 1 { inside = 0 }' "$@"
[ -s "$work/lines" ] || { echo "no compile line in: $*"; exit 1; }

# Everything that is in the course but for build/, in a folder of the compiler's own.
at_home() {  # compiler
    home=$work/$1
    mkdir -p "$home/bin"
    for name in *; do
        [ "$name" = build ] || ln -s "$PWD/$name" "$home/$name"
    done
    cd "$home" || exit 2
}
compiler_is() {  # name in the pages, compiler, options
    printf '#!/bin/sh\nexec %s -Wall -Wextra -Werror %s "$@"\n' "$2" "$3" >"bin/$1"
    chmod +x "bin/$1"
}
all_lines() {  # compiler
    at_home "$1"
    bad=0
    export PATH="$PWD/bin:$PATH"
    compiler_is cc "$1" "-o $PWD/program"
    while read -r line; do
        echo "$1: $line"
        case $line in
        cc*) bash -c "$line" && ./program --quiet || bad=1 ;;
        *) bash -c "./program ${line#./a.out}" >log || { cat log; bad=1; } ;;
        esac
    done <"$work/lines"
    compiler_is cc "$1"
    [ "$1" = gcc ] && cxx=g++ || cxx=clang++
    compiler_is c++ "$cxx" '-Wno-unknown-pragmas -Wno-pass-failed'  # "unroll" is for nvcc
    for program in "$work"/block*.program; do
        [ -f "$program" ] || continue
        echo "$1 and $cxx: $(cat "$program")"
        bash -e "${program%.program}" && "$(cat "$program")" --quiet || bad=1
    done
    exit $bad
}

# The two at the same time; what one says comes before what the other does.
(all_lines clang) >"$work/clang.said" 2>&1 &
(all_lines gcc) || bad=1
wait $! || bad=1
cat "$work/clang.said"
exit $bad
