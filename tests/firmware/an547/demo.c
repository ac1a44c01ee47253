/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One inference on known inputs: prints what the network recognised, and whether
 * every byte of its outputs is equal to the plain model's.
 */
#include "run.h"

#include "expected_output.h"
#include "input_data.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct array {
	const void *p;
	size_t bytes;
};

#include "arrays.h" /* inputs[], expected[], first_output(): made of the headers */

/* for a vector of classes: the largest one and its value */
static void
report(void)
{
	const void *p = run_output(0);
	int best = 0;
	for (int i = 1; i < FIRST_OUTPUT_ELEMENTS; i++)
		if (first_output(p, i) > first_output(p, best))
			best = i;
	float v = first_output(p, best);
	(void)printf("%s %d, %s %d.%03d\n", WHAT, best,
		     FIRST_OUTPUT_IS_CONFIDENCE ? "confidence" : "value", (int)v,
		     (int)((v < 0 ? -v : v) * 1000 + 0.5f) % 1000);
}

static int
compare(int o)
{
	const uint8_t *got = run_output(o), *want = expected[o].p;
	for (size_t i = 0; i < expected[o].bytes; i++)
		if (got[i] != want[i]) {
			(void)printf("output %d: byte %u is %d, expected %d\n", o,
				     (unsigned)i, got[i], want[i]);
			return 1;
		}
	return 0;
}

int
main(void)
{
	int differ = 0;
	if (run_init())
		return 2;
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		memcpy(run_input((int)i), inputs[i].p, inputs[i].bytes);
	if (run_invoke()) {
		(void)puts("the NPU failed");
		return 2;
	}
	if (FIRST_OUTPUT_ELEMENTS)
		report();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		differ |= compare((int)i);
	(void)puts(differ ? "the output is not what was expected"
			  : "output as expected");
	return differ;
}
