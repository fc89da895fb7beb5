#!/bin/sh
# table.sh ladder|peers PART FILE - a table for a page, of what results.sh keeps of chapter 05 or 07 in FILE.
case $1 in ladder | peers) ;; *) set -- ;; esac
[ $# -eq 3 ] || { echo "table.sh: expected ladder or peers, 05 or 07, and a file of results" >&2; exit 2; }
part=$(sh "$(dirname "$0")/results.sh" get "$2" "$3") || exit 2
printf '%s\n' "$part" | awk -F, -v table="$1" -v file="$3, part $2" '
    function cell(kernel, d, causal) {
        key = kernel SUBSEP d SUBSEP causal
        return key in speed ? sprintf("%.1f %5.1f %%", speed[key], 100 * peak[key]) : "-"
    }
    function order(name) { return name == "complete" ? 0 : 1 }
    /^#/ { sub(/^# /, ""); said[++lines] = $0; next }
    NF < 15 { wrong = 1; next }
    table == "ladder" && $5 == 1 {
        step = $2 " " $10
        if (!(step in threads)) kernels[++count] = step
        threads[step] = $10
        N = $6
        speed[step, $7, $8] = $12
        peak[step, $7, $8] = $13
    }
    table == "peers" && $5 > 1 {
        name = $2; sub(/ .*/, "", name)
        if (!(name in known)) { known[name] = $2; kernels[++count] = name }
        problem = $7 SUBSEP $8 SUBSEP $6
        if (!((problem) in asked)) { asked[problem]; problems[++total] = problem }
        if (name == "complete") { speed[problem, $10] = $12; peak[problem, $10] = $13 }
        ratio[name, problem, $10] = $14
        heads = $5
        if ($10 > most) most = $10
        if (!(($10) in seen)) { seen[$10]; choices[++kinds] = $10 }
    }
    END {
        if (!count || wrong) { print file ": expected what peers.sh writes, found no rows for this table" >"/dev/stderr"; exit 2 }
        if (table == "ladder") {
            printf "one head, N = %d; GFLOP/s, and of the peak of so many cores\n", N
            printf "%-12s%7s %16s %16s %16s %16s\n", "kernel", "threads", "d 64", "causal", "d 128", "causal"
            for (k = 1; k <= count; k++) {
                name = kernels[k]
                printf "%-12s%7d %16s %16s %16s %16s\n", substr(name, 1, index(name, " ") - 1), threads[name], cell(name, 64, 0),
                    cell(name, 64, 1), cell(name, 128, 0), cell(name, 128, 1)
            }
        } else {
            for (t = 1; t <= kinds; t++) {
                printf "%d heads, %-9s", heads, (choices[t] == 1 ? "one thread" : choices[t] " threads")
                printf "\n%4s %-7s%6s  %9s", "d", "", "N", "of peak"
                for (k = 2; k <= count; k++) printf "%9s", kernels[k]
                print ""
                for (n = 1; n <= total; n++) {
                    split(problems[n], part, SUBSEP)
                    printf "%4d %-7s%6d  %7.1f %%", part[1], part[2] ? "causal" : "", part[3], 100 * peak[problems[n], choices[t]]
                    for (k = 2; k <= count; k++)
                        printf "%9.2f", ratio[kernels[k], problems[n], choices[t]]
                    print ""
                }
            }
            for (k = 2; k <= count; k++) printf "%s%s", known[kernels[k]], (k < count ? "; " : "\n")
        }
        for (k = 1; k <= 2; k++) print said[k]
    }'
