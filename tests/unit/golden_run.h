/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a compiled model on stored inputs and compares with stored outputs. */
#ifndef TESTS_GOLDEN_RUN_H
#define TESTS_GOLDEN_RUN_H

#include "base/file.h"
#include "base/little_endian.h"
#include "base/npy.h"
#include "sim/sim.h"
#include "tflite/tflite.h"

#include <stdlib.h>
#include <string.h>

/* relabels a file in Fortran order, which the reader refuses, as C order */
static bool
golden_relabel(struct arena *a, struct bytes *file)
{
	static const char key[] = "'fortran_order': True", c[] = "'fortran_order': False";
	uint8_t *p = memmem(file->p, file->n < 256 ? file->n : 256, key,
			    sizeof(key) - 1);
	if (!p)
		return false;
	size_t at = (size_t)(p - file->p);
	uint8_t *copy = anew(a, uint8_t, file->n);
	memcpy(copy, file->p, file->n);
	/* one character more: ", " before the next key loses its space */
	memcpy(copy + at, c, sizeof(c) - 1);
	copy[at + sizeof(c) - 1] = ',';
	file->p = copy;
	return true;
}

/* reorders from first index fastest to last index fastest */
static void
golden_turn(struct arena *a, const struct tfl_tensor *t, struct bytes *data)
{
	size_t n = (size_t)tfl_elements(t), size = data->n / n;
	uint8_t *to = anew(a, uint8_t, data->n);
	for (size_t i = 0; i < n; i++) {
		size_t rest = i, at = 0, step = n;
		for (int d = t->rank - 1; d >= 0; d--) {
			size_t dim = (size_t)t->dim[d];
			step /= dim;
			at += rest % dim * step;
			rest /= dim;
		}
		memcpy(to + i * size, data->p + at * size, size);
	}
	data->p = to;
}

/* the elements of a .npy file, which must match tensor t */
static bool
golden_load(struct arena *a, const char *path, const struct tfl_tensor *t,
     struct bytes *out, struct err *e)
{
	struct bytes file;
	struct npy n;
	if (!file_read(a, path, SIM_MAX_BYTES, &file, e))
		return false;
	bool columns = golden_relabel(a, &file);
	if (!npy_parse(file, path, &n, e))
		return false;
	*out = n.data;
	if (n.data.n != (size_t)tfl_bytes(t))
		return err_set(e, "%s: %zu bytes for %s", path, n.data.n, t->name);
	if (columns)
		golden_turn(a, t, out);
	return true;
}

static int64_t
golden_element(const struct tfl_tensor *t, const uint8_t *p, size_t i)
{
	switch (t->type) {
	case TFL_UINT8:
		return p[i];
	case TFL_INT16:
		return (int16_t)load_le16(p + 2 * i);
	case TFL_INT32:
		return (int32_t)load_le32(p + 4 * i);
	case TFL_INT64:
		return (int64_t)(load_le32(p + 8 * i) |
				 (uint64_t)load_le32(p + 8 * i + 4) << 32);
	default:
		return (int8_t)p[i];
	}
}

/* the largest difference between output k and its golden, -1 on an error */
static int64_t
golden_compare(struct arena *a, struct sim *s, const char *dir, int k, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	const struct tfl_tensor *t = &g->tensor[g->out[k]];
	const uint8_t *got = sim_tensor(s, g->out[k]);
	struct bytes want;
	int64_t most = 0;
	if (!golden_load(a, arena_printf(a, "%s/output_%d.npy", dir, k), t, &want, e))
		return -1;
	for (size_t i = 0; i < (size_t)tfl_elements(t); i++) {
		int64_t d = llabs(golden_element(t, got, i) - golden_element(t, want.p, i));
		most = d > most ? d : most;
	}
	return most;
}

/* runs a model on the inputs in dir: the largest difference, or -1 and e */
static int64_t
golden_run(struct arena *a, const char *path, const char *dir, struct err *e)
{
	struct tfl_model *m;
	struct sim *s;
	struct bytes v;
	int64_t most = 0;
	if (!tfl_read_file(a, path, &m, e) || !sim_open(a, m, &s, e))
		return -1;
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int k = 0; k < g->n_in; k++) {
		const char *in = arena_printf(a, "%s/input_%d.npy", dir, k);
		if (!golden_load(a, in, &g->tensor[g->in[k]], &v, e))
			return -1;
		memcpy(sim_tensor(s, g->in[k]), v.p, v.n);
	}
	if (!sim_invoke(s, NULL, e))
		return -1;
	for (int k = 0; k < g->n_out; k++) {
		int64_t d = golden_compare(a, s, dir, k, e);
		if (d < 0)
			return -1;
		most = d > most ? d : most;
	}
	return most;
}

#endif
