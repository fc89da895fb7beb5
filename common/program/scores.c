#include "common/program/scores.h"

#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/measure/progress.h"
#include "common/problem/random.h"
#include "common/program/report.h"

#include <stdio.h>
#include <stdlib.h>

enum { USUAL_ROWS = 164, USUAL_COLS = 164 };

static struct scores from_file(const char *path)
{
    struct npy array;
    struct file_error error;
    if (!npy_read(path, &array, &error))
        options_fail(path, "%s", error.text);
    char shape[100];
    if (array.dims > 2)
        options_fail(path, "expected scores of shape (N) or (R, N), found %s",
                     npy_shape_text(array.dims, array.shape, shape, sizeof shape));
    if (array.type == NPY_B1 || array.type == NPY_U1)
        options_fail(path, "expected float16, float32 or float64 scores, found a mask");
    struct scores scores = {
        .x = npy_floats(&array),
        .rows = array.dims == 2 ? array.shape[0] : 1,
        .cols = array.shape[array.dims - 1],
        .dims = array.dims,
    };
    scores.y = allocate(scores.rows * scores.cols, sizeof(float), "y");
    npy_free(&array);
    return scores;
}

struct scores scores_random(size_t rows, size_t cols, uint64_t seed)
{
    if (cols > (size_t)-1 / sizeof(float) / rows)
        out_of_memory("the input", rows, cols * sizeof(float));
    struct scores scores = {
        .x = allocate(rows * cols, sizeof(float), "the input"),
        .y = allocate(rows * cols, sizeof(float), "y"),
        .rows = rows,
        .cols = cols,
        .dims = 2,
    };
    random_normals(scores.x, rows * cols, seed, 0);
    return scores;
}

struct scores scores_load(const struct options *options)
{
    struct scores scores;
    char rows[32], cols[32], origin[sizeof scores.origin];
    if (options_generated(options)) {
        scores = scores_random(options->rows ? options->rows : USUAL_ROWS,
                               options->cols ? options->cols : USUAL_COLS, options->seed);
        snprintf(origin, sizeof origin, "normal numbers, seed %llu",
                 (unsigned long long)options->seed);
    } else {
        const char *path = options->input ? options->input : options_data("scores.npy");
        scores = from_file(path);
        snprintf(origin, sizeof origin, "%s", path);
    }
    snprintf(scores.origin, sizeof scores.origin, "%.200s: %s row%s of %s scores", origin,
             report_number(scores.rows, rows), scores.rows == 1 ? "" : "s",
             report_number(scores.cols, cols));
    return scores;
}

struct scores scores_changed(const struct scores *scores, float factor, float shift)
{
    const size_t n = scores->rows * scores->cols;
    struct scores changed = *scores;
    changed.x = allocate(n, sizeof(float), "the changed scores");
    changed.y = allocate(n, sizeof(float), "y");
    for (size_t i = 0; i < n; i++)
        changed.x[i] = factor * scores->x[i] + shift;
    return changed;
}

void scores_free(struct scores *scores)
{
    free(scores->x);
    free(scores->y);
    scores->x = scores->y = NULL;
}

void scores_each_row(const struct scores *scores, softmax_row *softmax)
{
    poison_fill(scores->y, scores->rows * scores->cols);
    for (size_t i = 0; i < scores->rows; i++) {
        progress("rows", i, scores->rows);
        softmax(scores->x + i * scores->cols, scores->y + i * scores->cols, scores->cols);
    }
    progress("rows", scores->rows, scores->rows);
}

void scores_write(const struct options *options, const struct scores *scores)
{
    const size_t shape[2] = { scores->rows, scores->cols };
    report_array(options->output, scores->dims, scores->dims == 2 ? shape : shape + 1, scores->y);
}
