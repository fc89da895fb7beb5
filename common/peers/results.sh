#!/bin/sh
# results.sh put|get PART FILE - one file of results a machine, in parts: 05, 07, memory.
#
#     put    the part on standard input takes the place of the one that FILE has, or joins it; FILE is whole at any time
#     get    prints the part: what was measured, when and at which commit (lines that begin with #), and its rows
#
# results.sh machines|memory FILE... - tables for a page: what was measured where, and the peaks of memory.
#
# FILE is comma-separated values: a line with their names, and before each part's rows lines that begin with #,
# of which the first is "# part: PART".
parts='05 07 memory'
names=chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error,runs
refuse() { echo "results.sh: $1" >&2; exit 2; }

get() {  # part, file
    awk -v part="$1" '/^# part: / { on = $3 == part; next } on' "$2"
}

case $1 in
put | get)
    [ $# -eq 3 ] || refuse "expected $1, a part and a file"
    case " $parts " in *" $2 "*) ;; *) refuse "expected one of these parts: $parts; found '$2'" ;; esac
    ;;
machines | memory) [ $# -gt 1 ] || refuse "expected $1, and files" ;;
*) refuse "expected put, get, machines or memory; found '$1'" ;;
esac
[ "$1" = put ] || {
    command=$1
    shift
    [ "$command" != get ] || { part=$1; shift; }
    for file; do
        [ "$(sed 1q "$file" 2>/dev/null)" = "$names" ] || refuse "$file: expected results as make results writes them"
    done
}

# Least and most of the ratios against a peer, over all problems.
span='
    function least_most(name) {
        if (!(name in most)) return pass == "backward" && name ~ /^(ONNX|OpenVINO)$/ ? "–" : "not measured yet"
        return sprintf("%.2f to %.2f", least[name], most[name])
    }
    $1 == "peer" && $14 != "" {
        name = $2; sub(/ .*/, "", name)
        if (!(name in most) || $14 + 0 < least[name]) least[name] = $14 + 0
        if (!(name in most) || $14 + 0 > most[name]) most[name] = $14 + 0
    }'

case ${command:-put} in
put)
    part=$2 file=$3
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    cat >"$work/new" || exit 2
    grep -q '^# machine: ' "$work/new" && grep -q '^# command: ' "$work/new" && grep -q '^[^#]' "$work/new" ||
        refuse "$part: expected # machine:, # command: and rows on standard input"
    echo "$names" >"$work/all"
    for p in $parts; do
        if [ "$p" = "$part" ]; then
            { echo "# part: $p"; cat "$work/new"; } >>"$work/all"
        elif [ -f "$file" ] && get "$p" "$file" | grep -q .; then
            { echo "# part: $p"; get "$p" "$file"; } >>"$work/all"
        fi
    done
    mkdir -p "$(dirname "$file")" && cp "$work/all" "$file.new" && mv "$file.new" "$file" || exit 2
    ;;
get)
    get "$part" "$1"
    ;;
machines)
    echo '| machine | pass | `complete` of the peak | times as fast as PyTorch | ONNX Runtime | OpenVINO | oneDNN | OpenBLAS | command |'
    echo '|---|---|---|---|---|---|---|---|---|'
    for file; do
        for p in 05 07; do
            get "$p" "$file" | grep -q . || continue
            get "$p" "$file" | awk -F, -v pass="$([ "$p" = 05 ] && echo forward || echo backward)" "$span"'
                /^# machine: / { sub(/^# machine: /, ""); machine = $0; sub(/, Linux.*/, "", machine); next }
                /^# command: / { sub(/^# command: /, ""); said = $0; next }
                $2 == "complete" && $5 > 1 {
                    if (low == "" || $13 < low) low = $13
                    if ($13 > high) high = $13
                }
                END {
                    split(said, word, ", ")
                    printf "| %s | %s | %.0f to %.0f %% | %s | %s | %s | %s | %s | `%s`, %s, %s |\n", machine, pass, 100 * low, 100 * high,
                        least_most("PyTorch"), least_most("ONNX"), least_most("OpenVINO"), least_most("oneDNN"), least_most("OpenBLAS"), word[1], word[2], word[3]
                }'
        done
    done
    ;;
memory)
    for file; do
        get memory "$file" | grep -q . || continue
        get memory "$file" | awk -F, '
            /^#/ { said[++lines] = substr($0, 3); next }
            {
                if (!($2 in known)) { known[$2]; kernel[++kernels] = $2 }
                if (!($6 in asked)) { asked[$6]; N[++sizes] = $6 }
                peak[$2, $6] = $16 + 0
            }
            END {
                printf "%-24s", "N, one head, d = 64"
                for (k = 1; k <= kernels; k++) printf "%16s", kernel[k]
                print ""
                for (n = 1; n <= sizes; n++) {
                    printf "%-24d", N[n]
                    for (k = 1; k <= kernels; k++) printf "%13.1f MB", peak[kernel[k], N[n]] / 1e6
                    print ""
                }
                for (k = 1; k <= lines; k++) print said[k]
            }'
        found=yes
    done
    [ -n "$found" ] || echo 'not measured yet'
    ;;
esac
