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

/* mkinput numbers the arrays if there are several */
#if NETWORK_INPUTS == 1
#define input_data_0 input_data
#endif
#if NETWORK_OUTPUTS == 1
#define expected_output_data_0 expected_output_data
#endif

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
#define FILL(n) \
	std::memcpy(interpreter.input(n)->data.data, input_data_##n, NETWORK_INPUT_##n##_BYTES);
	NETWORK_EACH_INPUT(FILL)
	if (interpreter.Invoke() != kTfLiteOk)
		return 2;
	int differ = 0;
#define COMPARE(n) \
	differ |= std::memcmp(interpreter.output(n)->data.data, expected_output_data_##n, \
			      NETWORK_OUTPUT_##n##_BYTES);
	NETWORK_EACH_OUTPUT(COMPARE)
	return differ != 0;
}
