#!/bin/sh
# museum.sh CHAPTER - the wrong versions of a chapter as a table: what one sees of each, where it was seen in public when
# it was, what puts it right, and a test that catches it. All of it is in the patches.
echo '| wrong version | what one sees | what puts it right | caught by |'
echo '|---|---|---|---|'
for patch in "$1"/tests/mutants/*.patch; do
    awk -v name="$(basename "$patch" .patch)" '
        function cell(text) { gsub(/\|/, "\\|", text); gsub(/[<>*_]/, "\\\\&", text); return text }
        function seen_in(text,    all) {  # the addresses in it stay as they are
            while (match(text, /https:[^ )]*/)) {
                all = all cell(substr(text, 1, RSTART - 1)) substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
            }
            return all cell(text)
        }
        /^Symptom:/   { sub(/^[^:]*: */, ""); symptom = $0 }
        /^Seen in:/   { sub(/^[^:]*: */, ""); seen = $0 }
        /^Fix:/       { sub(/^[^:]*: */, ""); fix = $0 }
        /^Caught by:/ { sub(/^[^:]*: */, ""); sub(/,.*/, ""); if (!caught) caught = $0 }
        /^\+\+\+ /    { if (!file) { file = $2; sub(/^b\/[^\/]*\//, "", file) } }
        END {
            printf "| [`%s`](../../%s) | %s%s | %s | `%s` |\n", name, FILENAME, cell(symptom),
                   (seen == "" ? "" : " **Seen in:** " seen_in(seen)), cell(fix), caught
        }' "$patch" || exit 2
done
