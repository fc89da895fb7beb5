# Typed variables are text: make expands nothing in them, and recipes read them from the environment, as
# "$$PROMPT", so no shell does. Compilers and flags are exempt.
PROMPT :=#   from the environment it is a shell's own
TYPED  := BEFORE BROWSER CHAPTER CLASS DRY FOLDER FROM GPU_ARCH HEAD INPUT K LAYER LIMIT MASK MINE NAME ONLY OPTIONS OUT \
          OUTPUTS PAGES PART PLANTED PROMPT PYTHON Q REFERENCE REPORTS SECONDS_OF_FUZZ SEED SEEDS SHORT SIZES STAGE STEP \
          SUBMISSION TIMES TOKENS TRUSTED V
as_text = $(eval $(if $(filter command,$2),override) $1 := $$(value $1))$(eval export $1)
$(foreach v,$(TYPED),$(if $(filter command environment,$(firstword $(origin $v))),$(call as_text,$v,$(origin $v))))
