# shellcheck shell=sh
# Reads exercise/points, named by $points; the classroom's scripts include this with `.`. The README.md above has
# the format.

# The file without comments.
exercise_lines() { sed -e 's/#.*//' -e '/^ *$/d' "$points"; }

exercise_parts() { exercise_lines | awk '$1 == "part" { print $2 }'; }

# Column 3 (files) or 4 (tests) of a part's line, with spaces for commas, or the rest: its title.
exercise_files() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { print $3 }' | tr ',' ' '; }
exercise_tests() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { print $4 }' | tr ',' ' ' | sed 's/^-$//'; }
exercise_title() { exercise_lines | awk -v part="$1" '$1 == "part" && $2 == part { $1 = $2 = $3 = $4 = ""; sub(/^ */, ""); print }'; }
# A part's points, and those that a starter's tests can check.
exercise_worth() { exercise_lines | awk -v part="$1" '$1 == part { sum += $2 } END { print sum + 0 }'; }
exercise_tested() { exercise_lines | awk -v part="$1" '$1 == part && $3 ~ /^(output|counts|sanitizer)$/ { sum += $2 } END { print sum + 0 }'; }

# A part's files with gaps, as FILE:NUMBER, and those that the student writes from scratch.
exercise_gaps() { exercise_files "$1" | tr ' ' '\n' | grep ':' | tr '\n' ' '; }
# The numbers of FILE's gaps in PART…
exercise_numbers() {
    file=$1
    shift
    for part; do exercise_gaps "$part" | tr ' ' '\n' | sed -n "s|^$file:||p"; done | tr '\n' ' '
}
exercise_whole() { exercise_files "$1" | tr ' ' '\n' | grep -v -e ':' -e '^-$' | tr '\n' ' '; }

# Graded parts with gaps, after the first of the parts $*, that a starter of $* must not reveal. Earlier ones were handed
# out before.
exercise_stubbed() {
    begun=
    for part in $(exercise_parts); do
        case " $* " in
        *" $part "*) begun=yes ;;
        *) [ -z "$begun" ] || [ "$(exercise_worth "$part")" -eq 0 ] || [ -z "$(exercise_gaps "$part")" ] || echo "$part" ;;
        esac
    done
}

# The chapter's folder, from 03 or 03_online_softmax, or nothing.
exercise_chapter() {
    for there in 0[1-7]_*; do
        case $1 in "$there" | "${there%%_*}") echo "$there" ;; esac
    done
}
# Why $1 is no comma-separated list of parts; nothing if it is one, or empty.
exercise_refused() {
    known=$(exercise_parts | tr '\n' ' ')
    case $1 in
    *[!a-z0-9,]*) wrong=$1 ;;
    *) wrong=$(for one in $(echo "$1" | tr ',' ' '); do case " $known" in (*" $one "*) ;; (*) echo "$one"; break ;; esac; done) ;;
    esac
    [ -z "$wrong" ] || echo "expected some of ${known% }, with commas between, found '$wrong'"
}
