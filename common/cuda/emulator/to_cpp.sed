# Turns the pieces of CUDA's syntax that C++ lacks into C++, line for line: run with sed -E -f.
#
#     kernel<D><<<grid, block>>>(x, n);       a launch
#     extern __shared__ float tile[];         shared memory of the size that the launch gives
#     __shared__ float q[R][D], sum;          shared memory of the kernel's own

# A declaration or a launch that is broken over lines is taken together; its lines stay.
:more
/^[[:space:]]*(extern[[:space:]]+)?__shared__[^;]*$/ {
    $! { N; b more
    }
}
/^[^"\/]*[A-Za-z0-9_>]<<<([^>]|>[^>]|>>[^>])*$/ {
    $! { N; b more
    }
}

# A variable of the device's would be one of the host's too.
/^(static[[:space:]]+)?__device__[^(){]*[;=]/ {
    /[[:space:]]const[[:space:]]|constexpr/! s/^.*$/static_assert(false, "__device__ variables are not supported: pass device memory to the kernel");/
}

s/([A-Za-z_][A-Za-z0-9_:]*(<[^<>;]*>)?)<<<(.*)>>>[[:space:]]*\(/cpu::configure(\3).kernel("\1", \1)(/

s/extern[[:space:]]+__shared__[[:space:]]+__align__\(([^)]*)\)[[:space:]]*([A-Za-z_][A-Za-z0-9_:]*([[:space:]]+[A-Za-z_][A-Za-z0-9_:]*)*)[[:space:]]+([A-Za-z_][A-Za-z0-9_]*)[[:space:]]*\[\];/\2 *const \4 = static_cast<\2 *>(cpu::dynamic_shared(\1));/
s/extern[[:space:]]+__shared__[[:space:]]+([A-Za-z_][A-Za-z0-9_:]*([[:space:]]+[A-Za-z_][A-Za-z0-9_:]*)*)[[:space:]]+([A-Za-z_][A-Za-z0-9_]*)[[:space:]]*\[\];/\1 *const \3 = static_cast<\1 *>(cpu::dynamic_shared());/

# One declarator at a time, as long as a comma follows; then the last one.
:declarator
s/^([[:space:]]*|.*CUDA_SHARED.*; )__shared__[[:space:]]+(__align__\([^)]*\)[[:space:]]*)?([A-Za-z_][A-Za-z0-9_:]*(<[^<>;,]*>)?([[:space:]]+[A-Za-z_][A-Za-z0-9_:]*)*)([[:space:]]+)(\**)([A-Za-z_][A-Za-z0-9_]*)[[:space:]]*((\[[^];]*\])*)[[:space:]]*,/\1\6CUDA_SHARED(\8, \2\3 \7, \9); __shared__ \2\3 /
t declarator
s/^([[:space:]]*|.*CUDA_SHARED.*; )__shared__[[:space:]]+(__align__\([^)]*\)[[:space:]]*)?([A-Za-z_][A-Za-z0-9_:]*(<[^<>;,]*>)?([[:space:]]+[A-Za-z_][A-Za-z0-9_:]*)*)([[:space:]]+)(\**)([A-Za-z_][A-Za-z0-9_]*)[[:space:]]*((\[[^];]*\])*)[[:space:]]*;/\1\6CUDA_SHARED(\8, \2\3 \7, \9);/

# A program holds each kernel twice, and a namespace for each build keeps the two apart: it begins in
# the blank line behind the includes, and ends with the file, in a header before the guard's #endif.
H
$!d
x

# A kernel with launch bounds begins by looking at them.
:bounds
s/__launch_bounds__\((([^()]|\([^()]*\))*)\)([^{};]*)\{/\3{ cpu::launch_bounds(\1);/
t bounds

s/^\n//
t wrap
:wrap
s/^((.*\n)?#include[[:space:]]*[<"][A-Za-z0-9_.\/ ]*[>"]\n)\n/\1inline namespace CUDA_BUILD {\
/
t end
b
:end
/#ifndef [A-Z0-9_]*_CUH\n/ s/\n#endif$/\
}\
#endif/
t
s/$/\
}/
