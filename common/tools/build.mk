# How programs are built: compilers, flags, C and CUDA sources. Included by the Makefile.

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion \
            -Wstrict-prototypes -Wvla
# What gcc 14 and clang 16 refuse, every compiler is to refuse.
REFUSED  := $(patsubst %,-Werror=%,implicit-function-declaration implicit-int int-conversion incompatible-pointer-types)
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
# clang 19 warns where a constant of an enum meets a double. In C such a constant is an int.
ifneq ($(IS_CLANG),)
WARNINGS += -Wno-unknown-warning-option -Wno-enum-float-conversion
endif
# What an object depends on besides -O2 and the like: the same arithmetic with every compiler.
FLAGS = -std=c17 -ffp-contract=off $(WARNINGS) $(REFUSED) $(STRICT) $(INCLUDES) $(CFLAGS) -DWATCH=$(if $(filter yes,$(WATCH)),1,0)

# ---- programs ----------------------------------------------------------------------------------

$(OBJ)/%.o: %.c
	$(call SAY,cc   $<)
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(CPPFLAGS) -MMD -MP -c $< -o $@

# What only a benchmark runs may be made for this machine; other machines get it without.
NATIVE := $(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native)
$(OBJ)/%/lanes.o: FLAGS += -O3 -ffp-contract=fast $(NATIVE)

# What every result is checked with takes long enough to be worth the compiler's effort.
$(OBJ)/common/check/rounding.o $(OBJ)/common/check/rounding_backward.o: FLAGS += -O3

# A chapter's steps are made for this machine too, and fused multiply-adds are their speed. WIDTH=-mavx2
# makes them for another.
FAST_FLAGS = -O3 -ffp-contract=fast $(or $(WIDTH),$(NATIVE))
$(foreach c,$(CHAPTERS),$(OBJ)/$c/fast/%.o $(OBJ)/$c/tests/test_vectors.o): FLAGS += $(FAST_FLAGS)

# Threads: OpenMP where the compiler has it, else one.
OPENMP := $(shell printf '$(HASH)include <omp.h>\nint main(void){return omp_get_max_threads()<1;}' | \
            $(CC) -fopenmp -x c - -o /dev/null >/dev/null 2>&1 && echo -fopenmp)

# The watched build of a lesson, which counts accesses (common/measure/watch.h). With -O0 what the source says is what is done, and
# clang is told not to leave out a read that a write to the same place follows. Other sanitizers cannot watch as well. With a
# compiler that does not know -fsanitize=thread, or with WATCH=no, nothing is counted.
COUNTING := -fno-builtin -fno-sanitize=all -fsanitize=thread $(foreach f,memcpy memmove memset,-D$f=watch_$f) \
            $(if $(IS_CLANG),-mllvm -tsan-instrument-read-before-write=1)
WATCH    := $(shell echo 'int f(int *x) { return *x; }' | $(CC) $(COUNTING) -S -x c - -o /dev/null >/dev/null 2>&1 && echo yes || echo no)
$(OBJ)/common/measure/watch.o: FLAGS += $(if $(filter yes,$(WATCH)),-O3 -fno-sanitize=all)# what is called, some 10^8 times
WATCH_FLAGS := -O0 -U_FORTIFY_SOURCE -DIS_WATCHED $(if $(filter yes,$(WATCH)),$(COUNTING))

# What every program may be built from.
LIBRARY := $(wildcard $(patsubst %,common/%/*.c,check cpu files measure problem program))

$(COMMON): $(LIBRARY:%.c=$(OBJ)/%.o)
	@rm -f $@
	$(AT)$(AR) rcs $@ $^

# ---- CUDA sources (common/cuda/README.md) ------------------------------------------------------
#
# A .cu file in a folder called kernels, or in one below it, is made into three objects: for the CPU, for the CPU with every
# access to memory instrumented, and, with GPU=yes as in `make cuda`, by nvcc for GPUs.

ifeq ($(origin CXX),default)
cxx_of = $(if $(findstring clang,$1),$(subst clang,clang++,$1),$(subst gcc,g++,$(patsubst cc,c++,$1)))
CXX := $(foreach w,$(CC),$(if $(findstring /,$w),$(dir $w))$(call cxx_of,$(notdir $w)))
endif
# By its own word: on macOS c++ is clang.
CXX_IS_CLANG := $(findstring clang,$(shell $(CXX) --version 2>/dev/null))
CXX_FLAGS = -std=c++17 -ffp-contract=off $(filter-out -Wstrict-prototypes,$(WARNINGS)) $(STRICT) \
            $(INCLUDES) $(CFLAGS)
# -O1 keeps accesses apart that belong to different lines, and clang is told not to leave out a read that
# a write to the same place follows. Other sanitizers cannot watch as well.
INSTRUMENTED_FLAGS := -O1 -g -fno-sanitize=all -fsanitize=thread -U_FORTIFY_SOURCE -DCUDA_INSTRUMENTED \
                 $(if $(CXX_IS_CLANG),-mllvm -tsan-instrument-read-before-write=1)
# Kernels are many templates, and most of their time on a CPU is the emulator's: with -Og they are compiled three
# times as fast as with -O2. They tell nvcc which loops to unroll; other compilers know better, or do not know the
# word. Of DWARF 5 addr2line (binutils 2.40) takes the wrong file where a #line names another.
KERNEL_FLAGS  := -Og -gdwarf-4 $(if $(CXX_IS_CLANG),-Wno-pass-failed -Wno-sign-conversion,-Wno-unknown-pragmas)
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

# make 3.81 starts a command without a shell if nothing in it needs one, and finds no program called command: 2> does.
NVCC       ?= $(or $(shell command -v nvcc 2>/dev/null),$(firstword $(wildcard /usr/local/cuda/bin/nvcc)))
GPU_OWN     = $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep '^[0-9]*[.][0-9]*$$'))
GPU_ARCH   ?= $(filter 75 80 86 89 90 120 $(GPU_OWN),$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch 2>/dev/null)))
# GPU_ARCH=native, or for example GPU_ARCH="80 90": for these alone, which is done sooner. What needs a newer GPU
# is made for the oldest that it runs on, so that the program is whole.
ARCHS       = $(if $(filter native,$(GPU_ARCH)),$(or $(sort $(GPU_OWN)),$(error GPU_ARCH=native: nvidia-smi names no GPU here)),$(GPU_ARCH))
NVCC_STRICT ?= -Werror all-warnings -Xptxas -Werror#   empty: a compiler that nobody has tried may warn of other things
NVCC_FLAGS  = -std=c++17 -O3 -lineinfo -I. $(NVCC_STRICT) -Xcompiler -Wall,-Wextra -Xptxas -warn-spills \
              $(foreach a,$(MADE_FOR),-gencode arch=compute_$(call PTX_OF,$a),code=sm_$a)
MADE_FOR    = $(or $(ONLY_FOR),$(filter-out $(TOO_OLD),$(ARCHS)),80)
# For these kinds of GPU ptxas makes the same instructions from an older kind's PTX as from their own, so PTX is made
# once, for the oldest that is asked for, and __CUDA_ARCH__ is that one's. A kernel that uses what came with 9.0 has
# HAS_MORE_ON_90 in a comment. For 12.0 the instructions would be others.
SAME_PTX    = 75 80 86 89 $(if $(HAS_MORE_ON_90),,90)
PTX_OF      = $(if $(filter $(SAME_PTX),$1),$(firstword $(foreach a,$(SAME_PTX),$(filter $a,$(MADE_FOR)))),$1)
# The runtime becomes part of a program, which then finds it wherever it runs.
GPU_LIBS    = $(if $(GPU),-L$(dir $(NVCC))../lib64 -lcudart_static -lpthread -ldl -lrt)
# Tensor cores, as these kernels use them, came with compute capability 8.0; turing's are older.
$(foreach c,$(CHAPTERS),$(OBJ)/gpu/$c/kernels/2_tensor_cores/%.o): TOO_OLD = 75
$(OBJ)/gpu/06_flash_tiled_cuda/kernels/2_tensor_cores/turing.o: TOO_OLD =
$(patsubst %.cu,$(OBJ)/gpu/%.o,$(shell grep -l HAS_MORE_ON_90 /dev/null $(wildcard 0*/kernels/*/*.cu))): HAS_MORE_ON_90 = yes
# Those for Hopper are for that alone. What ptxas only notes is then an error: products that wait for one another, ignored
# register counts, fences that it had to add.
$(foreach c,$(CHAPTERS),$(OBJ)/gpu/$c/kernels/3_hopper/%.o): ONLY_FOR = 90a
# Beside an object stays what ptxas said, and in NAME.nvcc what it made for each kind of GPU: for common/tools/sass.py.
$(OBJ)/gpu/%.o: %.cu
	$(call SAY,nvcc $<)
	@rm -rf $(@:.o=.nvcc)
	@mkdir -p $(@:.o=.nvcc)
	$(AT)$(NVCC) $(NVCC_FLAGS) -Xptxas -v -keep -keep-dir $(@:.o=.nvcc) -MMD -MP -c $< -o $@ \
	    >$(@:.o=.log) 2>&1 || { grep -v '^ptxas info' $(@:.o=.log) >&2; exit 1; }
	@! grep -E '\(C75[0-9]{2}\)' $(@:.o=.log) >&2 || { rm -f $@; exit 1; }
	@find $(@:.o=.nvcc) -type f ! -name '*.cubin' -delete

# The objects of a folder of kernels, which need the folder's .cuh files as C++ too, and those of an earlier chapter's that
# they include. All have to be there first; which of them an object is made from its .d file says.
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
