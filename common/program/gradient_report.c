#include "common/program/attention_report.h"

#include "common/program/report.h"

struct attention_errors gradient_check_report(const struct gradient_check *check,
                                              float *const got[GRADIENTS], const char *name,
                                              float *const before[GRADIENTS])
{
    struct gradient_verdict v = gradient_verdict_of(check, got, name, before);
    struct comparison lines[2 * GRADIENTS];
    for (size_t g = 0; g < GRADIENTS; g++) {
        lines[g] = v.pairs[g].reference;
        lines[GRADIENTS + g] = v.pairs[g].previous;
    }
    report_compared(lines, 2 * GRADIENTS);
    if (check->count[DQ] < check->shape[DQ][0] * check->shape[DQ][1] * check->shape[DQ][2])
        report_line("  checked at %zu rows of dQ and %zu of dK and dV; --verify=all checks all",
                    check->count[DQ], check->count[DK]);
    return gradient_verdict_end(&v);
}
