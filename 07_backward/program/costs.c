#include "07_backward/program/costs.h"

#include "07_backward/fast/pieces.h"
#include "07_backward/program/stages.h"
#include "common/program/report.h"

enum { WIDTHS = 2 };

static void measure(size_t N, size_t d, double seconds, double share[BACKWARD_PIECES])
{
    struct layer layer = layer_random(attention_of(1, 1, 1, N, N, d), 1);
    struct result r = result_new(&layer.input.p);
    backward_pieces_measure(&layer.input.p, backward_input_of(&layer.input, &layer.kept, layer.dO),
                            result_gradients(&r), seconds, share);
    result_free(&r);
    layer_free(&layer);
}

static void tell(const char *what, const double percent[WIDTHS], const char *remark)
{
    report_line("   %-38s %8.1f %% %8.1f %%%s", what, percent[0], percent[1], remark);
}

void bench_pieces(size_t N, double seconds)
{
    static const size_t widths[WIDTHS] = { 64, 128 };
    static const char *const remarks[BACKWARD_PIECES] = { [PIECE_KEYS] = "  once" };
    double percent[BACKWARD_PIECES][WIDTHS], sum[WIDTHS], peak[WIDTHS];
    N = N < PIECE_NUMBER_OF_KEYS ? PIECE_NUMBER_OF_KEYS : N;
    for (size_t n = 0; n < WIDTHS; n++) {
        double share[BACKWARD_PIECES];
        measure(N, widths[n], seconds / WIDTHS, share);
        for (size_t k = 0; k < BACKWARD_PIECES; k++)
            percent[k][n] = 100.0 * share[k];
        sum[n] = percent[PIECE_SEEN][n] + percent[PIECE_DQ][n] +
                 percent[PIECE_KEYS][n] * PIECE_QUERIES / (double)N;
        peak[n] = 1e4 / percent[PIECE_WHOLE][n];
    }
    report_part("Pieces");
    report_line("of complete, one thread, each alone on the same %d queries and %d keys",
                PIECE_QUERIES, PIECE_NUMBER_OF_KEYS);
    report_line("again and again; 100 %% is what five products take at the peak");
    report_line("   %-38s %10s %10s", "", "d 64", "d 128");
    for (size_t k = 0; k < PIECE_WHOLE; k++)
        tell(backward_piece_names[k], percent[k], remarks[k] ? remarks[k] : "");
    report_line("with N = %zu", N);
    tell("the last three, one after the other", sum, "");
    tell(backward_piece_names[PIECE_WHOLE], percent[PIECE_WHOLE], "");
    tell("complete, of the peak", peak, "");
}
