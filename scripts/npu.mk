# SPDX-License-Identifier: Apache-2.0
# GNU make rules for firmware projects: from NAME.tflite or NAME.tosa, in the current
# directory or in NPU_MODELS, to NAME.h, with a file for every stage.
#
#	NPU_PART := alif-e7-he
#	include /usr/local/share/nputools/npu.mk
#	firmware.o: keyword.h
#
# NPU_PART is a chip of npu-sched --list-parts, or a file.  Without it, NPU_ACCELERATOR,
# NPU_SYSTEM and NPU_MEMORY name the NPU and its memory system, which may be described in
# NPU_CONFIG, files for --config.
#
# NAME_call.c and NAME_call.h are the network for firmware without an interpreter
# (tfl2c --format=call), NAME_npu.tflite is the compiled model, NAME.perf the estimate;
# NAME.checked says that the model computes the results of the original.
#
# A variable may have a value for one network:
#	keyword_npu.tflite: NPU_SCHED_FLAGS := --plan=keyword.plan
#
# A stage writes a complete file or none.  A file is made again when the model, a program, an
# option or a file that an option names changes; .npu-* has options and sums of those files.
#
# File names are quoted for the shell, so that no name of a model is a command.  Variables
# with names ..._FLAGS are words of the shell.

NPU_PART ?=
NPU_ACCELERATOR ?= $(error npu.mk: set NPU_PART, alif-e7-he for one, or NPU_ACCELERATOR)
NPU_SYSTEM ?= $(error npu.mk: set NPU_SYSTEM; npu-sched lists what it knows)
NPU_MEMORY ?= $(error npu.mk: set NPU_MEMORY, Shared_Sram for one)
NPU_CONFIG ?=
NPU_MODELS ?= .
# the directory of the programs, with a slash at the end; empty: the programs in PATH
NPU_BIN ?=
NPU_QUANTCHECK_FLAGS ?=
NPU_PARTITION_FLAGS ?=
NPU_TOSA_FLAGS ?=
NPU_SCHED_FLAGS ?=
NPU_WENC_FLAGS ?=
NPU_CMDGEN_FLAGS ?=
NPU_TFL2C_FLAGS ?=

.DELETE_ON_ERROR:
.SECONDARY:

# $(call npu_quote,WORD): one word of the shell, whatever characters it has
npu_quote = '$(subst ','\'',$(1))'
npu_files = -o $(call npu_quote,$@) -- $(call npu_quote,$<)

NPU_PART_FLAGS = $(if $(NPU_PART),--part=$(call npu_quote,$(NPU_PART)))
NPU_ACCELERATOR_FLAGS = $(or $(NPU_PART_FLAGS),--accelerator-config=$(NPU_ACCELERATOR))
NPU_MEMORY_FLAGS = $(or $(NPU_PART_FLAGS),$(foreach f,$(NPU_CONFIG),--config=$(call npu_quote,$(f))) \
	--system-config=$(NPU_SYSTEM) --memory-mode=$(NPU_MEMORY))
NPU_TARGET_FLAGS = $(or $(NPU_PART_FLAGS),$(NPU_ACCELERATOR_FLAGS) $(NPU_MEMORY_FLAGS))

# $(call npu_record,COMMAND): writes what COMMAND prints to the target, if that differs.  Lines
# with "+" also run for make -q, which then knows whether a stage must run.
npu_record = { $(1); } >$(call npu_quote,$@.new); \
	if cmp -s $(call npu_quote,$@.new) $(call npu_quote,$@); then rm $(call npu_quote,$@.new); \
	else mv $(call npu_quote,$@.new) $(call npu_quote,$@); fi

# .npu-STAGE.NAME.options: the options of a stage for a network, and the sums of the files that
# they name
npu_stage = $(firstword $(subst ., ,$(notdir $*)))
npu_input = $(NPU_INPUT_$(patsubst mkinput.%,%,$(notdir $*)))
npu_named = $(wildcard $(npu_input) $(foreach o,--part= --config= --plan= --labels=,\
	$(patsubst $(o)%,%,$(filter $(o)%,$(subst ',,$(NPU_OPTIONS_$(npu_stage)))))))
.npu-%.options: FORCE_NPU
	+@$(call npu_record,printf '%s\n' $(call npu_quote,$(NPU_OPTIONS_$(npu_stage))); \
		cksum /dev/null $(foreach f,$(npu_named),$(call npu_quote,$(f))))

NPU_PROGRAMS := tfl-quantcheck tfl-partition tosa-partition npu-sched npu-wenc npu-cmdgen tfl2c \
	npu-perf mkinput npu-dis npu-sim
.npu-programs: FORCE_NPU
	+@$(call npu_record,for p in $(NPU_PROGRAMS); do cksum <"$$(command -v $(NPU_BIN)$$p)"; done)
.PHONY: FORCE_NPU

NPU_OPTIONS_part = $(NPU_ACCELERATOR_FLAGS) $(NPU_QUANTCHECK_FLAGS) $(NPU_PARTITION_FLAGS) $(NPU_TOSA_FLAGS)
NPU_OPTIONS_sched = $(NPU_TARGET_FLAGS) $(NPU_SCHED_FLAGS)
NPU_OPTIONS_wenc = $(NPU_WENC_FLAGS)
NPU_OPTIONS_cmdgen = $(NPU_CMDGEN_FLAGS)
NPU_OPTIONS_perf = $(NPU_MEMORY_FLAGS)
NPU_OPTIONS_mkinput = $(NPU_MKINPUT_FLAGS) $(npu_input)
NPU_OPTIONS_tfl2c = $(NPU_PART_FLAGS) $(NPU_TFL2C_FLAGS)

%.part: $(NPU_MODELS)/%.tflite .npu-part.%.options .npu-programs
	$(NPU_BIN)tfl-quantcheck --pass $(NPU_QUANTCHECK_FLAGS) -- $(call npu_quote,$<) \
		>/dev/null
	$(NPU_BIN)tfl-partition $(NPU_ACCELERATOR_FLAGS) $(NPU_PARTITION_FLAGS) $(npu_files)

%.part: $(NPU_MODELS)/%.tosa .npu-part.%.options .npu-programs
	$(NPU_BIN)tosa-partition $(NPU_ACCELERATOR_FLAGS) $(NPU_TOSA_FLAGS) $(npu_files)

%.sched: %.part .npu-sched.%.options .npu-programs
	$(NPU_BIN)npu-sched $(NPU_TARGET_FLAGS) $(NPU_SCHED_FLAGS) $(npu_files)

%.wenc: %.sched .npu-wenc.%.options .npu-programs
	$(NPU_BIN)npu-wenc $(NPU_WENC_FLAGS) $(npu_files)

# Bodies of IF and WHILE are networks of their own, which npu-cmdgen puts into the model: files
# NAME.bodyN.part and so on.  Options about the model's inputs, outputs and plan are not for them.
npu_model = $(call npu_quote,$(NPU_MODELS)/$*.tflite)
NPU_BODY_PARTITION_FLAGS = $(filter-out --input-layout=% --output-layout=% --integer-io \
	--separate-io-regions,$(NPU_PARTITION_FLAGS))
NPU_BODY_SCHED_FLAGS = $(filter-out --plan=% --keep-plan=% --batch=% --require-batch,\
	$(NPU_SCHED_FLAGS))
npu_list_bodies = $(if $(wildcard $(NPU_MODELS)/$*.tflite),$(NPU_BIN)tfl-partition --report \
	$(NPU_ACCELERATOR_FLAGS) $(NPU_BODY_PARTITION_FLAGS) -- $(npu_model) | \
	sed -n 's/^subgraph \([0-9]*\). a body .*/\1/p',:)

%_npu.tflite: %.wenc .npu-cmdgen.%.options .npu-programs
	@set --; for n in $$($(npu_list_bodies)); do \
		b=$(call npu_quote,$*).body$$n; \
		$(NPU_BIN)tfl-partition --subgraph=$$n $(NPU_ACCELERATOR_FLAGS) \
			$(NPU_BODY_PARTITION_FLAGS) -o "$$b.part" -- $(npu_model) && \
		$(NPU_BIN)npu-sched $(NPU_TARGET_FLAGS) $(NPU_BODY_SCHED_FLAGS) \
			-o "$$b.sched" -- "$$b.part" && \
		$(NPU_BIN)npu-wenc $(NPU_WENC_FLAGS) -o "$$b.wenc" -- "$$b.sched" && \
		$(NPU_BIN)npu-cmdgen $(NPU_CMDGEN_FLAGS) -o "$$b"_npu.tflite -- "$$b.wenc" || exit; \
		set -- "$$@" --body=$$n="$$b"_npu.tflite; \
	done; set -- $(NPU_BIN)npu-cmdgen $(NPU_CMDGEN_FLAGS) "$$@" $(npu_files); \
	printf '%s\n' "$$*"; "$$@"

%.h: %_npu.tflite .npu-tfl2c.%.options .npu-programs
	$(NPU_BIN)tfl2c $(NPU_PART_FLAGS) $(NPU_TFL2C_FLAGS) --name-of=$(call npu_quote,$*) $(npu_files)

npu_call = $(NPU_BIN)tfl2c $(NPU_PART_FLAGS) $(NPU_TFL2C_FLAGS) --name-of=$(call npu_quote,$*) --format=call
%_call.c %_call.h: %_npu.tflite .npu-tfl2c.%.options .npu-programs
	$(npu_call) -o $(call npu_quote,$*_call.c) -- $(call npu_quote,$<)
	$(npu_call) --declarations -o $(call npu_quote,$*_call.h) -- $(call npu_quote,$<)

# the estimate
%.perf: %_npu.tflite .npu-perf.%.options .npu-programs
	$(NPU_BIN)npu-perf $(NPU_MEMORY_FLAGS) $(npu_files)

# The input and the expected output, computed before compilation: NAME_input_data in NAME_input.h
# and NAME_expected_output_data in NAME_expected.h.  NPU_INPUT_NAME is the input file of
# NAME.tflite; without it the input is random.  For input_data and expected_output_data, in a
# firmware with one model:
#	NPU_MKINPUT_FLAGS := --name=input_data --expected-name=expected_output_data
NPU_MKINPUT_FLAGS ?=
%_input.h %_expected.h: $(NPU_MODELS)/%.tflite .npu-mkinput.%.options .npu-programs
	$(NPU_BIN)mkinput --name-of=$(call npu_quote,$*) $(NPU_MKINPUT_FLAGS) $(if $(NPU_INPUT_$*),,--random=1) \
		-o $(call npu_quote,$*_input.h) \
		--expected=$(call npu_quote,$*_expected.h) -- $(call npu_quote,$<) \
		$(foreach f,$(NPU_INPUT_$*),$(call npu_quote,$(f)))

# the streams are valid and compute the model's results
%.checked: %_npu.tflite $(NPU_MODELS)/%.tflite .npu-programs
	$(NPU_BIN)npu-dis --verify -- $(call npu_quote,$<) >$(call npu_quote,$@)
	$(NPU_BIN)npu-sim --compare=$(call npu_quote,$(NPU_MODELS)/$*.tflite) \
		-- $(call npu_quote,$<) >>$(call npu_quote,$@)
