/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network under TensorFlow Lite Micro: resolver and arena of the header that
 * tfl2c --resolver made.  The driver has been initialised by the platform.
 */
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "expected_output.h"
#include "input_data.h"
#include "network.h"

#include <cstring>

namespace {
alignas(16) uint8_t arena[NETWORK_TENSOR_ARENA_SIZE];
}

int
main()
{
	tflite::MicroMutableOpResolver<NETWORK_RESOLVER_OPS> resolver;
	if (!network_add_operators(resolver))
		return 2;
	tflite::MicroInterpreter interpreter(tflite::GetModel(network), resolver,
					     arena, sizeof(arena));
	if (interpreter.AllocateTensors() != kTfLiteOk)
		return 2;
	std::memcpy(interpreter.input(0)->data.data, input_data,
		    NETWORK_INPUT_0_BYTES);
	if (interpreter.Invoke() != kTfLiteOk)
		return 2;
	return std::memcmp(interpreter.output(0)->data.data, expected_output_data,
			   NETWORK_OUTPUT_0_BYTES) != 0;
}
