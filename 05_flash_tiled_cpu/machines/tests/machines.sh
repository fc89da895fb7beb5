#!/bin/sh
# machines.sh BUILD - tests attention across machines on 2, 3 and 5 ranks of this one, and that wrong versions are rejected.
#
# A case is a function below. It runs the programs in $programs, and fails where one of its commands does. Each entry of mistakes.txt
# is applied to a copy, and the case that it names must fail with it. `make machines` calls this, with what to compile by in CC,
# FLAGS, LIBS and OBJ, and what else to link in STEPS.
build=$1
here=05_flash_tiled_cpu/machines/tests
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
programs=$build passed=0 failed=0

# Open MPI wants these as root; other MPIs do not know them, nor --oversubscribe, which allows more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
more=''
! mpirun --version 2>/dev/null | grep -q 'Open MPI' || more=--oversubscribe
limit=$(command -v timeout || command -v gtimeout) && limit="$limit -k 5 60"

ring() {  # ranks program arguments...
    ranks=$1 program=$2
    shift 2
    # shellcheck disable=SC2086
    $limit mpirun $more -n "$ranks" "$programs/$program" "$@" </dev/null
}

# ---- right --------------------------------------------------------------------------------------

# Each program holds its result against one process and the reference, and its messages, bytes and memory against their formulas.
shapes='
--causal
--heads 4 --kv-heads 2 --n-q 61 --n-k 90 --d 40 --causal
--batch 2 --heads 2 --n-q 97 --n-k 55 --d 3 --causal=top-left --window 20,7
--n-q 3 --n-k 200 --d 64
--n-q 77 --n-k 2 --d 16 --window 5,0
'
on_all_shapes() {  # program arguments...
    one=$1
    shift
    for count in 2 3 5; do
        echo "$shapes" | sed '/^$/d' >"$folder/shapes"
        while read -r shape; do
            rm -f "$folder/o.npy"
            # shellcheck disable=SC2086
            ring $count "$one" --quiet $shape --output "$folder/o.npy" "$@" || { echo "$count ranks: $shape $*"; return 1; }
        done <"$folder/shapes"
    done
}

merge_op() { for count in 2 3 5; do ring $count 05_merge || return; done; }
# Its words are all that it leaves.
merge_unsaid() {
    [ ! -c /dev/full ] || { "$programs/05_merge" >/dev/full 2>"$folder/words"; [ $? = 2 ] && grep -q '^05_merge: standard output: ' "$folder/words"; }
}
forward() { on_all_shapes 05_ring; }
backward() { on_all_shapes 07_ring; }
forward_late() { ring 3 05_ring --quiet --n-q 96 --causal --latency 20000; }
backward_late() { ring 3 07_ring --quiet --n-q 96 --causal --latency 20000 && ring 5 07_ring --quiet --latency 2000 --bandwidth 20000; }

# The same bits again, also where messages come late.
same_bits() {
    ring 3 07_ring --quiet --causal --dq "$folder/q" --dk "$folder/k" --dv "$folder/v" &&
        ring 3 07_ring --quiet --causal --latency 5000 --dq "$folder/q2" --dk "$folder/k2" --dv "$folder/v2" &&
        cmp "$folder/q" "$folder/q2" && cmp "$folder/k" "$folder/k2" && cmp "$folder/v" "$folder/v2"
}

# In causal order no rank has more than 2 % more pairs than another.
same_work() {
    ring 5 05_ring --n-q 1000 --causal >"$folder/out" &&
        sed -n '/^Ranks/,/^$/p' "$folder/out" | sed 's/^Ranks//' | awk '$1 ~ /^[0-4]$/ { pairs = $4 $5
            if (++n == 1 || pairs < least) least = pairs
            if (pairs > most) most = pairs }
            END { exit !(n == 5 && most < 1.02 * least) }'
}

# Memory goes with 1 / ranks: 4 ranks hold at most 30 % of what 1 holds, each.
memory() {
    for count in 1 4; do
        ring $count 05_ring --heads 2 --n-q 512 --d 32 >"$folder/out" || return
        sed -n 's/^Ranks.*//; s/^ *0  .*  \([0-9][0-9 ]*[0-9]\)$/\1/p' "$folder/out" | tr -d ' ' | head -n 1
    done | awk '{ held[NR] = $1 } END { exit !(NR == 2 && held[2] > 0 && held[2] < 0.3 * held[1]) }'
}

# No message comes before latency and bandwidth allow it.
delays() {
    ring 3 05_ring --n-q 96 --latency 50000 --bandwidth 500 >"$folder/out" &&
        awk '/by the model/ { model = $(NF - 1) } /measured/ { measured = $(NF - 1) }
            END { exit !(model > 150 && measured >= 0.99 * model) }' "$folder/out"
}

# A file that has been written can be read in parts again.
files() {
    ring 3 05_ring --quiet --output "$folder/o" --lse "$folder/l" && [ -s "$folder/l" ] &&
        ring 5 07_ring --quiet --q common/data/q.npy --k common/data/k.npy --v common/data/v.npy --do "$folder/o" \
            --key-mask common/data/key_mask.npy --causal
}

# ---- faults -------------------------------------------------------------------------------------

# What was run has ended with this status, left no output, and its own one line holds the words.
ended_with() {  # status wanted words
    if [ "$1" -ne "$2" ] || [ -e "$folder/out.npy" ] || ! grep -q "$3" "$folder/err" ||
        [ "$(grep -c '^0[57]_ring: ' "$folder/err")" -ne 1 ]; then
        echo "expected status $2 and one line: $3; found status $1:"
        cat "$folder/err"
        return 1
    fi
}

data='--q common/data/q.npy --k common/data/k.npy --v common/data/v.npy'
truncated_file() {
    head -c 5000 common/data/k.npy >"$folder/short.npy"
    ring 3 05_ring --q common/data/q.npy --k "$folder/short.npy" --v common/data/v.npy --output "$folder/out.npy" 2>"$folder/err"
    ended_with $? 2 'short.npy: expected .* bytes of data, found' || return
    other 05_ring "$data --output $folder/out.npy" "--q common/data/q.npy --k $folder/short.npy --v common/data/v.npy"
    ended_with $? 2 'short.npy: expected .* bytes of data, found'
}
unknown_option() { ring 3 05_ring --dropout 0.1 2>"$folder/err"; ended_with $? 2 'expected an option of this chapter'; }
no_room() { ring 3 05_ring --output /dev/full >"$folder/out" 2>"$folder/err"; ended_with $? 2 '/dev/full: expected to write all of it'; }
no_memory() {
    ring 3 07_ring --heads 1000000 --n-q 1000000 --d 256 --dq "$folder/out.npy" 2>"$folder/err"
    ended_with $? 2 'expected parts of at most 2 GB, so more ranks than 3'
}

# Rank 1 is started with something else than rank 0.
other() {  # program, arguments of rank 0, arguments of rank 1
    # shellcheck disable=SC2086
    $limit mpirun $more -n 1 "$programs/$1" $2 : -n 1 "$programs/$1" $3 >"$folder/out" 2>"$folder/err" </dev/null
}
other_shape() {
    other 05_ring "--n-q 50 --output $folder/out.npy" "--n-q 51 --output $folder/out.npy"
    ended_with $? 2 'rank 1: expected the problem of rank 0, .* Nq 50.* found .* Nq 51' || return
    other 05_ring "--n-q 50 --output $folder/out.npy" "--n-q 50 --latency 1000 --output $folder/out.npy"
    ended_with $? 2 'rank 1: expected the problem of rank 0, .* latency 0.* found .* latency 1000'
}
other_numbers() {
    for name in 05_ring:output 07_ring:dk; do
        # shellcheck disable=SC2086
        other ${name%:*} "$data --${name#*:} $folder/out.npy" \
            "--q common/data/q.npy --k common/data/v.npy --v common/data/k.npy --${name#*:} $folder/out.npy"
        ended_with $? 2 'rank 1: expected the same numbers in its input as rank 0, found others' || return
    done
}

# A rank is killed while all wait for messages that take ten seconds. mpirun says so, and ends the others.
killed() {
    for rank in 0 2; do
        began=$(date +%s)
        rm -f "$folder"/pid.*
        # The shell leaves its number, which the program keeps, under the rank's: in the words of Open MPI, or of others.
        # shellcheck disable=SC2086,SC2016
        mpirun $more -n 3 sh -c 'echo $$ >"$0/pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"' "$folder" \
            "$programs/05_ring" --latency 10000000 --output "$folder/out.npy" >"$folder/out" 2>"$folder/err" </dev/null &
        job=$!
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            [ ! -s "$folder/pid.$rank" ] || break
            sleep 0.5
        done
        sleep 1  # so that it waits for a message
        pid=$(cat "$folder/pid.$rank")
        kill -KILL "$pid" || return
        wait $job
        status=$?
        if [ $status -eq 0 ] || [ -e "$folder/out.npy" ] || [ $(($(date +%s) - began)) -gt 15 ] ||
            ! grep -q "rank $rank .*[Kk]illed" "$folder/err"; then
            echo "rank $rank was killed: status $status after $(($(date +%s) - began)) s"
            cat "$folder/err"
            return 1
        fi
    done
}

cases='merge_op merge_unsaid forward backward forward_late backward_late same_bits same_work memory delays files
    truncated_file unknown_option no_room no_memory other_shape other_numbers killed'

# ---- wrong --------------------------------------------------------------------------------------

# The programs made from a copy with the mistake in it; what it does not change is as it was.
wrong_programs() {  # mistake
    copy=$folder/copy programs=$folder/copy/build
    rm -rf "$copy"
    mkdir -p "$programs"
    for chapter in 05_flash_tiled_cpu 07_backward; do
        mkdir "$copy/$chapter"
        cp -R $chapter/machines "$copy/$chapter/"
    done
    awk -f common/tools/mistakes.awk apply "$copy" "$1" || return
    for program in 05_ring 07_ring; do
        objects=''
        for source in 05_flash_tiled_cpu/machines/program/*.c 05_flash_tiled_cpu/machines/ring.c 07_backward/machines/ring.c \
            07_backward/machines/program/main.c; do
            case $program,$source in
            05_ring,07*) continue ;;
            07_ring,05*/main.c) continue ;;
            esac
            object=$OBJ/${source%.c}.o
            if ! cmp -s "$source" "$copy/$source"; then
                object=$copy/${source%.c}.o
                # shellcheck disable=SC2086
                [ -f "$object" ] || $CC -I"$copy" $FLAGS -g0 -c "$copy/$source" -o "$object" || return
            fi
            objects="$objects $object"
        done
        # shellcheck disable=SC2086
        $CC $FLAGS $objects $STEPS "$build/common.a" -o "$programs/$program" $LIBS || return
    done
}

result() {  # name, right?
    if [ "$2" = yes ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "$1: FAILED"
        sed 's/^/    /' "$folder/log" | tail -n 20
    fi
}

for case in $cases; do
    if $case >"$folder/log" 2>&1; then result "$case" yes; else result "$case" no; fi
done
mkdir "$folder/mistakes" && awk -f common/tools/mistakes.awk split "$folder/mistakes" "$here/mistakes.txt" || exit 2
for mistake in "$folder"/mistakes/*; do
    name=${mistake##*/}
    named=$(sed -n 's/^Caught by: *//p' "$mistake")
    if ! wrong_programs "$mistake" >"$folder/log" 2>&1; then
        result "$name" no
    elif case " $(echo "$cases" | tr '\n' ' ') " in *" $named "*) false ;; esac; then
        echo "there is no case '$named'" >"$folder/log"
        result "$name" no
    elif rm -f "$folder/o.npy"; $named >"$folder/log" 2>&1; then
        echo "$named accepts it" >>"$folder/log"
        result "$name" no
    elif [ -e "$folder/o.npy" ]; then
        echo "the wrong result was written" >>"$folder/log"
        result "$name" no
    else
        result "$name" yes
    fi
    programs=$build
done
echo "attention across machines: $passed passed, $failed failed"
[ $failed -eq 0 ]
