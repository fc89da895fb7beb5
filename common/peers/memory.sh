#!/bin/sh
# memory.sh BUILD FILE - how much memory the steps of 05 and 07 have at most, into FILE's part "memory" (results.sh).
#
# Measured by the operating system, for the whole program: the step, its input and output, and what it is checked
# against. So where nothing of size N^2 is stored the figures are those of the program around the step.
#
# In the environment: SIZES, as for peers.sh; TARGET, what make was asked for.
set -e
build=$1 file=$2
[ $# -eq 2 ] || { echo "memory.sh: expected the folder of what is built, and a file of results" >&2; exit 2; }
sizes=${SIZES:-128 256 512 1024 2048 4096}
case " $sizes " in *[!0-9\ ]* | *' 0'* | "  " | "   ") echo "SIZES: expected numbers of queries, as in \"128 2048\", found '$sizes'" >&2; exit 2 ;; esac
resident=$build/peers/resident
for program in "$resident" "$build/05_flash_tiled_cpu" "$build/07_backward"; do
    [ -x "$program" ] || { echo "memory.sh: expected $program: make build-peers makes it" >&2; exit 2; }
done
# What earlier parts of this run have changed, results and pages, is no change of what is measured.
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(git diff --quiet HEAD -- . ':!common/results' ':!*.md' ':!*.svg' 2>/dev/null || echo ' and changes')
rows=$(mktemp) || exit 2
trap 'rm -f "$rows"' EXIT

command=${TARGET:+make $TARGET}
command=${command:-sh common/peers/memory.sh $build $file}

machine=$(sh common/peers/results.sh get 05 "$file" | sed -n 's/^# machine: //p')
[ -n "$machine" ] || { echo "memory.sh: $file: expected a part 05, which says what machine this is" >&2; exit 2; }
for N in $sizes; do
    for step in 05/standard 05/fa2 05/complete 07/standard 07/fa2 07/complete; do
        case $step in 05*) chapter=05_flash_tiled_cpu pass=forward ;; *) chapter=07_backward pass=backward ;; esac
        bytes=$("$resident" "$build/$chapter" --quiet --kernel "${step#*/}" --n-q "$N" --d 64 --threads 1) ||
            { echo "memory.sh: $step with N = $N did not end well" >&2; exit 1; }
        echo "memory,$step,f32,1,1,$N,64,0,$pass,1,,,,,,${bytes%% *} bytes"
    done
done >"$rows"
{
    echo "# machine: $machine"
    echo "# command: ${SIZES:+SIZES=\"$SIZES\" }$command, $(date +%Y-%m-%d), at commit $commit"
    echo "# the most memory that the whole program had, with its input and what it is checked against"
    cat "$rows"
} | sh common/peers/results.sh put memory "$file"
echo "wrote part memory of $file"
sh common/peers/results.sh memory "$file"
