# The commands of the course; `make help` lists them. Everything that is built goes to build/.
# Written for GNU make 3.81 and later, and safe with -j.

ifneq ($(words $(CURDIR)),1)
$(error make cannot handle a space in a path: please move the course out of "$(CURDIR)")
endif

$(foreach v,CC CXX,$(if $(strip $($v)),,$(error expected a compiler, but $v is empty: say $v=..., or leave it out)))

BUILD  ?= build
export BUILD
# In some languages 0.5 is written 0,5, and then awk takes the one for 0 and prints the other.
export LC_ALL := C
CFLAGS ?= -O2 -g
# What `setup.sh unpack` has put there for somebody who may not install it.
UNPACKED := $(wildcard $(CURDIR)/build/packages/usr)
ifneq ($(UNPACKED),)
export PATH := $(UNPACKED)/bin:$(PATH)
export CRITERION_CFLAGS  ?= -isystem $(UNPACKED)/include
export CRITERION_LDFLAGS ?= -Wl,--disable-new-dtags $(foreach d,$(wildcard $(UNPACKED)/lib/*-linux-*),-L$d -Wl,-rpath,$d)
endif
# Homebrew's folder, which compilers do not search by themselves: common/setup.sh has the same.
BREW := $(shell command -v brew >/dev/null 2>&1 && brew --prefix)
ifneq ($(and $(BREW),$(wildcard $(BREW)/include/criterion)),)
export CRITERION_CFLAGS  ?= -isystem $(BREW)/include
export CRITERION_LDFLAGS ?= -L$(BREW)/lib -Wl,-rpath,$(BREW)/lib
endif
STRICT ?=#   STRICT=-Werror makes every warning an error, as CI does
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
FLAGS = -std=c17 -ffp-contract=off $(WARNINGS) $(REFUSED) $(STRICT) -I. $(CFLAGS)

BENCH_CUDA = env NVCC='$(NVCC)' sh common/tools/bench_cuda.sh

# The chapters that there are, by number: folder, lesson, and earlier algorithms that it uses.
CHAPTERS  := $(patsubst %/program,%,$(patsubst %/main.c,%,$(wildcard 0[1-7]_*/main.c 0[1-7]_*/program/main.c)))
LESSON_01 := 01_standard_softmax/standard_softmax.c
LESSON_02 := 02_safe_softmax/safe_softmax.c
LESSON_03 := 03_online_softmax/online_softmax.c
LESSON_04 := 04_flash_no_tiling/flash_row.c
LESSON_05 := 05_flash_tiled_cpu/steps/fa1.c
LESSON_06 := 06_flash_tiled_cuda/kernels/1_float32/fa2.cu
LESSON_07 := 07_backward/steps/fa2.c
EARLIER_02 := $(LESSON_01) 01_standard_softmax/lanes.c
EARLIER_03 := $(LESSON_02) 02_safe_softmax/lanes.c
EARLIER_04 := $(LESSON_02) 02_safe_softmax/counted.c 03_online_softmax/softmax_state.c
EARLIER_05 := $(EARLIER_04) 04_flash_no_tiling/flash_no_tiling.c $(LESSON_04)
# Chapter 06 is held against chapter 05's steps, which are files of their own.
EARLIER_06 := $(EARLIER_05) $(filter-out %/counted.c,\
                $(wildcard 05_flash_tiled_cpu/steps/*.c 05_flash_tiled_cpu/fast/*.c))
EARLIER_07 := $(EARLIER_05) 05_flash_tiled_cpu/program/counted.c \
              $(wildcard 05_flash_tiled_cpu/steps/*.c 05_flash_tiled_cpu/fast/*.c)
# Its kernels run on chapter 06's devices.
KERNELS_07 := 06_flash_tiled_cuda/kernels
OBJ    := $(BUILD)/obj
COMMON := $(BUILD)/common.a
CUDA   := $(BUILD)/cuda.a
HASH   := \#
AT     := $(if $(VERBOSE),,@)#   VERBOSE=1 shows the commands; Q and V belong to `make compare`
SAY    = $(if $(or $(VERBOSE),$(QUIET)),,@echo "  $(1)")
SUBMAKE = +@$(MAKE) -s --no-print-directory
# A recipe with a + has make's jobs to give away, and make -n runs it all the same: behind this word it does not.
UNLESS_DRY = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),: )
# As many jobs as there are cores, unless -j says otherwise.
CORES  := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
JOBS    = $(if $(findstring j,$(filter -j% --jobserver%,$(MAKEFLAGS))),,-j$(CORES))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

.PHONY: all
all: $(CHAPTERS:%=$(BUILD)/%) $(BUILD)/compare
	@:

# ---- programs ----------------------------------------------------------------------------------

$(OBJ)/%.o: %.c
	$(call SAY,cc   $<)
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(CPPFLAGS) -MMD -MP -c $< -o $@

# What only a benchmark runs may be made for this machine; other machines get it without.
NATIVE := $(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native)
$(OBJ)/%/lanes.o: FLAGS += -O3 -ffp-contract=fast $(NATIVE)

# A chapter's steps are made for this machine too, and fused multiply-adds are their speed. WIDTH=-mavx2
# makes them for another.
FAST_FLAGS = -O3 -ffp-contract=fast $(or $(WIDTH),$(NATIVE))
$(foreach c,$(CHAPTERS),$(OBJ)/$c/fast/%.o $(OBJ)/witnessed/$c/fast/%.o \
    $(OBJ)/$c/tests/test_vectors.o): FLAGS += $(FAST_FLAGS)

# Threads: OpenMP where the compiler has it, else one.
OPENMP := $(shell printf '$(HASH)include <omp.h>\nint main(void){return omp_get_max_threads()<1;}' | \
            $(CC) -fopenmp -x c - -o /dev/null >/dev/null 2>&1 && echo -fopenmp)

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
            -I. $(CFLAGS)
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
# once, for the oldest that is asked for, and __CUDA_ARCH__ is that one's. A kernel that uses what came with 9.0 has to
# say HAS_MORE_ON_90. For 12.0 the instructions would be others.
SAME_PTX    = 75 80 86 89 $(if $(HAS_MORE_ON_90),,90)
PTX_OF      = $(if $(filter $(SAME_PTX),$1),$(firstword $(foreach a,$(SAME_PTX),$(filter $a,$(MADE_FOR)))),$1)
# The runtime becomes part of a program, which then finds it wherever it runs.
GPU_LIBS    = $(if $(GPU),-L$(dir $(NVCC))../lib64 -lcudart_static -lpthread -ldl -lrt)
# Tensor cores, as these kernels use them, came with compute capability 8.0.
$(foreach c,$(CHAPTERS),$(OBJ)/gpu/$c/kernels/2_tensor_cores/%.o): TOO_OLD = 75
# On 9.0 mma adds four numbers to memory at once, and D makes a float of a bfloat16 by one instruction.
$(OBJ)/gpu/07_backward/kernels/2_tensor_cores/mma.o $(OBJ)/gpu/07_backward/kernels/parts/D.o: HAS_MORE_ON_90 = yes
# Those for Hopper are for that alone. What ptxas only notes is then an error: products that wait for one another, ignored
# register counts, fences that it had to add.
$(foreach c,$(CHAPTERS),$(OBJ)/gpu/$c/kernels/3_hopper/%.o): ONLY_FOR = 90a
# Beside an object stays what ptxas said, and in NAME.nvcc what it made for each kind of GPU: for common/tools/figures.py.
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
KERNEL_OBJ = $(foreach k,$(patsubst %.cu,%,$(wildcard $1/*.cu $1/*/*.cu)),$(OBJ)/cpu/$k.o $(OBJ)/instrumented/$k.o \
             $(if $(GPU),$(OBJ)/gpu/$k.o))
KERNEL_DIRS := $(wildcard 0*/kernels common/cuda/tests/kernels)
define kernels
$(patsubst %.cu,$(OBJ)/cpu/%.o,$(wildcard $1/*.cu $1/*/*.cu)) \
$(patsubst %.cu,$(OBJ)/instrumented/%.o,$(wildcard $1/*.cu $1/*/*.cu)): \
    | $(patsubst %,$(OBJ)/cuda/%,$(foreach f,$1 $(if $(filter 07_%,$1),$(KERNELS_07)),$(wildcard $f/*.cuh $f/*/*.cuh)))
endef
$(foreach d,$(KERNEL_DIRS),$(if $(wildcard $d/*.cuh $d/*/*.cuh),$(eval $(call kernels,$d))))

$(BUILD)/compare: $(patsubst %.c,$(OBJ)/%.o,$(wildcard common/tools/*.c)) $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ -lm

# ---- tests -------------------------------------------------------------------------------------
#
# A result is a file of three numbers (passed, failed, skipped) that a script leaves in
# build/results; the last line of `make test` adds them up. There are four kinds:
#   NAME          the Criterion tests of a chapter, or of common
#   NAME-witness  the counted accesses against those the machine makes (common/tests/witness.h)
#   NAME-stepper  a page with a program of its own, in a browser where there is one
#   NAME.MUTANT   a wrong version of the chapter, which the chapter's tests must reject
#                 (NAME.unharmed: a copy with nothing wrong in it, which they must not)

# To a lesson that a student has changed its mutants may no longer apply. With STUDENT=yes, as in
# `make test-03`, these are skipped; for the course itself they have failed.

SUITES ?= tests witness mutants pages python
ONLY   ?= common cuda python $(CHAPTERS)

TEST_FLAGS = $(CRITERION_CFLAGS)
TEST_LIBS  = $(CRITERION_LDFLAGS) -lcriterion -lm
TEST_TOOLS = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(patsubst %,common/tests/%.c,problems ladder_output \
               command command_line forward backward golden softmax_rows softmax_program))) $(COMMON)
# ALONE=yes: without Criterion. common/tests/alone has as much of it as the tests of kernels use.
ifneq ($(ALONE),)
TEST_FLAGS = -Icommon/tests/alone
TEST_LIBS  = -lm
TEST_TOOLS += $(OBJ)/common/tests/alone/alone.o
endif
WITNESS    = $(patsubst %,$(OBJ)/common/tests/%.o,witness softmax_witness problems)
RESULTS    := $(BUILD)/results
RUN_TESTS  = $(AT)STUDENT=$(STUDENT) sh common/tools/run_tests.sh

$(OBJ)/common/tests/%.o $(foreach c,$(CHAPTERS),$(OBJ)/$c/tests/%.o): CPPFLAGS += $(TEST_FLAGS)

# Reports every access to memory: common/tests/witness.h. Loops stay loops, copies are seen, gcc does not move a read into
# the branch that needs it (14 and later would), and clang does not leave out a read that a write to the same place follows.
WITNESS_FLAGS := -O1 -fno-builtin -fsanitize=thread -U_FORTIFY_SOURCE -Dmemcpy=witness_memcpy \
                 -Dmemmove=witness_memmove -Dmemset=witness_memset \
                 $(if $(IS_CLANG),-mllvm -tsan-instrument-read-before-write=1,-fno-tree-sink)
$(OBJ)/witnessed/%.o: %.c
	$(call SAY,cc   $< (instrumented))
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(WITNESS_FLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

# A program with CUDA sources is linked by the C++ compiler.
LINKER = $(CC) $(FLAGS)
$(BUILD)/tests/%:
	$(call SAY,link $@)
	@mkdir -p $(@D)
	$(AT)$(LINKER) $(OPENMP) $(LDFLAGS) $^ -o $@ $(TEST_LIBS) $(MORE_LIBS)

$(BUILD)/tests/common: $(patsubst %.c,$(OBJ)/%.o,$(wildcard common/tests/test_*.c)) $(TEST_TOOLS)

# The emulator's own tests, and the program that makes the mistakes which it has to report.
CUDA_TESTS := common/cuda/tests
PLANTED_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(CUDA_TESTS)/planted.c $(CUDA_TESTS)/planted/*.c))
$(BUILD)/tests/cuda: LINKER = $(CXX) $(CXX_FLAGS)
$(BUILD)/tests/cuda: MORE_LIBS = $(CUDA_LIBS)
$(OBJ)/$(CUDA_TESTS)/%.o: CPPFLAGS += $(TEST_FLAGS)
$(BUILD)/tests/cuda: $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(CUDA_TESTS)/test_*.c)) $(PLANTED_OBJ) \
    $(call KERNEL_OBJ,$(CUDA_TESTS)/kernels) $(CUDA) $(TEST_TOOLS)
$(BUILD)/cuda-bugs: $(OBJ)/$(CUDA_TESTS)/bugs.o $(PLANTED_OBJ) \
    $(call KERNEL_OBJ,$(CUDA_TESTS)/kernels) $(CUDA) $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CXX) $(CXX_FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ $(CUDA_LIBS)

# PTX for a GPU against the same tables.
GPU_TESTS := $(OBJ)/gpu/$(CUDA_TESTS)/kernels
$(BUILD)/tests/instructions: LINKER = $(CXX) $(CXX_FLAGS)
$(BUILD)/tests/instructions: MORE_LIBS = $(CUDA_LIBS) $(GPU_LIBS)
$(GPU_TESTS)/hopper.o $(GPU_TESTS)/wgmma.o: ONLY_FOR = 90a
$(GPU_TESTS)/tensor.o: TOO_OLD = 75
$(BUILD)/tests/instructions: $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(CUDA_TESTS)/test_*.c) $(CUDA_TESTS)/gpu.c) $(PLANTED_OBJ) \
    $(filter-out $(OBJ)/gpu/%,$(call KERNEL_OBJ,$(CUDA_TESTS)/kernels)) \
    $(GPU_TESTS)/hopper.o $(GPU_TESTS)/wgmma.o $(GPU_TESTS)/tensor.o $(CUDA) $(TEST_TOOLS)

# The emulator on a processor of another kind, which qemu stands in for, without Criterion.
$(BUILD)/cuda-alone: TEST_FLAGS = -Icommon/tests/alone
$(BUILD)/cuda-alone: $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(CUDA_TESTS)/test_*.c)) $(PLANTED_OBJ) \
    $(call KERNEL_OBJ,$(CUDA_TESTS)/kernels) $(CUDA) $(OBJ)/common/tests/alone/alone.o \
    $(OBJ)/common/tests/command.o $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CXX) $(CXX_FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ $(CUDA_LIBS)

.PHONY: $(RESULTS)/cuda
$(RESULTS)/cuda: $(BUILD)/tests/cuda $(BUILD)/cuda-bugs
	$(RUN_TESTS) $< $@ $(wildcard $(CUDA_TESTS)/test_*.c)

.PHONY: $(RESULTS)/common
$(RESULTS)/common: $(BUILD)/tests/common $(BUILD)/compare $(BUILD)/peers/resident
	$(RUN_TESTS) $< $@ $(wildcard common/tests/test_*.c)

RESULTS_tests     := $(RESULTS)/common $(RESULTS)/cuda
RESULTS_witness   :=
RESULTS_mutants   :=
RESULTS_pages     := $(if $(STUDENT),,$(RESULTS)/05_flash_tiled_cpu-stepper)
RESULTS_WANTED     = $(filter $(foreach c,$(ONLY),$(RESULTS)/$c $(RESULTS)/$c-% $(RESULTS)/$c.%),\
                       $(foreach s,$(SUITES),$(RESULTS_$s)))

.PHONY: test tests
test: setup-test
	$(SUBMAKE) $(JOBS) tests

tests:
	@rm -f $(filter-out $(RESULTS_mutants),$(RESULTS_WANTED))
	$(SUBMAKE) -k QUIET=1 $(RESULTS_WANTED) 2>&1 | \
	    grep --line-buffered -v '^make.*\(Error\|not remade because\)' || true
	@STUDENT=$(STUDENT) sh common/tools/tally.sh $(RESULTS_WANTED)

# All tests once more, under the compiler's own checks. -g1 says the lines; with more gcc takes half a minute
# for one file of vectors.
.PHONY: sanitize
sanitize: setup-test
	$(SUBMAKE) $(JOBS) tests BUILD=$(BUILD)/sanitized SUITES=tests \
	    CFLAGS='-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'

# BROWSER=required: without Chromium the page has failed, and is not skipped. A student's lesson may
# print other traces than the course's: STUDENT=yes leaves the page out.
.PHONY: $(RESULTS)/05_flash_tiled_cpu-stepper
$(RESULTS)/05_flash_tiled_cpu-stepper: $(BUILD)/05_flash_tiled_cpu
	$(AT)BROWSER=$(BROWSER) sh common/tools/stepper_test.sh $(BUILD) $@

# ---- each chapter: its program, its tests, its mutants, its commands ---------------------------

# $1 is the chapter's folder, $2 its number.
define chapter
C_OBJ_$2         := $$(patsubst %.c,$(OBJ)/%.o,$$(EARLIER_$2) \
    $$(filter-out %/main.c,$$(wildcard $1/*.c $1/program/*.c $1/steps/*.c $1/fast/*.c $1/kernels/*/*.c)))
ALGORITHM_OBJ_$2 := $$(C_OBJ_$2) $$(patsubst %.c,$(OBJ)/%.o,$$(wildcard $1/program/cuda/*.c)) \
    $$(call KERNEL_OBJ,$1/kernels) $$(if $$(KERNELS_$2),$$(call KERNEL_OBJ,$$(KERNELS_$2)) \
      $$(patsubst %.c,$(OBJ)/%.o,$$(wildcard $$(KERNELS_$2)/*/*.c))) \
    $$(if $$(wildcard $1/kernels/*/*.cu),$(CUDA))

HAS_KERNELS_$2 := $(wildcard $1/kernels/*/*.cu)
CHAPTER_LINKER_$2 = $$(if $$(HAS_KERNELS_$2),$$(CXX) $$(CXX_FLAGS),$$(CC) $$(FLAGS))
ifneq ($(wildcard $1/kernels/*/*.cu),)
$(BUILD)/$1 $(BUILD)/tests/$1 $(BUILD)/tests/$1-witness: LINKER = $$(CHAPTER_LINKER_$2)
$(BUILD)/$1 $(BUILD)/tests/$1 $(BUILD)/tests/$1-witness: MORE_LIBS = $$(CUDA_LIBS) $$(GPU_LIBS)
endif

$(BUILD)/$1: $$(patsubst %.c,$(OBJ)/%.o,$$(wildcard $1/main.c $1/program/main.c)) $$(ALGORITHM_OBJ_$2) $(COMMON)
	$$(call SAY,link $$@)
	$$(AT)$$(LINKER) $(OPENMP) $$(LDFLAGS) $$^ -o $$@ $$(MORE_LIBS) -lm

# The tests, and what several of them need: a file in tests/ that has a header.
TEST_OBJ_$2 := $$(patsubst %.c,$(OBJ)/%.o,$$(wildcard $1/tests/test_*.c $$(patsubst %.h,%.c,$$(wildcard $1/tests/*.h))))
$(BUILD)/tests/$1: $$(TEST_OBJ_$2) $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS)

# The counted build as it is, all else with every access reported.
HAS_WITNESS_$2 := $(wildcard $1/tests/witness.c)
WITNESSED_OBJ_$2 := $$(filter %/counted.o,$$(C_OBJ_$2)) $$(patsubst $(OBJ)/%,\
                    $(OBJ)/witnessed/%,$$(filter-out %/counted.o,$$(C_OBJ_$2)))
$(BUILD)/tests/$1-witness: $(OBJ)/$1/tests/witness.o $$(WITNESSED_OBJ_$2) $(WITNESS) $(COMMON)

.PHONY: $(RESULTS)/$1 $(RESULTS)/$1-witness
$(RESULTS)/$1: $(BUILD)/tests/$1 $(BUILD)/$1
	$$(RUN_TESTS) $$< $$@ $$(wildcard $1/tests/test_*.c)
$(RESULTS)/$1-witness: $(BUILD)/tests/$1-witness
	$$(RUN_TESTS) $$< $$@ $1/tests/witness.c

# Where the tests themselves are asked for too they come first, and a copy need not run them again.
TESTED_$2 := $$(filter $(RESULTS)/$1 $(RESULTS)/$1-witness,$$(MAKECMDGOALS))
$(RESULTS)/$1.unharmed: | $$(TESTED_$2)
MUTANTS_$2 := $$(patsubst $1/tests/mutants/%.patch,$(RESULTS)/$1.%,$$(wildcard $1/tests/mutants/*.patch))
$$(MUTANTS_$2): $(RESULTS)/$1.%: $1/tests/mutants/%.patch | $(RESULTS)/$1.unharmed
$$(MUTANTS_$2) $(RESULTS)/$1.unharmed: $$(wildcard $1/*.[ch] $1/*/*.[ch] $1/*/*/*.[ch] $1/*/*/*.cu $1/*/*/*.cuh) \
                    $(BUILD)/tests/$1 $$(if $$(HAS_WITNESS_$2),$(BUILD)/tests/$1-witness) common/tools/mutant.sh
	$$(AT)STUDENT=$(STUDENT) TESTED='$$(TESTED_$2)' OBJ='$(OBJ)' CC='$$(CC)' CXX='$$(CXX)' CXX_FLAGS='$$(CXX_FLAGS) $$(KERNEL_FLAGS)' \
	    INSTRUMENTED_FLAGS='$$(INSTRUMENTED_FLAGS)' LINKER='$$(CHAPTER_LINKER_$2) $(OPENMP)' \
	    LIBS='$$(TEST_LIBS) $$(if $$(HAS_KERNELS_$2),$$(CUDA_LIBS))' \
	    FLAGS='$$(FLAGS) $(OPENMP) $$(TEST_FLAGS)' WITNESS_FLAGS='$(WITNESS_FLAGS)' FAST_FLAGS='$(FAST_FLAGS)' \
	    TESTS='$$(TEST_OBJ_$2) $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS)' \
	    WITNESS='$$(if $$(HAS_WITNESS_$2),$(OBJ)/$1/tests/witness.o $$(WITNESSED_OBJ_$2) $(WITNESS) $(COMMON))' \
	    sh common/tools/mutant.sh $1 '$$(filter %.patch,$$^)' $$@ $(BUILD)/mutants/$$(@F)

RESULTS_tests   += $(RESULTS)/$1
RESULTS_witness += $$(if $$(HAS_WITNESS_$2),$(RESULTS)/$1-witness)
RESULTS_mutants += $(RESULTS)/$1.unharmed $$(MUTANTS_$2)

.PHONY: $2 test-$2 check-$2 bench-$2 diff-$2
$2 bench-$2: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/$1
	@$$(if $$(filter 06,$2),$$(and $$(filter bench-%,$$@),$$(wildcard $(BUILD)/cuda/$1),\
	    exec $(BENCH_CUDA) $(BUILD)/cuda/$1 $1; ))$(BUILD)/$1 $$(if $$(filter bench-%,$$@),--bench)
	$$(if $$(filter 07,$2),$$(and $$(filter bench-%,$$@),$$(wildcard $(BUILD)/cuda/$1),\
	    @$(BENCH_CUDA) $(BUILD)/cuda/$1 $1 || [ $$$$? -eq 77 ]))
test-$2: setup-test
	$(SUBMAKE) $(JOBS) tests ONLY=$1 STUDENT=yes
check-$2: setup-test
	$(SUBMAKE) $(JOBS) tests ONLY=$1 SUITES='tests witness'
	$(SUBMAKE) docs-check PAGES='$$(wildcard $1/*.md $1/*/*.md)'
diff-$2:
	$$(if $$(wildcard $1/*/table.h),$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/$1)
	@sh common/tools/diff.sh '$$(LESSON_$(shell expr $2 - 1 | sed 's/^/0/'))' '$$(LESSON_$2)' $1 \
	    '$(STEP)' $$(if $$(wildcard $1/*/table.h),$(BUILD)/$1)
endef
$(foreach c,$(CHAPTERS),$(eval $(call chapter,$c,$(firstword $(subst _, ,$c)))))

# A chapter's best against the libraries, on this machine: common/peers/. The programs that it takes
# are built for this machine, and need no library to be built.
PEER  := $(OBJ)/common/peers/peer.o $(COMMON)
PEERS := $(patsubst %,$(BUILD)/peers/%,composed referee resident 05_flash_tiled_cpu 07_backward)
$(OBJ)/common/peers/composed.o: FLAGS += $(FAST_FLAGS)
$(BUILD)/peers/composed: $(OBJ)/common/peers/composed.o $(OBJ)/common/peers/sgemm.o $(PEER)
$(BUILD)/peers/referee: $(OBJ)/common/peers/referee.o $(COMMON)
$(BUILD)/peers/resident: $(OBJ)/common/peers/resident.o
$(BUILD)/peers/05_flash_tiled_cpu: $(OBJ)/05_flash_tiled_cpu/program/peers/course.o $(ALGORITHM_OBJ_05) $(PEER)
$(BUILD)/peers/07_backward: $(OBJ)/07_backward/program/peers/course.o $(C_OBJ_07) $(PEER)
$(PEERS):
	$(call SAY,link $@)
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ -ldl -lm

# Threads under a race detector.
.PHONY: racecheck-05 racecheck-07
racecheck-05: setup-run
	@sh common/tools/racecheck.sh 05_flash_tiled_cpu \
	    05_flash_tiled_cpu/tests/mutants/threads_share_a_tile.patch \
	    03_online_softmax/softmax_state.c 02_safe_softmax/safe_softmax.c $(LIBRARY)

# Chapter 05 and the CUDA emulator as another kind of processor runs them.
.PHONY: test-aarch64
test-aarch64:
	@sh common/setup.sh aarch64
	@sh common/tools/aarch64.sh $(BUILD)/aarch64

# Kernels under the course's own race detector, and in several orders of their threads.
$(BUILD)/racecheck-07: $(OBJ)/07_backward/tests/race_cuda.o $(ALGORITHM_OBJ_07) $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CHAPTER_LINKER_07) $(OPENMP) $(LDFLAGS) $^ -o $@ $(CUDA_LIBS) $(GPU_LIBS)
$(BUILD)/racecheck-06: $(OBJ)/06_flash_tiled_cuda/tests/race.o $(ALGORITHM_OBJ_06) $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CHAPTER_LINKER_06) $(OPENMP) $(LDFLAGS) $^ -o $@ $(CUDA_LIBS) $(GPU_LIBS)
.PHONY: racecheck-06
racecheck-06: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/racecheck-06
	@PLANTED=$(PLANTED) sh common/tools/racecheck_cuda.sh $(BUILD) 06_flash_tiled_cuda

# The same programs with their kernels for GPUs as well, in build/cuda.
.PHONY: cuda
cuda: setup-run
	@[ -n "$(NVCC)" ] || { echo "make cuda: no nvcc here; CUDA's toolkit (12.8 or later) has it"; exit 2; }
	$(SUBMAKE) $(JOBS) all GPU=yes BUILD=$(BUILD)/cuda CFLAGS='$(CFLAGS) -DWITH_GPU'

# What the kernels take of a GPU, by nvcc's word, and their instructions; it needs none. What make cuda has
# made is looked at, and not made again.
GPU_OBJ = $(patsubst %.cu,$(BUILD)/cuda/obj/gpu/%.o,$(wildcard 06_flash_tiled_cuda/kernels/*/*.cu 07_backward/kernels/*/*.cu))
.PHONY: cuda-table cuda-check
cuda-table cuda-check:
	$(if $(NVCC),$(SUBMAKE) $(JOBS) $(GPU_OBJ) GPU=yes BUILD=$(BUILD)/cuda)
	@NVCC='$(NVCC)' BUILD='$(BUILD)' python3 common/tools/course.py figures $(if $(filter %-table,$@),make,check)

# All tests natively, and NVIDIA's own checkers where they are. 77: there is no GPU.
.PHONY: test-cuda
test-cuda: setup-test
	@[ -n "$(NVCC)" ] || { echo "SKIPPED: no nvcc here"; exit 77; }
	$(SUBMAKE) $(JOBS) $(foreach c,06_flash_tiled_cuda 07_backward,$(BUILD)/cuda/$c $(BUILD)/cuda/tests/$c) \
	    $(BUILD)/cuda/tests/instructions GPU=yes BUILD=$(BUILD)/cuda CFLAGS='$(CFLAGS) -DWITH_GPU'
	@$(BUILD)/cuda/tests/instructions --filter 'gpu/*'
	@for chapter in 06_flash_tiled_cuda 07_backward; do \
	    sh common/tools/test_cuda.sh $(BUILD)/cuda $$chapter || exit; \
	done

# What a machine with a GPU can do for the course, one step after the other (common/tools/gpu.sh), for this machine's GPU
# alone: it takes nvcc and a compiler, and neither Criterion nor a network.
.PHONY: gpu
gpu:
	@[ -n "$(NVCC)" ] || { echo "SKIPPED: no nvcc here; CUDA's toolkit (12.8 or later) has it"; exit 77; }
	@[ -n "$(GPU_OWN)" ] || { echo "SKIPPED: nvidia-smi names no GPU here"; exit 77; }
	$(SUBMAKE) $(JOBS) $(foreach c,06_flash_tiled_cuda 07_backward,$(BUILD)/gpu/$c $(BUILD)/gpu/tests/$c) \
	    $(BUILD)/gpu/tests/instructions GPU=yes ALONE=yes BUILD=$(BUILD)/gpu CFLAGS='$(CFLAGS) -DWITH_GPU' $(if $(filter command environment,$(origin GPU_ARCH)),,GPU_ARCH='$(sort $(GPU_OWN))')
	@NVCC='$(NVCC)' sh common/tools/gpu.sh $(BUILD)/gpu $(STEPS)

racecheck-07: setup-run
	@sh common/tools/racecheck.sh 07_backward 07_backward/tests/mutants/turn_not_awaited.patch \
	    07_backward/program/forward.c $(EARLIER_07) $(LIBRARY)
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/racecheck-07
	@PLANTED=$(PLANTED) sh common/tools/racecheck_cuda.sh $(BUILD) 07_backward

# ---- Python (common/python/README.md) ----------------------------------------------------------
#
# build/libflash.so is made of position-independent objects of its own, in build/library. Chapters use the
# same names, so the objects of each become one, of which only the binding is visible; Darwin's linker hides
# the rest by itself.

LIBRARY_FLAGS := -fPIC -fvisibility=hidden
BINDINGS   := $(patsubst 0%/program/python/binding.c,$(OBJ)/bindings/0%.o,$(wildcard 0*/program/python/binding.c))
DARWIN  := $(filter Darwin,$(shell uname -s))
OBJCOPY ?= objcopy

$(OBJ)/bindings/%.o:
	$(call SAY,link $@)
	@mkdir -p $(@D)
	$(AT)$(CC) -r -nostdlib $(if $(DARWIN),,-Wl,--force-group-allocation) $^ -o $@
	$(if $(DARWIN),,$(AT)$(OBJCOPY) --keep-global-symbol=binding_$(firstword $(subst _, ,$*)) $@)
define binding
$(OBJ)/bindings/$1.o: $(OBJ)/$1/program/python/binding.o $(OBJ)/common/python/binding.o $$(ALGORITHM_OBJ_$(firstword $(subst _, ,$1))) $(COMMON)
endef
$(foreach d,$(BINDINGS),$(eval $(call binding,$(basename $(notdir $d)))))

$(BUILD)/libflash.so: $(BINDINGS)
	$(call SAY,link $@)
	$(AT)$(CXX) $(CXX_FLAGS) $(OPENMP) -shared $(LDFLAGS) $^ -o $@ $(CUDA_LIBS)

.PHONY: library python python-check minilm test-python
library:
	$(SUBMAKE) $(JOBS) $(BUILD)/library/libflash.so BUILD=$(BUILD)/library \
	    CFLAGS='$(CFLAGS) $(LIBRARY_FLAGS)'
	@cmp -s $(BUILD)/library/libflash.so $(BUILD)/libflash.so || \
	    cp $(BUILD)/library/libflash.so $(BUILD)/libflash.so
python: setup-run library
	@echo "$(BUILD)/libflash.so is there; common/python/README.md says what it is good for"
# The scripts have the library made when it is certain that there is somebody to call it.
python-check minilm: setup-run
	+@$(UNLESS_DRY)MAKE_LIBRARY='$(MAKE) -s --no-print-directory $(JOBS) library' sh common/python/$(@:python-%=%).sh $(STEP)
test-python: setup-test
	$(if $(HAS_NUMPY),$(SUBMAKE) $(JOBS) tests ONLY=python,\
	    @echo 'skipped: no python3 with NumPy here; sh common/python/fetch.sh numpy fetches it')

# Tests and wrong versions, where there is a python3 with NumPy; else no library is built for them.
PYTHON_TEST    = $(AT)MAKE='$(MAKE)' sh common/python/test.sh $@
HAS_NUMPY      = $(shell BUILD='$(BUILD)' PYTHON='$(PYTHON)'; . common/python/find.sh; echo "$$python")
PYTHON_MUTANTS := $(patsubst common/python/mutants/%.patch,$(RESULTS)/python.%,$(wildcard common/python/mutants/*.patch))
PYTHON_PROGRAMS := $(BUILD)/05_flash_tiled_cpu $(BUILD)/06_flash_tiled_cuda $(BUILD)/07_backward
RESULTS_python := $(RESULTS)/python $(PYTHON_MUTANTS)
.PHONY: $(RESULTS_python) library-for-tests
library-for-tests:
	$(if $(HAS_NUMPY),$(SUBMAKE) QUIET=1 library)
$(RESULTS)/python: library-for-tests $(PYTHON_PROGRAMS)
	$(PYTHON_TEST)
$(PYTHON_MUTANTS): $(RESULTS)/python.%: common/python/mutants/%.patch library-for-tests $(PYTHON_PROGRAMS)
	$(PYTHON_TEST) $< $(BUILD)/mutants/$(@F)

.PHONY: build-tests
build-tests: $(patsubst $(RESULTS)/%,$(BUILD)/tests/%,$(RESULTS_tests) $(RESULTS_witness)) \
    $(patsubst %.c,$(OBJ)/%.o,$(wildcard 0*/program/python/binding.c common/python/binding.c))

# What a class needs; a starter, which is handed out to one, has a copy of this file and none of these.
CLASSROOM_MK := $(wildcard common/classroom/classroom.mk common/classroom/grading.mk)
include $(CLASSROOM_MK)

# ---- the course as a whole ---------------------------------------------------------------------

.PHONY: fresh run compare plots plots-check docs docs-check check-docs format format-check lint fuzz cachegrind-05 \
        clean help help-all setup-run setup-test peers peers-05 peers-07 build-peers results
run: setup-run
	@[ -f $(BUILD)/compare ] || echo "Building the course, which takes a minute or two the first time"
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@sh common/tools/run.sh $(BUILD) $(CHAPTERS)

plots plots-check: setup-run
	@sh common/setup.sh plots
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@sh common/tools/plots.sh $@ $(BUILD)

# The script finds INPUT, Q and the others in its environment, where make puts them.
compare: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@sh common/tools/compare.sh $(BUILD) $(CHAPTERS)

build-peers: $(PEERS)
peers: peers-05 peers-07
peers-05 peers-07: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all build-peers
	@sh common/peers/peers.sh $(BUILD) $(filter $(@:peers-%=%)_%,$(CHAPTERS))

# This machine, measured: its file in common/results, and the tables of the pages that are made from such files.
results: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all build-peers
	@for chapter in $(filter 05_% 07_%,$(CHAPTERS)); do \
	    TARGET=results sh common/peers/peers.sh $(BUILD) $$chapter || exit; \
	done
	@TARGET=results sh common/peers/memory.sh $(BUILD) "$$(cat $(BUILD)/peers/written)"
	@sh common/tools/docs.sh docs $$(grep -l 'sh common/peers/\|figures chapters' $(PAGES))

PAGES = README.md $(sort $(wildcard common/*.md common/*/*.md common/*/pages/*.md $(CHAPTERS:%=%/*.md) $(CHAPTERS:%=%/*/*.md)))
docs docs-check: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all $(BUILD)/cuda-bugs
	@printf '%s\n' $(PAGES) $(wildcard $(CHAPTERS:%=%/pages/*.html)) | TIMES=$(TIMES) \
	    xargs -P $(if $(TIMES),1,$(CORES)) -n 1 sh common/tools/docs.sh $@  # what is timed runs alone
	@sh common/tools/links.sh $(PAGES)
	@sh common/tools/pages.sh $(PAGES)
	@sh common/tools/chain.sh $(filter 06_% 07_%,$(CHAPTERS))  # which are read page by page

# Every command of every page, but for those that build by hand: common/tools/compile_lines.sh.
check-docs: setup-test
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@sh common/tools/commands.sh $(PAGES)

C_FILES    = $(shell find common 0* -name '*.[ch]' | sort)
CUDA_FILES = $(shell find common 0* -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | sort)
CLANG_FORMAT ?= $(firstword $(wildcard /usr/bin/clang-format-14) clang-format)
CLANG_TIDY   ?= $(firstword $(wildcard /usr/bin/clang-tidy-14) clang-tidy)
HAVE = @command -v $(1) >/dev/null || { echo "make $@: no $(1) here; sh common/setup.sh lint installs it" >&2; exit 2; }
format:
	$(call HAVE,$(CLANG_FORMAT))
	$(AT)$(CLANG_FORMAT) -i $(C_FILES) $(CUDA_FILES)
format-check:
	$(call HAVE,$(CLANG_FORMAT))
	$(AT)$(CLANG_FORMAT) --dry-run -Werror $(C_FILES) $(CUDA_FILES)
# A file at a time on every core; what is said of one stays together.
TIDY = xargs -P $(CORES) -n 1 sh -c 'said=$$($(CLANG_TIDY) --quiet "$$0" -- $(1) 2>&1) || \
    { printf "%s\n" "$$said"; exit 1; }'
lint:
	@sh common/tools/layers.sh
	$(call HAVE,$(CLANG_TIDY))
	@printf '%s\n' $(filter %.c,$(C_FILES)) | $(call TIDY,$(FLAGS) $(TEST_FLAGS))
	@printf '%s\n' $(filter %.cpp,$(CUDA_FILES)) | $(call TIDY,$(CXX_FLAGS))

# The Python of common/tools on fixtures.
.PHONY: test-tools
test-tools:
	@python3 -m unittest discover -q -s common/tools/tests

# The .npy reader fed with random bytes, by clang's libFuzzer.
SECONDS_OF_FUZZ ?= 600
$(BUILD)/fuzz_npy: common/tests/fuzz_npy.c $(LIBRARY)
	$(call HAVE,clang)
	@mkdir -p $(@D)
	$(AT)clang -g -O1 -std=c17 -fsanitize=fuzzer,address,undefined -I. $^ -o $@ -lm
fuzz: $(BUILD)/fuzz_npy
	$< -max_total_time=$(SECONDS_OF_FUZZ) -max_len=4096 -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/ >$(BUILD)/fuzz.log 2>&1 || { tail -n 40 $(BUILD)/fuzz.log; exit 1; }
	@grep -E 'Done|number_of_executed' $(BUILD)/fuzz.log

# Chapter 05 under valgrind's cachegrind. -O1 and no vectors: an access is one element, as counted
# (vectors that straddle two lines would hide misses, -O0 would add the stack), and no AVX-512, which
# valgrind does not know. Stripped, because old valgrinds cannot read the debug information of clang.
CACHEGRIND_FLAGS := -O1 -fno-tree-vectorize -s
CACHEGRIND_05    := 05_flash_tiled_cpu/tests/cachegrind.c 05_flash_tiled_cpu/program/counted.c \
                    $(wildcard 05_flash_tiled_cpu/steps/*.c) 04_flash_no_tiling/counted.c \
                    04_flash_no_tiling/standard_attention.c $(LESSON_02) $(EARLIER_05)
$(BUILD)/cachegrind-05: $(CACHEGRIND_05) $(COMMON)
	$(call SAY,cc   $@)
	$(AT)$(CC) $(FLAGS) $(CACHEGRIND_FLAGS) $(sort $(CACHEGRIND_05)) $(COMMON) -o $@ -lm
cachegrind-05: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/cachegrind-05
	@sh common/tools/cachegrind.sh $(BUILD)/cachegrind-05

# The two commands of the README where the course has never been.
fresh:
	@sh common/tools/fresh.sh

clean:
	rm -rf $(BUILD) a.out

setup-run setup-test:
	@CC='$(CC)' CXX='$(CXX)' sh common/setup.sh $(@:setup-%=%)

.DEFAULT:
	@echo "make: there is no target '$@'; make help lists them" >&2; exit 2

help:
	@sed -n 's/^#? \{0,1\}//p' Makefile $(CLASSROOM_MK)
help-all:
	@sed -n 's/^#[?!] \{0,1\}//p' Makefile $(CLASSROOM_MK)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

#? make run          build everything, run every chapter on the real input, end with one table
#? make test         set up, build, run every test and every wrong version; ends with one line of counts
#?
#? make 03           build chapter 03 and run it on its own examples and the real input (any chapter, 01 to 07)
#? make test-03      the tests of chapter 03, and the wrong versions that they must reject
#? make check-03     the quick gate before a commit: the tests of chapter 03 without the wrong versions, and its pages
#? make diff-03      what is new in chapter 03's lesson; STEP=fa2: in a step of chapter 05, 06 or 07, against the step before
#? make bench-03     how fast chapter 03 is on this machine; 06 and 07 after make cuda: on its GPU
#? make compare      all steps on one input: which differ from which, and where
#?                   INPUT=x.npy for other scores, or Q=q.npy K=k.npy V=v.npy [MASK=key_mask.npy] [OPTIONS="--causal"];
#?                   MINE=y.npy to see your own output among them
#?
#? make cuda         the programs with kernels for this machine's GPU too, in build/cuda; needs nvcc
#? make python       build/libflash.so, which common/python/flash.py calls: any step on NumPy arrays
#? make clean        remove build/
#? make help-all     these and the commands for people who work on the course itself
#!
#! make sanitize     the tests under the address and undefined-behaviour sanitizers; SHORT=yes, as in CI: without
#!                   what takes long, and with fewer random problems. CI's tests with clang are short too:
#!                   make tests CC=clang BUILD=build/clang is all of them
#! make racecheck-05 the threads of chapter 05 under clang's race detector
#! make racecheck-06 the kernels of chapter 06 under the course's own; PLANTED=1 shows its report of
#!                   a planted mistake; racecheck-07: threads and kernels of chapter 07
#! make fuzz         the reader of .npy files fed with random bytes; SECONDS_OF_FUZZ=20
#! make test-aarch64 chapter 05 and the emulator built for another kind of processor, run by qemu
#! make fresh        make run and make test on bare machines: new roots of Debian 12, 13 and sid, as root and as a user
#!                   who may not install, with gcc and clang; needs root; two hours, or less with RELEASES, USERS, COMPILERS
#!
#! make cuda-table   what the kernels take by cuobjdump, and their instructions by nvdisasm, which it
#!                   fetches into build/; make cuda-check compares the committed tables with it
#! make test-cuda    the tests of the kernels on a GPU
#! make gpu          everything that needs a GPU: its kernels built in build/gpu, each tried, tested, measured,
#!                   and run under NVIDIA's checkers; needs nvcc, and no network. STEPS="kernels tests": some of
#!                   it; ONLY=07_backward: of one chapter
#!
#! make python-check the Python binding against PyTorch's attention, values and gradients; fetches PyTorch into build/
#!                   test-python: its tests and wrong versions
#! make minilm       a real model of sentences with the course's attention in it, fetched into build/;
#!                   STEP=05/split_kv: by another step
#! make peers-05     chapter 05 against PyTorch, oneDNN and OpenBLAS, which it fetches into build/; a
#!                   quarter of an hour, or less with SIZES="512 2048"; peers-07: the backward pass
#! make results      this machine: ladders and peers of 05 and 07, and memory, into one file in
#!                   common/results and the tables of the pages; half an hour; SIZES and PYTHON as above
#!
#! make docs         fill the marked blocks of every page from real runs; TIMES=1 measures anew; docs-check: are they stale?
#!                   PAGES="README.md": only of these
#! make check-docs   run every command that a page shows
#! make plots        draw the pictures again; plots-check: are they as drawn?
#! make test-tools   the tests of common/tools, which is in Python
#! make format       lay out the code; format-check: is it laid out? make lint: suspicious places, and includes that go up
#! make cachegrind-05  chapter 05's counts against a cache that valgrind simulates
