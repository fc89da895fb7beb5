# find.sh, for sourcing: sets $python to an interpreter with NumPy, or to "".
for python in "$PYTHON" "${BUILD:-build}/python/bin/python" python3 ''; do
    [ -n "$python" ] && "$python" -c 'import numpy' 2>/dev/null && break
done
