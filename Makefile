# The commands of the course; `make help` lists them. Builds go to build/. For GNU make 3.81 and
# later, with or without -j.

include common/tools/typed.mk

ifneq ($(words $(CURDIR)),1)
$(error make cannot handle a space in a path: please move the course out of "$(CURDIR)")
endif

$(foreach v,CC CXX,$(if $(strip $($v)),,$(error expected a compiler, but $v is empty: say $v=..., or leave it out)))

BUILD  ?= build
export BUILD
ifneq ($(words $(BUILD)),1)
$(error BUILD: expected one folder, without a space in its name, found "$(BUILD)")
endif
# In some locales awk reads and prints 0.5 as 0,5.
export LC_ALL := C
CFLAGS ?= -O2 -g1#   line numbers, for reports
UNPACKED := $(wildcard $(CURDIR)/build/packages/usr)
ifneq ($(UNPACKED),)
export PATH := $(UNPACKED)/bin:$(PATH)
export CRITERION_CFLAGS  ?= -isystem $(UNPACKED)/include
export CRITERION_LDFLAGS ?= -Wl,--disable-new-dtags $(foreach d,$(wildcard $(UNPACKED)/lib/*-linux-*),-L$d -Wl,-rpath,$d)
endif
# Homebrew's folder, which compilers do not search, as in common/setup.sh.
BREW := $(shell command -v brew >/dev/null 2>&1 && brew --prefix)
ifneq ($(and $(BREW),$(wildcard $(BREW)/include/criterion)),)
export CRITERION_CFLAGS  ?= -isystem $(BREW)/include
export CRITERION_LDFLAGS ?= -L$(BREW)/lib -Wl,-rpath,$(BREW)/lib
endif
STRICT ?=#   STRICT=-Werror makes every warning an error, as CI does

# Building, testing, measuring, maintenance. A starter for students has only the first.
PARTS := $(wildcard $(patsubst %,common/%.mk,tools/build tools/tests tools/chapters tools/wasm cuda/cuda peers/peers python/python \
                      tools/machines tools/upkeep classroom/classroom classroom/grading))

# A student's starter has its files of earlier chapters in a folder of its own, also searched.
VPATH    := $(wildcard common/earlier)
INCLUDES := -I. $(VPATH:%=-I%)
files     = $(patsubst $(VPATH)/%,%,$(wildcard $1 $(if $(VPATH),$(addprefix $(VPATH)/,$1))))

# Each chapter's folder, lesson, and earlier algorithms.
CHAPTERS  := $(patsubst %/main.c,%,$(wildcard 0[1-7]_*/main.c))
LESSON_01 := 01_standard_softmax/standard_softmax.c
LESSON_02 := 02_safe_softmax/safe_softmax.c
LESSON_03 := 03_online_softmax/online_softmax.c
LESSON_04 := 04_flash_no_tiling/flash_row.c
LESSON_05 := 05_flash_tiled_cpu/steps/fa1.c
LESSON_06 := 06_flash_tiled_cuda/kernels/1_float32/fa2.cu
LESSON_07 := 07_backward/steps/fa2.c
# Files with a watched build too (common/measure/watch.h).
WATCHED_01 := $(LESSON_01)
WATCHED_02 := $(LESSON_02)
WATCHED_03 := $(LESSON_03)
WATCHED_04 := $(LESSON_02) $(filter-out %/main.c,$(wildcard 04_flash_no_tiling/*.c))
WATCHED_05 := $(LESSON_02) $(filter-out %/observe.c %/trace.c,$(wildcard 05_flash_tiled_cpu/steps/*.c))
WATCHED_07 := $(filter-out %/forward.c %/trace.c %/train.c %/differences.c,$(wildcard 07_backward/steps/*.c))
EARLIER_02 := $(LESSON_01) 01_standard_softmax/lanes.c
EARLIER_03 := $(LESSON_02) 02_safe_softmax/lanes.c
EARLIER_04 := $(LESSON_02) 03_online_softmax/softmax_state.c
EARLIER_05 := $(EARLIER_04) 04_flash_no_tiling/flash_no_tiling.c $(LESSON_04)
# Chapter 06 compares with chapter 05's steps.
STEPS_05   := $(filter-out %/trace.c %/bench.c,$(call files,05_flash_tiled_cpu/steps/*.c 05_flash_tiled_cpu/fast/*.c))
EARLIER_06 := $(EARLIER_05) $(STEPS_05)
EARLIER_07 := $(EARLIER_06)
STEPS_07   := $(EARLIER_06) $(WATCHED_07) $(filter-out %/bench.c,$(wildcard 07_backward/fast/*.c))
KERNELS_07 := 06_flash_tiled_cuda/kernels
OBJ    := $(BUILD)/obj
COMMON := $(BUILD)/common.a
CUDA   := $(BUILD)/cuda.a
HASH   := \#
AT     := $(if $(VERBOSE),,@)#   VERBOSE=1 shows the commands; Q and V belong to `make compare`
SAY    = $(if $(or $(VERBOSE),$(QUIET)),,@echo "  $(1)")
SUBMAKE = +@$(MAKE) -s --no-print-directory
# make -n runs recipes with a +; after this word it does not.
UNLESS_DRY = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),: )
# One job for each core, unless -j is given.
CORES  := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
JOBS    = $(if $(findstring j,$(filter -j% --jobserver%,$(MAKEFLAGS))),,-j$(CORES))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

.PHONY: all
all: $(CHAPTERS:%=$(BUILD)/%) $(BUILD)/compare $(BUILD)/caught
	@:

include $(PARTS)

.PHONY: run compare clean help help-all setup-run setup-test
run: setup-run
	@[ -f $(BUILD)/compare ] || echo "Building the course, which takes a minute or two the first time"
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@sh common/tools/run.sh $(BUILD) $(CHAPTERS)

# make exports INPUT, Q and the others to the script.
compare: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@sh common/tools/compare.sh $(BUILD) $(CHAPTERS)

clean:
	rm -rf $(BUILD) a.out

setup-run setup-test:
	@CC='$(CC)' CXX='$(CXX)' sh common/setup.sh $(@:setup-%=%)

.DEFAULT:
	@echo "make: there is no target '$@'; make help lists them" >&2; exit 2

help:
	@sed -n 's/^#? \{0,1\}//p' Makefile $(PARTS)
help-all:
	@sed -n 's/^#[?!] \{0,1\}//p' Makefile $(PARTS)

# What an object depends on. These goals build nothing: they call make again, if at all.
CALLING := run test compare clean help help-all fast-05 $(foreach n,01 02 03 04 05 06 07,$n test-$n check-$n bench-$n diff-$n)
-include $(if $(filter-out $(CALLING),$(or $(MAKECMDGOALS),all)),$(shell find $(OBJ) -name '*.d' 2>/dev/null))

#? make run          build everything, run every chapter on the real input, end with one table
#? make test         set up, build, run every test and every wrong version; ends with one line of counts
#?
#? make 03           build chapter 03 and run it on its own examples and the real input (any chapter, 01 to 07)
#? make test-03      the tests of chapter 03, and the wrong versions that they must reject
#? make check-03     the quick gate before a commit: the tests of chapter 03 without the wrong versions, and its pages
#? make diff-03      what is new in chapter 03's lesson; STEP=fa2: in a step of chapter 05, 06 or 07, against the step before
#? make bench-03     how fast chapter 03 is on this machine; 06 and 07 after make cuda: on its GPU
#? make fast-05      from chapter 05's fa2 to its fastest step in five lines, on this machine, in ten seconds
#? make compare      all steps on one input: which differ from which, and where
#?                   INPUT=x.npy for other scores, or Q=q.npy K=k.npy V=v.npy [MASK=key_mask.npy] [OPTIONS="--causal"];
#?                   MINE=y.npy to see your own output among them
#?
#? make cuda         the programs with kernels for this machine's GPU too, in build/cuda; needs nvcc
#? make python       build/libflash.so, which common/python/flash.py calls: any step on NumPy arrays
#? make book         the pages as a website in build/book, which needs no network; fetches Sphinx into build/, once
#? make write        a model writes text with your attention: PROMPT="Once" TOKENS=64 STEP=05/fa1; fetches 100 MB
#? make look         what a word attends to in that model: PROMPT="the cat sat because it purred" LAYER=13 HEAD=8 STEP=05/fa2
#? make clean        remove build/
#? make help-all     these and the commands for people who work on the course itself
