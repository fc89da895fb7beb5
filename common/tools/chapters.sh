#!/bin/sh
# chapters.sh BUILD [FOLDER] - the front page's table of chapters: what each does on the real input, and against PyTorch.
#
# Counts, memory and errors come from the programs, times from the files in FOLDER, which is common/results, and of chapter 06
# from what GPUs were measured to do. Two threads, as what a step keeps may depend on how many there are.
build=$1 results=${2:-common/results}
[ -x "$build/07_backward" ] || { echo "chapters.sh: expected the folder of what is built" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

against_pytorch() {  # part, or files of a GPU's -> least and most, over all machines and problems
    case $1 in
    0?) for file in "$results"/*.csv; do sh common/peers/results.sh get "$1" "$file" || exit 2; done |
        awk -F, '$1 == "peer" && $2 ~ /^PyTorch/ { print $14 + 0 }' ;;
    *) sh common/tools/gpu_best.sh rows "$@" | awk -F, '$11 != "" { print $11 }' ;;
    esac |
        awk '
            low == "" || $1 < low { low = $1 }
            $1 > high { high = $1 }
            END { if (high) printf "%.2f to %.2f times as fast", low, high; else printf "not measured yet" }'
}

row() {  # chapter, title, idea, formula, memory, against PyTorch
    more=
    case $1 in 05* | 07*) more='--threads 2' ;; 06*) more='--device cpu' ;; esac
    # shellcheck disable=SC2086
    "$build/$1" --quiet $more --csv "$work/csv" >/dev/null || { echo "chapters.sh: $1 did not end well" >&2; exit 2; }
    awk -F, -v chapter="$1" -v title="$2" -v idea="$3" -v formula="$4" -v memory="$5" -v pytorch="$6" '
        NR == 2 {
            kept = $4 == 0 ? "none" : (memory ? memory ": " : "") ($4 < 10000 ? $4 " B" : sprintf("%.0f kB", $4 / 1000))
            text = ""
            for (n = $3; length(n) > 3; n = substr(n, 1, length(n) - 3)) text = " " substr(n, length(n) - 2) text
            printf "| [%s %s](%s/README.md) | %s | %s: %s | %s | %.0e | %s |\n", substr(chapter, 1, 2), title, chapter, idea, formula, n text,
                kept, $6, pytorch
        }' "$work/csv"
}

echo '| chapter | the one idea | accesses | extra memory | error | against PyTorch |'
echo '|---|---|---|---|---|---|'
row 01_standard_softmax 'standard softmax' 'softmax as the formula says, and where float32 breaks it' '3 N a row' '' '–'
row 02_safe_softmax 'safe softmax' 'subtract the maximum: right everywhere, one pass more' '4 N a row' '' '–'
row 03_online_softmax 'online softmax' 'maximum and sum in one pass, and how blocks merge' '3 N a row' '' '–'
row 04_flash_no_tiling 'no tiling' 'the recurrence carries a row of output; no score is stored' '2 N²d + 2 Nd' 'O(d) a row' '–'
row 05_flash_tiled_cpu 'tiled, on the CPU' 'tiles: a key that is loaded serves many queries; every option' 'Θ(N²d²/M)' 'O(N)' "$(against_pytorch 05)"
row 06_flash_tiled_cuda 'tiled, in CUDA' 'the same with the names of a GPU; runs on a CPU too' 'Θ(N²d²/M)' 'O(N)' "$(against_pytorch 06_flash_tiled_cuda/results/*.csv)"
row 07_backward 'backward' 'gradients by computing again, and how to know that they are right' 'Θ(N²d²/M)' 'O(N)' "$(against_pytorch 07)"
