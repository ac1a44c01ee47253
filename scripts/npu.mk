# SPDX-License-Identifier: Apache-2.0
# GNU make rules for firmware projects: from NAME.tflite or NAME.tosa, where it
# stands or in NPU_MODELS, to NAME.h, by way of every stage's file.
#
#	NPU_ACCELERATOR := ethos-u55-128
#	NPU_SYSTEM := RTSS_HE_SRAM_MRAM
#	NPU_MEMORY := Shared_Sram
#	include /usr/local/share/nputools/npu.mk
#	firmware.o: keyword.h
#
# Stages write their files whole or not at all, and a file is made again when
# the model, a program or one of these options changes.
#
# Names of files reach the shell in quotes, so that no name of a model is a command.
# Variables called ..._FLAGS are words of the shell.

NPU_ACCELERATOR ?= $(error npu.mk: set NPU_ACCELERATOR, ethos-u55-128 for one)
NPU_SYSTEM ?= $(error npu.mk: set NPU_SYSTEM; npu-sched lists what it knows)
NPU_MEMORY ?= $(error npu.mk: set NPU_MEMORY, Shared_Sram for one)
NPU_MODELS ?= .
# directory of the programs, with its slash; empty: those in PATH
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

# $(call npu_quote,WORD): one word of the shell, whatever it holds
npu_quote = '$(subst ','\'',$(1))'
npu_files = -o $(call npu_quote,$@) -- $(call npu_quote,$<)

NPU_TARGET_FLAGS = --accelerator-config=$(NPU_ACCELERATOR) \
	--system-config=$(NPU_SYSTEM) --memory-mode=$(NPU_MEMORY)

# a file per set of options, so that changed options make the stages run again
.npu-%.options: FORCE_NPU
	@printf '%s\n' $(call npu_quote,$(NPU_OPTIONS_$*)) | cmp -s - $@ || \
		printf '%s\n' $(call npu_quote,$(NPU_OPTIONS_$*)) >$@
.PHONY: FORCE_NPU
NPU_OPTIONS_part = $(NPU_ACCELERATOR) $(NPU_QUANTCHECK_FLAGS) $(NPU_PARTITION_FLAGS) $(NPU_TOSA_FLAGS)
NPU_OPTIONS_sched = $(NPU_TARGET_FLAGS) $(NPU_SCHED_FLAGS)
NPU_OPTIONS_wenc = $(NPU_WENC_FLAGS)
NPU_OPTIONS_cmdgen = $(NPU_CMDGEN_FLAGS)
NPU_OPTIONS_tfl2c = $(NPU_TFL2C_FLAGS)

%.part: $(NPU_MODELS)/%.tflite .npu-part.options
	$(NPU_BIN)tfl-quantcheck --quiet $(NPU_QUANTCHECK_FLAGS) -- $(call npu_quote,$<)
	$(NPU_BIN)tfl-partition -a $(NPU_ACCELERATOR) $(NPU_PARTITION_FLAGS) $(npu_files)

%.part: $(NPU_MODELS)/%.tosa .npu-part.options
	$(NPU_BIN)tosa-partition -a $(NPU_ACCELERATOR) $(NPU_TOSA_FLAGS) $(npu_files)

%.sched: %.part .npu-sched.options
	$(NPU_BIN)npu-sched $(NPU_TARGET_FLAGS) $(NPU_SCHED_FLAGS) $(npu_files)

%.wenc: %.sched .npu-wenc.options
	$(NPU_BIN)npu-wenc $(NPU_WENC_FLAGS) $(npu_files)

%_npu.tflite: %.wenc .npu-cmdgen.options
	$(NPU_BIN)npu-cmdgen $(NPU_CMDGEN_FLAGS) $(npu_files)

%.h: %_npu.tflite .npu-tfl2c.options
	$(NPU_BIN)tfl2c $(NPU_TFL2C_FLAGS) --name-of=$(call npu_quote,$*) $(npu_files)

# what the estimator says of it
%.perf: %_npu.tflite .npu-sched.options
	$(NPU_BIN)npu-perf --system-config=$(NPU_SYSTEM) \
		--memory-mode=$(NPU_MEMORY) $(npu_files)

# the input and what the model says of it, before compilation: NPU_INPUT_NAME is
# the file of NAME.tflite's input; none: random numbers
NPU_MKINPUT_FLAGS ?=
%_input.h %_expected.h: $(NPU_MODELS)/%.tflite
	$(NPU_BIN)mkinput $(NPU_MKINPUT_FLAGS) $(if $(NPU_INPUT_$*),,--random=1) \
		-o $(call npu_quote,$*_input.h) \
		--expected=$(call npu_quote,$*_expected.h) -- $(call npu_quote,$<) \
		$(foreach f,$(NPU_INPUT_$*),$(call npu_quote,$(f)))

# --check: the streams are legal, and compute what the model does
%.checked: %_npu.tflite $(NPU_MODELS)/%.tflite
	$(NPU_BIN)npu-dis --verify -- $(call npu_quote,$<) >$(call npu_quote,$@)
	$(NPU_BIN)npu-sim --compare=$(call npu_quote,$(NPU_MODELS)/$*.tflite) \
		-- $(call npu_quote,$<) >>$(call npu_quote,$@)
