# Pages, pictures, layout and other checks. Included by the Makefile.

.PHONY: plots plots-check docs docs-check check-docs format format-check lint fuzz cachegrind-05
plots plots-check: setup-run
	@sh common/setup.sh plots
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@python3 common/tools/course.py plots $(if $(filter %-check,$@),check,draw) $(BUILD)

export PAGES := README.md $(sort $(wildcard common/*.md common/*/*.md common/*/pages/*.md $(CHAPTERS:%=%/*.md) $(CHAPTERS:%=%/*/*.md)))
THERE = @for page in $(if $(strip $(PAGES)),$$PAGES,''); do case $$page in *.md | *.html) [ -f "$$page" ] ;; *) false ;; esac || \
    { printf '%s\n' "make $@: PAGES: expected pages of the course, found '$$page'" >&2; exit 2; }; done
docs docs-check: setup-run
	$(THERE)
	$(SUBMAKE) $(JOBS) QUIET=1 all $(BUILD)/cuda-bugs $(if $(filter common/classroom/%,$(PAGES)),grader $(BUILD)/against) $(if $(TIMES),$(BUILD)/libflash.so)
	@python3 common/tools/course.py docs $(if $(filter docs,$@),$(if $(TIMES),measure,fill),check) \
	    $$PAGES $(wildcard $(CHAPTERS:%=%/pages/*.html))
	@python3 common/tools/course.py pages $$PAGES

# Runs the pages' commands, except those that compile by hand, which .ci/run runs.
check-docs: setup-test
	$(THERE)
	$(SUBMAKE) $(JOBS) QUIET=1 all
	@python3 common/tools/course.py commands shown $$PAGES

.PHONY: book book-check
book book-check:
	$(call HAVE,python3)
	$(THERE)
	$(if $(shell command -v emcc 2>/dev/null),$(SUBMAKE) QUIET=1 wasm $(if $(filter %-check,$@),$(patsubst %,$(BUILD)/%,$(filter-out 06_% 07_%,$(CHAPTERS)))),@echo "no emcc here, so pages cannot run programs (on Debian: packages emscripten and node-acorn)")
	@python3 common/tools/course.py book make $(BUILD) $$PAGES
	$(if $(filter %-check,$@),@python3 common/tools/course.py book check $(BUILD) $$PAGES)

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
# One file at a time on each core, with its output together. 30,000 analyzer states instead of 225,000: a
# quarter of the time. The analyzer leaves tests to the sanitizers, under which all of them run.
TIDY = xargs -P $(CORES) -n 1 sh -c 'case $$0 in */tests/*) less=--checks=-clang-analyzer-* ;; *) less= ;; esac; \
    said=$$($(CLANG_TIDY) --quiet $$less "$$0" -- $(1) -Xclang -analyzer-config \
    -Xclang max-nodes=30000 2>&1) || \
    { printf "%s\n" "$$said"; exit 1; }'
# Without MPI its header is missing. clang-tidy does not know gcc's option.
WITHOUT_MPI = $(foreach f,$1,$(if $(findstring /machines/,$f),,$f))
lint:
	@python3 common/tools/course.py layers
	@python3 common/tools/course.py comments
	$(call HAVE,$(CLANG_TIDY))
	@printf '%s\n' $(filter %.c,$(if $(MPI_FLAGS),$(C_FILES),$(call WITHOUT_MPI,$(C_FILES)))) | $(call TIDY,$(FLAGS) $(TEST_FLAGS) $(MPI_FLAGS))
	@printf '%s\n' $(filter %.cpp,$(CUDA_FILES)) | $(call TIDY,$(filter-out -fno-gnu-unique,$(CXX_FLAGS)))

.PHONY: test-tools
test-tools:
	@python3 -m unittest discover -q -s common/tools/tests

export SECONDS_OF_FUZZ ?= 600
$(BUILD)/fuzz_readers: common/tests/fuzz_readers.c $(LIBRARY)
	$(call HAVE,clang)
	@mkdir -p $(@D)
	$(AT)clang -g -O1 -std=c17 -fsanitize=fuzzer,address,undefined -Wl,--wrap=exit,--wrap=allocate -I. $^ -o $@ -lm
fuzz:
	@case "$$SECONDS_OF_FUZZ" in '' | *[!0-9]*) printf '%s\n' "make fuzz: SECONDS_OF_FUZZ: expected a whole number, found '$$SECONDS_OF_FUZZ'" >&2; exit 2 ;; esac
	$(SUBMAKE) QUIET=1 $(BUILD)/fuzz_readers
	@mkdir -p $(BUILD)/fuzz
	@printf 'o\004--n-q\n5\n--seed\n1\n--block-mask\nband:3\n--window\n1,-1' >$(BUILD)/fuzz/options
	@$(BUILD)/fuzz_readers -max_total_time="$$SECONDS_OF_FUZZ" -max_len=4096 -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/ $(BUILD)/fuzz >$(BUILD)/fuzz.log 2>&1 || { tail -n 40 $(BUILD)/fuzz.log; exit 1; }
	@grep -E 'Done|number_of_executed' $(BUILD)/fuzz.log

.PHONY: growth
growth: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/05_flash_tiled_cpu $(BUILD)/07_backward $(BUILD)/peers/resident
	@python3 common/tools/course.py tables growth

# Chapter 05 under valgrind's cachegrind. -O1 without vectors: one access is one element (vectors
# that straddle two lines would hide misses, -O0 would add the stack); no AVX-512, which valgrind
# lacks. Stripped: old valgrinds cannot read clang's debug information.
CACHEGRIND_FLAGS := -O1 -fno-tree-vectorize -s
CACHEGRIND_05    := 05_flash_tiled_cpu/tests/cachegrind.c $(filter 05_flash_tiled_cpu/steps/%,$(STEPS_05)) \
                    04_flash_no_tiling/standard_attention.c $(LESSON_02) $(EARLIER_05)
$(BUILD)/cachegrind-05: $(CACHEGRIND_05) $(OBJ)/watched/04/04_flash_no_tiling/standard_attention.o $(WATCHED_OBJ_05) $(COMMON)
	$(call SAY,cc   $@)
	$(AT)$(CC) $(FLAGS) $(CACHEGRIND_FLAGS) $(sort $(CACHEGRIND_05)) $(filter %.o,$^) $(COMMON) -o $@ -lm
cachegrind-05: setup-run
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/cachegrind-05
	@python3 common/tools/course.py tables cache

# Anybody's outputs against a stage. With REFERENCE=mine.py, a function in Python, it is a variant of attention that is checked:
# common/python/variant.py.
$(BUILD)/against: $(OBJ)/common/tools/against.o $(COMMON)
	$(AT)$(CC) $(FLAGS) $(OPENMP) $(LDFLAGS) $^ -o $@ -lm
.PHONY: check-against
check-against: setup-run
ifdef REFERENCE
	@[ -f "$$REFERENCE" ] || { printf '%s\n' "check-against: REFERENCE: expected a file that defines attention(q, k, v), found '$$REFERENCE'" >&2; exit 2; }
	@[ -n "$$OUTPUTS$$OPTIONS" ] || { echo 'check-against: expected OUTPUTS=folder or OPTIONS="softcap=2" with a REFERENCE' >&2; exit 2; }
	$(if $(OUTPUTS),,$(SUBMAKE) $(JOBS) QUIET=1 library)
	@BUILD='$(BUILD)'; . common/python/find.sh; [ -n "$$python" ] || \
	    { echo 'check-against: expected a python3 with NumPy; sh common/python/fetch.sh numpy fetches it' >&2; exit 2; }; \
	    PYTHONDONTWRITEBYTECODE=1 "$$python" common/python/variant.py "$$REFERENCE" $(if $(OUTPUTS),"$$OUTPUTS",$$OPTIONS)
else
	$(SUBMAKE) $(JOBS) QUIET=1 $(BUILD)/against $(filter $(BUILD)/$(STAGE)%,$(if $(STAGE),$(CHAPTERS:%=$(BUILD)/%)))
	@sh common/tools/check_against.sh $(BUILD) "$$OUTPUTS" "$$STAGE"
endif

#!
#! make docs         fill the marked blocks of every page from real runs; TIMES=1 measures anew; docs-check: are they stale?
#!                   PAGES="README.md": only of these
#! make check-docs   run every command that a page shows
#! make book-check   the pages as a website, tried in a browser; with emcc also each command that pages run
#! make plots        draw the pictures again; plots-check: are they as drawn?
#! make test-tools   the tests of common/tools, which is in Python
#! make format       lay out the code; format-check: is it laid out? make lint: suspicious places, includes that go up, and
#!                   words of comments
#! make cachegrind-05  chapter 05's counts against a cache that valgrind simulates
#! make fuzz         the readers of .npy files and options fed with random bytes; SECONDS_OF_FUZZ=20
#! make check-against  OUTPUTS=folder STAGE=04: your own .npy outputs, in any language, against a stage, and the mistake in them;
#!                   REFERENCE=mine.py: against a function attention(q, k, v) in it; OPTIONS="softcap=2" for OUTPUTS: the
#!                   steps of the course that support these options
#! make growth       the memory and time of complete in chapters 05 and 07, to N = 262 144
