#!/bin/sh
# check_against.sh BUILD OUTPUTS STAGE - outputs of an implementation in any language against a stage of the course.
#
# OUTPUTS is a folder. STAGE 01, 02 or 03: x.npy and y.npy. 04, 05 or 06: q.npy, k.npy and v.npy, of the shapes that
# chapter 04 takes, and o.npy or lse.npy or both. 07: do.npy besides, and dq.npy, dk.npy, dv.npy. mask.npy, if it is
# there, is a key mask; options.txt, if it is there, holds a chapter's options, as in `--causal --scale 0.1`;
# of those, 04 and 05 do not have `--dtype`, which is then for the verdict only.
build=$1 mine=$2 stage=$3

die() {
    printf '%s\n' "check-against: $1: $2" >&2
    exit 2
}
[ -d "$mine" ] || die OUTPUTS "expected a folder of .npy files, found '$mine'"
. common/classroom/starter/exercise.sh
chapter=$(exercise_chapter "$stage")
[ -n "$chapter" ] || die STAGE "expected 01 to 07, found '$stage'"
case $chapter in 0[123]*) inputs='x' ;; 07*) inputs='q k v do' ;; *) inputs='q k v' ;; esac
for input in $inputs; do
    [ -f "$mine/$input.npy" ] || die "$mine/$input.npy" 'expected the input that your outputs are for'
done

theirs=$(mktemp -d) || exit 2
trap 'rm -rf "$theirs"' EXIT
set -f
options=$([ ! -f "$mine/options.txt" ] || cat "$mine/options.txt") dtype=
case $chapter in
0[45]*)
    dtype=$(printf '%s\n' "$options" | sed -n 's/.*\(--dtype[= ][a-z0-9]*\).*/\1/p')
    options=$(printf '%s\n' "$options" | sed 's/--dtype[= ][a-z0-9]*//')
    ;;
esac
case $chapter in
0[123]*) set -- --input "$mine/x.npy" --output "$theirs/y.npy" ;;
*)
    # shellcheck disable=SC2086
    set -- --q "$mine/q.npy" --k "$mine/k.npy" --v "$mine/v.npy" $options
    [ ! -f "$mine/mask.npy" ] || set -- "$@" --key-mask "$mine/mask.npy"
    case $chapter in 07*) set -- "$@" --do "$mine/do.npy" ;; esac
    ;;
esac
case $chapter in
0[123]*) "$build/$chapter" --quiet "$@" >/dev/null ;;
07*) "$build/$chapter" --quiet "$@" --output "$theirs/o.npy" --lse "$theirs/lse.npy" --dq "$theirs/dq.npy" --dk "$theirs/dk.npy" \
    --dv "$theirs/dv.npy" >/dev/null ;;
*) "$build/$chapter" --quiet "$@" --output "$theirs/o.npy" --lse "$theirs/lse.npy" >/dev/null ;;
esac
status=$?
[ $status -le 1 ] || exit 2
case $chapter in
0[123]*) "$build/against" "$chapter" "$mine" "$theirs" ;;
*)
    # shellcheck disable=SC2086
    "$build/against" "$chapter" "$mine" "$theirs" "$@" $dtype
    ;;
esac
