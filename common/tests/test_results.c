/*
 * results.sh, which keeps what was measured, a file for each machine; peers.sh and memory.sh, which fill
 * it, here from programs that only pretend; and table.sh, which makes tables of it.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdlib.h>
#include <string.h>

#define TITLE                                                                            \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds,gflops," \
    "peak_fraction,ratio_previous,max_abs_error,runs\n"
#define HEAD(command) \
    "# machine: A Machine, 2 cores, Linux\n# command: " command ", 2026-01-02, at commit abc\n"
#define LADDER_05 "05,fa2,f32,1,1,128,64,0,forward,1,2.0,3.5,0.25,,1e-7,\n"
#define PEERS_05                                                               \
    "05,complete,f32,1,8,128,64,0,forward,1,1.0,8.0,0.50,1.000,1e-7,it\n"      \
    "peer,PyTorch 9 (X),f32,1,8,128,64,0,forward,1,2.0,4.0,0.25,2.000,1e-7,\n" \
    "05,complete,f32,1,8,512,64,1,forward,1,1.0,8.0,0.75,1.000,1e-7,it\n"      \
    "peer,PyTorch 9 (X),f32,1,8,512,64,1,forward,1,0.5,4.0,0.50,0.500,1e-7,\n"
#define ROWS_07 "07,fa2,f32,1,1,128,64,0,backward,1,2.0,3.5,0.25,,1e-7,\n"
#define RESULTS "sh common/peers/results.sh "

/* A file of results with the parts 07 and 05, put in this order, as @/r.csv. */
static void set_up(void)
{
    command_text("05", HEAD("make peers-05") LADDER_05 PEERS_05);
    command_text("07", HEAD("make peers-07") ROWS_07);
    const struct command c =
        command_run(RESULTS "put 07 @/r.csv <@/07 && " RESULTS "put 05 @/r.csv <@/05");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(results, have_one_line_of_names_and_parts_in_order)
{
    set_up();
    const struct command c = command_run("cat @/r.csv");
    cr_assert(strcmp(c.out, TITLE "# part: 05\n" HEAD("make peers-05") LADDER_05 PEERS_05
                     "# part: 07\n" HEAD("make peers-07") ROWS_07) == 0,
              "%s", c.out);
}

TEST(results, give_a_part_back_as_it_was_put)
{
    set_up();
    const struct command c = command_run(RESULTS "get 05 @/r.csv | diff - @/05 && " RESULTS
                                                 "get 07 @/r.csv | diff - @/07");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(results, a_new_part_takes_the_place_of_the_old_one_and_of_no_other)
{
    set_up();
    command_text("new", HEAD("make results") "05,new,f32,1,1,128,64,0,forward,1,2,3,0,,1e-7,\n");
    const struct command c = command_run(RESULTS "put 05 @/r.csv <@/new && " RESULTS
                                                 "get 05 @/r.csv | diff - @/new && " RESULTS
                                                 "get 07 @/r.csv | diff - @/07");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(results, that_say_nothing_of_the_machine_or_have_no_row_are_refused)
{
    set_up();
    command_text("no_head", LADDER_05);
    command_text("no_row", HEAD("make peers-05"));
    script_refuses(RESULTS "put 05 @/r.csv <@/no_head", "expected # machine:");
    script_refuses(RESULTS "put 05 @/r.csv <@/no_row", "expected # machine:");
    script_refuses(RESULTS "put 06 @/r.csv <@/05", "found '06'");
    script_refuses(RESULTS "get 05 README.md",
                   "README.md: expected results as make results writes them");
    script_refuses(RESULTS "get 05 @/nothing", "nothing: expected results");
    script_refuses(RESULTS "machines", "expected machines, and files");
    const struct command c = command_run(RESULTS "get 05 @/r.csv | diff - @/05");
    cr_assert(c.status == 0, "a refusal changed the file: %s", c.out);
}

TEST(results, the_table_of_machines_has_the_least_and_the_most)
{
    set_up();
    const char *const parts[] = { "| A Machine, 2 cores | forward | 50 to 75 % | 0.50 to 2.00 |",
                                  " not measured yet | not measured yet | not measured yet |",
                                  " `make peers-05`, 2026-01-02, at commit abc |",
                                  "| backward |",
                                  " not measured yet | – | – | not measured yet |",
                                  NULL };
    script_prints(RESULTS "machines @/r.csv", 0, parts);
}

TEST(results, a_table_is_of_the_part_that_it_is_asked_for)
{
    set_up();
    const char *const ladder[] = { "one head, N = 128", "3.5  25.0 %", "command: make peers-07",
                                   NULL };
    const char *const peers[] = {
        "8 heads",       "128     50.0 %     2.00", "512     75.0 %     0.50",
        "PyTorch 9 (X)", "command: make peers-05",  NULL
    };
    script_prints("sh common/peers/table.sh ladder 07 @/r.csv", 0, ladder);
    script_prints("sh common/peers/table.sh peers 05 @/r.csv", 0, peers);
    script_refuses("sh common/peers/table.sh peers 07 @/r.csv", "found no rows for this table");
    script_refuses("sh common/peers/table.sh peers 05", "expected ladder or peers");
}

TEST(results, memory_that_was_not_measured_is_said_to_be_so)
{
    set_up();
    const char *const parts[] = { "not measured yet", NULL };
    script_prints(RESULTS "memory @/r.csv", 0, parts);
}

/* @/build has what memory.sh runs: a measuring program that says N thousand bytes, and makes a note of its command. */
static void pretend_to_measure(void)
{
    set_up();
    command_script(
        "resident",
        "#!/bin/sh\necho \"$*\" >>\"${0%/*}/asked\"\ncase $* in *' --n-q 512 '*) echo 512000 ;; "
        "*) echo 128000 ;; esac\n");
    const struct command c =
        command_run("mkdir -p @/build/peers && mv @/resident @/build/peers/ && "
                    "for n in 05_flash_tiled_cpu 07_backward; do cp /bin/true @/build/$n; done");
    cr_assert(c.status == 0, "%s", c.err);
}

TEST(results, memory_is_measured_for_each_step_and_size)
{
    pretend_to_measure();
    const char *const parts[] = { "05/standard",
                                  "07/complete",
                                  "128",
                                  "0.1 MB",
                                  "512",
                                  "0.5 MB",
                                  "machine: A Machine, 2 cores, Linux",
                                  "command: SIZES=\"128 512\" sh common/peers/memory.sh ",
                                  NULL };
    script_prints("SIZES='128 512' sh common/peers/memory.sh @/build @/r.csv", 0, parts);
    const struct command c =
        command_run("grep -c '^memory,' @/r.csv; grep -c . @/build/peers/asked; "
                    "grep -c '^[^ ]*/07_backward .*--kernel fa2 ' @/build/peers/asked; " RESULTS
                    "get 07 @/r.csv | diff - @/07");
    cr_assert(c.status == 0 && strcmp(c.out, "12\n12\n2\n") == 0, "%s", c.out);
    const char *const from_make[] = { "command: SIZES=\"128\" make results, ", NULL };
    script_prints("TARGET=results SIZES=128 sh common/peers/memory.sh @/build @/r.csv", 0,
                  from_make);
}

TEST(results, memory_of_a_step_that_fails_is_not_written)
{
    pretend_to_measure();
    const struct command c =
        command_run("printf '#!/bin/sh\\nexit 1\\n' >@/build/peers/resident; cp @/r.csv @/before; "
                    "sh common/peers/memory.sh @/build @/r.csv");
    cr_assert(c.status == 1 && strstr(c.err, "05/standard with N = 128 did not end well"),
              "status %d: %s", c.status, c.err);
    cr_assert(command_run("cmp @/r.csv @/before").status == 0);
    script_refuses("SIZES='128 x' sh common/peers/memory.sh @/build @/r.csv", "found '128 x'");
}

TEST(results, resident_says_what_a_program_had_and_whether_it_ended_well)
{
    struct command c = command_run(
        "${BUILD:-build}/peers/resident dd if=/dev/zero of=/dev/null bs=67108864 count=1 2>@/err");
    const long long bytes = strtoll(c.out, NULL, 10);
    cr_assert(c.status == 0 && bytes > 60000000 && bytes < 500000000, "status %d: %s", c.status,
              c.out);
    c = command_run("${BUILD:-build}/peers/resident false");
    cr_assert(c.status == 1 && !*c.out, "status %d: %s", c.status, c.out);
}

#define PEERS                                                                                   \
    "unset PYTHON; PATH=@:$PATH SIZES=64 TARGET=results INTO=@/r.csv sh common/peers/peers.sh " \
    "@/build "
#define PEERS_07 PEERS "07_backward"

/* Programs that say what the chapter, its ladder and the referee would, and no python3 to fetch libraries with. */
static void pretend_to_have_peers(const char *referee)
{
    set_up();
    command_script(
        "chapter",
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n"
        "printf 'chapter,...\\n07,fa2,f32,1,1,64,64,0,backward,1,1,1,0.5,,1e-7\\n' >\"$1\"\n"
        "echo '   A Machine, 2 cores, Linux; one core: 9.0 GFLOP/s of FMA, 8.0 GB/s copied'\n");
    command_script("referee", referee);
    command_script("python3", "#!/bin/sh\nexit 1\n");
    const struct command c =
        command_run("mkdir -p @/build/peers && cp @/referee @/build/peers/ && "
                    "for n in 05_flash_tiled_cpu 07_backward; do "
                    "cp @/chapter @/build/$n && cp @/chapter @/build/peers/$n || exit; done");
    cr_assert(c.status == 0, "%s", c.err);
}

TEST(results, peers_writes_its_part_with_where_and_how_it_was_measured)
{
    pretend_to_have_peers(
        "#!/bin/sh\necho '07,complete,f32,1,8,64,64,0,backward,1,1,1,0.5,1.0,1e-7,it'\n");
    const char *const parts[] = { "skipped: oneDNN",
                                  "skipped: OpenBLAS",
                                  "skipped: PyTorch",
                                  "wrote part 07 of ",
                                  "command: SIZES=\"64\" make results, ",
                                  NULL };
    const struct command c = command_run(PEERS_07);
    cr_assert(c.status == 0 && !missing_part(c.out, parts) && !strstr(c.out, "measure again") &&
                  !strstr(c.out, "ONNX"),
              "status %d: %s%s", c.status, c.out, c.err);
    const char *const kept[] = { "# part: 05\n",
                                 LADDER_05,
                                 "# part: 07\n# machine: A Machine, 2 cores, Linux\n",
                                 "# one core: 9.0 GFLOP/s of FMA, 8.0 GB/s copied\n",
                                 "\n07,fa2,f32,1,1,64,",
                                 ",1e-7,\n07,complete,f32,1,8,64,",
                                 NULL };
    script_prints("cat @/r.csv && cmp @/r.csv \"$(cat @/build/peers/written)\"", 0, kept);
}

TEST(results, forward_has_peers_that_compute_no_gradients)
{
    pretend_to_have_peers(
        "#!/bin/sh\necho '05,complete,f32,1,8,64,64,0,forward,1,1,1,0.5,1.0,1e-7,it'\n");
    const char *const parts[] = { "skipped: PyTorch", "skipped: ONNX Runtime", "skipped: OpenVINO",
                                  "wrote part 05 of ", NULL };
    script_prints(PEERS "05_flash_tiled_cpu", 0, parts);
}

TEST(results, peers_says_that_a_speed_above_the_peak_was_disturbed)
{
    pretend_to_have_peers(
        "#!/bin/sh\necho '07,complete,f32,1,8,64,64,0,backward,1,1,1,1.2,1.0,1e-7,it'\n");
    const char *const parts[] = { "wrote part 07 of ", "above 100 % of the peak", "measure again",
                                  NULL };
    script_prints(PEERS_07, 0, parts);
}
