/* The compiler names unsupported functions. */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

static struct command compile(const char *before, const char *statement)
{
    char source[600], words[1000];
    const int length = snprintf(source, sizeof source,
                                "#include \"common/cuda/device.h\"\n%s\n"
                                "__global__ void kernel(float *x)\n{\n%s\n}\n"
                                "void *use(void);\nvoid *use(void)\n{\n"
                                "    return reinterpret_cast<void *>(kernel);\n}\n",
                                before, statement);
    command_file("kernel.cu", source, (unsigned)length);
    snprintf(words, sizeof words,
             "sed -E -f common/cuda/emulator/to_cpp.sed @/kernel.cu >@/kernel.cpp && "
             "c++ -std=c++17 -I. -fsyntax-only @/kernel.cpp");
    return command_run(words);
}

static void assert_refused(const char *name, const char *statement)
{
    const struct command c = compile("", statement);
    cr_assert(c.status != 0 && strstr(c.err, name), "\"%s\": status %d: %s", statement, c.status,
              c.err);
}

TEST(refused, nothing_else)
{
    const struct command c = compile("", "x[threadIdx.x] = 1.0f;\n__syncthreads();");
    cr_assert(c.status == 0 && !*c.err, "status %d: %s", c.status, c.err);
}

TEST(refused, by_its_name)
{
    assert_refused("__activemask", "x[0] = float(__activemask());");
    assert_refused("__nanosleep", "__nanosleep(10);");
    assert_refused("cudaMallocManaged", "cudaMallocManaged(&x, 4);");
    assert_refused("cudaMemcpyToSymbol", "cudaMemcpyToSymbol(x, x, 4);");
    assert_refused("cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel(x, 1, 1);");
    assert_refused("clock64", "x[0] = float(clock64());");
    assert_refused("__managed__", "static __managed__ int y;");
    assert_refused("regsPerBlock",
                   "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); x[0] = p.regsPerBlock;");
    assert_refused("begins_its_line", "int y; __shared__ float z[4];");
    assert_refused("begins_its_line", "__shared__ float z = 1.0f;");
    assert_refused("not a type for a shuffle",
                   "x[0] = __shfl_sync(1u, make_float4(0, 0, 0, 0), 0).x;");
}

TEST(refused, variables_of_the_device)
{
    const struct command c = compile("__device__ float y[4];", "x[0] = 1.0f;");
    cr_assert(c.status != 0 && strstr(c.err, "__device__ variables are not supported"), "%s",
              c.err);
    const struct command constant = compile("__device__ static const float y = 2.0f;", "x[0] = y;");
    cr_assert(constant.status == 0, "%s", constant.err);
}
