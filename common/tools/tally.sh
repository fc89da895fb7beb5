#!/bin/sh
# tally.sh RESULT... - adds up the results.
#
# A result is "passed failed skipped" and, for a wrong version not tried, the reason (mutant.sh). A missing
# one is a failure. But if a chapter's tests did not build, that is one failure and its wrong versions are
# skipped; with STUDENT set also if its tests fail.
passed=0 failed=0 skipped=0 changed=0 failing=0 broken='' red='' untried='' wrong=''
for result; do
    name=${result##*/}
    chapter=${name%%[.-]*}
    # Results of wrong versions that were not tried are old or missing.
    case $name,$STUDENT,$broken,$red in
    *.*,*,*" $chapter "*,*) untried="$untried $chapter:did-not-build" skipped=$((skipped + 1)); continue ;;
    *.*,yes,*,*" $chapter "*) untried="$untried $chapter:fail" skipped=$((skipped + 1)); continue ;;
    esac
    p='' f='' s='' why=''
    [ ! -f "$result" ] || read -r p f s why <"$result"
    case $p,$f,$s in
    *[!0-9,]* | ,* | *,, | *,)
        echo "$name: did not build, or left no result"
        failed=$((failed + 1)) wrong="$wrong $name"
        case $name in *.*) ;; *) broken="$broken $chapter " ;; esac
        continue
        ;;
    esac
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    [ "$f" -eq 0 ] || wrong="$wrong $name"
    case $why in changed) changed=$((changed + s)) ;; failing) failing=$((failing + s)) ;; esac
    case $name,$f in *.*,* | *,0) ;; *) red="$red $chapter " ;; esac
done

versions() { [ "$1" -eq 1 ] && echo "1 wrong version$2 was" || echo "$1 wrong versions$2 were"; }
echo "$untried" | tr ' ' '\n' | sed '/^$/d' | sort | uniq -c | while IFS=': ' read -r count chapter why; do
    echo "$(versions "$count" " of $chapter") not tried: its tests $(echo "$why" | tr - ' ')"
done
[ "$changed" -eq 0 ] || echo "$(versions "$changed") not tried: they are made from the lesson as it was published"
[ "$failing" -eq 0 ] || echo "$(versions "$failing") not tried: the tests that reject them fail without them too"
[ "$((passed + failed))" -gt 0 ] || { echo "no test was run"; failed=1; }
[ -z "$wrong" ] || echo "failed:$wrong"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
