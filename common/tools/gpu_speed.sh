#!/bin/sh
# gpu_speed.sh CHAPTER TYPE PROBLEMS KERNEL... - what a GPU was measured to do, as a table of a page, in TFLOP/s.
# gpu_speed.sh CHAPTER machine - the line below such a table: which GPU it was, when, and how to do it again.
# LINK is how the page names the folder of results: ../results, unless it says otherwise.
#
# CHAPTER: 06 or 07, whose results/GPU.csv is read (GPU: nvidia_h200). PROBLEMS: with spaces between them, d,N and perhaps
# ,causal. A kernel is named as in the file, "pytorch cudnn" among them. What is not in the file is not measured yet.
chapter=$1 what=$2 problems=$3
if [ $# -lt 4 ] && [ "$#,$what" != 2,machine ]; then
    echo "gpu_speed.sh: expected a chapter, a type, problems and kernels, or a chapter and machine" >&2
    exit 2
fi
file=$(ls "$chapter"_*/results/"${GPU:-nvidia_h200}".csv 2>/dev/null)
if [ "$what" = machine ]; then
    [ -n "$file" ] || { echo 'Not measured yet.'; exit; }
    sh common/tools/gpu_source.sh "$file" "${LINK:-../results}/${file##*/}" 'bf16|PyTorch'
    exit
fi
shift 3
{
    printf '%s\n' "$@"
    echo
    [ -z "$file" ] || cat "$file"
} | awk -F, -v type="$what" -v problems="$problems" '
    !begun && NF == 0 { begun = 1; next }
    !begun { name[++kernels] = $0; next }
    $3 == type { speed[$2 "," $7 "," $6 ($8 == 1 ? ",causal" : "")] = $12 }
    END {
        n = split(problems, problem, " ")
        line = "| kernel |"
        rule = "|---|"
        for (k = 1; k <= n; k++) {
            split(problem[k], part, ",")
            line = line " d = " part[1] ", N = " part[2] (part[3] ? ", " part[3] : "") " |"
            rule = rule "---|"
        }
        print line
        print rule
        for (i = 1; i <= kernels; i++) {
            line = name[i] ~ /^pytorch / ? "| PyTorch, " substr(name[i], 9) " |" : "| `" name[i] "` |"
            for (k = 1; k <= n; k++) {
                at = name[i] "," problem[k]
                known = at in speed
                figure = sprintf(speed[at] < 99950 ? "%.1f" : "%.0f", speed[at] / 1000)
                line = line " " (known ? figure : "not measured yet") " |"
            }
            print line
        }
    }'
