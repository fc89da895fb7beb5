#!/bin/sh
# wrong.sh FOLDER - wrong versions of the starters' own scripts, in a copy of the course, which this folder's starter.sh
# must reject. CC and CXX come from the Makefile.
work=$1 build=${BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
rm -rf "$work"
mkdir -p "$work/course" || exit 2
cp -Rp Makefile LICENSE common 0[123]_* "$work/course/" || exit 2
failed=0

wrong() {  # what is wrong, file, sed script, expected message [chapter, parts]
    file=$work/course/common/classroom/starter/$2
    cp "$file" "$work/right"
    sed "$3" "$work/right" >"$file"
    if cmp -s "$work/right" "$file"; then
        echo "wrong.sh: $1: the line to be changed is no longer in $2"
        failed=1
    elif said=$(cd "$work/course" && EARLIER='' BUILD="$build" sh common/classroom/tests/starter.sh "${5:-01_standard_softmax}" "$6" "$work/starter" 2>&1) ||
        ! echo "$said" | grep -q "$4"; then
        echo "wrong.sh: $1: SURVIVES; it is said: $said"
        failed=1
    fi
    cp "$work/right" "$file"
}

wrong 'nothing is cut out' cut.awk 's/^    cut = index.*/    cut = 0/' 'still has its solution'
wrong 'the pages show the solution' page.awk '/in solution/d' 'shows the solution'
wrong 'nobody says where to write' student.sh 's/write it in \$gaps/write it/' 'does not say what to write'
wrong 'a test that fails is not seen' student.sh 's/^    failed=.*/    failed=0/' 'does not say what to write'
wrong 'the stub is left out, and warned of' cut.awk 's/(is_stub ? $0 "  " : "")/""/' 'does not build'
wrong 'links to what is not there stay' links.awk 's/return path in there/return 1/' 'has a link that leads nowhere'
wrong 'no header comes along' needed.awk 's/ queue\[++last\] = path / /' 'lacks what it includes'
wrong 'the root is crowded' starter.sh 's|^cp Makefile .*|touch "$work/a"; &|' 'more than seven names'
wrong 'the README leads nowhere' folder/README.md 's|(course/@CHAPTER@/README.md)||' 'has no README.md'
wrong 'the passes stay in lanes.c' cut.awk 's/^    if (later) next/    later = 0/' 'shows the passes in lanes.c'
wrong 'the solution of another part comes along' starter.sh 's/$(exercise_stubbed $parts)//' 'still has its solution' 03_online_softmax passes
[ $failed -ne 0 ] || { echo 'classroom: eleven wrong versions of its scripts are rejected'; rm -rf "$work"; }
exit $failed
