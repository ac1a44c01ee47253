/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of tests/models/fc.json, one FULLY_CONNECTED of 4 inputs and 2 outputs,
 * computed in real numbers with the quantization of tfl2c's header.  Its scales are
 * powers of two; therefore floats are exact.
 */
#include "model.h"
#include "npu.h"

static const int8_t weights[2][4] = { { 1, 2, 3, 4 }, { -1, -2, -3, -4 } };
static const int32_t bias[2] = { 100, -100 };

int
npu_invoke(const int8_t *input, int8_t *output)
{
	for (int o = 0; o < 2; o++) {
		float sum = 0.125f * (float)bias[o];
		for (int i = 0; i < 4; i++)
			sum += model_input_0_dequantize(input[i]) *
			       (0.25f * (float)weights[o][i]);
		output[o] = model_output_0_quantize(sum);
	}
	return 0;
}
