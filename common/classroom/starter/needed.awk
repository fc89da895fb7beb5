# awk -f needed.awk FILES - FILES lists sources, one per line; prints them and all headers of the course that they include,
# also indirectly, once each, with paths from the course's folder.

# Does the file exist? If it is new, prints and queues it.
function found(path,    line, state) {
    if (path in known) return known[path]
    state = getline line <path
    close(path)
    known[path] = state >= 0
    if (known[path]) { print path; queue[++last] = path }
    return known[path]
}
{ found($0) }
END {
    for (k = 1; k <= last; k++) {
        while ((getline line <queue[k]) > 0)
            if (line ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
                split(line, words, "\"")
                found(words[2])
            }
        close(queue[k])
    }
}
