/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the model on the inputs in the simulator, to get the expected outputs bit for
 * bit.
 */
#include "base/file.h"
#include "mkinput.h"
#include "kernels/kernels.h"
#include "raw/raw.h"
#include "sim/sim.h"
#include "tosa/tosa.h"

#include <string.h>

bool
read_model(struct arena *a, const char *path, struct model *out, struct err *e)
{
	struct bytes file;
	struct tfl_model *m;
	struct tosa_graph *g;
	const char *name = file_name(path);
	*out = (struct model){ 0 };
	if (!file_read(a, path, TFL_MAX_BYTES, &file, e))
		return false;
	if (tosa_is(file)) {
		if (!tosa_read(a, file, name, &g, e) ||
		    !sim_open_tosa(a, g, &out->sim, e))
			return false;
		out->m = sim_model(out->sim);
		return true;
	}
	if (!raw_model(a, file, name, &file, e) || !model_read(a, file, name, &m, e))
		return false;
	out->m = m;
	return true;
}

bool
run_model(struct arena *a, const struct model *m, const struct filled *inputs,
	  struct array **out, struct err *e)
{
	struct sim *s = m->sim;
	if (!s && !sim_open(a, m->m, &s, e))
		return false;
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_in; i++)
		memcpy(sim_tensor(s, g->in[i]), inputs[i].bytes,
		       (size_t)tfl_bytes(&g->tensor[g->in[i]]));
	if (!sim_invoke(s, NULL, e))
		return false;
	*out = anew(a, struct array, (size_t)g->n_out);
	for (int i = 0; i < g->n_out; i++)
		(*out)[i] = (struct array){ .t = &g->tensor[g->out[i]],
					    .bytes = sim_tensor(s, g->out[i]) };
	return true;
}
