# numbers.sh … | awk -f form.awk - exercise/README.md - answers.txt as a student gets it.

FNR == 1 { file++ }
FNR == 1 && file == 1 { print "# A number after each =, as 1234 or 1.5e3. Text goes below, under the question's heading." }
file == 1 && $1 == "answer" { asked[$2] = asked[$2] $2 "." $3 " =\n" }
file == 1 { next }
/^## / { among = /^## Questions/ }
among && /^[0-9]+\. \(/ { sub(/\..*/, ""); printf "\n# Question %s\n%s", $0, asked[$0] }
