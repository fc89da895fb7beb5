# mistakes.awk - reads files of wrong versions (mistakes.txt).
#
#     awk -f mistakes.awk split FOLDER FILE        writes each entry to FOLDER/NAME, if that differs
#     awk -f mistakes.awk apply FOLDER FILE [NAME] makes the mistake NAME, or the only one of FILE, in FOLDER's files
#     awk -f mistakes.awk undo FOLDER FILE [NAME]  reverts it
#     awk -f mistakes.awk check FOLDER FILE        checks that each applies; changes nothing
#
# An entry is `Name: …`, other fields, and for each `File: …` (from the course's folder) lines as in a diff:
# "-" removed, "+" added, " " context. A blank line ends a replacement. Removed and context lines must be
# adjacent and occur exactly once in the file. Lines with # are comments.

function fail(text) {
    print text >"/dev/stderr"
    exit 1
}

function read_file(path,    text, line, got) {
    while ((got = (getline line <path)) > 0)
        text = text line "\n"
    close(path)
    if (got < 0)
        fail(path ": expected a file that can be read")
    return text
}

# Reads `count` entries: entry[n] is the text, name[n] its name.
function read_entries(path,    lines, all, n) {
    all = split(read_file(path), lines, "\n") - 1
    for (n = 1; n <= all; n++) {
        if (lines[n] ~ /^#/)
            continue
        if (lines[n] ~ /^Name: [a-z0-9_]+$/) {
            name[++count] = substr(lines[n], 7)
            if (name[count] in first)
                fail(path ":" n ": " name[count] ": the name of an earlier entry")
            first[name[count]] = count
        } else if (lines[n] !~ /^[-+ ]|^$|^(Symptom|Seen in|Theme|Fix|Caught by|Tried in|Needs|File): ./ || count == 0 && lines[n] != "")
            fail(path ":" n ": " (count ? name[count] ": " : "") "expected 'Name: …' or another field, or a line that begins with -, + or a space")
        if (count)
            entry[count] = entry[count] lines[n] "\n"
    }
    for (n = 1; n <= count; n++)
        sub(/\n+$/, "\n", entry[n])
}

# Replaces old by new in text[file], a file in FOLDER.
function replace(    at, around, times, rest) {
    if (old == "" && new == "")
        return
    if (file == "" || old == "")
        fail(which ": expected a line 'File: …', and below it lines that begin with - or a space")
    if (!(file in text))
        text[file] = read_file(folder "/" file)
    for (rest = "\n" text[file]; at = index(rest, "\n" old); rest = substr(rest, at + 1))
        times++
    if (times != 1)
        fail(which ": expected these lines once in " file ", found them " times + 0 " times:\n" old)
    at = index("\n" text[file], "\n" old)
    text[file] = substr(text[file], 1, at - 1) new substr(text[file], at + length(old))
    old = new = ""
}

function apply(n,    lines, all, k, mark, line) {
    which = ARGV[3] ": " name[n]
    all = split(entry[n] "\n", lines, "\n")
    for (k = 1; k <= all; k++) {
        mark = substr(lines[k], 1, 1)
        line = substr(lines[k], 2) "\n"
        if (mark !~ /^[-+ ]$/)
            replace()
        if (lines[k] ~ /^File: /)
            file = substr(lines[k], 7)
        if (mark == " " || mark == (command == "undo" ? "+" : "-"))
            old = old line
        if (mark == " " || mark == (command == "undo" ? "-" : "+"))
            new = new line
    }
    for (file in text) {
        if (command != "check")
            printf "%s", text[file] >(folder "/" file)
        delete text[file]
    }
    file = ""
}

BEGIN {
    command = ARGV[1]
    folder = ARGV[2]
    read_entries(ARGV[3])
    if (command == "split") {
        required = split("Caught by,File", fields, ",")
        for (n = 1; n <= count; n++) {
            for (k = 1; k <= required; k++)
                if (!index(entry[n], "\n" fields[k] ": "))
                    fail(ARGV[3] ": " name[n] ": expected a line '" fields[k] ": …'")
            path = folder "/" name[n]
            before = ""
            while ((getline line <path) > 0)
                before = before line "\n"
            close(path)
            if (before != entry[n])
                printf "%s", entry[n] >path
            close(path)
        }
        exit
    }
    if (command == "check") {
        for (n = 1; n <= count; n++)
            apply(n)
        exit
    }
    n = ARGC > 4 ? first[ARGV[4]] : count == 1
    if (!n)
        fail(ARGV[3] ": expected the name of an entry, found '" ARGV[4] "'")
    apply(n)
    exit
}
