# shellcheck shell=sh disable=SC2154
# Sourced by grading.sh: archives and folders with more in them than files of the exercise.

if is_wanted link_in_a_folder; then
    mkdir -p "$work/in/01_standard_softmax"
    ln -s "$course/$lesson" "$work/in/$lesson"
    cheat "$work/in" 'it has a link'
fi
if is_wanted linked_folder; then
    ln -s "$course/01_standard_softmax" "$work/in/01_standard_softmax"
    cheat "$work/in" 'it has a link'
fi
if is_wanted link_in_a_tar; then
    mkdir -p "$work/in/01_standard_softmax"
    ln -s "$course/$lesson" "$work/in/$lesson"
    (cd "$work/in" && tar -czf a.tar.gz 01_standard_softmax)
    cheat "$work/in/a.tar.gz" 'it has a link'
fi
if is_wanted link_in_a_zip; then
    if command -v zip >/dev/null && command -v unzip >/dev/null; then
        ln -s "$course/$lesson" "$work/in/standard_softmax.c"
        (cd "$work/in" && zip -q -y a.zip standard_softmax.c)
        cheat "$work/in/a.zip" 'it has a link'
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted zip_that_names_another; then  # unzip takes its name for a pattern
    if command -v zip >/dev/null && command -v unzip >/dev/null; then
        cp $lesson "$work/in/"
        (cd "$work/in" && zip -q bob.zip standard_softmax.c && zip -q 'b*.zip' bob.zip)
        cheat "$work/in/b*.zip" 'or one archive of them and nothing else, found bob.zip'
        mkdir -p "$work/in/01_standard_softmax/tests"
        cp 01_standard_softmax/tests/mine.c "$work/in/01_standard_softmax/tests/test_mine.c"
        (cd "$work/in" && zip -qr bob.zip 01_standard_softmax)
        sh "$scripts/grade_tests.sh" submission "$work/in/b*.zip" >"$work/said" 2>&1
        grep -q 'b\*.zip: expected a file 0N_' "$work/said" || fail "$(cat "$work/said")"
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted names_that_lead_out; then
    mkdir -p "$work/in/deep"
    cp $lesson "$work/in/standard_softmax.c"
    (cd "$work/in/deep" && tar -cPf ../a.tar ../standard_softmax.c)
    cheat "$work/in/a.tar" 'a name that leads out'
fi
# make and a shell would run what is in such names.
if is_wanted names_that_are_commands; then
    rm -f made-by-a-name
    mkdir -p "$work/in/01_standard_softmax/tests"
    printf '#include "common/tests/test.h"\nTEST(mine, nothing)\n{\n}\n' >"$work/in/01_standard_softmax/tests/test_mine.c"
    # shellcheck disable=SC2016  # for make, and for a shell
    name='$(shell touch made-by-a-name)'"'\`touch made-by-a-name\`'.tar"
    (cd "$work/in" && tar -cf "$name" 01_standard_softmax)
    make -s --no-print-directory grade-tests BUILD="$build" GRADING="$GRADING" SUBMISSION="$work/in/$name" >"$work/said" 2>&1
    make -s --no-print-directory grade BUILD="$build" SUBMISSION="$work/in/$name" CHAPTER=01 PART=questions REPORTS="$work/reports" >>"$work/said" 2>&1
    if [ -e made-by-a-name ]; then
        fail 'a command in a name was run'
    elif grep -q 'reject 0 of 2' "$work/said" && report | grep -q 'answers.txt: not in the submission'; then
        pass
    else
        fail "$(cat "$work/said")"
    fi
    rm -f made-by-a-name
fi
# tar would take such a name for an option, and run what it says at every tenth record.
if is_wanted names_that_are_options; then
    name="--checkpoint-action=exec=touch $work/was-here; true "
    mkdir -p "$work/in/$name/01_standard_softmax"
    cp $lesson "$work/in/$name/01_standard_softmax/"
    head -c 300000 /dev/zero >"$work/in/records"
    (cd "$work/in" && tar -cf a.tar -- records "$name")
    cheat "$work/in/a.tar" 'a name that leads out'
    [ ! -e "$work/was-here" ] || fail 'a command in a name was run'
fi
if is_wanted absolute_names; then
    cp $lesson "$work/in/standard_softmax.c"
    tar -cPf "$work/in/a.tar" "$work/in/standard_softmax.c"
    cheat "$work/in/a.tar" 'a name that leads out'
fi
if is_wanted twice; then
    mkdir -p "$work/in/a" "$work/in/b"
    cp $lesson "$work/in/a/"
    cp $lesson "$work/in/b/"
    cheat "$work/in" 'it is there more than once'
fi
if is_wanted no_archive; then
    echo nothing >"$work/in/a.tar.gz"
    cheat "$work/in/a.tar.gz" 'the archive cannot be read'
fi
if is_wanted larger_than_allowed; then
    head -c 6000000 /dev/zero >"$work/in/a.tar"
    cheat "$work/in/a.tar" 'the archive is larger'
fi
if is_wanted swells; then  # a source of 50 MB that was packed to 50 kB
    head -c 50000000 /dev/zero | tr '\0' ' ' >"$work/in/standard_softmax.c"
    (cd "$work/in" && tar -czf a.tar.gz standard_softmax.c)
    rm "$work/in/standard_softmax.c"
    cheat "$work/in/a.tar.gz" 'it is larger than'
    # a list of 7 MB of names
    rm -r "$work/in"/*
    : >"$work/in/a_name_that_is_about_as_long_as_one_in_a_header_of_tar_can_be_without_any_more_headers.c"
    (cd "$work/in" && tar -cf - ./*.c) | head -c 512 >"$work/header"
    for twice in 1 2 3 4 5 6 7 8; do for part in 1 2 3 4; do cat "$work/header"; done >"$work/in/more" && mv "$work/in/more" "$work/header"; done
    gzip -c "$work/header" >"$work/in/a.tar.gz"
    rm "$work/in"/*.c "$work/header"
    cheat "$work/in/a.tar.gz" 'the archive cannot be read'
fi
if is_wanted takes_much_memory; then  # tar asks xz, and that needs what the file says, though there is next to nothing in it
    if tar -cf - $lesson | xz --lzma2=dict=1536MiB,mode=fast,mf=hc3 >"$work/in/a.tar.gz" 2>/dev/null; then
        cheat "$work/in/a.tar.gz" 'the archive cannot be read'
    else
        skipped=$((skipped + 1))
    fi
fi
# At a terminal unzip would ask for the password, and wait.
if is_wanted with_a_password; then
    if command -v zip >/dev/null && command -v unzip >/dev/null && [ "$(uname)" = Linux ] && command -v script >/dev/null && command -v timeout >/dev/null; then
        mkdir -p "$work/in/01_standard_softmax/tests"
        cp $lesson "$work/in/01_standard_softmax/"
        echo 'no tests' >"$work/in/01_standard_softmax/tests/test_mine.c"
        (cd "$work/in" && zip -q -r -P secret a.zip 01_standard_softmax)
        timeout -k 1 20 script -qec "QUIET=1 sh $scripts/grade.sh $build $work/in/a.zip $work/reports 5 01" /dev/null >"$work/said" </dev/null
        if report 2>/dev/null | grep -q 'it is empty' && ! grep -q password "$work/said"; then pass; else fail "it asked: $(head -n 3 "$work/said")"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
