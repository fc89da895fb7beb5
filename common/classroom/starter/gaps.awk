# awk -f gaps.awk FILE - for each gap: its number, the line where it begins, `untouched` if there is nothing in it but
# the STUB that a starter comes with, else `touched`, and the line of the STUB if it is there.

/\/\/ BEGIN SOLUTION/ { n++; begin = FNR; state = "untouched"; stub = ""; inside = 1; next }
/\/\/ END SOLUTION/   { print n, begin, state, stub; inside = 0 }
inside && /\/\/ STUB/  { stub = FNR; next }
inside && NF          { state = "touched" }
