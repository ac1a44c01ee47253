/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tensors and constants that a model's NPU operators read and write. */
#include "report.h"

#include "base/fixed.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

/* inputs of an ethos-u operator, and the region of the arena: ethosu-commands(7) 13.3 */
enum { IN_CONSTANTS = 1, IN_ARENA, N_SPECIAL = 4, ARENA = 1 };

/*
 * Describes a tensor as an NHWC feature map.  Returns false if the stream does not
 * access the tensor.
 */
static bool
describe_tensor(const struct tfl_model *m, int subgraph, const struct tfl_op *op, int tensor,
	 struct perf_tensor *out)
{
	const struct tfl_tensor *t = &m->subgraph[subgraph].tensor[tensor];
	int64_t origin = tfl_planned_at(m, subgraph, op->in[IN_ARENA]);
	int64_t at = tfl_planned_at(m, subgraph, tensor);
	struct stream_place own = { .region = 0 };
	if (!subgraph)
		own = stream_separate_place(m, tensor);
	struct hwc s = { .h = 1, .w = 1, .c = 1 };
	int32_t *extent[] = { &s.c, &s.w, &s.h };
	for (int i = 0; i < (int)ARRAY_LEN(extent) && i < t->rank; i++)
		*extent[i] = t->dim[t->rank - 1 - i];
	*out = (struct perf_tensor){ .region = own.region ? own.region : ARENA,
				    .at = own.region ? own.at : at - origin, .shape = s,
				    .bits = 8 * tfl_type_bytes(t->type) };
	return tfl_elements(t) > 0 && (own.region || (origin >= 0 && at >= origin));
}

void
take_tensors(struct arena *a, const struct tfl_model *m, struct network *net)
{
	for (size_t i = 0; i < net->n; i++) {
		const struct npu_stream *s = &net->op[i].stream;
		const struct tfl_subgraph *g = &m->subgraph[s->subgraph];
		const struct tfl_op *op = &g->op[s->op];
		struct perf_operand_info *info = &net->op[i].operand_info;
		*info = (struct perf_operand_info){ .n_places = 0 };
		if (op->n_in < N_SPECIAL)
			continue;
		if (op->in[IN_CONSTANTS] >= 0)
			info->constants = g->tensor[op->in[IN_CONSTANTS]].data;
		if (op->in[IN_ARENA] < 0)
			continue;
		int first = N_SPECIAL + (s->subgraph ? 0 : stream_io_regions(m));
		int n = op->n_in - first + op->n_out;
		struct perf_tensor *place = anew(a, struct perf_tensor, (size_t)n);
		for (int k = 0; k < n; k++) {
			int in = k + first;
			int t = in < op->n_in ? op->in[in] : op->out[in - op->n_in];
			if (t >= 0 && describe_tensor(m, s->subgraph, op, t, &place[info->n_places]))
				info->n_places++;
		}
		info->place = place;
	}
}
