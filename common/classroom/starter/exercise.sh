# shellcheck shell=sh
# What exercise/points says, for the scripts of the classroom, which read this file with `.`. It expects
# $points to name that file. The README.md above has its format.

# The lines that are no comments, without comments at their end.
exercise_lines() { sed -e 's/#.*//' -e '/^ *$/d' "$points"; }

exercise_parts() { exercise_lines | awk '$1 == "part" { print $2 }'; }

# Column 3 (files) or 4 (tests) of a part's line, its commas as spaces, or what follows: its title.
exercise_files() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { print $3 }' | tr ',' ' '; }
exercise_tests() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { print $4 }' | tr ',' ' ' | sed 's/^-$//'; }
exercise_title() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { $1 = $2 = $3 = $4 = ""; sub(/^ */, ""); print }'; }
# The points of a part, and those that the tests of a starter can say something about.
exercise_worth() { exercise_lines | awk -v part="$1" '$1 == part { sum += $2 } END { print sum + 0 }'; }
exercise_tested() { exercise_lines | awk -v part="$1" '$1 == part && $3 ~ /^(output|counts|sanitizer)$/ { sum += $2 } END { print sum + 0 }'; }

# The files of a part that have gaps, as FILE:NUMBER, and those that the student writes whole.
exercise_gaps() { exercise_files "$1" | tr ' ' '\n' | grep ':' | tr '\n' ' '; }
# The numbers of a FILE's gaps that belong to PART…
exercise_numbers() {
    file=$1
    shift
    for part; do exercise_gaps "$part" | tr ' ' '\n' | sed -n "s|^$file:||p"; done | tr '\n' ' '
}
exercise_whole() { exercise_files "$1" | tr ' ' '\n' | grep -v -e ':' -e '^-$' | tr '\n' ' '; }

# The graded parts with gaps that a starter of the parts $* does not have and is not to give away: those after its first. What comes
# before it was handed out before.
exercise_stubbed() {
    begun=
    for part in $(exercise_parts); do
        case " $* " in
        *" $part "*) begun=yes ;;
        *) [ -z "$begun" ] || [ "$(exercise_worth "$part")" -eq 0 ] || [ -z "$(exercise_gaps "$part")" ] || echo "$part" ;;
        esac
    done
}

# The folder of the chapter that $1 names, as 03 or 03_online_softmax; nothing if it names none.
exercise_chapter() {
    for there in 0[1-7]_*; do
        case $1 in "$there" | "${there%%_*}") echo "$there" ;; esac
    done
}
# Why $1 is no list of parts with commas between; nothing if it is one, or empty.
exercise_refused() {
    known=$(exercise_parts | tr '\n' ' ')
    case $1 in
    *[!a-z0-9,]*) wrong=$1 ;;
    *) wrong=$(for one in $(echo "$1" | tr ',' ' '); do case " $known" in (*" $one "*) ;; (*) echo "$one"; break ;; esac; done) ;;
    esac
    [ -z "$wrong" ] || echo "expected some of ${known% }, with commas between, found '$wrong'"
}
