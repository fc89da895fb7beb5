# numbers.sh … | awk -f variant.awk - exercise/README.md - the exercise with a seed's figures in its questions: replaces
# whole words in the figure's question, except the points.

FNR == 1 { file++ }
file == 1 && $1 == "figure" && $4 != $5 { as[$2, $4] = $5 }
file == 1 { next }
/^## / { question = "" }
/^## Questions/ { among = 1 }
/^<!-- / { among = 0 }
{
    rest = $0
    told = ""
    if (among && match($0, /^[0-9]+\. \([0-9]+ points?\)/)) {
        question = $0
        sub(/\..*/, "", question)
        told = substr($0, 1, RLENGTH)
        rest = substr($0, RLENGTH + 1)
    }
    while (among && question != "" && match(rest, /[0-9A-Za-z_]+(\.[0-9]+)?/)) {
        word = substr(rest, RSTART, RLENGTH)
        if ((question, word) in as)
            word = as[question, word]
        told = told substr(rest, 1, RSTART - 1) word
        rest = substr(rest, RSTART + RLENGTH)
    }
    print told rest
}
