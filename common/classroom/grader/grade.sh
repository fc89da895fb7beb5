#!/bin/sh
# grade.sh BUILD SUBMISSION [REPORTS [SEED [CHAPTER [NAME]]]] - grades one submission.
#
# SUBMISSION is a folder, .tar.gz, .tar or .zip, or a folder with one of these in it. Of it only the files of the
# exercise are taken, one by one, and read as text. They are compiled by a user who owns nothing, who sees a
# compiler, the course's headers and none of its sources, and linked with what build/grader has. Then
# build/grader/grade runs them. What it writes goes to REPORTS (BUILD/reports/NAME unless given); its report.txt is
# printed.
#
# In the environment: CC, FLAGS, SANITIZED and WATCH_FLAGS, for kernels CXX, CXX_FLAGS, INSTRUMENTED_FLAGS and CUDA_LIBS; in JOBS what make
# is to be told, as -j2; with QUIET nothing is printed, and BUILDS is a pattern of builds to try alone. Exit status: 0, whatever the points;
# 2 if there is nothing to grade or no way to do it.
. "$(dirname "$0")/archive.sh"
build=$1 submission=$2 reports=$3 seed=$4 chapter=$5 name=$6
grader=$build/grader
MOST_BYTES=5000000  # of an archive
MOST_SOURCE=200000  # of a source file
# absolute, with .., with what unzip takes for a pattern, or what tar and unzip take for an option, as --checkpoint-action=…
NO_NAME='(^[/-]|(^|/)\.\.(/|$)|[][*?\\])'

# A file that a program opens must not become what another takes for its input, output or errors.
{ true <&0; } 2>/dev/null || exec </dev/null
(true >&2) || exec 2>/dev/null
{ true >&1; } 2>/dev/null || exec >/dev/full
exec 3>&2
die() {  # what, text
    printf '%s\n' "grade: $1: $2" >&3  # echo would take a \n in a name for the end of the line
    exit 2
}

[ -n "$submission" ] || die SUBMISSION 'expected a folder or an archive, as in make grade SUBMISSION=submission.tar.gz'
case $submission in /*) ;; -* | *:*) submission=./$submission ;; esac  # no option, and no host for tar
[ -f "$submission" ] || [ -d "$submission" ] || die "$submission" 'expected a folder or an archive, found none of that name'
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
case $seed in *[!0-9]* | ?????????????????*) die SEED "expected a whole number, found '$seed'" ;; esac
. common/classroom/starter/exercise.sh
[ -z "$chapter" ] || [ -n "$(exercise_chapter "$chapter")" ] || die CHAPTER "expected a chapter, as in CHAPTER=03, found '$chapter'"
[ -n "$name" ] || name=$(basename "$submission")
archive=$([ ! -d "$submission" ] || only_archive "$submission")
submission=${archive:-$submission}
[ -n "$reports" ] || reports=$build/reports/$(echo "$name" | tr -c 'A-Za-z0-9._\n-' _)
[ -x "$grader/grade" ] || die "$grader" 'expected the grader; make grade builds it'

mask=$(umask)
umask 022  # users who own nothing read what is made here
work=$(mktemp -d "${TMPDIR:-/tmp}/grade.XXXXXX") || exit 2
[ -n "$KEEP" ] || trap 'rm -rf "$work"' EXIT
case $submission in *.zip) submission=$(literal "$submission" "$work") ;; esac
trap 'exit 2' INT TERM HUP PIPE
chmod 711 "$work"
mkdir -p "$work/root/bin" "$work/said" "$work/before"
chmod 755 "$work/root" "$work/root/bin"
user=- as=''
if [ "$(id -u)" -eq 0 ]; then
    user=$((40000 + $$ % 20000))
    as="--user $user"
fi

# ---- what is in the submission -------------------------------------------------------------------

# The names of its files, one a line, in $work/names; of links in $work/links.
kind=''
list() (
    limit_unpacking
    case $kind in
    folder)
        (cd "$submission" && find . -type f | sed 's|^\./||') >"$work/names"
        (cd "$submission" && find . ! -type f ! -type d | sed 's|^\./||') >"$work/links"
        ;;
    tar)
        tar -tf "$submission" >"$work/names" || exit 1
        tar -tvf "$submission" | grep '^[^-d]' >"$work/links"
        ;;
    zip)
        unzip -Z1 "$submission" >"$work/names" || exit 1
        unzip -Z "$submission" | grep '^[^-?dAZ0-9 ]' >"$work/links"
        ;;
    esac
    exit 0
)
# One of them, to standard output. A shell of its own has the limits.
content() (
    [ -n "$1" ] || exit 0
    limit_unpacking
    case $kind in
    folder) cat "$submission/$1" ;;
    tar) tar -xOf "$submission" -- "$1" ;;
    zip) unzip -P '' -p "$submission" "$1" ;;  # it would ask for a password
    esac 2>/dev/null | head -c $((MOST_SOURCE + 1))
)

# Names, for a report.
one_line() { LC_ALL=C tr '\000-\037\177' ' ' | sed 's/ *$//' | head -c 150; }

refused=''
refuse() { [ -n "$refused" ] || refused=$1; }

case $submission in
*.tar.gz | *.tgz | *.tar) kind=tar ;;
*.zip) kind=zip; command -v unzip >/dev/null || die unzip 'expected it to be installed, to read a .zip' ;;
esac
if [ -d "$submission" ]; then
    kind=folder
elif [ -z "$kind" ]; then
    refuse 'expected a folder, .tar.gz, .tar or .zip'
elif [ "$(wc -c <"$submission")" -gt $MOST_BYTES ]; then
    refuse "the archive is larger than $MOST_BYTES bytes"
fi
: >"$work/names"
: >"$work/links"
[ -n "$refused" ] || list 2>/dev/null || refuse 'the archive cannot be read'
if [ -s "$work/links" ]; then
    refuse "it has a link or something else that is no file: $(head -n 1 "$work/links" | one_line)"
elif grep -qE "$NO_NAME" "$work/names"; then
    refuse "it has a name that leads out of its folder, or is no name: $(
        grep -E "$NO_NAME" "$work/names" | head -n 1 | one_line)"
elif [ "$(wc -l <"$work/names")" -gt 5000 ]; then
    refuse 'it has more than 5000 files'
elif ! grep -q '[^/]$' "$work/names"; then
    refuse 'there is no file in it'
fi

# The chapter: as given, as STARTER says, or the one whose folder is there.
if [ -z "$chapter" ] && [ -z "$refused" ]; then
    starter=$(grep -E '(^|/)STARTER$' "$work/names" | head -n 1)
    [ -z "$starter" ] || chapter=$(content "$starter" | sed -n 's/^chapter  *//p' | head -n 1)
    [ -n "$chapter" ] ||
        chapter=$(grep -oE '(^|/)0[1-7]_[a-z_]+/' "$work/names" | tr -d / | sort -u)
fi
folder=$(exercise_chapter "$chapter")
[ -n "$folder" ] || die CHAPTER "${refused:+$refused; }expected the chapter that $name is of, as in CHAPTER=03"
chapter=$folder number=${folder%%_*}
grep -q "^$number " common/classroom/grader/programs || die CHAPTER "expected a chapter that is graded by outputs, found $number"
points=$chapter/exercise/points
why=$(exercise_refused "$PART")
[ -z "$why" ] || die PART "$why"
if [ "$number" = 06 ] && [ ! -f "$grader/plain/06-fa1.o" ]; then
    # shellcheck disable=SC2086  # a word, or none
    make -s --no-print-directory $JOBS QUIET=1 BUILD="$build" grader-06 || die "$grader" 'expected what kernels are linked with'
fi

# Which name is file $1 of the chapter: with the chapter's folder, without, or without any.
find_name() {
    for pattern in "(^|/)$chapter/$1" "(^|/)$1" "(^|/)${1##*/}"; do
        found=$(grep -E "$pattern\$" "$work/names")
        [ -z "$found" ] || break
    done
    case $found in
    *'
'*) return 1 ;;
    esac
    echo "$found"
}

# Where none of the exercise's files is there, what is there says why.
if [ -z "$refused" ]; then
    there=$(for file in answers.txt $(awk -v n="$number" '$1 == n { print $5 }' common/classroom/grader/programs); do
        find_name "$file" || echo "$file"
    done)
    of=$(content "$(grep -E '(^|/)STARTER$' "$work/names" | head -n 1)" | sed -n 's/^chapter  *\([0-9a-z_]*\).*/\1/p' | head -n 1)
    packed=$(grep -E '\.(tar\.gz|tgz|tar|zip)$' "$work/names" | sort | one_line)
    if [ -z "$there" ] && [ -n "$packed" ]; then
        refuse "expected the exercise's files, or one archive of them and nothing else, found $packed"
    elif [ -z "$there" ] && [ -n "$of" ] && [ "$of" != "$chapter" ]; then
        refuse "expected files of $chapter, found a STARTER of $of"
    fi
fi

# What is said of a file that is not there: which name, not one of the chapter's own, it may have instead.
missing() {  # file
    near=$(find "$chapter" -type f | sed 's|.*/||' | awk -v wanted="${1##*/}" '
        BEGIN { stem = tolower(wanted); sub(/\..*/, "", stem); ending = wanted; sub(/.*\./, ".", ending) }
        NR == FNR { of_course[$0]; next }
        { name = $0; sub(/.*\//, "", name) }
        name == "" || name in of_course { next }
        alike == "" && index(tolower(name), stem) { alike = $0 }
        other == "" && substr(name, length(name) - length(ending) + 1) == ending { other = $0 }
        END { print alike != "" ? alike : other }' - "$work/names" | one_line)
    echo "$1: not in the submission${near:+, which has $near}"
}

# ---- from source to programs ---------------------------------------------------------------------

command -v "${CC%% *}" >/dev/null || die "$CC" 'expected a compiler'
. "$(dirname "$0")/room.sh" 2>/dev/null
rm -rf "$room"/headers/*/tests  # their macros make one word of two

# Runs a compiler's words. What is said goes to $work/said/PROGRAM, as it would be of the file that was handed in.
compile() {  # compiler's words...
    in_room "$said" "kernels/$program/*" "$@" && [ -z "$other" ] && return 0
    if [ -n "$other" ]; then
        echo "$file: it includes $(basename "$other"), which is not among the chapter's headers" >"$said"
        return 1
    fi
    [ -s "$said" ] || cp "$work/verdict" "$said"
    sed "s|$source|$file|g; s|kernels/$program/$chapter/kernels/[^/ ]*/||g; s|headers/||g" "$said" |
        grep -iE 'error|undefined|multiple|time' | head -n 4 >"$said.short"
    [ -s "$said.short" ] || head -n 2 "$said" >"$said.short"
    { echo "$file does not compile:"; cat "$said.short"; } >"$said"
    return 1
}

# The source, or the kernel that is made of it, with what the course has for it: room/linked/VARIANT.o. "macros" is no
# program, but what is defined for it.
make_program() {  # variant, flags
    made=made/$program-$1
    # shellcheck disable=SC2086  # lists of words
    linked=${2% -c}
    [ "$1" != counted ] || linked=''  # the functions that it calls for each access are the course's
    compile "$compiler" ${CC#"${CC%% *}"} $FLAGS $2 -Iheaders "$source" -o "$made.o" || return
    # shellcheck disable=SC2086
    [ "$1" = macros ] || compile "$compiler" ${CC#"${CC%% *}"} $linked "$made.o" "linked/$1.o" -o "$made" -lm
}

# The same for chapter 06: the kernel, PROGRAM.cu, is the student's or includes what is. Of the chapter's files, as
# C++, the folder room/kernels/PROGRAM has what it may include, and the student's in place of the course's.
kernel_folder() {
    for one in "$chapter"/kernels/*/*.cuh "$chapter"/kernels/*/"$1.cu"; do
        from=$one
        to=$room/kernels/$1/$(echo "$one" | sed 's/\.cu$/.cpp/')
        [ "$one" != "$chapter/$file" ] || { from=$room/$source && compiled=$to; }
        mkdir -p "$(dirname "$to")"
        { echo "#line 1 \"$(basename "$one")\""; in_time sed -E -f common/cuda/emulator/to_cpp.sed "$from"; } >"$to" || return
    done
}
make_kernel() {  # variant, flags
    made=made/$program-$1 linked=${2% -c} cxx=$(command -v "${CXX%% *}")
    kernel=$(cd "$room" && echo "kernels/$program/$chapter"/kernels/*/"$program.cpp")
    [ "$1" != counted ] || linked=''  # the functions that it calls for each access are the course's
    # shellcheck disable=SC2086  # lists of words
    compile "$cxx" ${CXX#"${CXX%% *}"} $CXX_FLAGS $2 -I"kernels/$program" -Iheaders "$kernel" -o "$made.o" || return
    # shellcheck disable=SC2086
    [ "$1" = macros ] || compile "$cxx" ${CXX#"${CXX%% *}"} $linked "$made.o" "linked/$1.o" -o "$made" $CUDA_LIBS
}

# Standard input, and the definitions of those macros of the system that it names, and of those that they name. In the
# list, which is cpp's, files of the course have names from here, and .. leads out of them.
with_macros() {  # list
    LC_ALL=C awk '
        function add_named_in(line,    name) {
            while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
                name = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (!(name in text)) continue
                print text[name]
                rest = text[name]
                delete text[name]
                add_named_in(rest)
            }
        }
        FNR != NR { print; add_named_in($0) }
        FNR == NR && /^# [0-9]+ "/ { of_system = $3 ~ /^"\// || $3 ~ /\.\./ }
        FNR == NR && /^#define / && of_system {
            name = $2
            sub(/\(.*/, "", name)
            text[name] = text[name] "\n" $0
        }' "$1" -
}

# What reads a file before a compiler does may take so many seconds.
in_time() ( ulimit -t 5 && "$@")
too_long() { echo "$file: it takes too long to read" >"$said"; }

build_one() {  # program, file; of $part
    program=$1 file=$2 said=$work/said/$1
    member=$(find_name "$file") || { echo "$file: it is there more than once" >"$said"; return; }
    [ -n "$member" ] || { missing "$file" >"$said"; return; }
    source=source/$program.c
    rm -f "$room"/source/*  # what was refused must not be there to be included
    content "$member" >"$room/$source"
    [ -s "$room/$source" ] || { echo "$file: it is empty" >"$said"; return; }
    [ "$(wc -c <"$room/$source")" -le $MOST_SOURCE ] || { echo "$file: it is larger than $MOST_SOURCE bytes" >"$said"; return; }
    [ "$(tr -d '\000' <"$room/$source" | wc -c)" -eq "$(wc -c <"$room/$source")" ] || { echo "$file: it has a NUL, which no text has" >"$said"; return; }
    compiled=$room/$source
    case $file in *.cu | *.cuh) make=make_kernel; kernel_folder "$program" || { too_long; return; } ;; *) make=make_program ;; esac
    $make macros '-O2 -E -dD' || return
    # Refused: what includes bytes that are not C, and what tells one build from another. Continued lines are joined, as the
    # compiler does, and the bodies of the system's macros that the file uses are searched too.
    # Strings of some attributes and of #ident are given to the assembler as they are; weakref is another name for a symbol.
    # The lines are searched as they are too, because compilers do not agree on which of them go on.
    {
        cat "$room/$source" "$compiled" &&
            LC_ALL=C in_time sed -e :a -e '/\\[[:space:]]*$/{' -e '$!N' -e 's/\\[[:space:]]*\n//' -e ta -e '}' "$compiled"
    } >"$work/lines" && in_time with_macros "$room/made/$program-macros.o" <"$work/lines" >"$work/meant" || { too_long; return; }
    has() { LC_ALL=C grep -qE "$1" "$work/meant"; }
    if has '(^|[^A-Za-z0-9_])_*(asm|ident|sccs|embed|Pragma|PARALLEL)_*([^A-Za-z0-9_]|$)|##|%:|\?\?|sanitize|SANITIZE|__[a-z]*san_|__has_feature|dlv?sym' ||
        has 'address_safety|weakref|redefine_extname|symver' || { has 'section|alias' && has '__attribute|__align__|gnu|\[\[|<:'; }; then
        echo "$file: it has asm, ##, #ident, #embed, _Pragma, weakref, a section, an alias, a trigraph or a word about sanitizers, which the exercise needs none of" >"$said"
        return
    fi
    for variant in $(variants "$part"); do
        case $variant in
        plain) of=plain/$number-$program flags='-O2 -g' ;;
        sanitized) of=sanitized/$number-$program flags="$SANITIZED -U__SANITIZE_ADDRESS__" ;;
        counted) of=plain/$number-$program-counted
            case $make in make_kernel) flags="-O2 -g $INSTRUMENTED_FLAGS" ;; *) flags="-g $WATCH_FLAGS" ;; esac ;;
        esac
        cp "$grader/$of.o" "$room/linked/$variant.o"
        $make "$variant" "$flags -c" || return
        cp "$room/$made" "$work/root/bin/"
        chmod 755 "$work/root/bin/$program-$variant"
    done
}

# What a part's criteria want a program to be built as.
variants() {  # part
    awk -v part="$1" '$1 == part {
        print $3 == "output" ? "plain" : $3 == "sanitizer" ? "sanitized" : $3 == "counts" ? "counted" : "" }' \
        "$chapter/exercise/points" | sort -u | grep -E "${BUILDS:-.}"
}

if [ -z "$refused" ]; then {
    sed -n "s/^$number  *//p" common/classroom/grader/programs >"$work/programs"
    while read -r part program _ file _; do
        case ,$PART, in ,, | *,"$part",*) build_one "$program" "$file" ;; esac
    done <"$work/programs"
    (cd "$grader/libraries" && find . -type d) | while read -r there; do mkdir -p "$work/root/$there"; done
    # Only root may link: what others run could write to the course's own.
    (cd "$grader/libraries" && find . -type f) | while read -r there; do
        { [ -n "$as" ] && ln "$grader/libraries/$there" "$work/root/$there"; } || cp "$grader/libraries/$there" "$work/root/$there" || exit
    done || die "$work" 'expected room for libraries'
    mkdir -p "$work/root/in" "$work/root/out"
    chmod -R go+rX "$work/root"
} 2>/dev/null; fi

# Where this machine fails, as on a full disk, nothing may be said of what was handed in: here is still room, and, if something
# did not compile, the compiler works.
head -c 8000000 /dev/zero 2>/dev/null >"$work/room_left" || die "$work" 'expected room for 8 MB'
rm "$work/room_left"
[ -z "$(ls "$work/said")" ] || compiler_works || die "$CC" "expected to compile an empty program here, found: $found"

# The numbers that answer the questions, which STARTER's seed has chosen.
if [ -z "$refused" ]; then
    variant=$(content "$(grep -E '(^|/)STARTER$' "$work/names" | head -n 1)" | sed -n 's/^seed  *//p' | head -n 1)
    case $variant in *[!0-9]* | ??????????*) variant='' ;; esac
    echo "$variant" >"$work/variant"
    if ! answers=$(find_name answers.txt); then
        echo 'answers.txt: it is there more than once' >"$work/said/answers.txt"
    elif [ -z "$answers" ]; then
        missing answers.txt >"$work/said/answers.txt"
    elif [ -z "$variant" ]; then
        echo 'answers.txt: not judged, because there is no STARTER whose seed says what was asked' >"$work/said/answers.txt"
    else
        content "$answers" >"$work/answers.txt"
        sh common/classroom/grader/answers.sh "$chapter" "$variant" "$work/answers.txt" >"$work/answers"
    fi
fi

umask "$mask"
mkdir -p "$reports" 2>/dev/null || die REPORTS "expected a folder that you may write to, found '$reports'"
"$grader/grade" . "$build" "$chapter" "$work" "$reports" "$seed" "$user" "$name" ${refused:+"$refused"} || exit 2
[ -n "$QUIET" ] || cat "$reports/report.txt" 2>/dev/null || die 'standard output' "expected to be able to write it; all reports are in $reports"
