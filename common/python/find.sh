# find.sh, to be read by other scripts: $python becomes an interpreter that has NumPy, or empty.
for python in "$PYTHON" "${BUILD:-build}/python/bin/python" python3 ''; do
    [ -n "$python" ] && "$python" -c 'import numpy' 2>/dev/null && break
done
