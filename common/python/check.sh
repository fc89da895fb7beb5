#!/bin/sh
# check.sh [PACKAGE] - runs check.py with PyTorch, or onnx_check.py with onnx; fetches the package, and says so where it is not to be had.
#
# PYTHON is an interpreter that has the package and numpy already: then nothing is fetched. MAKE_LIBRARY, if it is given,
# makes the library.
export PYTHONDONTWRITEBYTECODE=1
package=${1:-torch}
if [ -z "$PYTHON" ]; then
    sh common/python/fetch.sh numpy || echo 'skipped: NumPy'
    sh common/python/fetch.sh "$package" || echo "skipped: $package"
fi
. common/python/find.sh
[ -n "$python" ] || { echo "skipped: the check with $package (no python3 with NumPy here)"; exit 0; }
case $package in
onnx)
    "$python" -c 'import onnx' 2>/dev/null || { echo 'skipped: onnx-check (this python3 has no onnx)'; exit 0; }
    check=onnx_check.py
    ;;
*) check=check.py ;;  # without PyTorch NumPy alone is what the steps are held against
esac
${MAKE_LIBRARY:-:} || exit
"$python" common/python/$check
