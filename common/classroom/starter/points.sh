#!/bin/sh
# points.sh CHAPTER... - a table of the exercises' points: graded by program, by numbers, by written tests, by a person.
echo '| chapter | parts with gaps | a program | numbers | tests written | a person | all |'
echo '|---|---|---|---|---|---|---|'
for chapter; do
    points=$chapter/exercise/points
    . common/classroom/starter/exercise.sh
    gapped=$(for part in $(exercise_parts); do [ -z "$(exercise_gaps "$part")" ] || printf '`%s` ' "$part"; done)
    exercise_lines | awk -v chapter="$chapter" -v gapped="$gapped" '
        $1 == "part" || $1 == "shown" { next }
        { all += $2; by[$3 == "numbers" || $3 == "mutants" || $3 == "hand" ? $3 : "program"] += $2 }
        END { sub(/ $/, "", gapped)
              printf "| %s | %s | %d | %d | %d | %d | %d |\n", substr(chapter, 1, 2), gapped, by["program"], by["numbers"],
                  by["mutants"], by["hand"], all }'
done
