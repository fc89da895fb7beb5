#!/bin/sh
# mutants.sh BUILD RESULT [TEST…] - wrong versions of the grader, each of which a test of grading.sh must reject; with
# names of tests only theirs.
#
# A wrong version is a file of common/classroom/grader with one sed command done to it. CC, FLAGS, OPENMP, the names of the files
# that grade is made of and what grading.sh wants are in the environment. Leaves "passed failed skipped" in RESULT.
build=$1 result=$2
shift 2
wanted=$*
. common/classroom/tests/shares.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
root=$([ "$(id -u)" -eq 0 ] && echo yes)

# A build folder that is the course's but for its grader.
copy_build() {
    rm -rf "$work/build"
    mkdir -p "$work/build/grader"
    for file in "$build"/*; do ln -s "$PWD/$file" "$work/build/"; done 2>/dev/null
    rm "$work/build/grader" 2>/dev/null
    mkdir -p "$work/build/grader"
    for file in "$build"/grader/*; do ln -s "$PWD/$file" "$work/build/grader/"; done
    # A student's file is compiled where the course's own folder, to which a link would lead, cannot be seen; and the verdicts
    # of a wrong version of the grader must not be kept.
    for own in headers versions; do
        rm -f "$work/build/grader/$own"
        cp -R "$build/grader/$own" "$work/build/grader/" 2>/dev/null
    done
}

mutant() {  # needs, test, file, sed command
    is_mine || return
    case " $wanted " in '  ' | *" $2 "*) ;; *) return ;; esac
    if [ "$1" = root ] && [ -z "$root" ]; then
        skipped=$((skipped + 1))
        return
    fi
    rm -rf "$work/scripts"
    mkdir -p "$work/scripts"
    cp common/classroom/grader/*.sh "$work/scripts/"
    cp common/classroom/grader/*.[ch] "$work/scripts/"
    sed "$4" "common/classroom/grader/$3" >"$work/scripts/$3"
    copy_build
    case $4 in *compile*) rm -rf "$work/build/grader/versions" ;; esac  # made as they should be
    if cmp -s "$work/scripts/$3" "common/classroom/grader/$3"; then
        failed=$((failed + 1))
        echo "    $2: the wrong version is none: $4"
        return
    fi
    case $3 in
    confine.c)
        rm "$work/build/grader/confine"
        # shellcheck disable=SC2086
        $CC $FLAGS -w "$work/scripts/confine.c" -o "$work/build/grader/confine" || failed=$((failed + 1))
        ;;
    against.c)
        rm "$work/build/grader/against"
        # shellcheck disable=SC2086
        $CC $FLAGS -w -I. "$work/scripts/against.c" "$build/common.a" $OPENMP -lm -o "$work/build/grader/against" || failed=$((failed + 1))
        ;;
    *.c)
        rm "$work/build/grader/grade"
        others=$(for part in $PARTS_OF_GRADE; do [ "$part" = "${3%.c}" ] || echo "$build/obj/common/classroom/grader/$part.o"; done)
        # shellcheck disable=SC2086
        $CC $FLAGS -w -I. "$work/scripts/$3" $others "$build/common.a" $OPENMP -lm -o "$work/build/grader/grade" || failed=$((failed + 1))
        ;;
    esac
    if SHARE="" GRADING="$work/scripts" sh common/classroom/tests/grading.sh "$work/build" "$work/result" "$2" >"$work/said" 2>&1; then
        failed=$((failed + 1))
        echo "    $2 does not notice: $3, $4"
    else
        passed=$((passed + 1))
    fi
}

# nothing, or root: what must be for the test to mean something
mutant - link_in_a_folder grade.sh 's/if \[ -s "$work\/links" \]/if false/'
mutant - link_in_a_tar grade.sh "s/grep '^\[^-d\]'/grep nothing/; s/does not compile/it has a lynk/"
mutant - names_that_lead_out grade.sh 's/^elif grep -qE .*/elif false; then/'
mutant - names_that_are_options grade.sh 's/(^\[\/-\]|/(^\/|/; s/ -- "$1"/ "$1"/'
mutant - brings_in_bytes grade.sh 's/LC_ALL=C grep -qE "$1"/grep -q no-such-word/'
mutant - includes_what_is_not_the_chapters room.sh 's/| head -n 1$/| head -n 0/; s|--root "$room"|& --see /no/such|'
mutant - quotes_what_the_host_has room.sh 's/| head -n 1$/| head -n 0/'
mutant - quotes_what_the_host_has room.sh 's| -e ./^..\* /d. | |'
mutant - twice grade.sh 's/return 1 ;;/found=$(echo "$found" | head -n 1) ;;/'
mutant - larger_than_allowed grade.sh 's/-gt $MOST_BYTES/-gt 99999999/'
mutant - right_in_a_tar_in_a_folder grade.sh 's/^archive=.*/archive=/'
mutant - tests_in_archives grade_tests.sh 's/\[^-\]/x/'
mutant root tests_where_the_machine_fails grade_tests.sh 's/^umask 022.*//'
mutant - tests_where_the_machine_fails grade_tests.sh 's/|| compiler_works ||/|| true ||/'
mutant - tests_of_a_class grade_tests.sh 's/all ? $2 \* share \/ all/all ? $2/'
mutant - swells grade.sh 's/-le $MOST_SOURCE/-le 99999999/'
mutant - right_in_a_folder grade.sh 's/^content() (/content() { limit_unpacking; (/; s/^)$/)\n}/; s/^list() (/list() { (/'
mutant - takes_much_memory archive.sh 's/ulimit -v.*//'
mutant - numbers_by_the_seed grade.sh 's/"$chapter" "$variant"/"$chapter" 0/'
mutant - bad_arguments grade.sh 's/^why=.*/why=/'
mutant - bad_arguments grade.sh "s/^    printf '%s.n' \"grade:/    echo \"grade:/"
mutant root a_mask_of_077 grade.sh 's/^umask 022.*//'
mutant - a_mask_of_077 grade.sh 's/^umask "$mask"//'
mutant root a_mask_of_077 grade.c 's/ = umask(022)/ = umask(0)/; s/^    umask(mask);/    umask(022);/'
mutant - a_mask_of_077 grade.sh 's/^(true >&2).*//'
mutant - machine_that_fails grade.sh 's/ || compiler_works / || true /'
mutant - a_class class.sh 's/(parts != ""/(1 || parts != ""/'
mutant - tests_of_a_class class.sh 's/text = substr(cells, quote + 1.*/text = ""/'
mutant - the_mean_of_all judge.c 's/f->right = f->right && right;/(void)right;/'
mutant - exit_0 trials.c 's/!has_output(program->kind)/false/; s/"%s", f->unlike/"fine"/'
mutant - too_many_accesses trials.c 's/!enough || counted\[1\] != right\[1\]/false/'
mutant - undefined_behaviour trials.c 's/t->outcome = CRASHED;\n            \/\/ of ERROR/x/; s/if (ended_badly(t, verdict))/if (false)/; s/"ERROR: "/"NONE: "/'
mutant - a_crash_costs_its_part grade_report.c 's/"crashed"/"fell over"/'
mutant - reports_are_as_published grade_report.c "s/if (c == '\"' || c == '\\\\\\\\')/if (false)/"
mutant - names_stay_as_they_are grade_report.c 's/return n;/return n == 1;/'
mutant - nothing_without_a_reason grade_report.c 's/note_of(r, note, sizeof note)/note[0] = 0, (void)note_of/'
mutant - nothing_without_a_reason grade.sh 's/elif \[ -z "$variant" \]/elif false/'
mutant - read_again where_to_read.c 's/if (f->missing || f->unlike\[0\])/if (false)/'
mutant root fork_bomb confine.c 's/setrlimit(RLIMIT_NPROC, &tasks)/setrlimit(RLIMIT_CORE, \&none)/; s/const struct rlimit tasks = at_most(wanted.tasks, 1);/const struct rlimit none = at_most(0, 1);/'
mutant root writes_outside confine.c 's/setuid((uid_t)wanted.user) != 0/false/; s/chroot(wanted.root) != 0/false/'
mutant root reads_the_solution confine.c 's/chroot(wanted.root) != 0/false/'
mutant root huge_allocation confine.c 's/wanted.memory && setrlimit(RLIMIT_AS, &memory) != 0/false/; s/wanted.resident && resident_of_all(process) > wanted.resident/false/'
mutant root fills_the_disk confine.c 's/setrlimit(RLIMIT_FSIZE, &file) != 0/false/'
mutant - kernels_that_cheat trials.c 's/!t->finding.right || around/around/'
mutant - runs_another_program confine.c 's/^    filter_calls(pipe, settings);/    (void)filter_calls;/'
mutant - asks_for_what_it_may_not_have confine.c 's/ IF(JEQ, refused\[k\], 0, 1)/ IF(JEQ, 0xffffff, 0, 1)/'
mutant - asks_for_what_it_may_not_have confine.c 's/ = MAP_SHARED |.*/ = 64;/'
mutant - asks_for_what_it_may_not_have confine.c 's/IF(JEQ, PR_SET_SECCOMP, 0, 1)/IF(JEQ, PR_SET_SECCOMP, 1, 1)/'
mutant - asks_for_what_it_may_not_have confine.c 's/AF_UNIX : UINT32_MAX, 1, 0)/AF_UNIX : UINT32_MAX, 1, 1)/'
mutant - asks_for_what_it_may_not_have confine.c 's/ || setrlimit(RLIMIT_NOFILE, &open) != 0//; s/const struct rlimit open = .*//'
mutant root tests_that_count_their_runs grade_tests.sh 's/ln -s .tests/: /'
mutant root not_root run.c 's/^        remove_link(path_of(folder, file, path), false);//'
mutant root not_root confine.c 's/IF(JEQ, SYS_kill, 2, 0)/IF(JEQ, SYS_kill, 6, 0)/'
mutant root not_root confine.c 's/^    while (end_orphans(process))/    while (false)/'
mutant - takes_its_time trials.c 's/now.tv_sec - begin.tv_sec < given.seconds/true/'
mutant - finds_another_program grade.sh 's|^        chmod 755 "$work/root/bin/$program-$variant"|&; cp "$grader/plain/$number-$program-course" "$work/root/bin/$program-course"|'
mutant root includes_what_the_host_has confine.c 's/wanted.root \&\& show()/wanted.root \&\& show() \&\& false/'
mutant - an_endless_loop_costs_its_part confine.c 's/out_of_time(status)/false/; s/late ? "time"/late ? "late"/'
mutant - counts_that_are_not_earned run.c 's/case_input_write(program, c, others,/case_input_write(program, c, in,/'
mutant - asks_for_the_sanitizer grade.sh 's/|sanitize|SANITIZE//; s/ -U__SANITIZE_ADDRESS__//'
mutant - pastes_a_word grade.sh 's/in_time with_macros "[^"]*"/cat/'
mutant - another_name_for_a_symbol grade.sh 's/^ *add_named_in(rest)//'
mutant - talks_to_the_sanitizer grade.sh 's/|weakref//'
mutant - the_step_before_earns_nothing grade.c 's/core < all ? core : all/all/'
mutant - the_step_before_earns_nothing assignment.c 's/strstr(line, "--causal") != NULL/false/'
mutant - check_against against.c 's/outputs\[k\].x = take/printf("%s\\n", outputs[k].name), &/'
mutant - tests_that_are_interrupted grade_tests.sh 's/^trap interrupted .*/trap "exit 2" INT TERM HUP/'
mutant - tests_that_are_interrupted grade_tests.sh 's/^make -s .* -f/make -s -j4 -f/'
mutant root tests_that_are_interrupted confine.c 's/^    catch_signals();/    (void)catch_signals;/'
mutant - finds_an_open_file confine.c 's/^    close_all_but(pipe);/    (void)close_all_but;/'
mutant - a_class_that_is_interrupted grade_all.sh "s/^trap 'interrupted.*/:/"
mutant - finds_the_sanitizer trials.c 's/&& !t->finding.right) {/\&\& false) {/'
mutant root tests_that_count_their_runs grade_tests.sh 's/ --scratch $SCRATCH/ --scratch 0/; s/--root "$root" /--root \/ /; s/ -- \.\/tests --tap=tap/ -- "$root\/tests" --tap="$root\/tap"/'
mutant - tests_that_count_their_runs grade_tests.sh 's/verdict="known $name"/verdict="fails $name 1"/'
mutant - tests_that_do_not_look_at_the_function grade_tests.sh 's/ in right,fails\*) return/ in right,none) return/'
mutant - tests_that_do_not_look_at_the_function grade_tests.sh 's/^PAIRS=20/PAIRS=0/'
mutant - tests_that_do_not_look_at_the_function grade_tests.sh 's/^if command -v objcopy/if false/'
mutant root tests_that_read_the_code grade_tests.sh 's/^        link_as right .*/        link_as right "$work"/'
mutant root tests_that_read_the_code grade_tests.sh 's/CC="sh $0 compile $as_it_is"/CC=$as_it_is/'
mutant root tests_that_search_their_program grade_tests.sh "s/^        unused=.*/        unused=''/"
mutant root tests_that_look_who_calls grade_tests.sh 's|--errors "$folder/errors"|--errors "$folder/$1.errors"|'
mutant - tests_that_measure_their_program grade_tests.sh 's/ -Wl,-s / /'
mutant - tests_that_never_end confine.c 's/RLIMIT_CPU/RLIMIT_CORE/; s/late ? "time"/late ? "exited 0"/; s/"time"/"exited 0"/'

[ -n "$SHARE" ] || printf '%-32s %4d passed, %d failed, %d skipped\n' "$(basename "$result")" "$passed" "$failed" "$skipped"
mkdir -p "$(dirname "$result")"
echo "$passed $failed $skipped" >"$result"
[ "$failed" -eq 0 ]
