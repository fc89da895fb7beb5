# The commands of this starter; `make help` lists them. course.mk is the course's own Makefile.
CHAPTER := $(shell sed -n 's/^chapter //p' STARTER)
PART    ?=
export LC_ALL := C
CORES   := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
COURSE   = +@$(MAKE) -s --no-print-directory -f course.mk $(if $(findstring j,$(filter -j% --jobserver%,$(MAKEFLAGS))),,-j$(CORES))
STUDENT := @sh common/classroom/starter/student.sh
# The kernels under the course's race detector, where the program is that does so: it stands among the chapter's tests.
NUMBER    := $(firstword $(subst _, ,$(CHAPTER)))
RACECHECK := $(and $(wildcard $(CHAPTER)/kernels),$(wildcard $(CHAPTER)/tests/race*.c),racecheck-$(NUMBER))

.PHONY: all run test hint progress submit help clean $(RACECHECK)
all:
	@sh common/setup.sh run
	$(COURSE) build/$(CHAPTER)
run: all
	@build/$(CHAPTER)
test:
	@sh common/setup.sh test
	$(COURSE) build/tests/$(CHAPTER) $(if $(wildcard $(CHAPTER)/tests/witness.c),build/tests/$(CHAPTER)-witness)
	$(STUDENT) test $(PART)
hint progress submit:
	$(STUDENT) $@ $(PART)
ifneq ($(RACECHECK),)
$(RACECHECK): build/$(RACECHECK)
	@$<
endif
build/%: FORCE
	$(COURSE) $@
FORCE:
Makefile course.mk: ;
clean:
	rm -rf build
.DEFAULT:
	@echo "make: there is no target '$@'; make help lists them" >&2; exit 2
help:
	@sed -n 's/^#? //p' Makefile
	@$(if $(RACECHECK),echo 'make $(RACECHECK)  looks for races in the kernels')

#? make            builds the chapter's program, in build/
#? make run        lets it tell its story; before you are done it says what is wrong
#? make test       tests your parts, and says of each what is missing; PART=… for one of them
#? make hint       a hint for the first part that is not done; again: the next one. PART=… for another
#? make progress   what is done
#? make submit     submission.tar.gz, which is what you hand in
