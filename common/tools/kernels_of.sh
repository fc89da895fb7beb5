#!/bin/sh
# kernels_of.sh PROGRAM TYPE - the kernels of chapter 06's or 07's PROGRAM that take a type, one a line.
case $1 in *07_*) kernels=^cuda_ ;; *) kernels=. ;; esac
"$1" --step list --quiet --dtype "$2" | grep "$kernels"
