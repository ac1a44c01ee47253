/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a model and checks that it is well-formed and its shapes are consistent. */
#include "base/file.h"
#include "kernels/kernels.h"
#include "tflite/tflite.h"

bool
model_read(struct arena *a, struct bytes file, const char *name,
	   struct tfl_model **out, struct err *e)
{
	struct tfl_model *m;
	if (!tfl_read(a, file, name, &m, e))
		return false;
	struct err bare = { 0 };
	for (int s = 0; s < m->n_subgraphs; s++) {
		const struct tfl_subgraph *g = &m->subgraph[s];
		for (int i = 0; i < g->n_ops; i++) {
			if (kernel_shapes_agree(g, &g->op[i], &bare))
				continue;
			if (s)
				return err_at(e, m->name, 0, "subgraph %d: %s", s, bare.text);
			return err_at(e, m->name, 0, "%s", bare.text);
		}
	}
	*out = m;
	return true;
}

bool
model_read_file(struct arena *a, const char *path, struct tfl_model **out,
		struct err *e)
{
	struct bytes file;
	return file_read(a, path, TFL_MAX_BYTES, &file, e) &&
	       model_read(a, file, file_name(path), out, e);
}
