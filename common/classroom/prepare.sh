#!/bin/sh
# prepare.sh BUILD - what every grading needs, in BUILD/classroom: headers/, the course's headers without its
# sources, and libraries/, what students' programs are linked with, for the small file system that they see.
build=$1
grader=$build/classroom
rm -rf "$grader/headers" "$grader/libraries"
mkdir -p "$grader/headers" "$grader/libraries"
find common 0* -name '*.h' -o -name '*.cuh' | while read -r header; do
    mkdir -p "$grader/headers/$(dirname "$header")"
    cp "$header" "$grader/headers/$header"
done

# By a program of each kind, made here.
command -v ldd >/dev/null || exit 0
folder=$(mktemp -d) || exit 2
echo '#include <math.h>
int main(int argc, char **argv) { (void)argv; return (int)sqrt(argc) == 7; }' >"$folder/try.c"
for extra in '' '-fsanitize=address,undefined'; do
    # shellcheck disable=SC2086
    ${CC:-cc} $extra "$folder/try.c" -o "$folder/try" -lm || continue
    ldd "$folder/try"
done | grep -o '/[^ ]*' | sort -u | while read -r library; do
    [ -f "$library" ] || continue
    mkdir -p "$grader/libraries$(dirname "$library")"
    cp -L "$library" "$grader/libraries$library"
done
rm -rf "$folder"
