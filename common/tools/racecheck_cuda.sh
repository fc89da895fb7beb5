#!/bin/sh
# racecheck_cuda.sh BUILD CHAPTER - CHAPTER's kernels under the race detector of common/cuda.
#
# It must find nothing, and must find each race planted by CHAPTER/exercise/planted.txt in its kernels.
# PLANTED=1 only shows the first one's report.
build=$1 chapter=$2
bugs=$chapter/exercise/planted.txt
number=$(echo "$chapter" | cut -c1-2)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

[ -n "$PLANTED" ] || "$build/racecheck-$number" || exit 1

# The kernels whose file, or whose header, the bug changes.
kernels_of() {  # bug
    file=$(sed -n "/^Name: $1\$/,/^File: /s/^File: //p" "$bugs")
    case $file in *.cuh) file=$(grep -l "#include \"$file\"" "$chapter"/kernels/*/*.cu) ;; esac
    echo "$file" | sed 's|.*/||; s|\.cu$||'
}

# A copy of the course with the bug.
planted() {  # bug -> the program's output
    rm -rf "$work/course"
    mkdir -p "$work/course/build"
    cp -Rp Makefile common 0[1-7]_* "$work/course/"
    cp -Rp "$build/obj" "$build"/*.a "$work/course/build/"  # keep the times, so that nothing is rebuilt
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
