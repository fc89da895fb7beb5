# Grading by outputs (common/classroom/pages/grading.md). Included by the Makefile.
#
# The grader compiles a student's file plain, with sanitizers, and counted. It is linked with one object per program of
# common/classroom/grader/programs: not an archive, so that nothing in it can be replaced. `make run` shares most parts.

CLASSROOM_DIR := common/classroom
GRADER    := $(BUILD)/grader
SANITIZED := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

# Hidden symbols stay visible to the next linker, which Darwin's must be told.
LINK_PARTS := -r -nostdlib $(if $(DARWIN),-Xlinker -keep_private_externs)

# All of common except the reference.
STUDENT_COMMON := $(patsubst %,$(OBJ)/%.o,$(addprefix $(CLASSROOM_DIR)/student/,student) $(filter-out \
    common/check/% common/lab/% $(addprefix common/,program/report_compared program/report_wrong program/scores_check program/scores_bench measure/peak), \
    $(basename $(LIBRARY))) common/check/tolerance)
STUDENT_OBJECTS :=
STUDENT_MODELS  :=
LINKED_IN       ?= $(BUILD)

# The lesson of a program that counts accesses (common/measure/watch.h).
$(OBJ)/student/watched/%.o: %.c
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(WATCH_FLAGS) -MMD -MP -c $< -o $@

# $1 is CHAPTER-PROGRAM, $2 its main, $3 the main's macros, $4 the objects of the chapter's other files.
define student_program
$(OBJ)/student/$1.o: $(CLASSROOM_DIR)/student/$2.c
	@mkdir -p $$(@D)
	$(AT)$$(CC) $$(FLAGS) $3 -MMD -MP -c $$< -o $$@
$(LINKED_IN)/$1.o: $(OBJ)/student/$1.o $4 $(STUDENT_COMMON) $(CLASSROOM_DIR)/grading.mk
	@mkdir -p $$(@D)
	$(AT)$$(CC) $$(LINK_PARTS) $$(filter %.o,$$^) -o $$@
STUDENT_OBJECTS += $(LINKED_IN)/$1.o
endef
# The same with counted accesses, and with the course's file $2 instead of the student's.
define student_model
$(LINKED_IN)/$1-course: $(OBJ)/student/watched/$(2:.c=.o) $(LINKED_IN)/$1.o
	$(AT)$$(CC) $$(FLAGS) $$(LDFLAGS) $$^ -o $$@ -lm
STUDENT_MODELS += $(LINKED_IN)/$1-course
endef

# Chapter 06: $1 is the kernel, linked with the emulator; $2 is empty, or what is counted.
define student_kernel
$(OBJ)/student/06-$1$2.o: $(CLASSROOM_DIR)/student/kernel.c
	@mkdir -p $$(@D)
	$(AT)$$(CC) $$(FLAGS) -DLESSON=$1 $(if $2,-DCOUNTED) -MMD -MP -c $$< -o $$@
$(LINKED_IN)/06-$1$2.o: $(OBJ)/student/06-$1$2.o $(OBJ)/$(CLASSROOM_DIR)/student/device_memory.o $(STUDENT_COMMON) \
                     $(patsubst %,$(OBJ)/%.o,$(basename $(EMULATOR)))
	@mkdir -p $$(@D)
	$(AT)$$(CC) $$(LINK_PARTS) $$^ -o $$@
$(LINKED_IN)/06-$1$2-course: $(patsubst %.cu,$(OBJ)/instrumented/%.o,$(wildcard 06_flash_tiled_cuda/kernels/*/$1.cu)) $(LINKED_IN)/06-$1$2.o
	$(AT)$$(CXX) $$(CXX_FLAGS) $$(LDFLAGS) $$^ -o $$@ $$(CUDA_LIBS)
endef
COUNTED_KERNELS := swizzle
STUDENT_KERNELS := $(filter-out $(COUNTED_KERNELS),$(shell awk '$$1 == "06" { print $$3 }' $(CLASSROOM_DIR)/grader/programs))
$(foreach k,$(STUDENT_KERNELS),$(eval $(call student_kernel,$k,)))
$(foreach k,$(COUNTED_KERNELS),$(eval $(call student_kernel,$k,-counted)))

# $1 is a line of programs, CHAPTER PROGRAM KIND FILE. KIND selects the main and its macros.
folder        = $(wildcard $(firstword $1)_*)
MAIN_rows     = rows -DLESSON=$(word 2,$1) -DLESSON_HEADER='"$(folder)/$(basename $(word 4,$1)).h"'
MAIN_merge    = states
MAIN_share    = states -DSHARE
MAIN_product  = forward -DLESSON=$(word 2,$1)
MAIN_forward  = forward $(if $(filter-out 04,$(firstword $1)),-DLESSON=$(word 2,$1))
MAIN_sink     = forward -DSINK
MAIN_dsink    = sinks
MAIN_backward = backward -DLESSON=backward_$(word 2,$1)
# The chapter's other files that programs are linked with: all, and one program's.
OTHERS_04       := flash_no_tiling.c
OTHERS_05       := steps/tile.c steps/observe.c
OTHERS_05-masks := steps/fa1.c steps/fa2.c
OTHERS_05-sink_attention := $(OTHERS_05-masks) steps/masks.c steps/dropout.c
OTHERS_05-sink_gradient := $(OTHERS_05-sink_attention)
OTHERS_05-softcap := $(OTHERS_05-sink_attention)
OTHERS_07       := steps/tile.c
OTHERS_07-softcap := steps/fa2.c
others  = $(patsubst %.c,$3/%.o,$(addprefix $(folder)/,$(OTHERS_$(firstword $1)) $(OTHERS_$2)))
of_main = $(call student_program,$2,$(firstword $3),$(wordlist 2,3,$3),$(call others,$1,$2,$(OBJ)))
counted = $(call student_program,$2-counted,$(firstword $3),$(wordlist 2,3,$3) -DCOUNTED,$(call others,$1,$2,$(OBJ)/student/watched))
define of_line
$(call of_main,$1,$(firstword $1)-$(word 2,$1),$(call MAIN_$(word 3,$1),$1))
$(if $(filter rows product forward backward,$(word 3,$1)),$(call counted,$1,$(firstword $1)-$(word 2,$1),$(call MAIN_$(word 3,$1),$1))
$(call student_model,$(firstword $1)-$(word 2,$1)-counted,$(folder)/$(word 4,$1)))
endef
$(foreach l,$(shell awk '$$1 ~ /^0[1-57]/ { print $$1 "|" $$3 "|" $$4 "|" $$5 }' $(CLASSROOM_DIR)/grader/programs),\
    $(eval $(call of_line,$(subst |, ,$l))))

.PHONY: student-objects student-models
student-objects: $(STUDENT_OBJECTS)
student-models: $(STUDENT_MODELS)

$(GRADER)/confine: $(OBJ)/$(CLASSROOM_DIR)/grader/confine.o
$(GRADER)/judge: $(patsubst %,$(OBJ)/$(CLASSROOM_DIR)/grader/%.o,judge inputs) $(COMMON)
$(GRADER)/confine $(GRADER)/judge:
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ -lm

# The grader, and everything that students' files are linked with; chapter 06's, with the emulator, separately.
IN_PLAIN     = $(SUBMAKE) QUIET=1 LINKED_IN=$(GRADER)/plain
IN_SANITIZED = $(SUBMAKE) QUIET=1 LINKED_IN=$(GRADER)/sanitized BUILD=$(BUILD)/sanitized CFLAGS='$(SANITIZED)'
.PHONY: grader grader-06
grader: $(GRADER)/confine $(GRADER)/judge $(if $(filter 06% $(wildcard $(GRADER)/plain/06-fa1.o),$(CHAPTER) $(GRADER)/plain/06-fa1.o),grader-06)
	$(IN_PLAIN) student-objects student-models
	$(IN_SANITIZED) student-objects
grader-06:
	$(IN_SANITIZED) $(STUDENT_KERNELS:%=$(GRADER)/sanitized/06-%.o)
	$(IN_PLAIN) $(COUNTED_KERNELS:%=$(GRADER)/plain/06-%-counted-course) $(STUDENT_KERNELS:%=$(GRADER)/plain/06-%.o)

# Arguments are in the environment. Commands that report when interrupted are started by exec, so that make waits for
# them, not only for a shell.
GRADE_ENVIRONMENT = CC='$(CC)' FLAGS='-std=c17 -ffp-contract=off $(WARNINGS)' SANITIZED='$(SANITIZED)' \
    CXX='$(CXX)' CXX_FLAGS='-std=c++17 -ffp-contract=off -gdwarf-4 -g1 $(filter-out -Wstrict-prototypes,$(WARNINGS)) $(KERNEL_FLAGS)' \
    INSTRUMENTED_FLAGS='$(INSTRUMENTED_FLAGS)' CUDA_LIBS='$(CUDA_LIBS)' WATCH_FLAGS='$(WATCH_FLAGS)'
FOR_TEACHERS = +@$(UNLESS_DRY)exec env PYTHONDONTWRITEBYTECODE=1
.PHONY: grade grade-all
grade grade-all: setup-run
	$(call HAVE,python3)
	$(SUBMAKE) $(JOBS) grader QUIET=1
	$(FOR_TEACHERS) $(GRADE_ENVIRONMENT) python3 $(CLASSROOM_DIR)/grader $(@:grade-%=%)

# The grader's tests, and wrong graders that they must reject.
.PHONY: $(RESULTS)/grading test-grading
$(RESULTS)/grading: grader grader-06 $(BUILD)/against $(CHAPTERS:%=$(BUILD)/%)
	$(AT)$(GRADE_ENVIRONMENT) PYTHONDONTWRITEBYTECODE=1 python3 $(CLASSROOM_DIR)/tests/grading.py $@ $(TESTS_OF_GRADING)
test-grading: setup-test
	$(SUBMAKE) $(JOBS) QUIET=1 $(RESULTS)/grading

# The autograder for Gradescope and Classroom 50.
.PHONY: gradescope classroom50
gradescope classroom50:
	@sh $(CLASSROOM_DIR)/adapters/bundle.sh $@ "$$CHAPTER" "$$OUT" "$$PART" "$$SEED" "$$SEEDS"

#? make grade        SUBMISSION=folder or archive: grades it by its outputs; SEED=5 CHAPTER=03 PART=merge REPORTS=folder
#! make grade-all    FOLDER=folder CHAPTER=03: all submissions in it, and one CSV with those of grade-tests-all; SEEDS=list
#! make gradescope   CHAPTER=03 OUT=autograder.zip: what Gradescope takes; classroom50 OUT=folder: for Classroom 50
#! make test-grading the grader, on what is right, what is wrong, and on cheating
