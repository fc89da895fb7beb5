# make -f each.mk COMMAND='sh some.sh' FIRST=1 LAST=9 - runs COMMAND with each of these numbers after it, as many at a
# time as make may: what -j says of a command of the classroom holds for what that starts.
include common/tools/typed.mk
NUMBERS := $(shell awk 'BEGIN { for (k = $(FIRST); k <= $(LAST); k++) print k }')
.PHONY: all $(NUMBERS)
all: $(NUMBERS)
$(NUMBERS):
	@$(COMMAND) $@
