# shellcheck shell=sh
# What a command for a whole class begins with: sourced by grade_all.sh and grade_tests_all.sh, which set $command, $folder and
# $chapter, $build and $reports. Refuses what is none, and sets $known, the chapter's folder, $points, and $all, how many
# submissions there are; $reports, unless it is given, is for a class and a chapter.
. common/classroom/starter/exercise.sh

die() {
    printf '%s\n' "$command: $1: $2" >&2
    exit 2
}
[ -d "$folder" ] || die FOLDER "expected a folder of submissions, found '$folder'"
known=$(exercise_chapter "$chapter")
[ -n "$known" ] || die CHAPTER "expected the chapter that they are of, as in CHAPTER=03, found '$chapter'"
points=$known/exercise/points
reports=${reports:-$build/reports/class-${known%%_*}}
why=$(exercise_refused "$PART")
[ -z "$why" ] || die PART "$why"

# How many submissions there are, and the name of number $1: any name that a file may have.
submissions() { set -- "$folder"/*; [ -e "$1" ] && echo $#; }
submission() { number=$1; set -- "$folder"/*; shift "$((number - 1))"; printf '%s\n' "${1##*/}"; }
all=$(submissions) || die "$folder" 'expected submissions, found an empty folder'

# $1 as a field of a table. What begins like a formula must not become one in a spreadsheet.
field() {
    FIELD=$1 awk 'BEGIN {
        text = ENVIRON["FIELD"]
        gsub(/[[:cntrl:]]/, " ", text)
        gsub(/"/, "\"\"", text)
        printf "\"%s%s\"", text ~ /^[=+@-]/ ? "\047" : "", text }'
}

# Writes $reports/grades.csv: a column for each criterion of the exercise, or of the parts in PART, and a line for each
# submission, from what make grade-all (row.csv) and make grade-tests-all (tests.csv) have left of it. A heading and a
# line are in each of them, with a name first and a note last. What nothing is known of, as of what a person marks, is empty.
table() {
    {
        exercise_lines | sed 's/^/points /'
        for there in "$reports"/submissions/*; do
            cat "$there/row.csv" "$there/tests.csv"
            echo end
        done 2>/dev/null
    } | awk -v parts="$PART" '
        $1 == "points" {
            if ($2 == "part" || $2 == "shown" || (parts != "" && !index("," parts ",", "," $2 ","))) next
            column[++columns] = $2 " " $4
            points += $3
            next
        }
        /^submission,/ { split($0, heading, ","); next }
        /^"/ {
            match($0, /^"([^"]|"")*"/)
            name = substr($0, 1, RLENGTH)
            cells = substr($0, RLENGTH + 2)
            quote = index(cells, "\"")
            text = substr(cells, quote + 1, length(cells) - quote - 1)
            if (text != "") note = note (note == "" ? "" : "; ") text
            count = split(substr(cells, 1, quote - 2), cell, ",")
            for (k = 1; k <= count; k++) value[heading[k + 1]] = cell[k]
        }
        function cells_of(of_heading) {
            for (k = 1; k <= columns; k++) printf ",%s", of_heading ? column[k] : value[column[k]]
        }
        $0 == "end" && name != "" {
            if (!lines++) { printf "submission"; cells_of(1); print ",earned,points,seed,variant,note" }
            earned = 0
            for (k = 1; k <= columns; k++) earned += value[column[k]]
            printf "%s", name
            cells_of(0)
            printf ",%g,%d,%s,%s,\"%s\"\n", earned, points, value["seed"], value["variant"], note
            name = note = ""
            split("", value)
        }' >"$reports/grades.csv"
}
