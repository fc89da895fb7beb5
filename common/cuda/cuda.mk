# Race detectors, and everything that needs nvcc or a GPU. Included by the Makefile.

.PHONY: racecheck-05 racecheck-07
racecheck-05: setup-run
	@sh common/tools/racecheck.sh 05_flash_tiled_cpu threads_share_a_tile \
	    03_online_softmax/softmax_state.c 02_safe_softmax/safe_softmax.c $(LIBRARY)

.PHONY: test-aarch64
test-aarch64:
	@sh common/setup.sh aarch64
	@sh common/tools/aarch64.sh $(BUILD)/aarch64

# The emulator's race detector, in several orders of the kernels' threads.
$(BUILD)/racecheck-07: $(OBJ)/07_backward/tests/race_cuda.o $(ALGORITHM_OBJ_07) $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CHAPTER_LINKER_07) $(OPENMP) $(LDFLAGS) $^ -o $@ $(CUDA_LIBS) $(GPU_LIBS)
$(BUILD)/racecheck-06: $(OBJ)/06_flash_tiled_cuda/tests/race.o $(ALGORITHM_OBJ_06) $(COMMON)
	$(call SAY,link $@)
	$(AT)$(CHAPTER_LINKER_06) $(OPENMP) $(LDFLAGS) $^ -o $@ $(CUDA_LIBS) $(GPU_LIBS)
.PHONY: racecheck-06
racecheck-06: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/racecheck-06
	@sh common/tools/racecheck_cuda.sh $(BUILD) 06_flash_tiled_cuda

# An NVCC given by the user must exist; the default may be missing. GPU_ARCH sets nvcc's flags.
GOOD_NVCC = @for a in $$GPU_ARCH; do case $$a in native | [1-9][0-9] | [1-9][0-9][0-9]) ;; *) \
    printf '%s\n' "make $@: GPU_ARCH: expected native, or numbers as in \"80 90\", found '$$a'" >&2; exit 2 ;; esac; done; \
    [ -z '$(filter command environment,$(origin NVCC))' ] || command -v '$(NVCC)' >/dev/null || \
    { echo "make $@: NVCC: expected CUDA's compiler nvcc, found '$(NVCC)'" >&2; exit 2; }

# Programs with kernels for GPUs as well, in build/cuda.
.PHONY: cuda
cuda: setup-run
	$(GOOD_NVCC)
	@[ -n "$(NVCC)" ] || { echo "make cuda: no nvcc here; CUDA's toolkit (12.8 or later) has it" >&2; exit 2; }
	$(SUBMAKE) $(JOBS) all GPU=yes BUILD=$(BUILD)/cuda CFLAGS='$(CFLAGS) -DWITH_GPU'

# A kernel with all that it includes, in one file.
.PHONY: flat
flat:
	@python3 common/tools/course.py flat "$$STEP"

# Checks of the kernels' machine code, without a GPU. It reuses what make cuda built.
GPU_OBJ = $(patsubst %.cu,$(BUILD)/cuda/obj/gpu/%.o,$(wildcard 06_flash_tiled_cuda/kernels/*/*.cu 07_backward/kernels/*/*.cu))
.PHONY: cuda-table cuda-check
cuda-table cuda-check:
	$(GOOD_NVCC)
	$(if $(NVCC),$(SUBMAKE) $(JOBS) $(GPU_OBJ) GPU=yes BUILD=$(BUILD)/cuda)
	@NVCC='$(NVCC)' BUILD='$(BUILD)' python3 common/tools/course.py figures $(if $(filter %-table,$@),make,check)

# All tests on a GPU, with NVIDIA's checkers if installed. Status 77: no GPU.
.PHONY: test-cuda
test-cuda: setup-test
	$(GOOD_NVCC)
	@[ -n "$(NVCC)" ] || { echo "SKIPPED: no nvcc here"; exit 77; }
	@[ -n "$(GPU_OWN)" ] || { echo "SKIPPED: nvidia-smi names no GPU here"; exit 77; }
	$(SUBMAKE) $(JOBS) $(foreach c,06_flash_tiled_cuda 07_backward,$(BUILD)/cuda/$c $(BUILD)/cuda/tests/$c) \
	    $(BUILD)/cuda/tests/instructions GPU=yes BUILD=$(BUILD)/cuda CFLAGS='$(CFLAGS) -DWITH_GPU'
	@$(BUILD)/cuda/tests/instructions --filter 'gpu/*'
	@for chapter in 06_flash_tiled_cuda 07_backward; do \
	    sh common/tools/test_cuda.sh $(BUILD)/cuda $$chapter || exit; \
	done

# The notebook for a borrowed GPU, run in a copy on the emulator: as it is, and with the gap filled.
.PHONY: notebook-check
NOTEBOOK = $(BUILD)/notebook
notebook-check: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/06_flash_tiled_cuda
	@rm -rf $(NOTEBOOK) && mkdir -p $(NOTEBOOK)/build
	@cp -Rp Makefile common 0[1-7]_* $(NOTEBOOK) && cp -Rp $(BUILD)/obj $(BUILD)/*.a $(BUILD)/06_flash_tiled_cuda $(NOTEBOOK)/build
	@sed -n '/BEGIN SOLUTION/,/END SOLUTION/{//!p;}' 06_flash_tiled_cuda/kernels/1_float32/fa1.cu >$(NOTEBOOK)/mine
	@cd $(NOTEBOOK) && BUILD=build python3 common/tools/notebook.py 06_flash_tiled_cuda/pages/colab.ipynb mine >log 2>&1 || \
	    { tail -n 40 log >&2; exit 1; }

# A quarter of an hour on a GPU (common/tools/gpu.sh), with programs built here or on another machine with nvcc. Needs neither Criterion nor
# a network. DRY=1: the plan, on the emulator.
ON_GPU = $(BUILD)$(if $(DRY),,/gpu)
.PHONY: gpu gpu-build gpu-results
# make -n runs lines that name $(MAKE) itself.
gpu: BY = $(MAKE)
gpu: $(if $(DRY),gpu-build)
	@NVCC='$(NVCC)' MAKE='$(BY)' sh common/tools/gpu.sh $(ON_GPU)
gpu-build:
	$(GOOD_NVCC)
	$(if $(NVCC)$(DRY),,@echo "make $@: no nvcc here; CUDA's toolkit (12.8 or later) has it" >&2; exit 2)
	$(SUBMAKE) $(JOBS) QUIET=1 $(patsubst %,$(ON_GPU)/%,06_flash_tiled_cuda 07_backward) $(if $(DRY),,GPU=yes BUILD=$(ON_GPU) \
	    CFLAGS='-O2 -DWITH_GPU' GPU_ARCH="$${GPU_ARCH:-$(or $(sort $(GPU_OWN)),90)}" $(if $(GPU_OWN),,NATIVE=-march=x86-64-v3))
	@$(if $(DRY),,strip $(ON_GPU)/0*_*)  # small enough to carry to another machine
	@sh common/tools/gpu.sh $(ON_GPU) key >$(ON_GPU)/sources
gpu-results:
	@python3 common/tools/course.py figures put "$${FROM:-$(BUILD)/gpu/results}"
	$(SUBMAKE) docs PAGES="$$(grep -l 'course.py figures' $$PAGES | tr '\n' ' ')"
	$(SUBMAKE) plots

racecheck-07: setup-run
	@sh common/tools/racecheck.sh 07_backward turn_not_awaited \
	    07_backward/steps.c 07_backward/predict.c $(EARLIER_07) $(LIBRARY)
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/racecheck-07
	@sh common/tools/racecheck_cuda.sh $(BUILD) 07_backward

#!
#! make racecheck-05 the threads of chapter 05 under clang's race detector
#! make racecheck-06 the kernels of chapter 06 under the course's own; PLANTED=1 shows its report of
#!                   a planted mistake; racecheck-07: threads and kernels of chapter 07
#! make test-aarch64 chapter 05 and the emulator built for another kind of processor, run by qemu
#!
#! make cuda-table   the kernels' registers, and their instructions by nvdisasm, which it fetches into build/;
#!                   make cuda-check compares the committed tables with it, and looks whether the machine code has
#!                   what the kernels claim: no spill, and exponentials and stores between the waits
#! make flat         STEP=store: prints this kernel and all that it includes as one file, which nvcc compiles by itself;
#!                   STEP=cuda_store: one of chapter 07
#! make test-cuda    the tests of the kernels on a GPU; without one it builds nothing and says SKIPPED
#! make notebook-check  runs the cells of chapter 06's notebook on the emulator, twice, and with its gap filled
#! make gpu          a quarter of an hour on a GPU: kernels tried, measured in turns with PyTorch, and profiled, the newest
#!                   first. LIMIT=480: for so many seconds; the next call goes on. BEFORE=FOLDER: in turns with another
#!                   build, too; DRY=1: a try without a GPU. make gpu-build: its programs, on any machine with nvcc;
#!                   make gpu-results: its figures into the chapters' results and the pages (FROM=FOLDER)
