/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A float model: tfl-quantize refuses the model with one line that names it, or writes a
 * model in which tfl-quantcheck finds no error that was not there before.  The last byte
 * selects the options; the other bytes are the model.
 */
#include "fuzz.h"

#include "lib/mutate.h"
#include "lib/programs.h"

#include <string.h>

static const char *const options[] = { "--type=int8", "--type=int16x8", "--interface=float",
				       "--per-channel-fc", "--equalize", "--bias-correction",
				       "--allow", "--report", "--keep-int16=*" };

static void
run(struct bench *b, struct arena *a, struct bytes input, unsigned choice)
{
	struct bytes out;
	bench_put(b, "m.tflite", input);
	const char *file = bench_path(b, "m.tflite"), *to = bench_path(b, "out");
	const char *option = options[choice % ARRAY_LEN(options)];
	if (RUN(b, tfl_quantize, "--random", "-j1", option, "-o", to, file)) {
		expect_refusal(b, file, IN_MODEL, 1);
		return;
	}
	if (!bench_get(b, a, "out", &out))
		finding(b, "no output");
	const char *allow = strcmp(option, "--allow") ? "--allow=interface-float"
						      : "--allow=float-operator";
	/* integers that were at fault before stay so */
	bool sound = !RUN(b, tfl_quantcheck, "-q", "--allow=interface-float",
			  "--allow=float-operator", file);
	if (RUN(b, tfl_quantcheck, "-q", "--allow=interface-float", allow, to) && sound)
		finding(b, "the result is not an integer model");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = { .p = data, .n = size - 1 };
	return size ? bench_try(file, data[size - 1], run) : 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return mutate_model(data, size, max, seed);
}
