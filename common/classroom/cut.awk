# awk -v gaps='1 3' -f cut.awk FILE - FILE with these gaps cut out: what stands between BEGIN SOLUTION and
# END SOLUTION gives way to its STUB, so that the file compiles. Gaps count from 1.

/\/\/ BEGIN SOLUTION/ {
    cut = index(" " gaps " ", " " ++n " ") > 0
    print
    inside = 1
    next
}
/\/\/ END SOLUTION/ {
    inside = 0
    if (!cut) { print; next }
    end = $0  # the STUB comes behind it
    next
}
inside && cut { next }
end != "" {
    indent = end
    sub(/\/\/.*/, "", indent)
    is_stub = sub(/^ *\/\/ STUB: /, "")
    print indent (is_stub ? $0 "  " : "") "// STUB: write here, and delete this line"
    print end
    end = ""
    if (is_stub) next
}
{ print }
