# awk -v chapter=NAME -v parts="PART…" -v others="PART…" -f handout.awk exercise/README.md - the starter's exercise: its parts and
# commands, without hints (make hint prints them) and marking guide.

BEGIN {
    number = substr(chapter, 1, 2)
    gsub(/ /, "`, `", parts)
    gsub(/ /, "`, `", others)
}
/^\*\*Task\.\*\*/ { print "Your folder has `" parts "`. Skip what this page says about other parts." (others == "" ? "" : " The gaps of `" others "` are empty too, so the program prints WRONG where it runs them.") "\n" }
/^<!-- course only -->/ || /^<!-- Marking guide/ { hidden = 1 }
/^<!-- to here -->/ || (hidden && /^-->/) { hidden = 0; swallow = 1; next }
swallow && NF == 0 { swallow = 0; next }
{ swallow = 0 }
/^## Hints/ {
    if (!hints) print "## Hints\n\n`make hint` gives the next hint for the part that is not done yet, `make hint PART=…` for another one. There are three for each.\n"
    hints = hidden = 1
    next
}
/^## / { hidden = 0 }
hidden { next }
{
    gsub("`make test-" number "` runs (the tests|everything),? and takes minutes(, mostly for the wrong versions)?", "`make test` runs the tests of your parts")
    gsub("`make test-" number "` runs", "`make test` runs")
    gsub("`make " number "`", "`make run`")
    gsub("make " number ";", "make;")
    gsub("&& build/tests/", "\\&\\& cd course \\&\\& build/tests/")
    if (sub(/^awk -f common/, "awk -f course/common")) sub(/ \. /, " course course/")
    print
}
