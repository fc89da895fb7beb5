# awk -f needed.awk FILES - FILES names sources, one a line; prints them and what of the course they include, headers of
# headers too, each once. A name is written from the top of the course.

# Whether there is such a file; if it has not been seen, it is printed, and read later.
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
