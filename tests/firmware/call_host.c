/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a network in the form of tfl2c --format=call with the simulator on the same
 * inputs: the bytes must be equal, frame by frame.  Operators that the firmware provides are
 * the reference kernels.  The test makes call_glue.h: functions of net.h that call
 * call_operator() below, and the places of inputs and outputs in each frame.
 * usage: call_host MODEL
 */
#include "ethosu_driver.h"
#include "kernels/kernels.h"
#include "net.h"
#include "borders/borders.h"
#include "sim/sim.h"
#include "tflite/tflite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3 };

static const struct tfl_model *model; /* as read from the file */
static struct border_tensors ends; /* layouts of its inputs and outputs, if they have one */

/* runs an operator of the model with its kernel; 0: done */
int call_operator(int index, void *const *in, void *const *out);

int
call_operator(int index, void *const *in, void *const *out)
{
	const struct tfl_subgraph *g = &model->subgraph[0];
	struct kernel_io io = { .in = in, .out = out };
	struct err e = { 0 };
	if (kernel_eval(g, &g->op[index], &io, &e))
		return 0;
	(void)fprintf(stderr, "%s\n", e.text);
	return 5;
}

struct ethosu_driver *the_driver(void);

struct ethosu_driver *
the_driver(void)
{
	static struct ethosu_driver *driver;
	if (!driver)
		driver = ethosu_reserve_driver();
	return driver;
}

#include "call_glue.h"

#if NET_CALL_ARENA_BYTES > 0
static uint8_t arena[NET_CALL_ARENA_BYTES] __attribute__((aligned(16)));
#define FILL_ARENA(value) memset(arena, value, sizeof(arena))
#else
static uint8_t *const arena = NULL;
#define FILL_ARENA(value) (void)0
#endif

/* the simulator has values in the network's order */
static void
fill_inputs(struct sim *s, uint64_t *state, uint8_t *const *place)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_in; i++) {
		const struct tfl_tensor *t = &g->tensor[g->in[i]];
		void *data = sim_tensor(s, g->in[i]);
		sim_random(state, t, data);
		/* a quarter of int8's range, as real numbers */
		for (int64_t k = 0; t->type == TFL_FLOAT32 && k < tfl_elements(t); k++)
			((float *)data)[k] *= 16.0f;
		if (ends.in[i].has_record)
			border_pack(&ends.in[i], data, place[i]);
		else
			memcpy(place[i], data, (size_t)tfl_bytes(t));
	}
}

static int
differences(struct sim *s, uint8_t *const *place)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	int n = 0;
	for (int i = 0; i < g->n_out; i++) {
		size_t bytes = (size_t)tfl_bytes(&g->tensor[g->out[i]]);
		struct arena *a = arena_open();
		uint8_t *values = place[i];
		if (ends.out[i].has_record) {
			values = arena_alloc(a, bytes, 1);
			border_unpack(&ends.out[i], place[i], values);
		}
		n += memcmp(values, sim_tensor(s, g->out[i]), bytes) != 0;
		arena_close(a);
	}
	return n;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct tfl_model *m;
	struct sim *s;
	struct err e = { 0 };
	uint64_t state = 1;
	int wrong = 0, status = 0;
	if (argc != 2 || !tfl_read_file(a, argv[1], &m, &e) ||
	    !sim_open(a, m, &s, &e) || !borders_read(a, m, &ends, &e)) {
		(void)fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	model = m;
	FILL_ARENA(0x5a);
	RESET(arena);
	for (int frame = 0; frame < FRAMES && !status; frame++) {
		uint8_t *const in[] = INPUT_PLACES(frame), *const out[] = OUTPUT_PLACES(frame);
		fill_inputs(s, &state, in);
		status = CALL(arena, in, out);
		if (!sim_invoke(s, NULL, &e))
			status = 2;
		wrong += differences(s, out);
	}
	printf("status %d, %d outputs differ\n", status, wrong);
	arena_close(a);
	return status ? status : wrong != 0;
}
