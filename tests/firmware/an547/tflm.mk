# SPDX-License-Identifier: Apache-2.0
# libtflm.a of a checkout of TensorFlow Lite Micro, unmodified: its reference
# kernels, and the operator of the Ethos-U.
#   make -f tflm.mk TFLM=DIR TFLM_DEPS=DIR DRIVER=DIR B=DIR CXX=... CXXFLAGS=...
# DRIVER: where ethosu_driver.h is

LITE := $(TFLM)/tensorflow/lite
SOURCES := $(wildcard $(LITE)/micro/*.cc $(LITE)/micro/arena_allocator/*.cc \
	$(LITE)/micro/memory_planner/*.cc $(LITE)/micro/tflite_bridge/*.cc \
	$(LITE)/micro/kernels/*.cc $(LITE)/core/c/*.cc $(LITE)/core/api/*.cc \
	$(LITE)/kernels/*.cc $(LITE)/kernels/internal/*.cc \
	$(LITE)/kernels/internal/reference/*.cc \
	$(LITE)/schema/*.cc $(LITE)/compiler/mlir/lite/core/api/*.cc \
	$(TFLM)/tensorflow/compiler/mlir/lite/core/api/*.cc \
	$(TFLM)/tensorflow/compiler/mlir/lite/schema/*.cc)
# tests, their helpers, and the operator's stand-in
SOURCES := $(filter-out %_test.cc %_test_util.cc %/test_helpers.cc \
	%/test_helper_custom_ops.cc %/mock_micro_graph.cc %/fake_micro_context.cc \
	%/kernels/ethosu.cc %/kernel_runner.cc %/conv_test_common.cc \
	%_common_test.cc %/recording_%.cc %/lstm_eval_test.cc, $(SOURCES)) \
	$(LITE)/micro/kernels/ethos_u/ethosu.cc

OBJECTS := $(patsubst $(TFLM)/%.cc,$(B)/%.o,$(SOURCES))
FLAGS := -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -DTF_LITE_STATIC_MEMORY \
	-w -I$(TFLM) -I$(DRIVER) -I$(TFLM_DEPS)/flatbuffers/include \
	-I$(TFLM_DEPS)/gemmlowp -I$(TFLM_DEPS)/ruy

$(B)/libtflm.a: $(OBJECTS)
	@rm -f $@ && $(AR) rcsD $@ $^

$(B)/%.o: $(TFLM)/%.cc
	@mkdir -p $(@D)
	@echo "  CXX	$(notdir $<)"
	@$(CXX) $(CXXFLAGS) $(FLAGS) -c -o $@ $<
