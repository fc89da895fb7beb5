#!/bin/sh
# fresh.sh - the README's two commands on bare machines: new Debian roots by debootstrap, in build/fresh.
#
# For each release, as root and as a user without install rights, with gcc and clang: `make run` and `make
# test` of the last commit in a copy of the root. Ends with a table of results and seconds; the logs stay.
# RELEASES="trixie sid", USERS=reader and COMPILERS=gcc select; STRICT=-Werror makes warnings errors. Another
# distribution: RELEASES=noble MIRROR=http://archive.ubuntu.com/ubuntu COMPONENTS=main,universe. Needs root,
# debootstrap, and ten minutes on two idle cores for each of the twelve.
place=$PWD/build/fresh
[ "$(uname -s)$(id -u)" = Linux0 ] || { echo 'make fresh: expected Linux and root, who may make a root of another system' >&2; exit 2; }
for tool in debootstrap unshare chroot git; do
    command -v $tool >/dev/null || { echo "make fresh: no $tool here; apt-get install debootstrap util-linux git" >&2; exit 2; }
done
for word in $USERS $COMPILERS; do
    case $word in
    root | reader | gcc | clang) ;;
    *) echo "make fresh: expected USERS of root and reader, and COMPILERS of gcc and clang, found $word" >&2; exit 2 ;;
    esac
done
mkdir -p "$place"

# A bare root: shell, make, git, package manager. We disable apt's date check, since a copy of unstable may be
# over a week old.
bare() {  # release
    [ ! -d "$place/$1" ] || return 0
    rm -rf "${place:?}/$1.part"
    debootstrap --variant=minbase --include=ca-certificates,make,git ${COMPONENTS:+--components="$COMPONENTS"} \
        "$1" "$place/$1.part" "${MIRROR:-http://deb.debian.org/debian}" >"$place/$1.log" 2>&1 ||
        { tail -n 5 "$place/$1.log" >&2; return 1; }
    echo 'Acquire::Check-Valid-Until "false";' >"$place/$1.part/etc/apt/apt.conf.d/99fresh"
    chroot "$place/$1.part" useradd --create-home reader
    mv "$place/$1.part" "$place/$1"
}

# Runs words in the root, with mounts that end with them.
inside() {  # root user words
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec env -i HOME=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec="$1" "$0" \
            sh -c "cd /course && $2"' "$1" "$2" "$3"
}

try() {  # release user compiler
    root=$place/$1-$2-$3 log=$place/$1-$2-$3.log
    rm -rf "$root"
    cp -a "$place/$1" "$root" && mkdir "$root/course" && git archive HEAD | tar x -C "$root/course" || return 1
    chroot "$root" chown -R "$2:" /course
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null
    : >"$log"
    # What make does not install: clang and, without install rights, a compiler.
    case $2,$3 in
    *,clang) words=CC=clang packages='clang libc6-dev' ;;
    root,*) words='' packages='' ;;
    *) words='' packages='gcc g++ libc6-dev' ;;
    esac
    words="$words${STRICT:+ STRICT=$STRICT}"
    [ -z "$packages" ] || inside "$root" root "apt-get update && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $packages" >>"$log" 2>&1
    began=$(date +%s)
    inside "$root" "$2" "make run $words" >>"$log" 2>&1
    run=$?
    ran=$(date +%s)
    [ "$2" = root ] || inside "$root" "$2" "make test $words; sh common/setup.sh unpack" >>"$log" 2>&1
    inside "$root" "$2" "make test $words" >>"$log" 2>&1
    status=$?
    row "$1" "$2" "$3" "$run, $((ran - began)) s" "$status, $(($(date +%s) - ran)) s" "$(tail -n 1 "$log")" | tee -a "$place/table"
    rm -rf "$root"
    [ "$run$status" = 00 ]
}

row() { printf '%-10s %-8s %-8s %-12s %-12s %s\n' "$@"; }
: >"$place/table"
bad=0
row release user compiler 'make run' 'make test' ''
for release in ${RELEASES:-bookworm trixie sid}; do
    bare "$release" || { echo "$release: no root could be made" >&2; bad=1; continue; }
    for user in ${USERS:-root reader}; do
        for compiler in ${COMPILERS:-gcc clang}; do
            try "$release" "$user" "$compiler" || bad=1
        done
    done
done
exit $bad
