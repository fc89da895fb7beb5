#!/bin/sh
# check.sh - runs check.py with PyTorch, which it fetches; without it, or without NumPy, it says so.
#
# PYTHON is an interpreter that has torch and numpy already: then nothing is fetched. MAKE_LIBRARY, if it is given,
# makes the library.
export PYTHONDONTWRITEBYTECODE=1
if [ -z "$PYTHON" ]; then
    sh common/python/fetch.sh numpy || echo 'skipped: NumPy'
    sh common/python/fetch.sh torch || echo 'skipped: PyTorch; NumPy alone is what the steps are held against'
fi
. common/python/find.sh
[ -n "$python" ] || { echo 'skipped: python-check (no python3 with NumPy here)'; exit 0; }
${MAKE_LIBRARY:-:} || exit
"$python" common/python/check.py
