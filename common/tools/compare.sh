#!/bin/sh
# compare.sh BUILD CHAPTER... - compares all stages on one input in two tables, softmax and
# attention. These variables select one of them:
#
#     INPUT                      scores, for the stages of softmax
#     Q, K, V, MASK, OPTIONS     an attention problem: files, and options of chapter 04
#     MINE                       a .npy file with your own output for that input; it comes last
build=$1
shift
folder=$build/stages
mkdir -p "$folder"

softmax() {  # CHAPTER...
    chapters=$* input=${INPUT:-common/data/scores.npy}
    set --
    for chapter in $chapters; do
        case $chapter in 0[1-3]_*) ;; *) continue ;; esac
        [ -x "$build/$chapter" ] || continue
        output=$folder/$chapter.npy
        "$build/$chapter" --quiet --input "$input" --output "$output" >/dev/null
        [ $? -le 1 ] || return 2
        set -- "$@" "$output"
    done
    "$build/compare" --softmax "$input" "$@" ${MINE:+"$MINE"}
}

# Leaves an attention stage's output in the folder, or the reason why there is none.
stage() {  # NAME PROGRAM OPTION...
    name=$1 output=$folder/$1.npy said=$folder/$1.txt
    shift
    rm -f "$output"
    [ -t 2 ] && printf '\r%s \033[K' "$name" >&2
    "$@" --quiet --output "$output" >/dev/null 2>"$said"
    status=$?
    [ -t 2 ] && printf '\r\033[K' >&2
    stages="$stages $name"
    [ $status -eq 2 ] || { [ $status -le 1 ] && [ -f "$output" ]; } && return
    cat "$said" >&2
    echo "compare: $name: expected an output, found status $status" >&2
    exit 2
}

attention() {  # CHAPTER...
    chapters=$* stages=''
    set -f  # words, not patterns
    # shellcheck disable=SC2086
    set -- ${Q:+--q "$Q"} ${K:+--k "$K"} ${V:+--v "$V"} ${MASK:+--key-mask "$MASK"} $OPTIONS
    set +f
    help=$("$build/compare" --attention "$@" --) || return 2
    [ -z "$help" ] || { echo "$help"; return 0; }
    for chapter in $chapters; do
        [ -x "$build/$chapter" ] || continue
        case $chapter in
        04_*) stage "$chapter" "$build/$chapter" "$@" ;;
        05_* | 06_*)
            for step in $("$build/$chapter" --step list --quiet); do
                [ "$step" = block_matmul ] || # multiplies matrices
                    stage "${chapter%%_*}_$step" "$build/$chapter" --step "$step" "$@"
            done
            ;;
        esac
    done
    set -- "$@" --
    for name in $stages; do
        if [ -f "$folder/$name.npy" ]; then
            set -- "$@" "$folder/$name.npy"
        else
            reason=$(tail -n 1 "$folder/$name.txt")
            reason=${reason##*: }
            set -- "$@" --cannot "$folder/$name.npy" "${reason:-no reason given}"
        fi
    done
    [ "$stages$MINE" ] || echo "No chapter with attention is built."
    "$build/compare" --attention "$@" ${MINE:+"$MINE"}
}

if [ "$MINE" ] && ! [ -r "$MINE" ]; then
    echo "compare: MINE: $MINE: expected a .npy file that can be read" >&2
    exit 2
fi
if [ "$Q$K$V$MASK$OPTIONS" ]; then
    if [ "$INPUT" ]; then
        echo "compare: INPUT: expected scores or an attention problem, found both" >&2
        exit 2
    fi
    attention "$@"
elif [ "$INPUT$MINE" ]; then
    softmax "$@"
else
    softmax "$@"
    worst=$?
    [ $worst -le 1 ] || exit 2
    echo
    attention "$@"
    status=$?
    [ $status -ge $worst ] || status=$worst
    exit $status
fi
