# awk -f needed.awk FILES - FILES names sources, one a line; prints them and what of the course they include, headers of
# headers too, each once. A name is looked for beside the file that names it, in common/ and in common/tests/.

function tidy(path) {
    while (sub(/[^\/]+\/\.\.\//, "", path)) continue
    return path
}
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
        folder = queue[k]
        if (!sub(/\/[^\/]*$/, "/", folder)) folder = ""
        while ((getline line <queue[k]) > 0)
            if (line ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
                split(line, words, "\"")
                if (!found(tidy(folder words[2])) && !found("common/" words[2])) found("common/tests/" words[2])
            }
        close(queue[k])
    }
}
