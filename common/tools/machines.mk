# Attention across machines: programs with MPI, only for `make machines`. Included by the Makefile.

# Open MPI and MPICH both print the compiler's command. -isystem: no warnings about their headers.
MPICC     ?= mpicc
MPI_SHOWN  = $(shell $(MPICC) -show 2>/dev/null)
MPI_FLAGS  = $(patsubst -I%,-isystem %,$(filter -I%,$(MPI_SHOWN)))
MPI_LIBS   = $(filter-out -I%,$(wordlist 2,99,$(MPI_SHOWN)))
RING_05   := 05_flash_tiled_cpu/machines
RING_07   := 07_backward/machines
RANKS     := $(filter-out %/main.c,$(wildcard $(RING_05)/program/*.c)) $(RING_05)/ring.c
OBJECTS_05 = $(patsubst %.c,$(OBJ)/%.o,$(RING_05)/program/main.c $(RANKS) $(EARLIER_06))
OBJECTS_07 = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(RING_07)/*.c $(RING_07)/program/*.c) $(RANKS) $(STEPS_07))
MACHINES  := $(BUILD)/05_merge $(BUILD)/05_ring $(BUILD)/07_ring

NCCL_FLAGS = $(MPI_FLAGS) $(patsubst %,-isystem %,$(dir $(NVCC))../include)
HAS_NCCL   = $(shell printf '$(HASH)include <nccl.h>\n' | $(CC) $(NCCL_FLAGS) -E -x c - >/dev/null 2>&1 && echo yes)

$(OBJ)/$(RING_05)/%.o $(OBJ)/$(RING_07)/%.o: CPPFLAGS += $(MPI_FLAGS)
$(BUILD)/05_merge: $(patsubst %.c,$(OBJ)/%.o,$(RING_05)/merge.c $(EARLIER_06))
$(BUILD)/05_ring: $(OBJECTS_05)
$(BUILD)/07_ring: $(OBJECTS_07)
LINK_RING = $(CC) $(FLAGS) $(OPENMP) $(MPI_FLAGS) $(LDFLAGS) $1 $(COMMON) $(MPI_LIBS) -lm
$(MACHINES): $(COMMON)
	$(call SAY,link $@)
	$(AT)$(call LINK_RING,$(filter %.o,$^)) -o $@

.PHONY: machines machines-programs machines-tests
machines-programs: $(MACHINES)
machines-tests: machines-programs
	$(if $(HAS_NCCL),$(AT)$(CC) $(FLAGS) $(NCCL_FLAGS) -fsyntax-only $(RING_05)/nccl.c)
	@command -v python3 >/dev/null || { echo "attention across machines: skipped: no python3 here"; exit 0; }; \
	    OBJ='$(OBJ)' LINK_05_ring='$(call LINK_RING,$(OBJECTS_05))' LINK_07_ring='$(call LINK_RING,$(OBJECTS_07))' \
	    python3 $(RING_05)/tests/test_machines.py
# A second make finds MPI's flags after its installation.
machines: setup-run
	@sh common/setup.sh machines
	$(SUBMAKE) $(JOBS) QUIET=1 machines-tests

#!
#! make machines     attention across machines, for which it installs MPI if you agree: build/05_ring and build/07_ring, and
#!                   their tests on 2, 3 and 5 ranks
