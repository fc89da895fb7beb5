# shellcheck shell=sh
# How what is handed in is packed, for the scripts that read it, with `.`.

# What is packed must not ask for all of the time, or of the memory: a file of xz says itself how much it takes.
limit_unpacking() {
    ulimit -t 3
    ulimit -f 4000  # a list of names is a file; 512 bytes each
    ulimit -v 600000 2>/dev/null
}

# The archive in folder $1, if that is all there is: Moodle and Gradescope keep what is uploaded in a folder for each.
only_archive() {
    found=$(find "$1" -type f ! -name '.*' | head -n 2)
    case $found in
    *'
'*) ;;
    *.tar.gz | *.tgz | *.tar | *.zip) echo "$found" ;;
    esac
}

# A name for .zip $1, made in folder $2: in its own, unzip would take *, ? and [ for a pattern, which another student's may match.
literal() {
    if [ -d "$1" ]; then echo "$1"; else ln -s "$(realpath "$1")" "$2/archive.zip" && echo "$2/archive.zip"; fi
}
