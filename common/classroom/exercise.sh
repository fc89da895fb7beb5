# shellcheck shell=sh
# What exercise.points says, for the scripts of the classroom, which read this file with `.`. It expects
# $points to name that file. README.md beside this one has its format.

# The lines that are no comments, without comments behind them.
exercise_lines() { sed -e 's/#.*//' -e '/^ *$/d' "$points"; }

exercise_parts() { exercise_lines | awk '$1 == "part" { print $2 }'; }

# Column 3 (files) or 4 (tests) of a part's line, its commas as spaces, or what follows: its title.
exercise_files() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { print $3 }' | tr ',' ' '; }
exercise_tests() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { print $4 }' | tr ',' ' ' | sed 's/^-$//'; }
exercise_title() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { $1 = $2 = $3 = $4 = ""; sub(/^ */, ""); print }'; }
exercise_worth() { exercise_lines | awk -v part="$1" '$1 == part { sum += $2 } END { print sum + 0 }'; }

# The files of a part that have gaps, as FILE:NUMBER, and those that the student writes whole.
exercise_gaps() { exercise_files "$1" | tr ' ' '\n' | grep ':' | tr '\n' ' '; }
exercise_whole() { exercise_files "$1" | tr ' ' '\n' | grep -v -e ':' -e '^-$' | tr '\n' ' '; }
