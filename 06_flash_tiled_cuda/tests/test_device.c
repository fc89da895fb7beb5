/*
 * The device: its facts, when it is chosen, and launches that fail.
 */
#define _POSIX_C_SOURCE 200809L
#include "06_flash_tiled_cuda/tests/run.h"

#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/lab/copies.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(device, gives_back_what_it_was_given)
{
    const struct device *device = test_device();
    float in[1000], out[1000];
    for (int k = 0; k < 1000; k++)
        in[k] = (float)k;
    void *array = device->allocate(sizeof in, "x");
    poison_fill(out, 1000);
    device->upload(array, in, sizeof in);
    device->download(out, array, sizeof out);
    device->release(array);
    cr_assert(memcmp(in, out, sizeof in) == 0, "it came back changed");
}

TEST(device, says_what_it_has_and_can_do)
{
    const struct device *device = test_device();
    struct device_facts f;
    device->facts(&f);
    cr_assert(!device->why_not() && *f.name && f.processors > 0 && f.warp == 32, "%s: %d, %d",
              f.name, f.processors, f.warp);
    cr_assert(f.shared_per_block >= 49152 && f.threads_per_block >= 1024, "%s has %zu bytes",
              f.name, f.shared_per_block);
    cr_assert(device->bandwidth() > 0.0 && device->fma_peak() > 0.0, "%s is not fast at all",
              f.name);
}

TEST(device, passes_the_maximum_round_eight_lanes)
{
    static const float x[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    static const float right[3][8] = { { 3, 3, 4, 4, 9, 9, 6, 6 },
                                       { 4, 4, 4, 4, 9, 9, 9, 9 },
                                       { 9, 9, 9, 9, 9, 9, 9, 9 } };
    float after[3][8];
    test_device()->row_max(x, after);
    cr_assert(memcmp(after, right, sizeof right) == 0, "not 9 everywhere");
}

static void run_fa2(void *t)
{
    static float O[200 * 16];
    run_on(test_device(), FA2, t, O, NULL);
}

TEST(device, takes_time)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 200, 200, 16), 0, 1);
    const double seconds = test_device()->seconds(run_fa2, &t);
    cr_assert(seconds > 0.0 && seconds < 60.0, "%g s", seconds);
    problem_free(&t);
}

static void facts_of_a_T4(struct device_facts *f)
{
    *f = (struct device_facts){
        .name = "Tesla T4", .major = 7, .minor = 5, .shared_at_most = 65536
    };
}

/* The status if it exits, else 0; `device` is its choice. */
static int choose(const char *where, enum dtype type, const struct device *gpu, const char **device)
{
    int status;
    const struct options o = { .device = where, .dtype = type };
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        device_among(&o, gpu, "there is none");
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status), "no child");
    if (WEXITSTATUS(status) == 0)
        *device = device_among(&o, gpu, "there is none")->name;
    return WEXITSTATUS(status);
}

/* bfloat16 came to tensor cores with compute capability 8.0; float16 was there before. */
TEST(device, is_not_asked_for_types_that_it_is_too_old_for)
{
    struct device old = device_cpu;
    old.build = BUILD_GPU;
    const char *name = "";
    old.name = "gpu";
    old.facts = facts_of_a_T4;
    cr_assert(choose("gpu", DTYPE_F32, &old, &name) == 0 && strcmp(name, "gpu") == 0, "%s", name);
    cr_assert(choose(NULL, DTYPE_F32, &old, &name) == 0 && strcmp(name, "gpu") == 0, "%s", name);
    cr_assert(choose("cpu", DTYPE_BF16, &old, &name) == 0 && strcmp(name, "cpu") == 0, "%s", name);
    cr_assert(choose("auto", DTYPE_BF16, &old, &name) == 0 && strcmp(name, "cpu") == 0, "%s", name);
    cr_assert(choose("gpu", DTYPE_BF16, &old, &name) == EXIT_SKIPPED, "bf16 on a T4");
    cr_assert(choose("gpu", DTYPE_F16, &old, &name) == 0 && strcmp(name, "gpu") == 0, "%s", name);
    cr_assert(choose("gpu", DTYPE_F16, NULL, &name) == EXIT_SKIPPED, "f16 on no GPU");
    cr_assert(choose(NULL, DTYPE_F16, NULL, &name) == 0 && strcmp(name, "cpu") == 0, "%s", name);
    cr_assert(!device_unsupported(&device_cpu, DTYPE_BF16) && !device_unsupported(&old, DTYPE_F32),
              "lacks");
    const char *const unsupported = device_unsupported(&old, DTYPE_BF16);
    cr_assert(unsupported && strstr(unsupported, "--dtype bf16 needs") &&
                  strstr(unsupported, "Tesla T4 has 7.5"),
              "%s", unsupported ? unsupported : "nothing");
}

static void facts_of_an_A100(struct device_facts *f)
{
    *f = (struct device_facts){ .name = "A100", .major = 8 };
}

static void facts_of_an_H100(struct device_facts *f)
{
    *f = (struct device_facts){ .name = "H100", .major = 9 };
}

static int choose_for(enum kernel_name kernel, const char *where, const struct device *gpu,
                      const char **device)
{
    int status;
    const struct options o = { .device = where, .dtype = DTYPE_BF16 };
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        device_for(&table.steps[kernel], gpu, &o);
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status), "no child");
    if (WEXITSTATUS(status) == 0)
        *device = device_for(&table.steps[kernel], gpu, &o)->name;
    return WEXITSTATUS(status);
}

TEST(device, is_not_asked_for_kernels_of_another_gpu)
{
    struct device gpu = device_cpu;
    gpu.build = BUILD_GPU;
    const char *name = "";
    struct attention p = kernel_shape(WGMMA, 1, 1, 1, 5, 5);
    gpu.name = "gpu";
    gpu.facts = facts_of_an_A100;
    cr_assert(choose_for(BUDGET, "gpu", &gpu, &name) == 0 && strcmp(name, "gpu") == 0, "%s", name);
    cr_assert(choose_for(WGMMA, "gpu", &gpu, &name) == EXIT_SKIPPED, "on an A100");
    for (enum kernel_name k = WGMMA; k <= STORE; k++)
        cr_assert(is_hopper(k) && choose_for(k, "gpu", &gpu, &name) == EXIT_SKIPPED,
                  "%s on an A100", table.steps[k].name);
    cr_assert(choose_for(WGMMA, NULL, &gpu, &name) == 0 && strcmp(name, "cpu") == 0, "%s", name);
    device_use(&gpu, NULL);
    const char *unsupported = step_unsupported_here(&table.steps[WGMMA], &p);
    cr_assert(unsupported && strstr(unsupported, "A100, of compute capability 8.0 (it is for 9.0)"),
              "%s", unsupported ? unsupported : "nothing");
    gpu.facts = facts_of_an_H100;
    cr_assert(choose_for(WGMMA, "gpu", &gpu, &name) == 0 && strcmp(name, "gpu") == 0, "%s", name);
    cr_assert(!step_unsupported_here(&table.steps[WGMMA], &p), "on an H100");
    device_use(&device_cpu, NULL);
    cr_assert(!step_unsupported_here(&table.steps[WGMMA], &p), "on the CPU");
}

TEST(device, of_turing_runs_one_kernel_on_tensor_cores)
{
    struct device gpu = device_cpu;
    gpu.build = BUILD_GPU;
    gpu.facts = facts_of_a_T4;
    device_use(&gpu, NULL);
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct attention p = attention_of(1, 1, 1, 5, 5, 64);
        p.dtype = DTYPE_F16;
        const char *const unsupported = step_unsupported_here(&table.steps[name], &p);
        cr_assert((unsupported == NULL) == (name == TURING), "%s: %s", table.steps[name].name,
                  unsupported ? unsupported : "runs");
        p.dtype = DTYPE_F32;
        cr_assert(is_tensor(name) || !step_unsupported_here(&table.steps[name], &p), "%s",
                  table.steps[name].name);
    }
}

TEST(device, has_room_for_a_tile_or_not)
{
    struct device old = device_cpu;
    old.build = BUILD_GPU;
    old.facts = facts_of_a_T4;
    cr_assert(device_holds(&old, &(struct kernel_tile){ 128, 128, 32, 128 }), "64 kB in 64 kB");
    cr_assert(!device_holds(&old, &(struct kernel_tile){ 128, 64, 64, 128 }), "80 kB in 64 kB");
    cr_assert(device_holds(&device_cpu, &(struct kernel_tile){ 128, 128, 128, 256 }), "160 kB");
}

/*
 * A grid has at most 65 535 blocks in y, so a larger launch must fail and be noticed. fa1's heads
 * are in x, where there is room; persistent blocks take heads from a queue.
 */
static void assert_launches_fail(const struct test_problem *t, bool tensor)
{
    float *O = allocate(attention_query_elements(&t->p), sizeof *O, "O");
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name)) {
        if (is_tensor(name) != tensor || name == FA1 || table.steps[name].stores & STORES_COUNTERS)
            continue;
        const pid_t child = fork();
        if (child == 0) {
            freopen("/dev/null", "w", stderr);
            run_on(test_device(), name, t, O, NULL);
            _exit(0);
        }
        int status;
        cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status), "no child");
        cr_assert(WEXITSTATUS(status) == 2, "%s: status %d", table.steps[name].name,
                  WEXITSTATUS(status));
    }
    free(O);
}

TEST(device, does_not_let_a_launch_fail_unnoticed)
{
    struct test_problem wide = problem_of(kernel_shape(FA2, 70000, 1, 1, 1, 1), 0, 1);
    struct test_problem narrow = problem_of(kernel_shape(TURING, 70000, 1, 1, 1, 1), 0, 1);
    assert_launches_fail(&wide, false);
    assert_launches_fail(&narrow, true);
    problem_free(&wide);
    problem_free(&narrow);
}

/*
 * O of the kernel on the CPU, on a stream of the current device. Launched with arrays that are there already, it uses no other
 * stream.
 */
static void run_on_stream(enum kernel_name name, const struct test_problem *t, cudaStream_t stream,
                          float *O)
{
    const struct step *const kernel = &table.steps[name];
    const struct tile_size tile = tile_of(name, &t->p);
    device_use(&device_cpu, stream);
    device_keep(&device_cpu, 1);
    kernel->run(&t->p, tile, arrays_of(t, O, NULL));
    const size_t here = cuda_cpu_works(stream), default_stream = cuda_cpu_works(NULL);
    kernel->run(&t->p, tile, arrays_of(t, O, NULL));
    cr_assert(cuda_cpu_works(stream) > here, "%s: nothing on its stream", kernel->name);
    cr_assert(!stream || cuda_cpu_works(NULL) == default_stream, "%s: on the default stream",
              kernel->name);
    device_keep(&device_cpu, 0);
    kernel->run(&t->p, tile, arrays_of(t, O, NULL));
    device_use(&device_cpu, NULL);
}

/* The same bits on a stream of its own, and on another device. 16 bits need more than 48 kB. */
static void assert_same_everywhere(enum kernel_name name, enum dtype type)
{
    struct attention p = attention_of(1, 2, 1, 70, 90, type == DTYPE_F32 ? 16 : 128);
    p.dtype = type;
    struct test_problem t = problem_of(p, 0, 1);
    const size_t n = attention_query_elements(&p);
    float *O = allocate(n, sizeof *O, "O"), *other = allocate(n, sizeof *O, "O");
    cuda_cpu_devices(2, 0);
    run_on_stream(name, &t, NULL, O);
    run_on_stream(name, &t, cuda_cpu_stream(), other);
    cr_assert(memcmp(O, other, n * sizeof *O) == 0, "%s on a stream", table.steps[name].name);
    cuda_cpu_devices(2, 1);
    run_on_stream(name, &t, NULL, other);
    cr_assert(memcmp(O, other, n * sizeof *O) == 0, "%s on a device", table.steps[name].name);
    cuda_cpu_devices(1, 0);
    free(O);
    free(other);
    problem_free(&t);
}

TEST(device, starts_kernels_on_any_stream_and_device)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        assert_same_everywhere(name, kernel_type(name));
    assert_same_everywhere(COMPLETE, DTYPE_F16);
}

TEST(device, is_the_current_one)
{
    struct device_facts f;
    cuda_cpu_devices(2, 1);
    device_cpu.facts(&f);
    cuda_cpu_devices(1, 0);
    cr_assert(strstr(f.name, "GPU 1"), "%s", f.name);
}

struct run_of {
    enum kernel_name name;
    struct test_problem t;
    struct tile_size tile;
};

static void run_it(void *of)
{
    const struct run_of *const r = of;
    device_use(&device_cpu, NULL);
    table.steps[r->name].run(&r->t.p, r->tile, arrays_of(&r->t, r->t.Q, NULL));
}

/* The launcher, reported as `launcher`, aborts for this d, type and tile. */
static void assert_not_compiled(enum kernel_name name, const char *launcher, size_t d,
                                enum dtype type, size_t Br, size_t Bc, const char *what)
{
    char part[200];
    struct attention p = attention_of(1, 1, 1, 5, 5, d);
    p.dtype = type;
    struct run_of r = { name, problem_of(p, 0, 1), { Br, Bc } };
    snprintf(part, sizeof part, "%s: not compiled for %s; the program", launcher, what);
    child_aborts(run_it, &r, part);
    problem_free(&r.t);
}

/* The program refuses these before. A kernel for another d would compute a wrong O. */
TEST(device, launches_nothing_that_is_not_compiled)
{
    for (enum kernel_name name = NAIVE; name < COMPLETE; name++) {
        char launcher[40];
        snprintf(launcher, sizeof launcher, "%s_cpu", table.steps[name].name);
        if (is_tensor(name) && name != BUDGET) {
            assert_not_compiled(name, launcher, 96, DTYPE_BF16, 0, 0, "d = 96 with --dtype bf16");
            if (table.steps[name].float16_only)
                assert_not_compiled(name, launcher, 64, DTYPE_BF16, 0, 0,
                                    "d = 64 with --dtype bf16");
            assert_not_compiled(name, launcher, 256, DTYPE_F16, 0, 0, "d = 256 with --dtype f16");
            assert_not_compiled(name, launcher, 64, DTYPE_F32, 0, 0, "d = 64 with --dtype f32");
        } else if (name != BUDGET) {
            assert_not_compiled(name, launcher, 64, DTYPE_F16, 0, 0, "--dtype f16");
        }
    }
    assert_not_compiled(FA1, "fa1_cpu", 40, DTYPE_F32, 0, 0, "d = 40");
    assert_not_compiled(FA2, "fa2_cpu", 129, DTYPE_F32, 0, 0, "d = 129");
    assert_not_compiled(COMPLETE, "complete_cpu", 129, DTYPE_F32, 0, 0, "d = 129");
}

TEST(device, launches_no_tile_that_is_not_compiled)
{
    assert_not_compiled(BUDGET, "budget", 64, DTYPE_BF16, 100, 64, "d = 64 in tiles of 100 x 64");
    assert_not_compiled(BUDGET, "budget", 64, DTYPE_F16, 128, 128, "d = 64 in tiles of 128 x 128");
    assert_not_compiled(BUDGET, "budget", 96, DTYPE_F16, 128, 32, "d = 96 in tiles of 128 x 32");
    assert_not_compiled(BUDGET, "budget", 64, DTYPE_F32, 128, 64, "--dtype f32");
    assert_not_compiled(COMPLETE, "complete16", 96, DTYPE_BF16, 128, 64,
                        "d = 96 in tiles of 128 x 64");
    assert_not_compiled(COMPLETE, "complete16", 40, DTYPE_F16, 128, 64,
                        "d = 40 in tiles of 128 x 64");
}
