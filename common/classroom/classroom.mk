# The classroom's commands (README.md in this folder).

# The sources of earlier chapters that a chapter needs, with kernels.
earlier = $(EARLIER_$1) $(if $(KERNELS_$1),$(wildcard $(KERNELS_$1)/*/*.cu $(KERNELS_$1)/*/*.c))

for_starter = EARLIER='$(call earlier,$1)' FLAGS='-std=c17 -ffp-contract=off $(WARNINGS) $(REFUSED)'

define starter
.PHONY: starter-$2
starter-$2:
	@$$(call for_starter,$2) sh common/classroom/starter/starter.sh $1 "$$$$OUT" "$$$$PART" "$$$$SEED"
endef
$(foreach c,$(CHAPTERS),$(eval $(call starter,$c,$(firstword $(subst _, ,$c)))))
starter-%:
	@echo 'make $@: expected one of: $(foreach c,$(CHAPTERS),starter-$(firstword $(subst _, ,$c)))' >&2; exit 2

# Students' tests, linked with wrong versions; and make mistake-03, which shows one. The environment is that of
# common/tools/mutant.sh. GRADING is the folder of a grader with a mistake (tests/grading.py).
GRADER_SCRIPTS := $(or $(GRADING),common/classroom/grader)
define wrong_versions
FOR_MUTANTS_$2 = env OBJ='$(OBJ)' CC='$$(CC)' CXX='$$(CXX)' CXX_FLAGS='$$(CXX_FLAGS) $$(KERNEL_FLAGS)' \
    INSTRUMENTED_FLAGS='$$(INSTRUMENTED_FLAGS)' LINKER='$$(CHAPTER_LINKER_$2) $(OPENMP)' \
    LIBS='$$(TEST_LIBS) $$(if $$(HAS_KERNELS_$2),$$(CUDA_LIBS))' \
    FLAGS='$$(FLAGS) $(OPENMP) $$(TEST_FLAGS)' FAST_FLAGS='$(FAST_FLAGS)' WATCH_FLAGS='$(WATCH_FLAGS)'
.PHONY: grade-tests-$2 mistake-$2
grade-tests-$2: $(OBJ)/$1/tests/mine.o $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS) $(BUILD)/grader/confine
	$$(FOR_TEACHERS) $$(FOR_MUTANTS_$2) TESTS='$(OBJ)/$1/tests/mine.o $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS)' python3 $$(GRADER_SCRIPTS) tests-of $1
mistake-$2: setup-test
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/$1 $(BUILD)/tests/$1 $(BUILD)/mistakes/$1.split
	@$$(FOR_MUTANTS_$2) PROGRAM='$(OBJ)/$1/main.o $$(ALGORITHM_OBJ_$2) $(COMMON)' \
	    TESTS='$$(TEST_OBJ_$2) $$(ALGORITHM_OBJ_$2) $$(TEST_TOOLS)' sh common/tools/mistake.sh $(BUILD) $1 "$$$$NAME"
endef
$(foreach c,$(CHAPTERS),$(eval $(call wrong_versions,$c,$(firstword $(subst _, ,$c)))))
.PHONY: grade-tests grade-tests-all
grade-tests grade-tests-all: setup-test
	$(call HAVE,python3)
	$(FOR_TEACHERS) python3 $(GRADER_SCRIPTS) $(@:grade-%=%)

# ---- tests: every starter ----------------------------------------------------------------------

# Starters of tests, bugs, speed and questions have no gaps to prove.
STARTERS = $(RESULTS)/starters
parts_of = $(shell points=$1/exercise/points; . common/classroom/starter/exercise.sh; \
             for p in `exercise_parts`; do [ -z "`exercise_gaps $$p`" ] || echo $$p; done)
define starters
STARTERS_OF_$2 := $(STARTERS)/$2 $(patsubst %,$(STARTERS)/$2-%,$(if $(word 2,$(call parts_of,$1)),$(call parts_of,$1)))
$$(STARTERS_OF_$2): $(BUILD)/tests/$1 $(BUILD)/$1
	@CC='$$(CC)' CXX='$$(CXX)' $$(call for_starter,$2) sh common/classroom/tests/starter.sh $1 \
	    '$$(patsubst $2-%,%,$$(filter $2-%,$$(@F)))' $(BUILD)/starters/$$(@F)
.PHONY: $$(STARTERS_OF_$2) test-starters-$2
test-starters-$2: $$(STARTERS_OF_$2)
endef
ifneq ($(filter test-classroom test-starters% $(STARTERS)%,$(MAKECMDGOALS)),)
$(foreach c,$(CHAPTERS),$(eval $(call starters,$c,$(firstword $(subst _, ,$c)))))
endif
.PHONY: test-starters test-classroom $(RESULTS)/classroom $(RESULTS)/classroom-wrong
test-starters: $(RESULTS)/classroom $(RESULTS)/classroom-wrong \
    $(foreach c,$(CHAPTERS),test-starters-$(firstword $(subst _, ,$c)))
$(RESULTS)/classroom: $(CHAPTERS:%=$(BUILD)/%)
	@CC='$(CC)' CXX='$(CXX)' BUILD='$(BUILD)' \
	    $(foreach c,$(CHAPTERS),EARLIER_$(firstword $(subst _, ,$c))='$(call earlier,$(firstword $(subst _, ,$c)))') \
	    sh common/classroom/tests/classroom.sh $(BUILD)/classroom-tests $(CHAPTERS)
$(RESULTS)/classroom-wrong: $(BUILD)/tests/01_standard_softmax $(BUILD)/01_standard_softmax
	@CC='$(CC)' CXX='$(CXX)' BUILD='$(BUILD)' sh common/classroom/tests/wrong.sh $(CURDIR)/$(BUILD)/classroom-wrong
test-classroom: setup-test
	$(SUBMAKE) $(JOBS) QUIET=1 test-starters

#?
#? make mistake-03 NAME=maximum_starts_at_zero: a wrong version of chapter 03, what it prints, and the test that fails; NAME= lists them
#? make starter-03   OUT=folder: a folder in which a student does the exercise of chapter 03
#?                   PART=merge: one part of it; SEED=7: other figures in the questions
#! make grade-tests  SUBMISSION=folder or archive: how many of the course's wrong versions the tests in it reject
#! make grade-tests-all  FOLDER=folder CHAPTER=03: the same of all submissions in it, in the CSV of grade-all
#! make test-classroom  proves every starter: it builds, fails untouched, passes with its solution back
