#!/bin/sh
# stepper_traces.sh BUILD [PROBLEM...] - what the tile stepper shows, printed by the program itself.
#
# A problem is INPUT,KERNEL,N,D,BR,BC, where INPUT is a seed, or `hand` for the four queries and keys
# of chapter 05's page. Without any, those are printed that stand in 05_flash_tiled_cpu/pages/stepper.html.
# Each becomes a <script> that no browser runs: the command, a line for each matrix of --trace=csv
# (first key, first query, its name, its numbers row by row), and what --traffic counted.
set -e
build=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# file, elements in octal, little-endian: float32 of shape (4, 3)
npy() {
    {
        printf '\223NUMPY\001\000\166\000'
        printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"
        for x in $2; do
            case $x in 0) printf '\0\0\0\0' ;; 1) printf '\0\0\200\077' ;; 2) printf '\0\0\0\100' ;; esac
        done
    } >"$work/$1.npy"
}
npy q '1 0 1  0 1 0  1 1 0  0 0 2'
npy k '1 0 0  0 2 0  1 1 1  0 0 1'
npy v '1 0 0  0 1 0  0 0 1  1 1 1'

trace() {  # INPUT KERNEL N D BR BC
    input="--n-q $3 --d $4 --seed $1" shown=$input causal=''
    if [ "$1" = hand ]; then
        input="--q $work/q.npy --k $work/k.npy --v $work/v.npy --scale 1"
        shown='--q q.npy --k k.npy --v v.npy --scale 1'
    fi
    [ "$2" != masks ] || causal=' --causal'
    options="--kernel $2$causal --br $5 --bc $6"
    # shellcheck disable=SC2086
    "$build/05_flash_tiled_cpu" $input $options --trace=csv >"$work/csv" 2>"$work/said"
    # shellcheck disable=SC2086
    "$build/05_flash_tiled_cpu" $input $options --traffic >"$work/traffic"
    echo "<script type=\"text/plain\" class=\"trace\" data-problem=\"$1,$2,$3,$4,$5,$6\">"
    echo "build/05_flash_tiled_cpu $shown $options --trace=csv"
    awk -F, '
        NR == 1 { next }
        $3 "," $4 "," $5 != matrix {
            if (matrix) print matrix "," numbers
            matrix = $3 "," $4 "," $5; numbers = $8; next
        }
        { numbers = numbers " " $8 }
        END { print matrix "," numbers }' "$work/csv"
    # "K loads   20 992   0.20   Nk d   ok": a number may have a blank for every three digits
    sed -n -e 's/^  *\([0-9 ]*\) elements of fast memory held.*/held,\1/p' \
        -e 's/^Counted  */                  /' \
        -e 's/^ \{18\}\([a-zA-Z ]*[a-z]\)  *\([0-9][0-9 ]*[0-9]\|[0-9]\)   *[0-9.]*   .* ok$/\1,\2/p' \
        "$work/traffic" | sed -e 's/\([0-9]\) \([0-9]\)/\1\2/g'
    echo '</script>'
}

if [ $# -eq 0 ]; then
    set -- hand,fa1,4,3,2,2 hand,fa2,4,3,2,2 hand,masks,4,3,2,2 1,fa1,8,4,2,2 1,fa2,8,4,2,2 \
        1,masks,8,4,2,2 2,fa1,7,3,3,2 2,fa2,7,3,3,2 2,masks,7,3,3,2
fi
for problem; do
    # shellcheck disable=SC2046
    trace $(echo "$problem" | tr , ' ')
done
