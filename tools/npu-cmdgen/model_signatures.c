/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the model's signatures (SignatureDef), by whose names applications find inputs and
 * outputs.
 */
#include "model.h"

#include "base/cli.h"
#include "tflite/fields.h"

/* the new model's tensor for tensor `index` of subgraph 0; -1: the tensor is gone */
static int
tensor_of(const struct build *b, const int *from, int n_from, const int *to, int n_to,
	  uint32_t index)
{
	const struct tfl_subgraph *sg = &b->c->m->subgraph[0];
	for (int i = 0; i < n_from && n_from == n_to; i++)
		if ((uint32_t)from[i] == index)
			return to[i];
	return index < (uint32_t)sg->n_tensors ? b->tensor_map[index] : -1;
}

/* Lists the new model's tensors for the inputs or outputs of a signature. */
static bool
map_tensors(struct build *b, struct fb_ref s, bool in, const uint32_t **out)
{
	int64_t subgraph = fb_int(s, FB_SignatureDef_subgraph_index);
	int slot = in ? FB_SignatureDef_inputs : FB_SignatureDef_outputs;
	const struct tfl_subgraph *sg = &b->c->m->subgraph[subgraph];
	uint32_t n = fb_vector(s, slot).n;
	uint32_t *v = anew(b->c->a, uint32_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		v[i] = (uint32_t)fb_int(fb_item(s, slot, i), FB_TensorMap_tensor_index);
		if (subgraph) { /* copied without changes */
			if (v[i] >= (uint32_t)sg->n_tensors)
				return false;
			continue;
		}
		int t = in ? tensor_of(b, sg->in, sg->n_in, b->sg.in, b->sg.n_in, v[i])
			   : tensor_of(b, sg->out, sg->n_out, b->sg.out, b->sg.n_out, v[i]);
		if (t < 0)
			return false;
		v[i] = (uint32_t)t;
	}
	*out = v;
	return true;
}

void
keep_signatures(struct build *b)
{
	const struct cmdgen *c = b->c;
	uint32_t n = fb_vector(c->m->root, FB_Model_signature_defs).n;
	struct tflw_model *w = &b->w;
	w->signature = anew(c->a, struct tflw_signature, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref s = fb_item(c->m->root, FB_Model_signature_defs, i);
		struct tflw_signature own = { .from = s };
		if (fb_int(s, FB_SignatureDef_subgraph_index) < w->n_subgraphs &&
		    map_tensors(b, s, true, &own.in) && map_tensors(b, s, false, &own.out))
			w->signature[w->n_signatures++] = own;
		else
			cli_note_to(c->e, "warning", "signature %u is left out: it names "
						     "tensors that the compiled model lacks", i);
	}
}
