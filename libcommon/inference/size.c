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

static int64_t
allowed(int64_t least, int64_t each, size_t file_bytes)
{
	int64_t n = (int64_t)file_bytes * each;
	return n > least ? n : least;
}

bool
check_size(const struct model *m, size_t file_bytes, const char *name, struct err *e)
{
	const struct tfl_subgraph *g = m->tosa ? NULL : &m->tflite->subgraph[0];
	int64_t bytes = 0, steps = 0;
	for (int i = 0; m->tosa && i < m->tosa->n_tensors; i++)
		bytes += (int64_t)sim_tosa_bytes(&m->tosa->tensor[i]);
	for (int i = 0; g && i < g->n_tensors; i++)
		bytes += g->tensor[i].data.p ? 0 : tfl_bytes(&g->tensor[i]);
	for (int i = 0; g && i < g->n_ops; i++)
		steps += kernel_work(g, &g->op[i]);
	if (bytes > allowed(LEAST_BYTES, BYTES_EACH, file_bytes))
		return err_at(e, name, 0, "a file of %zu bytes asks for tensors of %"
					  PRId64 " bytes; use --any-size to run it "
					  "anyway", file_bytes,
			      bytes);
	if (steps > allowed(LEAST_STEPS, STEPS_EACH, file_bytes))
		return err_at(e, name, 0, "a file of %zu bytes asks for %" PRId64 " "
					  "multiply-accumulates or comparisons; use "
					  "--any-size to run it anyway",
					  file_bytes, steps);
	return true;
}
