/* SPDX-License-Identifier: Apache-2.0 */
/* Maps each TFLite tensor to the graph tensor, and the view of it, that holds its elements. */
#include "../moves/move.h"

#include "base/little_endian.h"
#include "graph/build.h"
#include "graph/facts.h"

#include <stdio.h>
#include <string.h>

struct hwc
tfl_hwc(const struct tfl_tensor *t)
{
	struct g_shape s = { .type = t->type, .rank = t->rank };
	memcpy(s.dim, t->dim, sizeof(s.dim));
	return graph_hwc(&s);
}

static struct g_tensor *
new_tensor(struct part *p, const struct tfl_tensor *t, int index)
{
	struct g_tensor *n = graph_add_g_tensor(p->g);
	struct g_shape s = { .type = t->type, .rank = t->rank };
	memcpy(s.dim, t->dim, sizeof(s.dim));
	G_PUT(n, TENSOR, shape, s);
	n->hwc = graph_hwc(&s);
	G_PUT(n, TENSOR, name, t->name);
	if (t->quant.n_scale == 1) {
		G_PUT(n, TENSOR, scale, t->quant.scale[0]);
		G_PUT(n, TENSOR, zero, t->quant.n_zero ? t->quant.zero[0] : 0);
	}
	/* with its channels in another order the tensor is not a tensor of the model */
	if (index < p->n_original && !p->channels[index].at) {
		struct g_tfl *v = anew(p->a, struct g_tfl, 1);
		v->index = index;
		G_PUT(n, TENSOR, tfl, (struct g_tfls){ .n = 1, .v = v });
	}
	return n;
}

/* the NPU has no BOOL: its bytes are read as INT8 */
static struct g_operand
whole_value(struct g_tensor *t)
{
	struct g_operand o = operand_whole(t);
	if (t->shape.type == TFL_BOOL) {
		o = operand_reshape(t, t->hwc);
		o.type = TFL_INT8;
	}
	return o;
}

struct g_operand
part_ofm(struct part *p, int tensor)
{
	struct g_operand *v = &p->value[tensor];
	if (!v->t)
		*v = whole_value(new_tensor(p, &p->sg->tensor[tensor], tensor));
	return *v;
}

struct g_source
part_source(struct part *p, const struct tfl_tensor *t)
{
	if (t->producer < 0)
		return (struct g_source){ .buffer = t->buffer };
	const char *name = arena_printf(p->a, "folded%d", (int)(t - p->sg->tensor));
	const struct g_blob *b = graph_find_blob(p->g, name);
	if (!b)
		b = graph_add_blob(p->g, name, t->data);
	return (struct g_source){ .blob = b->name };
}

struct g_operand
part_ifm(struct part *p, int tensor)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	struct g_operand *v = &p->value[tensor];
	if (!v->t && t->data.p) {
		struct g_tensor *n = new_tensor(p, t, tensor);
		G_PUT(n, TENSOR, source, part_source(p, t));
		*v = whole_value(n);
	}
	return part_ofm(p, tensor);
}

int32_t
tensor_int(const struct tfl_tensor *t, int64_t i)
{
	size_t size = (size_t)tfl_type_bytes(t->type);
	const uint8_t *b = t->data.p + (size_t)i * size;
	if (t->type == TFL_UINT8)
		return *b;
	if (size == 1)
		return (int8_t)*b;
	return size == 2 ? (int16_t)load_le16(b) : (int32_t)load_le32(b);
}

bool
part_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n)
{
	if (!t || !t->data.p || (t->type != TFL_INT32 && t->type != TFL_INT64))
		return false;
	int64_t count = tfl_elements(t);
	int size = tfl_type_bytes(t->type);
	if (count > max || (size_t)(count * size) > t->data.n)
		return false;
	for (int i = 0; i < count; i++)
		out[i] = size == 4 ? (int32_t)load_le32(t->data.p + 4 * i)
				   : (int64_t)load_le64(t->data.p + 8 * i);
	*n = (int)count;
	return true;
}
