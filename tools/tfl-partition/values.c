/* SPDX-License-Identifier: Apache-2.0 */
/* Which graph tensor holds a TFLite tensor, and how it is seen. */
#include "nd.h"

#include <stdio.h>

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
	if (index < p->n_original) {
		struct g_tfl *v = anew(p->a, struct g_tfl, 1);
		v->index = index;
		G_PUT(n, TENSOR, tfl, (struct g_tfls){ .n = 1, .v = v });
	}
	return n;
}

struct g_tensor *
part_new_tensor(struct part *p, int type, struct hwc hwc, const char *name)
{
	struct g_tensor *n = graph_add_g_tensor(p->g);
	struct g_shape s = { .type = type, .rank = 4,
			     .dim = { 1, hwc.h, hwc.w, hwc.c } };
	G_PUT(n, TENSOR, shape, s);
	n->hwc = hwc;
	if (name)
		G_PUT(n, TENSOR, name, name);
	return n;
}

struct g_operand
part_ofm(struct part *p, int tensor)
{
	struct g_operand *v = &p->value[tensor];
	if (!v->t)
		*v = operand_whole(new_tensor(p, &p->sg->tensor[tensor], tensor));
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
		*v = operand_whole(n);
	}
	return part_ofm(p, tensor);
}

struct g_operand
part_view(struct part *p, struct g_operand o, struct hwc shape)
{
	struct g_operand r;
	if (hwc_equal(o.shape, shape))
		return o;
	if (!operand_view(o, shape, &r)) {
		struct g_tensor *t = part_new_tensor(p, o.type, o.shape, NULL);
		struct g_op *op = part_copy(p, o, operand_whole(t));
		op_clamp(op, type_range(o.type));
		r = operand_reshape(t, shape);
	}
	r.type = o.type;
	return r;
}

struct g_operand
part_linear(struct part *p, struct g_operand o)
{
	if (o.view != VIEW_BOX && o.view != VIEW_STRIDED)
		return o;
	struct g_tensor *t = part_new_tensor(p, o.type, o.shape, NULL);
	(void)part_copy(p, o, operand_whole(t));
	return operand_whole(t);
}

struct g_operand
part_room(struct part *p, struct g_operand ofm)
{
	if (ofm.view != VIEW_BOX && ofm.view != VIEW_STRIDED)
		return ofm;
	return operand_whole(part_new_tensor(p, ofm.type, ofm.shape, NULL));
}

void
part_deliver(struct part *p, struct g_operand room, struct g_operand ofm)
{
	if (room.t != ofm.t)
		(void)part_copy(p, part_view(p, room, ofm.shape), ofm);
}

static struct bytes
const_bytes(struct part *p, int type, const int32_t *v, int64_t n)
{
	size_t size = (size_t)tfl_type_bytes(type);
	uint8_t *b = arena_alloc(p->a, (size_t)n, size);
	for (int64_t i = 0; i < n; i++) {
		if (size == 1)
			b[i] = (uint8_t)v[i];
		else if (size == 2)
			store_le16(b + 2 * i, (uint16_t)v[i]);
		else
			store_le32(b + 4 * i, (uint32_t)v[i]);
	}
	return (struct bytes){ .p = b, .n = (size_t)n * size };
}

struct g_operand
part_const(struct part *p, int type, struct hwc shape, const int32_t *v)
{
	struct bytes b = const_bytes(p, type, v, hwc_elements(shape));
	for (size_t i = 0; i < p->g->n_tensors; i++) {
		struct g_tensor *t = p->g->tensors[i];
		if (!G_HAS(t, G_TENSOR_source) || !t->source.blob ||
		    t->shape.type != type || !hwc_equal(t->hwc, shape))
			continue;
		const struct g_blob *blob = graph_find_blob(p->g, t->source.blob);
		if (blob && !memcmp(blob->data, b.p, b.n))
			return operand_whole(t);
	}
	struct g_tensor *t = part_new_tensor(p, type, shape, NULL);
	char name[24];
	(void)snprintf(name, sizeof(name), "const%d", t->rec.id);
	t->source.blob = graph_add_blob(p->g, arena_strdup(p->a, name), b)->name;
	G_SET(t, G_TENSOR_source);
	return operand_whole(t);
}

struct g_operand
part_box(struct g_operand o, struct hwc shape, struct hwc start)
{
	if (hwc_equal(o.shape, shape))
		return o;
	if (o.view == VIEW_WHOLE) {
		o.view = VIEW_BOX;
		o.start = start;
	} else if (o.view == VIEW_BOX) {
		o.start.h += start.h;
		o.start.w += start.w;
		o.start.c += start.c;
	} else {
		if (o.view == VIEW_RESHAPE) {
			o.stride[0] = (int64_t)o.shape.w * o.shape.c;
			o.stride[1] = o.shape.c;
			o.stride[2] = 1;
			o.view = VIEW_STRIDED;
		}
		o.offset += start.h * o.stride[0] + start.w * o.stride[1] +
			    start.c * o.stride[2];
	}
	o.shape = shape;
	return o;
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
