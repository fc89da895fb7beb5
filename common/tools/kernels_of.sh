#!/bin/sh
# kernels_of.sh PROGRAM TYPE - the kernels of chapter 06's or 07's PROGRAM that know a type, one a line.
#
# Chapter 07 lists all, and steps in C before them: who does not know the type refuses it.
program=$1 type=$2
case $program in
*06_*) "$program" --kernel list --quiet --dtype "$type" ;;
*)
    for name in $("$program" --kernel list --quiet | grep '^cuda_'); do
        "$program" --device cpu --quiet --kernel "$name" --dtype "$type" --n-q 9 --d 64 >/dev/null 2>&1 && echo "$name"
    done
    ;;
esac
