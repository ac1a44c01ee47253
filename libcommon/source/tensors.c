/* SPDX-License-Identifier: Apache-2.0 */
/* Compares tensors of the compiled file with those that the graph's records stand for. */
#include "source/parts.h"

#include "borders/of_graph.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <string.h>

static const char *
shape_text(struct arena *a, const struct tfl_tensor *t)
{
	const char *s = "[";
	for (int i = 0; i < t->rank; i++)
		s = arena_printf(a, "%s%s%d", s, i ? "," : "", t->dim[i]);
	return arena_printf(a, "%s]", s);
}

static void
same_as_original(struct source *x, const struct tfl_tensor *have, const struct g_tensor *t,
		 int index)
{
	/* the tensor of the original model, with its shape in the compiled file */
	struct tfl_tensor want = x->original->subgraph[0].tensor[index];
	struct border_tensor border = border_of_graph(x->g, x->original, t, index);
	if ((!want.data.p || want.is_variable) && (border.has_record || graph_batch(x->g) != 1))
		want.rank = border_memory_shape(&border, want.dim);
	if (have->type != want.type)
		source_error(x, "t%d has the type %s, the graph has %s", t->rec.id,
			     tfl_type_name(have->type), tfl_type_name(want.type));
	if (have->rank != want.rank ||
	    memcmp(have->dim, want.dim, (size_t)want.rank * sizeof(*want.dim)) != 0)
		source_error(x, "t%d has the shape %s, the graph has %s", t->rec.id,
			     shape_text(x->g->a, have), shape_text(x->g->a, &want));
	const struct tfl_quant *a = &have->quant, *b = &want.quant;
	if (a->n_scale != b->n_scale || a->axis != b->axis ||
	    (a->n_scale && memcmp(a->scale, b->scale, (size_t)a->n_scale * sizeof(*a->scale)) != 0))
		source_error(x, "t%d has a different scale in the graph", t->rec.id);
	if (a->n_zero != b->n_zero ||
	    (a->n_zero && memcmp(a->zero, b->zero, (size_t)a->n_zero * sizeof(*a->zero)) != 0))
		source_error(x, "t%d has a different zero point in the graph", t->rec.id);
}

void
source_tensor(struct source *x, const struct tfl_tensor *have, const struct g_tensor *t,
	      int k)
{
	const struct tfl_subgraph *sg = x->original ? &x->original->subgraph[0] : NULL;
	if (t->tfl.n) {
		if (sg && !t->tfl.v[k].subgraph && t->tfl.v[k].index < sg->n_tensors)
			same_as_original(x, have, t, t->tfl.v[k].index);
		return;
	}
	/* only the size: npz and vela-bin keep no shape for a tensor that the graph added */
	int64_t want = tfl_type_bytes(t->shape.type);
	for (int i = 0; i < t->shape.rank; i++)
		want *= t->shape.dim[i];
	if (tfl_bytes(have) != want)
		source_error(x, "t%d has %" PRId64 " bytes, the graph has %" PRId64,
			     t->rec.id, tfl_bytes(have), want);
}
