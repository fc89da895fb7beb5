# awk -f gaps.awk FILE - for each gap: its number, the line where it begins, and `untouched` if there is
# nothing in it but the STUB that a starter comes with, else `touched`.

/\/\/ BEGIN SOLUTION/ { n++; begin = FNR; state = "untouched"; inside = 1; next }
/\/\/ END SOLUTION/   { print n, begin, state; inside = 0 }
inside && !/STUB/ && NF { state = "touched" }
