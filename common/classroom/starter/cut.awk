# awk -v gaps='1 3' -v others='2' -v parts='masks' -f cut.awk FILE - FILE with these gaps cut out: the lines from BEGIN SOLUTION
# to END SOLUTION are replaced by their STUB, so that the file compiles. Gaps count from 1; others belong to parts that the
# starter does not have. Lines from BEGIN LATER PART to END LATER repeat the solution in a later step, and are cut with PART.

/\/\/ BEGIN LATER/ {
    later = index(" " parts " ", " " $NF " ") > 0
    if (later) next
}
/\/\/ END LATER/ && later { later = 0; seam = 1; next }
seam {
    sub(/\/\/ STUB: /, "")
    print
    seam = 0
    next
}
/\/\/ BEGIN SOLUTION/ {
    cut = index(" " gaps " " others " ", " " ++n " ") > 0
    word = index(" " gaps " ", " " n " ") ? "write here, and delete this line" : "another part of the exercise"
    if (later && !cut) next
    print
    inside = 1
    next
}
/\/\/ END SOLUTION/ {
    if (later && !cut) next
    inside = 0
    if (!cut) { print; next }
    end = $0  # the STUB follows it
    next
}
inside && cut { next }
end != "" {
    indent = end
    sub(/\/\/.*/, "", indent)
    is_stub = sub(/^ *\/\/ STUB: /, "")
    print indent (is_stub ? $0 "  " : "") "// STUB: " word
    print end
    end = ""
    if (is_stub) next
}
later { next }
{ print }
