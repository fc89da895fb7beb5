# Compares a chapter's best step with libraries (common/peers/). Building needs no library.
PEER  := $(OBJ)/common/peers/peer.o $(COMMON)
PEERS := $(patsubst %,$(BUILD)/peers/%,composed referee resident 05_flash_tiled_cpu 07_backward)
$(OBJ)/common/peers/composed.o: FLAGS += $(FAST_FLAGS)
$(BUILD)/peers/composed: $(OBJ)/common/peers/composed.o $(OBJ)/common/peers/sgemm.o $(PEER)
$(BUILD)/peers/referee: $(OBJ)/common/peers/referee.o $(COMMON)
$(BUILD)/peers/resident: $(OBJ)/common/peers/resident.o
$(BUILD)/peers/05_flash_tiled_cpu: $(OBJ)/common/peers/complete_05.o $(ALGORITHM_OBJ_05) $(PEER)
$(BUILD)/peers/07_backward: $(patsubst %.c,$(OBJ)/%.o,common/peers/complete_07.c 07_backward/steps/forward.c $(STEPS_07)) $(PEER)
$(PEERS):
	$(call SAY,link $@)
	@mkdir -p $(@D)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ -ldl -lm

.PHONY: peers peers-05 peers-07 build-peers results
build-peers: $(PEERS)
peers: peers-05 peers-07
peers-05 peers-07: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all build-peers
	@python3 common/peers/peers.py measure $(BUILD) $(filter $(@:peers-%=%)_%,$(CHAPTERS))

# This machine's file in common/results, and the pages' tables of such files.
results: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 all build-peers
	@for chapter in $(filter 05_% 07_%,$(CHAPTERS)); do \
	    TARGET=results python3 common/peers/peers.py measure $(BUILD) $$chapter || exit; \
	done
	@TARGET=results python3 common/peers/peers.py resident $(BUILD) "$$(cat $(BUILD)/peers/written)"
	@python3 common/tools/course.py docs fill $$(grep -l 'peers/peers.py\|figures chapters' $$PAGES)

#!
#! make peers-05     chapter 05 against PyTorch, ONNX Runtime, OpenVINO, oneDNN and OpenBLAS, which it fetches into build/; five
#!                   minutes, or less with SIZES="512 2048"; peers-07: the backward pass; peers: both.
#!                   The rows take the place of those in this machine's file in common/results
#! make results      this machine: ladders and peers of 05 and 07, and memory, into one file in
#!                   common/results and the tables of the pages; a quarter of an hour; SIZES and PYTHON as above
