/*
 * The ladder of --bench, of a small problem and without waiting: what it says, not how fast it is.
 */
#include "../speed.h"
#include "command.h"
#include "test.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What bench_ladder prints, and the first columns of what it writes. */
static struct command climbed(void)
{
    char printed[300], csv[300];
    snprintf(printed, sizeof printed, "%s/printed", command_folder());
    snprintf(csv, sizeof csv, "%s/l.csv", command_folder());
    const struct options o = { .csv = csv };
    threads_use(2);
    cr_assert(freopen(printed, "w", stdout));
    bench_ladder(16, 0.0, &o);
    fflush(stdout);
    return command_run("cat @/printed; cut -d, -f 1-10 @/l.csv");
}

/* common/peers/peers.sh takes the machine from the last line, and the pictures the peak. */
static void assert_ends_with_the_machine(const char *printed)
{
    const char *const csv = strstr(printed, "chapter,kernel");
    cr_assert(csv, "it printed: %s", printed);
    const char *last = csv - 1;
    while (last > printed && last[-1] != '\n')
        last--;
    const char *const one = strstr(last, "; one core: ");
    char *rest = NULL;
    const double peak = one ? strtod(one + strlen("; one core: "), &rest) : 0.0;
    const char *const between = " GFLOP/s of FMA, ";
    const bool told = rest && strncmp(rest, between, strlen(between)) == 0;
    const double copied = told ? strtod(rest + strlen(between), &rest) : 0.0;
    cr_assert(told && strncmp(rest, " GB/s copied\n", 13) == 0 && peak > 0.1 && copied > 0.01,
              "its last line is: %s", last);
}

TEST(ladder, has_every_rung_in_every_case_and_ends_with_the_machine)
{
    const struct command c = climbed();
    const char *const parts[] = {
        "Ladder",
        "one head, N = 16;",
        "d 64           causal            d 128           causal\n",
        "1 standard        1 ",
        "4 fa2             1 ",
        "complete        1 ",
        "complete        ",
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads\n",
        "07,standard,f32,1,1,16,64,0,backward,1\n07,fa2,f32,1,1,16,64,0,backward,1\n",
        "07,complete,f32,1,1,16,64,0,backward,1\n07,complete,f32,1,1,16,64,0,backward,",
        "07,complete,f32,1,1,16,64,1,backward,1\n07,complete,f32,1,1,16,64,1,backward,",
        "07,complete,f32,1,1,16,128,0,backward,1\n07,complete,f32,1,1,16,128,0,backward,",
        "07,complete,f32,1,1,16,128,1,backward,1\n07,complete,f32,1,1,16,128,1,backward,",
        NULL,
    };
    cr_assert(!missing_part(c.out, parts) && !strstr(c.out, "WRONG"),
              "no '%s' where it belongs: %s", missing_part(c.out, parts), c.out);
    assert_ends_with_the_machine(c.out);
}
