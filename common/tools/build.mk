# Compilers, flags, and rules for C and CUDA sources. Included by the Makefile.

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion \
            -Wstrict-prototypes -Wvla
# gcc 14's and clang 16's errors, for all compilers.
REFUSED  := $(patsubst %,-Werror=%,implicit-function-declaration implicit-int int-conversion incompatible-pointer-types)
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
# clang 19 warns if an enum constant meets a double; in C such a constant is an int.
ifneq ($(IS_CLANG),)
WARNINGS += -Wno-unknown-warning-option -Wno-enum-float-conversion
endif
# Programs and libflash.so, the library for Python, are linked from the same objects.
IN_LIBRARY := -fPIC -fvisibility=hidden
# -ffp-contract=off: the same arithmetic with every compiler.
FLAGS = -std=c17 -ffp-contract=off $(WARNINGS) $(REFUSED) $(STRICT) $(INCLUDES) $(IN_LIBRARY) $(CFLAGS) -DWATCH=$(if $(filter yes,$(WATCH)),1,0)

# ---- programs ----------------------------------------------------------------------------------

$(OBJ)/%.o: %.c
	$(call SAY,cc   $<)
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(CPPFLAGS) -MMD -MP -c $< -o $@

# Benchmark-only code uses this machine's instructions, if the compiler takes -march=native.
NATIVE := $(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native)
$(OBJ)/%/lanes.o: FLAGS += -O3 -ffp-contract=fast $(NATIVE)

$(OBJ)/common/check/rounding.o $(OBJ)/common/check/rounding_backward.o: FLAGS += -O3

# Fast steps use this machine's instructions and fused multiply-adds. WIDTH=-mavx2 chooses others.
FAST_FLAGS = -O3 -ffp-contract=fast $(or $(WIDTH),$(NATIVE))
$(foreach c,$(CHAPTERS),$(OBJ)/$c/fast/%.o $(OBJ)/$c/tests/test_vectors.o): FLAGS += $(FAST_FLAGS)

OPENMP := $(shell printf '$(HASH)include <omp.h>\nint main(void){return omp_get_max_threads()<1;}' | \
            $(CC) -fopenmp -x c - -o /dev/null >/dev/null 2>&1 && echo -fopenmp)

# The watched build counts accesses (common/measure/watch.h). -O0 keeps the source's accesses, and clang's
# option a read before a write to the same address. It excludes other sanitizers. Without -fsanitize=thread,
# or with WATCH=no, nothing is counted.
THREADED := -fsanitize=thread#   its calls before each access; common/tools/wasm.mk has another spelling
COUNTING := -fno-builtin -fno-sanitize=all $(THREADED) $(foreach f,memcpy memmove memset,-D$f=watch_$f) \
            $(if $(IS_CLANG),-mllvm -tsan-instrument-read-before-write=1)
NM       := nm
WATCH    := $(shell echo 'int f(int *x) { return *x; }' | $(CC) $(COUNTING) -S -x c - -o /dev/null >/dev/null 2>&1 && echo yes || echo no)
$(OBJ)/common/measure/traffic.o: FLAGS += $(if $(filter yes,$(WATCH)),-O3 -fno-sanitize=all)# what is called, some 10^8 times
WATCH_FLAGS := -O0 -U_FORTIFY_SOURCE -DIS_WATCHED $(if $(filter yes,$(WATCH)),$(COUNTING))

LIBRARY := $(wildcard $(patsubst %,common/%/*.c,check cpu files lab measure problem program))

$(COMMON): $(LIBRARY:%.c=$(OBJ)/%.o)
	@rm -f $@
	$(AT)$(AR) rcs $@ $^

# ---- CUDA sources (common/cuda/README.md) ------------------------------------------------------
#
# A .cu file in or below a folder called kernels becomes three objects: for the CPU, for the CPU with every
# access instrumented, and, with GPU=yes as in `make cuda`, for GPUs by nvcc.

ifeq ($(origin CXX),default)
cxx_of = $(if $(findstring clang,$1),$(subst clang,clang++,$1),$(subst gcc,g++,$(patsubst cc,c++,$1)))
CXX := $(foreach w,$(CC),$(if $(findstring /,$w),$(dir $w))$(call cxx_of,$(notdir $w)))
endif
# --version, because on macOS c++ is clang.
CXX_IS_CLANG := $(findstring clang,$(shell $(CXX) --version 2>/dev/null))
# -fno-gnu-unique: in the library each chapter has its own copy of what headers define. -gdwarf-4: with DWARF 5
# addr2line (binutils 2.40) takes the wrong file after a #line.
CXX_FLAGS = -std=c++17 -ffp-contract=off -gdwarf-4 $(filter-out -Wstrict-prototypes,$(WARNINGS)) $(STRICT) \
            $(INCLUDES) $(IN_LIBRARY) $(if $(CXX_IS_CLANG),,-fno-gnu-unique) $(CFLAGS)
# -O1 keeps accesses of different lines apart; clang's option as above. Excludes other sanitizers.
INSTRUMENTED_FLAGS := -O1 -fno-sanitize=all -fsanitize=thread -U_FORTIFY_SOURCE -DCUDA_INSTRUMENTED \
                 $(if $(CXX_IS_CLANG),-mllvm -tsan-instrument-read-before-write=1)
# Kernels have many templates and run in the emulator: -Og compiles three times as fast as -O2. Their unroll
# pragmas are for nvcc.
KERNEL_FLAGS  := -Og $(if $(CXX_IS_CLANG),-Wno-pass-failed -Wno-sign-conversion,-Wno-unknown-pragmas)
CUDA_LIBS     := -lpthread -ldl -lm

$(OBJ)/%.o: %.cpp
	$(call SAY,c++  $<)
	@mkdir -p $(@D)
	$(AT)$(CXX) $(CXX_FLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

EMULATOR := $(wildcard $(foreach d,emulator emulator/diagnostics,common/cuda/$d/*.c common/cuda/$d/*.cpp))
$(CUDA): $(patsubst %,$(OBJ)/%.o,$(basename $(EMULATOR)))
	@rm -f $@
	$(AT)$(AR) rcs $@ $^

TO_CPP = { echo '$(HASH)line 1 "$<"'; sed -E -f common/cuda/emulator/to_cpp.sed $<; } >$@
$(OBJ)/cuda/%.cpp: %.cu common/cuda/emulator/to_cpp.sed
	@mkdir -p $(@D)
	$(AT)$(TO_CPP)
$(OBJ)/cuda/%.cuh: %.cuh common/cuda/emulator/to_cpp.sed
	@mkdir -p $(@D)
	$(AT)$(TO_CPP)

$(OBJ)/cpu/%.o: $(OBJ)/cuda/%.cpp
	$(call SAY,c++  $*.cu)
	@mkdir -p $(@D)
	$(AT)$(CXX) -I$(OBJ)/cuda $(CXX_FLAGS) $(KERNEL_FLAGS) -MMD -MP -c $< -o $@
$(OBJ)/instrumented/%.o: $(OBJ)/cuda/%.cpp
	$(call SAY,c++  $*.cu (instrumented))
	@mkdir -p $(@D)
	$(AT)$(CXX) -I$(OBJ)/cuda $(CXX_FLAGS) $(KERNEL_FLAGS) $(INSTRUMENTED_FLAGS) -MMD -MP -c $< -o $@

# $(call once,NAME,VALUE): the first use of NAME sets it, so that its command runs only once, and only if it is needed.
once        = $(eval $1 := $2)$2
# 2> makes make 3.81 use a shell, which has the builtin `command`.
NVCC       ?= $(call once,NVCC,$(or $(shell command -v nvcc 2>/dev/null),$(firstword $(wildcard /usr/local/cuda/bin/nvcc))))
GPU_OWN     = $(call once,GPU_OWN,$(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep '^[0-9]*[.][0-9]*$$')))
GPU_ARCH   ?= $(call once,GPU_ARCH,$(filter 75 80 86 89 90 120 $(GPU_OWN),$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch 2>/dev/null))))
# GPU_ARCH=native, or "80 90", builds faster, for these alone. Kernels that need a newer GPU are built for the
# oldest that runs them, so that the program links.
ARCHS       = $(if $(filter native,$(GPU_ARCH)),$(or $(sort $(GPU_OWN)),$(error GPU_ARCH=native: nvidia-smi names no GPU here)),$(GPU_ARCH))
NVCC_STRICT ?= -Werror all-warnings -Xptxas -Werror#   empty: a compiler that nobody has tried may warn of other things
NVCC_FLAGS  = -std=c++17 -O3 -lineinfo -I. $(NVCC_STRICT) -Xcompiler -Wall,-Wextra -Xptxas -warn-spills \
              $(foreach a,$(MADE_FOR),-gencode arch=compute_$(call PTX_OF,$a),code=sm_$a)
MADE_FOR    = $(or $(ONLY_FOR),$(filter-out $(TOO_OLD),$(ARCHS)),80)
# On these GPUs ptxas makes the same instructions from an older GPU's PTX, so we make PTX once, for the
# oldest requested; __CUDA_ARCH__ is that one's. Kernels that test for 9.0, or whose headers do, have
# COMPILED_FOR_90 in a comment. On 12.0 the instructions would differ.
SAME_PTX    = 75 80 86 89 $(if $(COMPILED_FOR_90),,90)
PTX_OF      = $(if $(filter $(SAME_PTX),$1),$(firstword $(foreach a,$(SAME_PTX),$(filter $a,$(MADE_FOR)))),$1)
# Linked statically, so that the program runs without CUDA's libraries.
GPU_LIBS    = $(if $(GPU),-L$(dir $(NVCC))../lib64 -lcudart_static -lpthread -ldl -lrt)
# These kernels' tensor cores need compute capability 8.0; turing's are older.
$(foreach c,$(CHAPTERS),$(OBJ)/gpu/$c/kernels/2_tensor_cores/%.o): TOO_OLD = 75
$(OBJ)/gpu/06_flash_tiled_cuda/kernels/2_tensor_cores/turing.o: TOO_OLD =
$(patsubst %.cu,$(OBJ)/gpu/%.o,$(shell grep -l COMPILED_FOR_90 /dev/null $(wildcard 0*/kernels/*/*.cu))): COMPILED_FOR_90 = yes
# Hopper kernels are for Hopper only. We make ptxas's notes errors: serialised products, ignored register
# counts, added fences.
$(foreach c,$(CHAPTERS),$(OBJ)/gpu/$c/kernels/3_hopper/%.o): ONLY_FOR = 90a
# For common/tools/sass.py we keep ptxas's output and, in NAME.nvcc, the code for each GPU.
$(OBJ)/gpu/%.o: %.cu
	$(call SAY,nvcc $<)
	@rm -rf $(@:.o=.nvcc)
	@mkdir -p $(@:.o=.nvcc)
	$(AT)$(NVCC) $(NVCC_FLAGS) -Xptxas -v -keep -keep-dir $(@:.o=.nvcc) -MMD -MP -c $< -o $@ \
	    >$(@:.o=.log) 2>&1 || { grep -v '^ptxas info' $(@:.o=.log) >&2; exit 1; }
	@! grep -E '\(C75[0-9]{2}\)' $(@:.o=.log) >&2 || { rm -f $@; exit 1; }
	@find $(@:.o=.nvcc) -type f ! -name '*.cubin' -delete

# A folder's kernels need its .cuh files as C++, and those of an earlier chapter's that they include: all must
# exist first. The .d files have the exact dependencies.
KERNEL_OBJ = $(foreach k,$(patsubst %.cu,%,$(call files,$1/*.cu $1/*/*.cu)),$(OBJ)/cpu/$k.o $(OBJ)/instrumented/$k.o \
             $(if $(GPU),$(OBJ)/gpu/$k.o))
KERNEL_DIRS := $(call files,0*/kernels common/cuda/tests/kernels)
define kernels
$(patsubst %.cu,$(OBJ)/cpu/%.o,$(call files,$1/*.cu $1/*/*.cu)) \
$(patsubst %.cu,$(OBJ)/instrumented/%.o,$(call files,$1/*.cu $1/*/*.cu)): \
    | $(patsubst %,$(OBJ)/cuda/%,$(foreach f,$1 $(if $(filter 07_%,$1),$(KERNELS_07)),$(call files,$f/*.cuh $f/*/*.cuh)))
endef
$(foreach d,$(KERNEL_DIRS),$(if $(call files,$d/*.cuh $d/*/*.cuh),$(eval $(call kernels,$d))))

$(BUILD)/compare: $(patsubst %.c,$(OBJ)/%.o,$(wildcard common/tools/compare*.c)) $(COMMON)
$(BUILD)/caught: $(OBJ)/common/tools/caught.o $(COMMON)
$(BUILD)/compare $(BUILD)/caught:
	$(call SAY,link $@)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ -lm
