# The chapters' programs in C for a browser, which the book's pages run (common/tools/book/run.js), where emscripten
# is installed. Included by the Makefile.

WASM    := $(BUILD)/wasm
# emcc's driver refuses -fsanitize=thread, and wasm has no return addresses, with which a native program names source
# lines. IN_LIBRARY: programs only. NODE_PATH is where Debian puts node-acorn, which emcc needs.
ON_WASM := BUILD=$(WASM) CC=emcc AR=emar NM=emnm CFLAGS=-O2 WARNINGS=-w IN_LIBRARY= OPENMP= CUDA= WIDTH=-msimd128 \
           'THREADED=-Xclang -fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0' "CPPFLAGS='-D__builtin_return_address(n)=0'" \
           'LDFLAGS=-sSINGLE_FILE -sALLOW_MEMORY_GROWTH -sEXIT_RUNTIME -sENVIRONMENT=worker -sEXPORTED_RUNTIME_METHODS=FS \
               $$(foreach f,$$(if $$(findstring _softmax,$$@),scores,q k v key_mask o),--embed-file common/data/$$f.npy)'
PROGRAMS_ON_WASM := $(filter-out 06_%,$(CHAPTERS))

.PHONY: wasm
wasm:
	@NODE_PATH=/usr/share/nodejs $(MAKE) -s --no-print-directory $(JOBS) QUIET=1 $(ON_WASM) $(PROGRAMS_ON_WASM:%=$(WASM)/%)
	@mkdir -p $(WASM)/static/run
	@for name in $(PROGRAMS_ON_WASM); do \
	    { echo "program('$$name', function (Module) {"; cat $(WASM)/$$name; echo '});'; } >$(WASM)/static/run/$$name.js || exit; \
	done
