#!/bin/sh
# peers.sh BUILD CHAPTER - the chapter's ladder, and its best against the libraries, on this machine.
#
# Writes the chapter's part of common/results/MACHINE.csv (results.sh), from which the chapter's tables and
# pictures are made. The libraries come from PyPI into a private folder under BUILD/peers, and nowhere else;
# what cannot be had is skipped by name. In the environment:
#
#     SIZES     the N of the problems: "128 256 512 1024 2048 4096"
#     PYTHON    an interpreter that has numpy and torch, or another library, already: what it has is not fetched
#     INTO      another file to write to
set -e
build=$1 chapter=$2
[ $# -eq 2 ] || { echo "peers.sh: expected the folder of what is built, and a chapter's" >&2; exit 2; }
folder=$build/peers
sizes=${SIZES:-128 256 512 1024 2048 4096}
case " $sizes " in *[!0-9\ ]* | *' 0'* | "  " | "   ") echo "SIZES: expected numbers of queries, as in \"128 2048\", found '$sizes'" >&2; exit 2 ;; esac
for program in "$build/$chapter" "$folder/$chapter" "$folder/referee"; do
    [ -x "$program" ] || { echo "peers.sh: expected $program: make build-peers makes it" >&2; exit 2; }
done
# What earlier parts of this run have changed, results and pages, is no change of what is measured.
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(git diff --quiet HEAD -- . ':!common/results' ':!*.md' ':!*.svg' 2>/dev/null || echo ' and changes')
command -v python3 >/dev/null || echo 'no python3 here, which fetches the libraries'
mkdir -p "$folder/problem"
venv=$folder/python

skip() { echo "skipped: $1 ($2)"; }
fetch() {  # package: into the private folder, once
    [ -x "$venv/bin/pip" ] || python3 -m venv "$venv" >"$folder/log" 2>&1 || return 1
    "$venv/bin/pip" show -q "$1" 2>/dev/null || {
        echo "fetching $1 from PyPI into $venv"
        "$venv/bin/pip" install -q "$1" >"$folder/log" 2>&1
    }
}
library() { find "$venv" -path "*/$1" | head -n 1; }
openblas='scipy_openblas32/*/libscipy_openblas*.so'  # numpy brings one of its own, of other types

set -- "$folder/$chapter"
if fetch onednn-cpu-gomp && [ -n "$(library 'libdnnl.so*')" ]; then
    set -- "$@" "$folder/composed onednn $(library 'libdnnl.so*')"
else
    skip oneDNN 'the package onednn-cpu-gomp could not be installed'
fi
if fetch scipy-openblas32 && [ -n "$(library "$openblas")" ]; then
    # A forced core type would make it use another processor's code.
    set -- "$@" "env -u OPENBLAS_CORETYPE $folder/composed openblas $(library "$openblas")"
else
    skip OpenBLAS 'the package scipy-openblas32 could not be installed'
fi
python_peer() {  # name, its word for peer.py, the packages: adds the command to `python_peers`
    name=$1 word=$2
    shift 2
    packages="numpy $*" modules=$(echo numpy "$@" | tr ' ' ,) python=$PYTHON
    if [ -z "$python" ] || ! "$python" -c "import $modules" 2>/dev/null; then
        python=$venv/bin/python
        for package in $packages; do
            fetch "$package" || { skip "$name" "the packages $packages could not be installed"; return; }
        done
    fi
    if "$python" -c "import $modules" 2>"$folder/log"; then
        python_peers="$python_peers$python common/peers/peer.py $word
"
    else
        skip "$name" "$(tail -n 1 "$folder/log")"
    fi
}
python_peers=
python_peer PyTorch pytorch torch
case $chapter in 05*)  # the others compute no gradients
    python_peer 'ONNX Runtime' onnxruntime onnxruntime onnx
    python_peer OpenVINO openvino openvino
    ;;
esac
while read -r command; do
    [ -z "$command" ] || set -- "$@" "$command"
done <<EOT
$python_peers
EOT

"$build/$chapter" --bench --csv "$folder/ladder.csv" >"$folder/ladder"
"$folder/referee" "${chapter%%_*}" "$folder/problem" "$sizes" "$@" >"$folder/peers.csv"

last=$(tail -n 1 "$folder/ladder" | sed 's/^ *//')
machine=${last%%; *}
slug=$(printf '%s' "${machine%%, Linux*}" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '_' | sed 's/_$//')
results=${INTO:-common/results/$slug.csv} part=${chapter%%_*}
{
    echo "# machine: $machine"
    echo "# command: ${SIZES:+SIZES=\"$SIZES\" }make ${TARGET:-peers-$part}, $(date +%Y-%m-%d), at commit $commit"
    echo "# ${last#*; }"
    echo "# rows of 1 head are the ladder, ratio_previous against the step before; of 8 heads, peers in turn,"
    echo "# ratio_previous how many times as fast as that peer complete is. Peak: of the FMA peak of so many cores."
    sed '1d; s/$/,/' "$folder/ladder.csv"
    cat "$folder/peers.csv"
} >"$folder/results"
sh common/peers/results.sh put "$part" "$results" <"$folder/results"
echo "$results" >"$folder/written"
echo "wrote part $part of $results"
sh common/peers/table.sh peers "$part" "$results"
if awk -F, '$13 > 1 { above = 1 } END { exit !above }' "$folder/results"; then
    echo 'some are above 100 % of the peak: something else was running; measure again'
fi
