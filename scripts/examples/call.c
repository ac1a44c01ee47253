/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One inference, without an interpreter, of a network with CPU operators.  tfl2c writes the
 * sequence of operators as a C function, and this firmware provides the operators that
 * tfl2c does not implement, here the last one, a SOFTMAX.  For a model network.tflite:
 *
 *	npucc -a ethos-u55-128 --system-config=... --memory-mode=Shared_Sram \
 *		--cpu=SOFTMAX -o network_npu.tflite network.tflite
 *	tfl2c -n network --format=call -o network.c network_npu.tflite
 *	tfl2c -n network --format=call --declarations -o network.h network_npu.tflite
 *	mkinput -o input_data.h --expected=expected_output.h network.tflite FILE
 *
 * The network has one input and one output, the scores of classes.  For several, see
 * scripts/boards/run_network.c.
 */
#include "ethosu_driver.h"

#include "expected_output.h"
#include "input_data.h"
#include "network.h"

#include <math.h>
#include <string.h>

#ifndef NPU_BASE
#define NPU_BASE 0x48102000 /* of the NPU's registers: Corstone-300 */
#endif

static uint8_t arena[NETWORK_CALL_ARENA_BYTES] __attribute__((aligned(16)));

/* declared in network.h, with its options, shapes and scales */
int
network_op1_softmax(const int8_t *input_0, int8_t *output_0)
{
	float value[NETWORK_OP1_INPUT_0_ELEMENTS], sum = 0;
	int8_t largest = input_0[0];
	for (int i = 1; i < NETWORK_OP1_INPUT_0_ELEMENTS; i++)
		if (input_0[i] > largest)
			largest = input_0[i];
	for (int i = 0; i < NETWORK_OP1_INPUT_0_ELEMENTS; i++) {
		value[i] = expf(NETWORK_OP1_BETA * NETWORK_OP1_INPUT_0_SCALE *
				(float)(input_0[i] - largest));
		sum += value[i];
	}
	for (int i = 0; i < NETWORK_OP1_INPUT_0_ELEMENTS; i++)
		output_0[i] = network_output_0_quantize(value[i] / sum);
	return 0;
}

static int
class_of(const int8_t *output)
{
	int best = 0;
	for (int i = 1; i < NETWORK_OUTPUT_0_ELEMENTS; i++)
		if (output[i] > output[best])
			best = i;
	return best;
}

int
main(void)
{
	static struct ethosu_driver driver;
	/* no fast memory of the NPU's own, secure, privileged */
	if (ethosu_init(&driver, (void *)NPU_BASE, NULL, 0, 1, 1))
		return 2;
#ifdef NETWORK_STATES /* variables keep their values from one inference to the next */
	network_reset(arena);
#endif
	memcpy(arena + NETWORK_INPUT_0_ARENA_OFFSET, input_data, NETWORK_INPUT_0_BYTES);
	if (network_call(&driver, arena))
		return 2;
	return class_of((const int8_t *)arena + NETWORK_OUTPUT_0_ARENA_OFFSET) !=
	       class_of(expected_output_data);
}
