#include "common/program/attention_report.h"

#include "common/program/report.h"

#include <stdio.h>

void attention_describe(const struct attention_input *input)
{
    const struct attention *p = &input->p;
    const size_t pairs = attention_pairs(p), most = attention_rows(p) * p->Nk;
    char text[32], masked[60];
    snprintf(masked, sizeof masked, ", %.1f %% of all; the others are masked",
             100.0 * (double)pairs / (double)most);
    report_part("Input");
    report_line("%s", input->origin);
    report_line("B %zu, H %zu (%zu for K and V), Nq %zu, Nk %zu, d %zu, scale %.4g", p->B, p->H,
                p->Hkv, p->Nq, p->Nk, p->d, (double)p->scale);
    if (p->dtype != DTYPE_F32)
        report_line("Q, K and V are rounded to %s", dtype_name(p->dtype));
    if (input->too_large > 0)
        report_line("%s of their numbers are too large for %s, and become infinite",
                    report_number(input->too_large, text), dtype_name(p->dtype));
    report_line("%s query-key pairs%s", report_number(pairs, text), pairs == most ? "" : masked);
}

struct attention_errors attention_check_report(const struct attention_check *check, const float *O,
                                               const float *lse, const char *name,
                                               const float *before)
{
    struct attention_verdict v = attention_verdict_of(check, O, lse, name, before);
    struct comparison lines[4] = { v.reference };
    size_t n = 1;
    if (v.lse.with)
        lines[n++] = v.lse;
    if (v.other.with)
        lines[n++] = v.other;
    if (v.previous.with)
        lines[n++] = v.previous;
    report_compared(lines, n);
    const size_t heads = check->shape[0] * check->shape[1], rows = heads * check->shape[2];
    char of_rows[32];
    if (check->count < rows)
        report_line("  checked at %zu of %s rows%s; --verify=all checks every row", check->count,
                    report_number(rows, of_rows), check->count < heads ? "" : ", every head");
    if (name && v.left_out == check->count)
        report_line("  %s cannot do this problem; the reference checks it", name);
    else if (name && v.left_out)
        report_line("  %s leaves out %zu of %zu rows; the reference checks them", name, v.left_out,
                    check->count);
    return attention_verdict_end(&v);
}

struct attention_errors gradient_check_report(const struct gradient_check *check,
                                              float *const got[GRADIENTS], const char *name,
                                              float *const before[GRADIENTS])
{
    struct gradient_verdict v = gradient_verdict_of(check, got, name, before);
    struct comparison lines[2 * GRADIENTS];
    size_t n = 0;
    for (size_t g = 0; g < GRADIENTS; g++)
        lines[n++] = v.pairs[g].reference;
    for (size_t g = 0; g < GRADIENTS; g++)
        if (v.pairs[g].previous.with)
            lines[n++] = v.pairs[g].previous;
    report_compared(lines, n);
    if (check->count[DQ] < check->shape[DQ][0] * check->shape[DQ][1] * check->shape[DQ][2])
        report_line("  checked at %zu rows of dQ and %zu of dK and dV; --verify=all checks all",
                    check->count[DQ], check->count[DK]);
    return gradient_verdict_end(&v);
}
