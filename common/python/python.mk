# The library for Python (common/python/README.md). Included by the Makefile.
#
# Chapters use the same names, so each becomes one object that exports only its binding, binding_05 for chapter 05; Darwin's linker
# hides the rest by itself.

number_of   = $(firstword $(subst _, ,$1))
BINDINGS   := $(patsubst %,$(OBJ)/bindings/%.o,$(filter-out 01_% 02_% 03_%,$(CHAPTERS)))
DARWIN  := $(filter Darwin,$(shell uname -s))
OBJCOPY ?= objcopy

$(OBJ)/bindings/%/binding.o: common/python/binding.c
	$(call SAY,cc   $< ($*))
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(CPPFLAGS) -DBINDING=binding_$(firstword $(subst _, ,$*)) -MMD -MP -c $< -o $@
$(OBJ)/bindings/%.o:
	$(call SAY,link $@)
	@mkdir -p $(@D)
	$(AT)$(CC) -r -nostdlib $(if $(DARWIN),,-Wl,--force-group-allocation) $^ -o $@
	$(if $(DARWIN),,$(AT)$(OBJCOPY) --keep-global-symbol=binding_$(firstword $(subst _, ,$*)) $@)
define binding
$(OBJ)/bindings/$1.o: $(OBJ)/bindings/$1/binding.o $(patsubst %.c,$(OBJ)/%.o,$(wildcard common/python/steps_$(number_of).c)) \
    $$(ALGORITHM_OBJ_$(number_of)) $(COMMON)
endef
$(foreach d,$(BINDINGS),$(eval $(call binding,$(basename $(notdir $d)))))

# One chapter's library builds much faster.
define LINK_LIBRARY
$(call SAY,link $@)
$(AT)$(CXX) $(CXX_FLAGS) $(OPENMP) -shared $(LDFLAGS) $^ -o $@ $(CUDA_LIBS)
endef
$(BUILD)/libflash.so: $(BINDINGS)
	$(LINK_LIBRARY)
$(BUILD)/libflash-%.so: $(OBJ)/bindings/%.o
	$(LINK_LIBRARY)

# LIBFLASH=libflash-04_flash_no_tiling.so: one chapter's.
LIBFLASH ?= libflash.so
WRITERS := write look write-check babble write-reference
.PHONY: library python python-check onnx-check minilm learn $(WRITERS) test-python
library:
	$(SUBMAKE) $(JOBS) $(BUILD)/$(LIBFLASH)
python: setup-run library
	@echo "$(BUILD)/libflash.so is there; common/python/README.md says what it is good for"
# Scripts build the library after they have found a Python.
python-check onnx-check minilm: setup-run
	+@$(UNLESS_DRY)MAKE_LIBRARY='$(MAKE) -s --no-print-directory $(JOBS) library' \
	    sh common/python/$(if $(filter minilm,$@),model.sh minilm $${STEP:+--step "$$STEP"},check.sh $(if $(filter onnx-%,$@),onnx))
learn: LIBFLASH = libflash-07_backward.so
learn: setup-run
	+@$(UNLESS_DRY)MAKE_LIBRARY='$(MAKE) -s --no-print-directory $(JOBS) QUIET=1 library LIBFLASH=$(LIBFLASH)' \
	    FLASH_LIBRARY='$(abspath $(BUILD)/$(LIBFLASH))' sh common/python/model.sh learn $${STEP:+--step "$$STEP"}
# Options are checked before fetching.
WRITE = --step "$${STEP:-05/complete}" $${TOKENS:+--tokens "$$TOKENS"} $${PROMPT:+--prompt="$$PROMPT"}
LOOK  = --step "$${STEP:-04/flash_no_tiling}" $${LAYER:+--layer "$$LAYER"} $${HEAD:+--head "$$HEAD"} $${PROMPT:+--prompt="$$PROMPT"}
# These need one chapter's library: STEP's, or a starter's own.
ONE_CHAPTER = $(firstword $(foreach n,$(filter 04 05 06,$(firstword $(subst /, ,$(value STEP)))) $(if $(filter look,$@),04,05),$(filter $(OBJ)/bindings/$n_%,$(BINDINGS))) $(BINDINGS))
write look: LIBFLASH = libflash-$(basename $(notdir $(ONE_CHAPTER))).so
$(WRITERS): setup-run
	$(if $(filter write,$@),@case "$$TOKENS" in (0* | *[!0-9]* | ?????*) \
	    printf '%s\n' "write: TOKENS=$$TOKENS: expected a whole number from 1 to 4096" >&2; exit 2 ;; esac)
	+@$(UNLESS_DRY)MAKE_LIBRARY='$(MAKE) -s --no-print-directory $(JOBS) QUIET=1 library LIBFLASH=$(LIBFLASH)' \
	    FLASH_LIBRARY='$(abspath $(BUILD)/$(LIBFLASH))' sh common/python/model.sh \
	    $(if $(filter write,$@),write $(WRITE),$(if $(filter look,$@),look $(LOOK),\
	    $(if $(filter %reference,$@),write_reference,write_check $(@:write-%=%) $$STEP)))
test-python: setup-test
	$(if $(HAS_NUMPY),$(SUBMAKE) $(JOBS) tests ONLY=python,\
	    @echo 'skipped: no python3 with NumPy here; sh common/python/fetch.sh numpy fetches it')

# Without NumPy, no library is built for tests and wrong versions. Wrong versions copy build/obj, so the other
# tests must be built before.
PYTHON_TEST    = $(AT)MAKE='$(MAKE)' sh common/python/test.sh $@
HAS_NUMPY      = $(shell BUILD='$(BUILD)' PYTHON='$(subst ','\'',$(PYTHON))'; . common/python/find.sh; echo "$$python")
PYTHON_NAMES   := $(call mistakes_of,common/python/mistakes.txt)
PYTHON_MUTANTS := $(PYTHON_NAMES:%=$(RESULTS)/python.%)
PYTHON_PROGRAMS := $(BUILD)/05_flash_tiled_cpu $(BUILD)/06_flash_tiled_cuda $(BUILD)/07_backward
RESULTS_python := $(RESULTS)/python $(PYTHON_MUTANTS)
.PHONY: $(RESULTS_python)
ifneq ($(filter $(RESULTS_python),$(MAKECMDGOALS)),)  # HAS_NUMPY starts Python
$(RESULTS_python): $(if $(HAS_NUMPY),$(BUILD)/libflash.so)
endif
$(RESULTS)/python: $(PYTHON_PROGRAMS)
	$(PYTHON_TEST)
$(PYTHON_MUTANTS): $(RESULTS)/python.%: $(PYTHON_PROGRAMS) | $(filter $(RESULTS_tests),$(MAKECMDGOALS))
	$(PYTHON_TEST) $* $(BUILD)/mutants/$(@F)

#!
#! make python-check the Python binding against PyTorch's attention, values and gradients; fetches PyTorch into build/
#!                   test-python: its tests and wrong versions
#! make onnx-check   the cases that the package onnx publishes for attention, by a step; fetches onnx into build/
#! make learn        a small model learns by a step's gradients, STEP=07/complete, and by PyTorch's where it is installed
#! make minilm       a real model of sentences with the course's attention in it, fetched into build/;
#!                   STEP=05/split_kv: by another step
#! make write-check  the model that writes against transformers, by steps of 04 to 06; STEP="05/fa1 06/mma": by these
#!                   babble: what its wrong versions write; write-reference: what transformers computes (fetches PyTorch)
