#!/bin/sh
# check.sh [PACKAGE] - runs check.py with PyTorch, or onnx_check.py with onnx; fetches the package, or skips.
#
# PYTHON: an interpreter with the package and numpy, instead of fetching. MAKE_LIBRARY: a command that builds the library.
export PYTHONDONTWRITEBYTECODE=1
package=${1:-torch}
case $package in onnx) name=onnx-check check=onnx_check.py ;; *) name=python-check check=check.py ;; esac
if [ -z "$PYTHON" ]; then
    sh common/python/fetch.sh numpy || echo 'skipped: NumPy'
    sh common/python/fetch.sh "$package" || echo "skipped: $package"
elif ! command -v "$PYTHON" >/dev/null; then
    echo "$name: PYTHON: expected a Python with numpy and $package, found '$PYTHON'" >&2
    exit 2
fi
. common/python/find.sh
[ -n "$python" ] || { echo "skipped: $name (no python3 with NumPy here)"; exit 0; }
# Without PyTorch, NumPy judges. Without onnx there are no cases.
[ $name = python-check ] || "$python" -c 'import onnx' 2>/dev/null || { echo "skipped: $name (this python3 has no onnx)"; exit 0; }
${MAKE_LIBRARY:-:} || exit
"$python" common/python/$check
