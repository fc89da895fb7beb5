/*
 * A step's accesses: those of its watched build against those of its formula.
 */
#include "common/lab/lab.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"

bool is_small(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const double products = (double)attention_rows(p) * (double)p->Nk * (double)p->d;
    return lab->chapter->backward ? 5.0 * products <= 4e8 : 2.0 * products <= 2e8;
}

bool can_be_counted(const struct lab *lab, const struct step *step)
{
    return CAN_WATCH && step->watched && is_small(lab);
}

static void watch_array(const char *name, const float *array, size_t n)
{
    if (array)
        traffic_watch(name, array, n);
}

static void watch_arrays(const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    watch_array("Q", x.Q, queries);
    watch_array("K", x.K, keys);
    watch_array("V", x.V, keys);
    watch_array("O", x.O, queries);
    watch_array("lse", x.lse, attention_rows(p));
    watch_array("m", x.m, attention_rows(p));
    watch_array("l", x.l, attention_rows(p));
    watch_array("dO", x.dO, queries);
    watch_array("dQ", x.dQ, queries);
    watch_array("dK", x.dK, keys);
    watch_array("dV", x.dV, keys);
}

struct count count_step(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x)
{
    struct count c = { .pairs = attention_pairs(p) };
    x = outputs_new(p, x);
    step->predict(p, size, &c.accesses);
    traffic_reset();
    watch_arrays(p, x);
    step->watched(p, size, x);
    c.as_predicted = accesses_sum(&c.accesses, step->formula, &c.total);
    c.slow_bytes = extra_slow_peak();
    c.fast_bytes = extra_fast_peak();
    traffic_reset();  // its arrays are forgotten
    outputs_free(&x);
    return c;
}

// ---- told of one step ---------------------------------------------------------------------------

static void print_tiles(const struct step *step, struct tile_size size, const struct accesses *a)
{
    char full[32], partial[32], skipped[32];
    report_part("Tiles");
    report_line("%s, with Br = %zu queries and Bc = %zu keys", step->name, size.Br, size.Bc);
    report_line("%s tiles full, %s partial, %s skipped",
                report_number(a->tiles.of_kind[TILE_FULL], full),
                report_number(a->tiles.of_kind[TILE_PARTIAL], partial),
                report_number(a->tiles.of_kind[TILE_SKIPPED], skipped));
    if (a->splits > 1)
        report_line("the keys in %zu splits, each with tiles of its own", a->splits);
}

static void print_memory(const struct lab *lab, const struct step *step)
{
    const struct options *o = &lab->o;
    const bool from_M = o->sram || (step->usual.Br == 0 && !o->br && !o->bc);
    char held[32], more[32];
    report_number(lab->count.fast_bytes / sizeof(float), held);
    if (lab->chapter->backward)
        report_line("%s elements of fast memory held; extra slow memory: %s", held,
                    report_bytes(lab->count.slow_bytes, more));
    else if (from_M)
        report_line("%s elements of fast memory held, where M is %s", held,
                    report_number(o->sram ? o->sram : USUAL_M, more));
    else
        report_line("%s elements of fast memory held", held);
}

static void print_counts(const struct lab *lab, const struct step *step)
{
    if (is_small(lab) && step->predict)
        print_tiles(step, lab->size, &lab->count.accesses);
    if (step->formula && lab->count.total > 0) {
        print_memory(lab, step);
        step_report_count(&lab->count);
    } else if (!CAN_WATCH && (step->predict || lab->chapter->backward)) {
        report_not_counted("Counted");
    } else {
        report_part("Counted");
        if (step->formula)
            report_line("left out: a counted run of a problem of this size takes long");
        else
            report_line("not done: the step goes through its tiles as %s does",
                        step->predict && lab->plain ? lab->plain->name : "fa2");
    }
}

void lab_count(struct lab *lab, const struct step *step)
{
    const struct attention *p = &lab->input.p;
    lab->count = (struct count){ .pairs = attention_pairs(p) };
    if (can_be_counted(lab, step))
        lab->count = count_step(step, p, lab->size, lab->x);
    else if (is_small(lab) && step->predict)
        step->predict(p, lab->size, &lab->count.accesses);
    if (lab->only)
        print_counts(lab, step);
}
