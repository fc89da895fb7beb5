#!/bin/sh
# racecheck.sh CHAPTER MISTAKE SOURCE... - runs CHAPTER/tests/race.c under clang's ThreadSanitizer.
#
# It must find nothing there, and must find the race that MISTAKE of CHAPTER/tests/mistakes.txt plants. Needs
# clang and its OpenMP with archer, which reports OpenMP's barriers to the sanitizer; gcc's gives false
# alarms. Without them: exit status 77, and the package's name.
chapter=$1 planted=$2
shift 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
archer=$(dirname "$(readlink -f "$(command -v clang)" 2>/dev/null)")/../lib/libarcher.so
if [ ! -f "$archer" ]; then
    echo "SKIPPED: no clang with OpenMP and archer here (on Debian: clang libclang-rt-dev libomp-dev; Apple's clang has none)"
    exit 77
fi
export OMP_TOOL_LIBRARIES="$archer" TSAN_OPTIONS='ignore_noninstrumented_modules=1 exitcode=66'

build() {  # folder with the chapter, sources
    folder=$1
    shift
    # shellcheck disable=SC2046
    clang -std=c17 -O1 -g -fopenmp -fsanitize=thread -I"$folder" -I. \
        $(find "$folder/$chapter/steps" "$folder/$chapter/fast" -name '*.c') "$folder/$chapter/tests/race.c" "$@" \
        -o "$work/race" -lm || exit 2
}
races() {  # -> 0 if the sanitizer reports a race
    "$work/race" >"$work/log" 2>&1
    status=$?
    grep -q 'WARNING: ThreadSanitizer: data race' "$work/log"
}

build . "$@"
if races || [ "$status" -ne 0 ]; then
    cat "$work/log"
    exit 1
fi
echo "$chapter: no race; $(cat "$work/log")"

cp -R "$chapter" "$work/"
awk -f common/tools/mistakes.awk apply "$work" "$chapter/tests/mistakes.txt" "$planted" || exit 1
build "$work" "$@"
for _ in 1 2 3 4 5 6 7 8 9 10; do  # on a busy machine one thread may finish before another starts
    if races; then
        echo "$planted: the planted race is found"
        exit 0
    fi
done
echo "the race that $planted plants was not found in ten runs:"
cat "$work/log"
exit 1
