/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables keep their values from one sim_invoke to the next, and sim_reset restores
 * them: a keyword model with SVDF states processes the same frame twice.
 */
#include "sim/sim.h"
#include "tflite/tflite.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t
run(struct sim *s, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	uint64_t sum = 0, seed = 7;
	for (int k = 0; k < g->n_in; k++)
		sim_random(&seed, &g->tensor[g->in[k]],
			   sim_tensor(s, g->in[k]));
	(void)sim_invoke(s, NULL, e);
	/* the first operator with a state has written its output from the state */
	for (int i = 0; i < g->n_tensors; i++) {
		const uint8_t *p = sim_tensor(s, i);
		if (g->tensor[i].is_variable)
			for (int64_t k = 0; k < tfl_bytes(&g->tensor[i]); k++)
				sum = sum * 31 + p[k];
	}
	return sum;
}

static int
judge(struct sim *s)
{
	struct err e = { 0 };
	uint64_t first = run(s, &e), second = run(s, &e);
	sim_reset(s);
	uint64_t again = run(s, &e);
	if (e.status || first == second || first != again) {
		printf("%s: states %llx, %llx, after a reset %llx\n",
		       e.status ? e.text : "kept wrongly",
		       (unsigned long long)first, (unsigned long long)second,
		       (unsigned long long)again);
		return 1;
	}
	return 0;
}

int
main(void)
{
	static const char *const names[] = { "kw_scrambled_8bit",
					     "trained_lstm_int8" };
	const char *shared = getenv("NPUTOOLS_SHARED");
	struct arena *a = arena_open();
	int status = 0;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct err e = { 0 };
		struct tfl_model *m;
		struct sim *s;
		const char *path = arena_printf(a, "%s/models/%s.tflite",
						shared ? shared : "../shared",
						names[i]);
		if (!tfl_read_file(a, path, &m, &e)) {
			printf("%s\n", e.text);
			arena_close(a);
			return 77; /* no shared data */
		}
		if (!sim_open(a, m, &s, &e)) {
			printf("%s\n", e.text);
			status = 1;
			continue;
		}
		status |= judge(s);
	}
	arena_close(a);
	return status;
}
