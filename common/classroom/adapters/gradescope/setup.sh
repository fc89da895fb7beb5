#!/usr/bin/env bash
# Gradescope runs this once, as root, when the autograder is built: compilers, and the grader made ready.
set -e
here=${AUTOGRADER:-/autograder}
missing=''
for tool in gcc g++ make python3; do command -v $tool >/dev/null || missing="$missing $tool"; done
if command -v apt-get >/dev/null && [ -n "$missing" ]; then
    apt-get update
    apt-get install -y gcc g++ libc6-dev make python3
fi
cd "$here/source/course"
# the machine that grades may be older than the one that builds this
case $(uname -m) in x86_64) make grader CHAPTER=@CHAPTER@ WIDTH=-msse2 NATIVE= ;; *) make grader CHAPTER=@CHAPTER@ NATIVE= ;; esac
# what a submission is compiled and run as must not be able to read it
chmod 700 "$here/source"
