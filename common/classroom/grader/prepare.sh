#!/bin/sh
# prepare.sh BUILD - what every grading needs, in BUILD/grader: headers/, the course's headers without its sources,
# libraries/, what students' programs are linked with, for the small file system that they see, and neutral, flags of CC. What is there and
# as it should be is left alone, because somebody may be grading with it.
grader=$1/grader
# For this compiler and these headers, and no library is newer than the list of all.
inputs=$(echo "$CC"; find common 0* -name '*.h' | sort)
[ "$inputs" = "$(cat "$grader/prepared" 2>/dev/null)" ] && [ -d "$grader/headers" ] && [ -d "$grader/libraries" ] && [ -f "$grader/neutral" ] &&
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
# Flags that change the code and not what it does, as far as this compiler has them; of each line at most one is taken.
while read -r line; do
    for flag in $line; do
        ! echo 'int f(int);' | ${CC:-cc} -Werror "$flag" -O2 -x c -c - -o "$new/try.o" 2>/dev/null || printf '%s ' "$flag"
    done
    echo
done >"$new/neutral" <<END
-fno-schedule-insns2
-fno-tree-pre -fno-gcse
-fno-ivopts
-fno-tree-sink -fno-slp-vectorize
-fno-if-conversion -fno-if-conversion2
-fno-tree-ter
-fno-reorder-blocks
-fno-crossjumping -fno-thread-jumps
-fno-cse-follow-jumps
-fno-omit-frame-pointer
-fno-tree-dominator-opts
-fno-tree-ch
-funroll-loops -fno-unroll-loops
-fno-peephole2
-fno-caller-saves
-fno-tree-loop-im -fno-move-loop-invariants
-fno-ipa-ra -fno-shrink-wrap
-frename-registers
-fno-guess-branch-probability
-fno-code-hoisting -fno-tree-fre
-fstack-protector-all
-ffixed-r12 -ffixed-r13 -ffixed-rbx
-ffixed-r14 -ffixed-r15
-mtune=generic -mtune=haswell -mtune=core2
END
mv "$new/neutral" "$grader/neutral"
for part in headers libraries; do
    diff -r "$new/$part" "$grader/$part" >/dev/null 2>&1 && continue
    rm -rf "${grader:?}/$part"
    mv "$new/$part" "$grader/$part"
done
echo "$inputs" >"$grader/prepared"
