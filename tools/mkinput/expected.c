/* SPDX-License-Identifier: Apache-2.0 */
/* What the model says of the inputs: it is run here, bit for bit. */
#include "mkinput.h"
#include "sim/sim.h"

#include <string.h>

bool
run_model(struct arena *a, const struct tfl_model *m,
	  const struct filled *inputs, struct array **out, struct err *e)
{
	struct sim *s;
	if (!sim_open(a, m, &s, e))
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
