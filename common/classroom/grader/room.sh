# shellcheck shell=sh disable=SC2154
# Where a student's file is compiled: $work/room is the compiler's whole file system, if this system lets us, else the
# folder that it starts in. Names are from there. Sourced by grade.sh and grade_tests.sh, which set $CC, $work, $grader,
# and $user and $as, the user who compiles. They make sure that there is a compiler, and remove $work in the end.
room=$work/room compiler=$(command -v "${CC%% *}")
mkdir -p "$room/source" "$room/linked" "$room/made" "$room/scratch"
cp -R "$grader/headers" "$room/headers"
chmod 755 "$room"
[ -z "$as" ] || chown "$user" "$room/made" "$room/scratch"
seen=''
its_own=$(dirname "$(dirname "$(realpath "$compiler")")")  # as /opt/gcc
case $its_own in / | /usr | /usr/*) its_own='' ;; esac
for of in /usr /bin /lib /lib32 /lib64 /etc/alternatives $its_own; do
    [ ! -d "$of" ] || { mkdir -p "$room$of" && seen="$seen --see $of"; }
done

# Leaves in $other an included file that is no header of the system or of the course, no file of the student's, and not like $2:
# then what is said may be of its text, and must not be shown. Lines of source are never kept, for #line can name any file.
in_room() {  # file for what is said, pattern, words of a compiler...
    file_said=$1 pattern=$2
    shift 2
    chmod -R go+rX "$room/source" "$room/linked" "$room/kernels" "$room/headers" 2>/dev/null
    # shellcheck disable=SC2086  # lists of words
    "$grader/confine" $as --root "$room" --hide "$PWD" $seen --seconds 20 --file 64 --tasks 30 --memory 2048 --resident 1024 \
        --errors "$file_said" --verdict "$work/verdict" --set PATH=/usr/local/bin:/usr/bin:/bin --set TMPDIR=scratch --set LC_ALL=C -- "$@" -H
    in_room=$?
    sed -n 's/^\.\.* //p' "$file_said" | sort -u >"$work/included"
    other='a file by too many names'
    [ "$(wc -l <"$work/included")" -gt 2000 ] || other=$(foreign "$pattern" <"$work/included")
    sed -e '/^\.* /d' -e '/^Multiple include guards/,$d' "$file_said" >"$work/messages"
    mv "$work/messages" "$file_said"
    return $in_room
}

# Where nothing compiles it is this machine that fails, as with limits that are too low, and nothing may be said of what was
# handed in. $found is then what the compiler said.
compiler_works() {
    echo 'int main(void) { return 0; }' >"$room/source/nothing.c"
    # shellcheck disable=SC2086  # lists of words
    in_room "$work/nothing" '' "$compiler" ${CC#"${CC%% *}"} source/nothing.c -o made/nothing && return
    found=$(cat "$work/nothing" "$work/verdict" | head -n 1)
    return 1
}

foreign() {  # pattern
    cd "$room" || return
    while IFS= read -r used; do
        case $used in
        */../*) used=$(cd -P "${used%/*}" 2>/dev/null && pwd -P)/${used##*/} ;;
        esac
        # shellcheck disable=SC2254  # a pattern
        case ${used#"$room/"} in
        source/* | $1 | headers/* | /usr/include/* | /usr/lib/* | /usr/lib64/* | /usr/local/include/* | /Library/* | /Applications/* | /opt/*) ;;
        *) echo "$used" ;;
        esac
    done | head -n 1
}
