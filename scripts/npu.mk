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

NPU_TARGET_FLAGS = --accelerator-config=$(NPU_ACCELERATOR) \
	--system-config=$(NPU_SYSTEM) --memory-mode=$(NPU_MEMORY)

# a file per set of options, so that changed options make the stages run again
.npu-%.options: FORCE_NPU
	@printf '%s\n' '$(NPU_OPTIONS_$*)' | cmp -s - $@ || \
		printf '%s\n' '$(NPU_OPTIONS_$*)' >$@
.PHONY: FORCE_NPU
NPU_OPTIONS_part = $(NPU_ACCELERATOR) $(NPU_QUANTCHECK_FLAGS) $(NPU_PARTITION_FLAGS) $(NPU_TOSA_FLAGS)
NPU_OPTIONS_sched = $(NPU_TARGET_FLAGS) $(NPU_SCHED_FLAGS)
NPU_OPTIONS_wenc = $(NPU_WENC_FLAGS)
NPU_OPTIONS_cmdgen = $(NPU_CMDGEN_FLAGS)
NPU_OPTIONS_tfl2c = $(NPU_TFL2C_FLAGS)

%.part: $(NPU_MODELS)/%.tflite .npu-part.options
	$(NPU_BIN)tfl-quantcheck --quiet $(NPU_QUANTCHECK_FLAGS) $<
	$(NPU_BIN)tfl-partition -a $(NPU_ACCELERATOR) $(NPU_PARTITION_FLAGS) -o $@ $<

%.part: $(NPU_MODELS)/%.tosa .npu-part.options
	$(NPU_BIN)tosa-partition -a $(NPU_ACCELERATOR) $(NPU_TOSA_FLAGS) -o $@ $<

%.sched: %.part .npu-sched.options
	$(NPU_BIN)npu-sched $(NPU_TARGET_FLAGS) $(NPU_SCHED_FLAGS) -o $@ $<

%.wenc: %.sched .npu-wenc.options
	$(NPU_BIN)npu-wenc $(NPU_WENC_FLAGS) -o $@ $<

%_npu.tflite: %.wenc .npu-cmdgen.options
	$(NPU_BIN)npu-cmdgen $(NPU_CMDGEN_FLAGS) -o $@ $<

%.h: %_npu.tflite .npu-tfl2c.options
	$(NPU_BIN)tfl2c $(NPU_TFL2C_FLAGS) --name-of=$* -o $@ $<

# what the estimator says of it
%.perf: %_npu.tflite .npu-sched.options
	$(NPU_BIN)npu-perf --system-config=$(NPU_SYSTEM) \
		--memory-mode=$(NPU_MEMORY) -o $@ $<

# the input and what the model says of it, before compilation: NPU_INPUT_NAME is
# the file of NAME.tflite's input; none: random numbers
NPU_MKINPUT_FLAGS ?=
%_input.h %_expected.h: $(NPU_MODELS)/%.tflite
	$(NPU_BIN)mkinput $(NPU_MKINPUT_FLAGS) $(if $(NPU_INPUT_$*),,--random=1) \
		-o $*_input.h --expected=$*_expected.h $< $(NPU_INPUT_$*)

# --check: the streams are legal, and compute what the model does
%.checked: %_npu.tflite $(NPU_MODELS)/%.tflite
	$(NPU_BIN)npu-dis --verify $< >$@
	$(NPU_BIN)npu-sim --compare=$(NPU_MODELS)/$*.tflite $< >>$@
