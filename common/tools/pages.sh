#!/bin/sh
# pages.sh PAGE... - what a reader of the lessons may count on:
#
#   - after each section of a lesson a question, "**Check yourself.** …", and below it its answer, folded.
#     Lessons are the pages of the chapters but for the exercises, and those of common/cuda and common/python.
#     Sections in which there is nothing to ask have the names in `without`;
#   - at a lesson's head how long it takes, and what may be skipped;
#   - a text for each picture that says what it shows: eight words at least;
#   - every fold that is opened is closed;
#   - a chapter's first page has a link to each other page of the chapter, where both are among the pages.
awk '
    BEGIN {
        split("Run it;Mistakes people make;Exercises;Exercise;Questions;Next;The steps;The files;Your machine", names, ";")
        for (k in names) without[names[k]]
    }
    function say(what) { print page ":" at ": " what; bad = 1 }
    function close_section() {
        at = section_at
        if (lesson && section != "" && !(section in without) && !asked) say("no question after \"" section "\"")
        if (open) say("a fold is not closed")
        if (question) say("a question without a folded answer")
        if (lesson && section == "" && !(timed && skips)) say("its head does not say how long it takes (*Time:*) or what may be skipped")
        asked = question = open = 0
    }
    FNR == 1 {
        close_section()
        page = FILENAME
        section = ""
        section_at = 1
        fenced = timed = skips = 0
        folder = page ~ /(^|\/)0[1-7]_[^\/]*\/((pages|exercise)\/)?[^\/]*\.md$/ ? substr(page, 1, match(page, /((pages|exercise)\/)?[^\/]*$/) - 1) : ""
        if (folder) pages[page] = folder
        lesson = page ~ /(^|\/)0[1-7]_[^\/]*\/(pages\/)?[^\/]*\.md$|common\/(cuda|python)\/README\.md$/
    }
    /^```/ { fenced = !fenced }
    fenced { next }
    { at = FNR }
    folder && page == folder "README.md" {
        for (rest = $0; match(rest, /\]\([^)#]*\.md[)#]/); rest = substr(rest, RSTART + RLENGTH))
            linked[folder substr(rest, RSTART + 2, RLENGTH - 3)] = 1
    }
    /\*Time:\*/ { timed = 1 }
    /skip/ { skips = 1 }
    /^## / { close_section(); section = substr($0, 4); section_at = FNR }
    /^\*\*Check yourself\.\*\* / { if (question) say("a question without a folded answer"); question = asked = 1 }
    /<details>/ { if (question) question = 0; open++ }
    /<\/details>/ { open-- }
    match($0, /!\[[^\]]*\]/) {
        text = substr($0, RSTART + 2, RLENGTH - 3)
        if (split(text, words, " ") < 8) say("of this picture the text says too little: " text)
    }
    END {
        close_section()
        for (page in pages) {
            first = pages[page] "README.md"
            at = 1
            if (page != first && first in pages && !(page in linked)) say("no link to it in " first)
        }
        exit bad
    }
' "$@"
