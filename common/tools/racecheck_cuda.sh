#!/bin/sh
# racecheck_cuda.sh BUILD CHAPTER - the kernels of CHAPTER under the race detector of common/cuda.
#
# It must find nothing, and it must find what each entry of CHAPTER/exercise/planted.txt plants, in the kernels that it is
# about, or it cannot see. PLANTED=1 shows what is said of the first of them and no more.
build=$1 chapter=$2
bugs=$chapter/exercise/planted.txt
number=$(echo "$chapter" | cut -c1-2)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

[ -n "$PLANTED" ] || "$build/racecheck-$number" || exit 1

# The kernel whose file the bug changes, or those with the header that it changes.
kernels_of() {  # bug
    file=$(sed -n "/^Name: $1\$/,/^File: /s/^File: //p" "$bugs")
    case $file in *.cuh) file=$(grep -l "#include \"$file\"" "$chapter"/kernels/*/*.cu) ;; esac
    echo "$file" | sed 's|.*/||; s|\.cu$||'
}

# The course as it is, but for the bug, in a folder of its own.
planted() {  # bug -> what the program says
    rm -rf "$work/course"
    mkdir -p "$work/course/build"
    cp -Rp Makefile common 0[1-7]_* "$work/course/"
    cp -Rp "$build/obj" "$build"/*.a "$work/course/build/"  # their times say what is up to date
    awk -f common/tools/mistakes.awk apply "$work/course" "$bugs" "$1" || exit 2
    make -s -j"$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -C "$work/course" BUILD=build QUIET=1 \
        "build/racecheck-$number" >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 2; }
    # shellcheck disable=SC2086
    (cd "$work/course" && "build/racecheck-$number" $kernels 2>&1)
}

all=$(sed -n 's/^Name: //p' "$bugs" | paste -s -d ' ' -)
case " $all " in *" ${PLANTED:-1} "*) ;; *) echo "PLANTED=$PLANTED: expected one of: $all" >&2; exit 2 ;; esac
for bug in ${PLANTED:-$all}; do
    kernels=$(kernels_of "$bug")
    planted "$bug" >"$work/said"
    [ -z "$PLANTED" ] || { cat "$work/said"; exit 0; }
    if ! grep -q -e 'data race' -e 'copy is under way' "$work/said"; then
        echo "$bugs: $bug: what it plants was not found:"
        cat "$work/said"
        exit 1
    fi
    echo "$bugs: $bug: $(grep -m 1 -e 'data race' -e 'copy is under way' "$work/said")"
done
