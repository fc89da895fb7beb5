#!/bin/sh
# example.sh NAME - the report on a submission: chapter 03 with one of its wrong versions.
work=$(mktemp -d) || exit 2
unset MAKEFLAGS  # of the make that fills the pages
trap 'rm -rf "$work"' EXIT
mkdir "$work/ann"
cp -R 03_online_softmax "$work/ann/"
awk -f common/tools/mistakes.awk apply "$work/ann" 03_online_softmax/tests/mistakes.txt "$1" || exit 2
make -s --no-print-directory grade SUBMISSION="$work/ann" REPORTS="$work/reports" SEED=5 PART=passes,merge >/dev/null || exit 2
cat "$work/reports/report.txt"
