/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses models that need much more memory or time than the size of their file
 * suggests: 800 bytes can ask for a minute and a gigabyte.
 */
#include "inference/inference.h"

#include "kernels/kernels.h"
#include "sim/tosa.h"

#include <inttypes.h>

/*
 * Limits for any file, and per byte of the file.  Published models ask for at most 48
 * bytes of tensors and 1,140 steps per byte of the file.
 */
enum { LEAST_BYTES = 16 << 20, BYTES_EACH = 1 << 12 };
#define LEAST_STEPS (INT64_C(1) << 30)
#define STEPS_EACH (INT64_C(1) << 20)

struct size {
	int64_t bytes, steps;
};

static struct size
size_of_tflite(const struct tfl_model *m)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct size s = { 0 };
	for (int i = 0; i < g->n_tensors; i++)
		s.bytes += g->tensor[i].data.p ? 0 : tfl_bytes(&g->tensor[i]);
	for (int i = 0; i < g->n_ops; i++)
		s.steps += kernel_work(g, &g->op[i]);
	return s;
}

static struct size
size_of_tosa(const struct tosa_graph *g)
{
	struct size s = { 0 };
	for (int i = 0; i < g->n_tensors; i++)
		s.bytes += (int64_t)sim_tosa_bytes(&g->tensor[i]);
	return s;
}

static int64_t
allowed(int64_t least, int64_t each, size_t file_bytes)
{
	int64_t n = (int64_t)file_bytes * each;
	return n > least ? n : least;
}

bool
check_size(const struct model *m, size_t file_bytes, const char *name, struct err *e)
{
	struct size s = m->tosa ? size_of_tosa(m->tosa) : size_of_tflite(m->tflite);
	if (s.bytes > allowed(LEAST_BYTES, BYTES_EACH, file_bytes))
		return err_at(e, name, 0, "a file of %zu bytes asks for tensors of %"
					  PRId64 " bytes; use --any-size to run it "
					  "anyway", file_bytes,
			      s.bytes);
	if (s.steps > allowed(LEAST_STEPS, STEPS_EACH, file_bytes))
		return err_at(e, name, 0, "a file of %zu bytes asks for %" PRId64 " "
					  "multiply-accumulates or comparisons; use "
					  "--any-size to run it anyway",
					  file_bytes, s.steps);
	return true;
}
