# awk -f gaps.awk FILE - for each gap: its number, its first line, `untouched` if it has only the starter's STUB, else
# `touched`, and the line of the STUB if it has one.

/\/\/ BEGIN SOLUTION/ { n++; begin = FNR; state = "untouched"; stub = ""; inside = 1; next }
/\/\/ END SOLUTION/   { print n, begin, state, stub; inside = 0 }
inside && /\/\/ STUB/  { stub = FNR; next }
inside && NF          { state = "touched" }
