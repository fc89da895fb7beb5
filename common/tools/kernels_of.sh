#!/bin/sh
# kernels_of.sh PROGRAM TYPE - chapter 06's or 07's kernels for a type, one a line.
case $1 in *07_*) kernels=^cuda_ ;; *) kernels=. ;; esac
"$1" --step list --quiet --dtype "$2" | grep "$kernels"
