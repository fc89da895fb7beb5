#!/bin/sh
# prepare.sh BUILD - what every grading needs, in BUILD/grader: headers/, the course's headers without its sources,
# and libraries/, what students' programs are linked with, for the small file system that they see. What is there and
# as it should be is left alone, because somebody may be grading with it.
grader=$1/grader
# For this compiler and these headers, and no library is newer than the list of all.
inputs=$(echo "$CC"; find common 0* -name '*.h' | sort)
[ "$inputs" = "$(cat "$grader/prepared" 2>/dev/null)" ] && [ -d "$grader/headers" ] && [ -d "$grader/libraries" ] &&
    [ -z "$(echo "$inputs" | sed 1d | xargs sh -c 'find "$@" -newer "$0"' "$grader/prepared")" ] &&
    ! [ /etc/ld.so.cache -nt "$grader/prepared" ] && exit 0
new=$grader/.new.$$  # no * finds it
trap 'rm -rf "$new"' EXIT
mkdir -p "$new/headers" "$new/libraries"
find common 0* -name '*.h' | while read -r header; do
    mkdir -p "$new/headers/$(dirname "$header")"
    cp "$header" "$new/headers/$header"
done

# By a program of each kind, made here; kernels are linked as C++.
if command -v ldd >/dev/null; then
    echo '#include <math.h>
int main(int argc, char **argv) { (void)argv; return (int)sqrt(argc) == 7; }' >"$new/try.c"
    for extra in '' '-fsanitize=address,undefined' '-Wl,--no-as-needed -lstdc++ -lgcc_s'; do
        # shellcheck disable=SC2086
        ${CC:-cc} "$new/try.c" $extra -o "$new/try" -lm 2>/dev/null || continue
        ldd "$new/try"
    done | grep -o '/[^ ]*' | sort -u | while read -r library; do
        [ -f "$library" ] || continue
        mkdir -p "$new/libraries$(dirname "$library")"
        cp -L "$library" "$new/libraries$library"
    done
fi
for part in headers libraries; do
    diff -r "$new/$part" "$grader/$part" >/dev/null 2>&1 && continue
    rm -rf "${grader:?}/$part"
    mv "$new/$part" "$grader/$part"
done
echo "$inputs" >"$grader/prepared"
