# Tests and wrong versions. Included by the Makefile.
#
# Each result is a file in build/results with three numbers (passed, failed, skipped), which `make
# test` adds up:
#   NAME          the Criterion tests of a chapter, or of common
#   NAME-stepper  a page with its own program, in a browser if there is one
#   NAME.MUTANT   a wrong version of the chapter, which its tests must reject
#                 (NAME.unharmed: an unchanged copy, which they must accept)

# Mutants may not apply to a lesson that a student changed. STUDENT=yes, as in `make test-03`, skips
# these; otherwise they fail.

SUITES ?= tests mutants pages python
ONLY   ?= common cuda python $(CHAPTERS)

TEST_FLAGS = $(CRITERION_CFLAGS)
TEST_LIBS  = $(CRITERION_LDFLAGS) -lcriterion -lm
TEST_TOOLS = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(patsubst %,common/tests/%.c,problems ladder_output \
               command command_line forward backward golden softmax_rows softmax_program))) $(COMMON)
# ALONE=yes: without Criterion, with the part of it in common/tests/alone.
ifneq ($(ALONE),)
TEST_FLAGS = -Icommon/tests/alone
TEST_LIBS  = -lm
TEST_TOOLS += $(OBJ)/common/tests/alone/alone.o
endif
# Tests and their wrong versions are linked by gold, where there is one: in half the time.
QUICK_LINKER = $(call once,QUICK_LINKER,$(if $(GPU),,$(shell for c in '$(CC)' '$(CXX)'; do \
    echo 'int main(void) { return 0; }' | $$c -fuse-ld=gold -x c - -o /dev/null || exit; done 2>/dev/null && echo -fuse-ld=gold)))

# Each entry of a mistakes.txt becomes a file that changes only with the entry.
mistakes_of = $(shell sed -n 's/^Name: //p' $(wildcard $1) /dev/null)
$(BUILD)/mistakes/%.split: %/tests/mistakes.txt common/tools/mistakes.awk
	@mkdir -p $(BUILD)/mistakes/$*
	$(AT)awk -f common/tools/mistakes.awk split $(BUILD)/mistakes/$* $<
	@touch $@

RESULTS    := $(BUILD)/results
RUN_TESTS  = $(AT)STUDENT=$(STUDENT) sh common/tools/run_tests.sh

$(OBJ)/common/tests/%.o $(foreach c,$(CHAPTERS),$(OBJ)/$c/tests/%.o): CPPFLAGS += $(TEST_FLAGS)

# The C++ compiler links programs with CUDA sources.
LINKER = $(CC) $(FLAGS)
$(BUILD)/tests/%:
	$(call SAY,link $@)
	@mkdir -p $(@D)
	$(AT)$(LINKER) $(OPENMP) $(QUICK_LINKER) $(LDFLAGS) $^ -o $@ $(TEST_LIBS) $(MORE_LIBS)

# The functions whose accesses test_traffic.c counts.
$(OBJ)/common/tests/watched.o: FLAGS += $(WATCH_FLAGS)
$(BUILD)/tests/common: $(OBJ)/common/tests/watched.o $(patsubst %.c,$(OBJ)/%.o,$(wildcard common/tests/test_*.c)) $(TEST_TOOLS)

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

# A GPU's PTX against the same tables.
GPU_TESTS := $(OBJ)/gpu/$(CUDA_TESTS)/kernels
$(BUILD)/tests/instructions: LINKER = $(CXX) $(CXX_FLAGS)
$(BUILD)/tests/instructions: MORE_LIBS = $(CUDA_LIBS) $(GPU_LIBS)
$(GPU_TESTS)/hopper.o $(GPU_TESTS)/wgmma.o: ONLY_FOR = 90a
$(GPU_TESTS)/tensor.o: TOO_OLD = 75
$(BUILD)/tests/instructions: $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(CUDA_TESTS)/test_*.c) $(CUDA_TESTS)/gpu.c) $(PLANTED_OBJ) \
    $(filter-out $(OBJ)/gpu/%,$(call KERNEL_OBJ,$(CUDA_TESTS)/kernels)) \
    $(GPU_TESTS)/hopper.o $(GPU_TESTS)/wgmma.o $(GPU_TESTS)/tensor.o $(CUDA) $(TEST_TOOLS)

# The emulator on aarch64 under qemu, without Criterion.
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
$(RESULTS)/common: $(BUILD)/tests/common $(BUILD)/compare $(BUILD)/caught $(BUILD)/peers/resident
	$(RUN_TESTS) $< $@ $(wildcard common/tests/test_*.c)

RESULTS_tests     := $(RESULTS)/common $(RESULTS)/cuda
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

# All tests under sanitizers. clang's second stack for each emulator thread, whose addresses are not reused, would take 40 times
# as long. SHORT=yes leaves out, with a third of the code, wrong pointers, which the address sanitizer sees when they are used.
UNSANITIZED = $(if $(SHORT),$(patsubst %,-fno-sanitize=%,object-size pointer-overflow))
.PHONY: sanitize
sanitize: export ASAN_OPTIONS := detect_stack_use_after_return=0
sanitize: setup-test
	$(SUBMAKE) $(JOBS) tests BUILD=$(BUILD)/sanitized SUITES=tests \
	    CFLAGS='-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all $(UNSANITIZED)'

# BROWSER=required: fails without Chromium. STUDENT=yes skips the page: a student's lesson may print
# other traces.
.PHONY: $(RESULTS)/05_flash_tiled_cpu-stepper
$(RESULTS)/05_flash_tiled_cpu-stepper: $(BUILD)/05_flash_tiled_cpu
	$(AT)if command -v python3 >/dev/null; then python3 common/tools/course.py stepper $(BUILD) $@; \
	    else echo "$(@F): skipped: no python3 here"; echo 0 0 1 >$@; fi

#!
#! make sanitize     the tests under the address and undefined-behaviour sanitizers; SHORT=yes, as in CI: without
#!                   what takes long, and with fewer random problems. CI's tests with clang are short too:
#!                   make tests CC=clang BUILD=build/clang is all of them
