# Each chapter's program, tests, wrong versions and commands. Included by the Makefile.

# $1: the chapter's folder, $2: its number.
define chapter
C_OBJ_$2         := $$(patsubst %.c,$(OBJ)/%.o,$$(EARLIER_$2) \
    $$(filter-out %/main.c,$$(wildcard $1/*.c $1/steps/*.c $1/fast/*.c $(if $(CUDA),$1/kernels/*/*.c))))
WATCHED_OBJ_$2   := $$(WATCHED_$2:%.c=$(OBJ)/watched/$2/%.o)
ALGORITHM_OBJ_$2 := $$(C_OBJ_$2) $$(WATCHED_OBJ_$2) $$(if $(CUDA), \
    $$(call KERNEL_OBJ,$1/kernels) $$(if $$(KERNELS_$2),$$(call KERNEL_OBJ,$$(KERNELS_$2)) \
      $$(patsubst %.c,$(OBJ)/%.o,$$(call files,$$(KERNELS_$2)/*/*.c))) \
    $$(if $$(wildcard $1/kernels/*/*.cu),$(CUDA)))

# The watched build renames its files' functions.
$(OBJ)/watched/$2/names: $$(WATCHED_$2:%.c=$(OBJ)/%.o)
	@mkdir -p $$(@D)
	$(AT)$(NM) -gP $$^ | awk '$$$$2 == "T" { sub(/^_/, "", $$$$1); print "-D" $$$$1 "=" $$$$1 "_watched" }' >$$@
$$(WATCHED_OBJ_$2): $(OBJ)/watched/$2/%.o: %.c $(OBJ)/watched/$2/names
	$$(call SAY,cc   $$< (instrumented))
	@mkdir -p $$(@D)
	$(AT)$$(CC) $$(FLAGS) $$(WATCH_FLAGS) @$(OBJ)/watched/$2/names $$(CPPFLAGS) -MMD -MP -c $$< -o $$@

HAS_KERNELS_$2 := $(if $(CUDA),$(wildcard $1/kernels/*/*.cu))
CHAPTER_LINKER_$2 = $$(if $$(HAS_KERNELS_$2),$$(CXX) $$(CXX_FLAGS),$$(CC) $$(FLAGS))
ifneq ($(wildcard $1/kernels/*/*.cu),)
$(BUILD)/$1 $(BUILD)/tests/$1: LINKER = $$(CHAPTER_LINKER_$2)
$(BUILD)/$1 $(BUILD)/tests/$1: MORE_LIBS = $$(CUDA_LIBS) $$(GPU_LIBS)
endif

$(BUILD)/$1: $(OBJ)/$1/main.o $$(ALGORITHM_OBJ_$2) $(COMMON)
	$$(call SAY,link $$@)
	$$(AT)$$(LINKER) $(OPENMP) $$(LDFLAGS) $$^ -o $$@ $$(MORE_LIBS) -lm

# The tests, and their shared code: files in tests/ that have a header.
TEST_OBJ_$2 := $$(patsubst %.c,$(OBJ)/%.o,$$(wildcard $1/tests/test_*.c $$(patsubst %.h,%.c,$$(wildcard $1/tests/*.h))))
$(BUILD)/tests/$1: $$(TEST_OBJ_$2) $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS)

.PHONY: $(RESULTS)/$1
$(RESULTS)/$1: $(BUILD)/tests/$1 $(BUILD)/$1
	$$(RUN_TESTS) $$< $$@ $$(wildcard $1/tests/test_*.c)

# If the tests are a goal too they run first, and the copy need not repeat them.
TESTED_$2 := $$(filter $(RESULTS)/$1,$$(MAKECMDGOALS))
$(RESULTS)/$1.unharmed: | $$(TESTED_$2)
NAMES_$2 := $$(call mistakes_of,$1/tests/mistakes.txt)
MUTANTS_$2 := $$(NAMES_$2:%=$(RESULTS)/$1.%)
$$(NAMES_$2:%=$(BUILD)/mistakes/$1/%): $(BUILD)/mistakes/$1.split
	@:
$$(MUTANTS_$2): $(RESULTS)/$1.%: $(BUILD)/mistakes/$1/% | $(RESULTS)/$1.unharmed
$$(MUTANTS_$2) $(RESULTS)/$1.unharmed: $$(wildcard $1/*.[ch] $1/*/*.[ch] $1/*/*/*.[ch] $1/*/*/*.cu $1/*/*/*.cuh) \
                    $(BUILD)/tests/$1 common/tools/mutant.sh
	$$(AT)STUDENT=$(STUDENT) TESTED='$$(TESTED_$2)' OBJ='$(OBJ)' CC='$$(CC)' CXX='$$(CXX)' CXX_FLAGS='$$(CXX_FLAGS) $$(KERNEL_FLAGS)' \
	    INSTRUMENTED_FLAGS='$$(INSTRUMENTED_FLAGS)' LINKER='$$(CHAPTER_LINKER_$2) $(OPENMP) $$(QUICK_LINKER)' \
	    LIBS='$$(TEST_LIBS) $$(if $$(HAS_KERNELS_$2),$$(CUDA_LIBS))' \
	    FLAGS='$$(FLAGS) $(OPENMP) $$(TEST_FLAGS)' WATCH_FLAGS='$(WATCH_FLAGS)' FAST_FLAGS='$(FAST_FLAGS)' \
	    TESTS='$$(TEST_OBJ_$2) $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS)' \
	    sh common/tools/mutant.sh $1 '$$(filter $(BUILD)/mistakes/%,$$^)' $$@ $(BUILD)/mutants/$$(@F)

RESULTS_tests   += $(RESULTS)/$1
RESULTS_mutants += $(RESULTS)/$1.unharmed $$(MUTANTS_$2)

.PHONY: $2 test-$2 check-$2 bench-$2 diff-$2
$2 bench-$2: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/$1
	@$(BUILD)/$1 $$(if $$(filter bench-%,$$@),--bench)
test-$2: setup-test
	$(SUBMAKE) $(JOBS) tests ONLY=$1 STUDENT=yes
check-$2: setup-test
	$(SUBMAKE) $(JOBS) tests ONLY=$1 SUITES=tests
	$(SUBMAKE) docs-check PAGES='$$(wildcard $1/*.md $1/*/*.md)'
diff-$2:
	$$(if $$(wildcard $1/steps.c $1/kernels.c),$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/$1)
	@sh common/tools/diff.sh '$$(LESSON_$$(shell expr $2 - 1 | sed 's/^/0/'))' '$$(LESSON_$2)' $1 \
	    "$$$$STEP" $$(if $$(wildcard $1/steps.c $1/kernels.c),$(BUILD)/$1)
endef
$(foreach c,$(CHAPTERS),$(eval $(call chapter,$c,$(firstword $(subst _, ,$c)))))

.PHONY: fast-05
fast-05: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/05_flash_tiled_cpu
	@$(BUILD)/05_flash_tiled_cpu --step fast

.PHONY: build-tests
build-tests: $(patsubst $(RESULTS)/%,$(BUILD)/tests/%,$(RESULTS_tests)) \
    $(patsubst %,$(OBJ)/bindings/%/binding.o,$(patsubst $(OBJ)/bindings/%.o,%,$(BINDINGS)))
