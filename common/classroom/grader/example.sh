#!/bin/sh
# example.sh PATCH - the report on a submission: chapter 03 with PATCH, one of its wrong versions.
work=$(mktemp -d) || exit 2
unset MAKEFLAGS  # of the make that fills the pages
trap 'rm -rf "$work"' EXIT
mkdir "$work/ann"
cp -R 03_online_softmax "$work/ann/"
patch -s -p1 -d "$work/ann" <"03_online_softmax/tests/mutants/$1.patch" || exit 2
make -s --no-print-directory grade SUBMISSION="$work/ann" REPORTS="$work/reports" SEED=5 PART=passes,merge >/dev/null || exit 2
cat "$work/reports/report.txt"
