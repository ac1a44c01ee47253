/* SPDX-License-Identifier: Apache-2.0 */
/* The network under TensorFlow Lite Micro: resolver and arena of the header. */
#include "run.h"

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/system_setup.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "network_model.h"

#include <cstdio>

namespace {

alignas(16) uint8_t arena[NETWORK_MODEL_TENSOR_ARENA_SIZE]
    __attribute__((section(ARENA_SECTION)));

#if NETWORK_MODEL_NPU_OPERATORS > 0 && NETWORK_MODEL_NPU_CACHE_BYTES > 0
alignas(16) uint8_t cache[NETWORK_MODEL_NPU_CACHE_BYTES]
    __attribute__((section("cache_sec")));
constexpr unsigned cache_bytes = sizeof(cache);
#else
uint8_t *const cache = nullptr;
constexpr unsigned cache_bytes = 0;
#endif

tflite::MicroInterpreter *interpreter;

} /* namespace */

int
run_init()
{
	static tflite::MicroMutableOpResolver<NETWORK_MODEL_RESOLVER_OPS> resolver;
	tflite::InitializeTarget();
	if (npu_init(cache, cache_bytes) ||
	    !network_model_add_operators(resolver)) {
		std::puts("the driver does not start");
		return -1;
	}
	static tflite::MicroInterpreter it(tflite::GetModel(network_model), resolver,
					   arena, sizeof(arena));
	interpreter = &it;
	if (it.AllocateTensors() != kTfLiteOk) {
		std::printf("the arena of %u bytes is too small\n",
			    static_cast<unsigned>(sizeof(arena)));
		return -1;
	}
	std::printf("tensor arena: %u bytes used of %u\n",
		    static_cast<unsigned>(it.arena_used_bytes()),
		    static_cast<unsigned>(sizeof(arena)));
	return 0;
}

void *
run_input(int i)
{
	return interpreter->input(static_cast<size_t>(i))->data.data;
}

const void *
run_output(int i)
{
	return interpreter->output(static_cast<size_t>(i))->data.data;
}

int
run_invoke()
{
	return interpreter->Invoke() == kTfLiteOk ? 0 : -1;
}
