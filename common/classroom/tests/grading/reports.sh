# shellcheck shell=sh disable=SC2154
# Sourced by grading.sh: reports, a class, bad arguments, and the forms that services take.

if is_wanted reports_are_as_published; then
    mkdir -p "$work/in/01_standard_softmax"
    { echo "$head_of"; echo 'void standard_softmax(const float *x, float *y, size_t n) { right(x, y, n); y[n - 1] = 0.0f / 0.0f; }'; } >"$work/in/$lesson"
    mv "$work/in" "$work/\"quoted\" \\ name"
    grade "$work/\"quoted\" \\ name"
    wrong=''
    for kind in report gradescope classroom50; do
        "$build/grader/valid" "common/classroom/schemas/$kind.json" "$work/reports/$kind.json" >"$work/said" || wrong="$wrong $kind: $(cat "$work/said")"
    done
    # a validator that finds nothing is none
    for spoilt in 's/"score": 0/"score": -1/' 's/"max-score"/"max_score"/' 's/"datetime": "2/"datetime": "x/' 's/"submit\/none"/"none"/' 's/"tests": \[/"tests": 1, "others": [/'; do
        sed "$spoilt" "$work/reports/classroom50.json" >"$work/spoilt.json"
        "$build/grader/valid" common/classroom/schemas/classroom50.json "$work/spoilt.json" >/dev/null 2>&1 && wrong="$wrong; valid although $spoilt"
    done
    for spoilt in 's/"status": "failed"/"status": "bad"/' 's/"visible"/"seen"/' 's/"score"/"scores"/'; do
        sed "$spoilt" "$work/reports/gradescope.json" >"$work/spoilt.json"
        "$build/grader/valid" common/classroom/schemas/gradescope.json "$work/spoilt.json" >/dev/null 2>&1 && wrong="$wrong; valid although $spoilt"
    done
    if [ -z "$wrong" ] && grep -q '"got": "NaN"' "$work/reports/report.json"; then pass; else fail "$wrong"; fi
    rm -rf "$work/\"quoted\" \\ name"
fi
if is_wanted a_class; then
    mkdir -p "$work/in/class/ann/01_standard_softmax" "$work/in/class/bob" "$work/in/class/=cyd, \"the\" 3rd"
    cp $lesson "$work/in/class/ann/01_standard_softmax/"
    printf 'chapter 01_standard_softmax\nseed 17\n' >"$work/in/class/ann/STARTER"
    echo '#include "01_standard_softmax/standard_softmax.h"
void standard_softmax(const float *x, float *y, size_t n) { (void)x, (void)y, (void)n; }' >"$work/in/class/bob/standard_softmax.c"
    echo nothing >"$work/in/class/notes.txt"
    sh "$scripts/grade_all.sh" "$build" "$work/in/class" "$work/in/reports" 7 01 >"$work/said" 2>&1
    sed 's/,7,/,SEED,/' "$work/in/reports/grades.csv" >"$work/rows"
    head -n 1 "$work/rows" | grep -qx 'submission,passes output,passes counts,passes sanitizer,tests mutants,questions numbers,questions hand,earned,points,seed,variant,note' ||
        fail "$(cat "$work/rows")"
    if grep -q '^"ann",3,1,1,,0,,5,16,SEED,17,"questions: answers.txt: not in the submission"$' "$work/rows" && [ -s "$work/in/reports/submissions/ann/report.txt" ] && grep -q '^"bob",0,0,0,' "$work/rows" && grep -q '^"notes.txt",0,0,0,' "$work/rows" &&
        grep -q "^\"'=cyd, \"\"the\"\" 3rd\"" "$work/rows" && [ "$(grep -c . "$work/in/reports/grades.csv")" -eq 5 ] &&
        grep -q '4 of 4 graded with seed 7' "$work/said"; then pass; else fail "$(cat "$work/said" "$work/in/reports/grades.csv")"; fi
fi
# A name is one field of the table, and the same in every report.
if is_wanted names_stay_as_they_are; then
    wrong=''
    two_lines=$(printf 'two\nlines')
    for name in 'Jürgen Großmann, "MSc" 李' "$two_lines" "$(printf 'no\374character')"; do
        mkdir -p "$work/in/class/$name" && cp $lesson "$work/in/class/$name/"
    done 2>/dev/null
    BUILDS=none sh "$scripts/grade_all.sh" "$build" "$work/in/class" "$work/in/reports" 7 01 >"$work/said" 2>&1
    for start in '"Jürgen Großmann, ""MSc"" 李",0' '"two lines",0' '"no?character",0'; do
        grep -qF "$start" "$work/in/reports/grades.csv" || [ ! -d "$work/in/class/$(printf 'no\374character')" ] || wrong="$wrong; expected $start"
    done
    [ "$(head -n 1 "$work/in/reports/submissions/$two_lines/report.txt")" = '01_standard_softmax: two lines' ] || wrong="$wrong; a name adds a line to report.txt"
    there=$work/in/reports/submissions/'Jürgen Großmann, "MSc" 李'
    grep -qF '"Jürgen Großmann, \"MSc\" 李"' "$there/report.json" && grep -qF '"Jürgen Großmann, \"MSc\" 李"' "$there/classroom50.json" || wrong="$wrong; not in JSON"
    if [ -z "$wrong" ]; then pass; else fail "$wrong: $(cat "$work/in/reports/grades.csv")"; fi
fi
# Whoever has no points is told why, in the table and in every report.
if is_wanted nothing_without_a_reason; then
    wrong=''
    class=$work/in/class
    mkdir -p "$class/archives" "$class/renamed/01_standard_softmax" "$class/empty" "$class/answers" "$class/other"
    cp $lesson "$work/in/"
    for of in a b; do (cd "$work/in" && tar -czf "$class/archives/$of.tar.gz" standard_softmax.c); done
    cp $lesson "$class/renamed/01_standard_softmax/standard_softmax (1).c"
    cp 01_standard_softmax/main.c "$class/renamed/01_standard_softmax/"
    touch "$class/renamed/01_standard_softmax/answers.txt"
    printf '0.l = 30.19\n' >"$class/answers/answers.txt"
    printf 'chapter 02_safe_softmax\nseed 0\n' >"$class/other/STARTER"
    BUILDS=none sh "$scripts/grade_all.sh" "$build" "$class" "$work/in/reports" 7 01 >"$work/said" 2>&1
    while read -r name words; do
        grep "^\"$name\",0,0,0,.*$words" "$work/in/reports/grades.csv" >/dev/null || wrong="$wrong; $name: expected $words"
        for kind in report.txt report.json gradescope.json classroom50.json; do
            grep -q "$words" "$work/in/reports/submissions/$name/$kind" || wrong="$wrong; $name, $kind: expected $words"
        done
    done <<END
archives or one archive of them and nothing else, found a.tar.gz b.tar.gz
renamed standard_softmax.c: not in the submission, which has 01_standard_softmax/standard_softmax (1).c
empty there is no file in it
answers answers.txt: not judged, because there is no STARTER
other expected files of 01_standard_softmax, found a STARTER of 02_safe_softmax
END
    if [ -z "$wrong" ]; then pass; else fail "$wrong: $(cat "$work/said" "$work/in/reports/grades.csv")"; fi
fi
# The first is graded, the second does not end by itself.
if is_wanted a_class_that_is_interrupted; then
    if [ -n "$can_interrupt" ]; then
        mkdir -p "$work/in/class/ann" "$work/in/class/bob"
        cp $lesson "$work/in/class/ann/"
        echo '#include "01_standard_softmax/standard_softmax.h"
void standard_softmax(const float *x, float *y, size_t n) { (void)x, (void)y, (void)n; for (volatile int k = 0;; k = 1 - k); }' >"$work/in/class/bob/standard_softmax.c"
        is_there() { [ -f "$work/in/reports/submissions/ann/done" ]; }
        interrupt sh "$scripts/grade_all.sh" "$build" "$work/in/class" "$work/in/reports" 7 01
        if grep -q '^Incomplete, for it was interrupted: 1 of 2 graded with seed 7' "$work/said" && grep -q '^"ann",3,1,1,' "$work/in/reports/grades.csv" &&
            [ "$(grep -c . "$work/in/reports/grades.csv")" -eq 2 ]; then pass; else fail "$(cat "$work/said")"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
# What is to be read again are a page of the chapter, which every starter has, and one of its headings.
if is_wanted read_again; then
    wrong=$(sed -n '/^} places/,/^};/p' common/classroom/grader/where_to_read.c | tr '\n' ' ' | grep -o '"[0-9 ]*", *"[^"]*"' | sed 's/", *"/|/; s/"//g' |
        while IFS='|' read -r chapters text; do
            for number in $chapters; do
                page=${text%%.md*}.md
                case $page in common/*) ;; *) page=$(echo "$number"_*)/$page ;; esac
                awk -v text="${text#*.md}" '/^##+ / { sub(/^#+ /, ""); found = found || index(text, ", " $0 ": ") == 1 }
                    END { exit !(found || text ~ /^: /) }' "$page" || echo "$number: $text"
            done
        done)
    # untouched: what is missing is not what the case is about
    stub 02_safe_softmax/safe_softmax.c >"$work/in/safe_softmax.c"
    BUILDS=plain PART=passes grade "$work/in" 02
    report | grep -q 'scores about 1000: wrong y at .* never written.* read again: 02_safe_softmax/exercise/README.md' || wrong="$wrong; $(report)"
    sed 's/ - m)/)/' 02_safe_softmax/safe_softmax.c >"$work/in/safe_softmax.c"
    BUILDS=plain PART=passes grade "$work/in" 02
    report | grep -q 'read again: 02_safe_softmax/README.md, The idea: the row.s maximum' || wrong="$wrong; $(report)"
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi
# The right numbers are those of STARTER's seed; what is right is not told.
if is_wanted numbers_by_the_seed; then
    of_seed() {  # seed of the answers, seed of STARTER -> points
        printf 'chapter 01_standard_softmax\nseed %s\n' "$2" >"$work/in/STARTER"
        sh common/classroom/starter/numbers.sh 01_standard_softmax/exercise/numbers "$1" | sed -n 's/^answer \([0-9]*\) \([a-z0-9]*\) [^ ]* /\1.\2 = /p' >"$work/in/answers.txt"
        PART=questions grade "$work/in"
        column 'questions numbers'
    }
    printf '0.l =\n' >"$work/in/answers.txt"
    printf 'chapter 01_standard_softmax\nseed 0\n' >"$work/in/STARTER"
    PART=questions grade "$work/in"
    without=$(report)
    said="$(of_seed 17 17) $(of_seed 0 0) $(of_seed 0 17)"
    if [ "$said" = '4 4 1' ] && echo "$without" | grep -q 'answers.txt, 0.l: wrong no number given' && [ "$(column variant)" = 17 ] && report | grep -q 'questions as SEED=17 has them' &&
        report | grep -q 'WRONG answers.txt, 0.l: wrong got 30.19' && ! report | grep -q expected; then pass; else fail "it earned $said"; fi
fi
# The course of a bundle, with what is built here, so that it need not be built again.
with_build() {
    mkdir -p "$1/build/sanitized"
    cp -Rp "$build/obj" "$build/grader" "$build"/*.a "$1/build/"
    cp -Rp "$build/sanitized/obj" "$1/build/sanitized/"
}
if is_wanted gradescope_takes_it; then
    if command -v zip >/dev/null && command -v unzip >/dev/null && [ -z "$GRADING" ]; then
        make -s gradescope CHAPTER=01 OUT="$work/in/a.zip" SEED=4 >"$work/total"
        mkdir -p "$work/in/autograder/source" "$work/in/autograder/submission"
        unzip -q "$work/in/a.zip" -d "$work/in/autograder/source"
        with_build "$work/in/autograder/source/course"
        cp $lesson "$work/in/autograder/submission/"
        AUTOGRADER=$work/in/autograder bash "$work/in/autograder/source/setup.sh" >"$work/said" 2>&1
        AUTOGRADER=$work/in/autograder "$work/in/autograder/source/run_autograder" >>"$work/said" 2>&1
        results=$work/in/autograder/results/results.json
        if "$build/grader/valid" common/classroom/schemas/gradescope.json "$results" >>"$work/said" &&
            grep -q "a.zip: 9 points in all" "$work/total" &&
            grep -q '"score": 5' "$results" && unzip -Z1 "$work/in/a.zip" | grep -q '^setup.sh$' &&
            unzip -Z1 "$work/in/a.zip" | grep -q '^run_autograder$'; then pass; else fail "$(tail -n 5 "$work/said")"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted classroom50_takes_it; then
    if command -v python3 >/dev/null && [ -z "$GRADING" ]; then
        make -s classroom50 CHAPTER=01 OUT="$work/in/bundle" SEED=4 >/dev/null
        with_build "$work/in/bundle/course"
        mkdir -p "$work/in/checkout/01_standard_softmax"
        cp $lesson "$work/in/checkout/01_standard_softmax/"
        ln -s ../elsewhere "$work/in/checkout/result.json"
        (cd "$work/in/checkout" && CLASSROOM=cs1 ASSIGNMENT=one ASSIGNMENT_TYPE=individual OWNER=ann \
            SUBMISSION_TAG=submit/2026-06-01T14-32-05Z-a1b2c3d COMMIT_URL=https://host/commit/1 \
            RELEASE_URL=https://host/release REVIEW_URL=https://host/review python3 "$work/in/bundle/autograder.py") >"$work/said" 2>&1
        made=$work/in/checkout/result.json
        if "$build/grader/valid" common/classroom/schemas/classroom50.json "$made" >>"$work/said" && [ ! -e "$work/in/elsewhere" ] &&
            grep -q '"score": 5' "$made" && grep -q '"owner": "ann"' "$made" && grep -q '"classroom": "cs1"' "$made" &&
            grep -q "submit/2026-06-01T14-32-05Z-a1b2c3d" "$made"; then pass; else fail "$(tail -n 5 "$work/said")"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
# Root's mask is often 077: a right submission is right all the same, and its reports are for nobody else.
if is_wanted a_mask_of_077; then
    mkdir -p "$work/in/01_standard_softmax"
    cp $lesson "$work/in/01_standard_softmax/"
    before=$(umask)
    umask 077
    QUIET=1 sh "$scripts/grade.sh" "$build" "$work/in" "$work/reports" 12345 01 >"$work/said" 2>&- </dev/null
    umask "$before"
    if [ "$(column 'passes sanitizer')" = 1 ] && [ -z "$(find "$work/reports" -type f -perm -004)" ]; then pass; else fail "$(ls -l "$work/reports")"; fi
fi
# Where the machine fails there is one line, and no report says that a right submission is wrong.
if is_wanted machine_that_fails; then
    wrong=''
    mkdir -p "$work/in/01_standard_softmax"
    cp $lesson "$work/in/01_standard_softmax/"
    fails() {  # words, what is done before
        said=$(eval "$2"; QUIET='' sh "$scripts/grade.sh" "$build" "$work/in" "$work/reports" 12345 01 2>&1 >"$work/out" </dev/null)
        [ "$?$(echo "$said" | grep -c "^grade: $1")$(echo "$said" | grep -c .)" = 211 ] && [ ! -e "$work/reports" ] && return
        wrong="$wrong; $2: $said"
    }
    if [ "$(uname)" = Linux ]; then
        fails '.*: expected to compile an empty program here, found: not started' 'ulimit -v 100000'
        fails 'cc --no-such-word: expected to compile an empty program here' 'CC="cc --no-such-word"'
        mkdir "$work/in/full"
        if [ -n "$root" ] && mount -t tmpfs -o size=1m none "$work/in/full" 2>/dev/null; then
            fails '.*: expected room for ' 'TMPDIR=$work/in/full; export TMPDIR'
            umount "$work/in/full"
        fi
    fi
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi
if is_wanted bad_arguments; then
    wrong=''
    refuses() {  # words, arguments of grade.sh
        expected=$1
        shift
        said=$(sh "$scripts/grade.sh" "$build" "$@" 2>&1 >/dev/null </dev/null)
        [ $? -eq 2 ] || wrong="$wrong; status of '$*'"
        echo "$said" | grep -q "$expected" || wrong="$wrong; '$*' said: $said"
        [ "$(echo "$said" | grep -c .)" -eq 1 ] || wrong="$wrong; '$*' said more than a line"
    }
    mkdir -p "$work/in/empty"
    refuses 'SUBMISSION: expected a folder or an archive' ''
    refuses 'nowhere: expected a folder or an archive, found none' "$work/nowhere"
    mkfifo "$work/in/a.tar"  # nothing would ever come out of it
    refuses 'a.tar: expected a folder or an archive, found none' "$work/in/a.tar"
    refuses 'SEED: expected a whole number' "$work/in/empty" "$work/r" x1 01
    refuses 'CHAPTER: there is no file in it; expected the chapter' "$work/in/empty" "$work/r" 1
    refuses "CHAPTER: expected a chapter, as in CHAPTER=03, found '09'" "$work/in/empty" "$work/r" 1 09
    PART=passes,mirge refuses "PART: expected some of passes tests questions, with commas between, found 'mirge'" "$work/in/empty" "$work/r" 1 01
    PART='passes *' refuses "PART: expected some of passes tests questions" "$work/in/empty" "$work/r" 1 01
    rm -r "$work/in/a.tar" "$work/in/empty"
    mkdir "$work/in/named"
    echo >"$work/in/named/a\\nb"  # echo would make two lines of it
    (cd "$work/in" && tar -cf a.tar named)
    refuses 'CHAPTER: it has a name that leads out' "$work/in/a.tar" "$work/r" 1
    [ ! -e "$work/r" ] || wrong="$wrong; something was written"
    for of in 'CHAPTER=8' 'CHAPTER=01 PART=mirge' 'CHAPTER=01 SEED=x' 'CHAPTER=01 OUT='; do
        # shellcheck disable=SC2086
        said=$(make -s classroom50 OUT="$work/bundle" $of 2>&1) && wrong="$wrong; a bundle of $of"
        echo "$said" | grep -q '^classroom50: [A-Z]*: expected' || wrong="$wrong; of a bundle of $of it said: $said"
    done
    [ ! -e "$work/bundle" ] || wrong="$wrong; a bundle was written"
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi
