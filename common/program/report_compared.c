/*
 * The parts "Input", and "Compared with": errors, what is allowed, and where the worst element is.
 */
#include "common/program/attention_report.h"
#include "common/program/report.h"
#include "common/program/report_parts.h"

#include <stdio.h>
#include <string.h>

static const char EXPLAINED[] = "of rounding's limit";

const char *report_place(struct axes axes, size_t index, char *text, size_t size)
{
    if (axes.rows)
        index = axes.rows[index / axes.row_length] * axes.row_length + index % axes.row_length;
    return coordinates_of(index, axes.dims, axes.shape, text, size);
}

/* The largest error, and "0.35" of what rounding explains; or the mismatch if there is one. */
static void error_texts(const struct difference *d, char error[32], char explained[32])
{
    static const char *const worse[] = {
        [NEVER_WRITTEN] = "never written", [NOT_A_NUMBER] = "NaN", [INFINITE] = "infinite"
    };
    snprintf(error, 32, "%.2e", d->max_abs);
    snprintf(explained, 32, d->explained < 10.0 ? "%.2f" : "%.3g", d->explained);
    if (d->mismatched) {
        snprintf(error, 32, "%s", worse[d->mismatch]);
        snprintf(explained, 32, "-");
    }
}

void report_compared(const struct comparison *comparisons, size_t n)
{
    char place[100], heading[60], with[60], error[32], explained[32];
    snprintf(heading, sizeof heading, "at %s", comparisons->axes.names);
    report_part("Compared with");
    report_line("%-22s %13s  %s  %s", "", "largest error", EXPLAINED, heading);
    for (const struct comparison *c = comparisons; c < comparisons + n; c++) {
        const bool right = is_explained(c->difference);
        if (!c->with)
            continue;
        error_texts(&c->difference, error, explained);
        snprintf(with, sizeof with, "%s%s%.20s", c->of ? c->of : "", c->of ? ", " : "", c->with);
        report_line("%-22s %13s  %*s  %-16s %s", with, error, (int)sizeof EXPLAINED - 1, explained,
                    report_place(c->axes, c->difference.worst, place, sizeof place),
                    right ? "ok" : "WRONG");
        report.wrong |= !right;
        if (!right)
            report_neighbourhood(c);
    }
}

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
    const struct comparison lines[] = { v.reference, v.lse, v.other, v.previous };
    report_compared(lines, 4);
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
    return attention_verdict_end(v);
}
