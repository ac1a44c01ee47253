/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that follow from a graph's records alone. */
#include "graph/graph.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "target/blocks.h"
#include "tflite/tflite.h"

#include <string.h>

static const struct type_text {
	int type;
	const char *text;
} type_texts[] = {
	{ TFL_INT8, "i8" },   { TFL_UINT8, "u8" },	{ TFL_INT16, "i16" },
	{ TFL_UINT16, "u16" }, { TFL_INT32, "i32" },	{ TFL_UINT32, "u32" },
	{ TFL_INT64, "i64" }, { TFL_BOOL, "bool" },	{ TFL_FLOAT32, "f32" },
	{ TFL_FLOAT64, "f64" }, { TFL_FLOAT16, "f16" },	{ TFL_INT4, "i4" },
	{ TFL_STRING, "string" },
};

const char *
graph_type_text(int type)
{
	for (size_t i = 0; i < ARRAY_LEN(type_texts); i++)
		if (type_texts[i].type == type)
			return type_texts[i].text;
	return "other";
}

int
graph_type_parse(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(type_texts); i++)
		if (strlen(type_texts[i].text) == n &&
		    !memcmp(type_texts[i].text, s, n))
			return type_texts[i].type;
	if (n == 5 && !memcmp(s, "other", n))
		return TFL_BUILTIN_LIMIT - 1; /* a type without arithmetic */
	return -1;
}

int
graph_type_bytes(int type)
{
	return tfl_type_bytes(type);
}

bool
graph_type_signed(int type)
{
	return type == TFL_INT8 || type == TFL_INT16 || type == TFL_INT32;
}

/* Leading dimensions are merged into rows; the linear order is unchanged. */
struct hwc
graph_hwc(const struct g_shape *s)
{
	struct hwc r = { .h = 1, .w = 1, .c = 1 };
	if (s->rank > 0)
		r.c = s->dim[s->rank - 1];
	if (s->rank > 1)
		r.w = s->dim[s->rank - 2];
	int64_t rows = 1; /* saturate: too many rows remain more than the NPU accepts */
	for (int i = 0; i + 2 < s->rank; i++) {
		rows *= s->dim[i];
		rows = rows > INT32_MAX ? INT32_MAX : rows;
	}
	r.h = (int32_t)rows;
	return r;
}

bool
graph_has_loops(const struct graph *g)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (node_continues(g->nodes[i]))
			return true;
	return false;
}

struct g_operand
operand_whole(struct g_tensor *t)
{
	return (struct g_operand){ .t = t, .view = VIEW_WHOLE,
				   .type = t->shape.type, .shape = t->hwc };
}

bool
operand_is_whole(const struct g_operand *o)
{
	return o->t && o->view == VIEW_WHOLE && o->type == o->t->shape.type;
}

struct g_operand
operand_reshape(struct g_tensor *t, struct hwc shape)
{
	if (hwc_equal(shape, t->hwc))
		return operand_whole(t);
	return (struct g_operand){ .t = t, .view = VIEW_RESHAPE,
				   .type = t->shape.type, .shape = shape };
}

struct g_operand
operand_box(struct g_tensor *t, struct hwc shape, struct hwc start)
{
	if (hwc_equal(shape, t->hwc))
		return operand_whole(t);
	return (struct g_operand){ .t = t, .view = VIEW_BOX,
				   .type = t->shape.type, .shape = shape,
				   .start = start };
}

struct g_operand
operand_by_strides(struct g_operand o)
{
	struct hwc in = o.view == VIEW_BOX ? o.t->hwc : o.shape;
	if (o.view == VIEW_STRIDED)
		return o;
	o.stride[0] = (int64_t)in.w * in.c;
	o.stride[1] = in.c;
	o.stride[2] = 1;
	if (o.view == VIEW_BOX)
		o.offset = o.start.h * o.stride[0] + o.start.w * o.stride[1] + o.start.c;
	o.view = VIEW_STRIDED;
	o.start = (struct hwc){ .h = 0 };
	return o;
}

bool
tensor_has_strides(const struct g_tensor *t)
{
	return t->row_stride || t->pixel_stride;
}

/* True if a view by strides sees each row as pixels inside the same row of the tensor. */
static bool
strides_keep_rows(const struct g_operand *o)
{
	int64_t row = (int64_t)o->t->hwc.w * o->t->hwc.c;
	int64_t end = o->offset + (o->shape.w - 1) * o->stride[1] + o->shape.c;
	return o->shape.h == o->t->hwc.h && o->stride[0] == row && o->offset >= 0 &&
	       (o->stride[1] >= 0 || o->shape.w == 1) && end <= row;
}

bool
operand_has_rows(const struct g_operand *o)
{
	bool same = o->view == VIEW_WHOLE ||
		    (o->view == VIEW_RESHAPE && o->shape.h == o->t->hwc.h) ||
		    (o->view == VIEW_STRIDED && strides_keep_rows(o));
	return same && o->type == o->t->shape.type;
}

bool
operand_is_contiguous(const struct g_operand *o)
{
	if (tensor_has_strides(o->t))
		return false;
	struct hwc s = o->shape, all = o->t->hwc;
	int64_t row = (int64_t)s.w * s.c;
	switch (o->view) {
	case VIEW_RESHAPE:
		return true;
	case VIEW_WHOLE:
		return o->type == o->t->shape.type || o->t->layout == LAYOUT_NHWC;
	case VIEW_BOX:
		return o->t->layout == LAYOUT_NHWC && !G_HAS(o->t, G_TENSOR_rows) &&
		       (s.c == all.c || (s.w == 1 && s.h == 1)) &&
		       (s.w == all.w || s.h == 1);
	case VIEW_STRIDED:
		return (s.c == 1 || o->stride[2] == 1) &&
		       (s.w == 1 || o->stride[1] == s.c) &&
		       (s.h == 1 || o->stride[0] == row);
	}
	return false;
}

bool
tensor_is_const(const struct g_tensor *t)
{
	return G_HAS(t, G_TENSOR_source);
}

bool
tensor_is_input(const struct g_tensor *t)
{
	return t->io == IO_IN || t->io == IO_INOUT;
}

bool
tensor_is_output(const struct g_tensor *t)
{
	return t->io == IO_OUT || t->io == IO_INOUT;
}

bool
graph_is_for_linux(const struct graph *g)
{
	return g->n_models && G_HAS(g->models[0], G_MODEL_driver) &&
	       g->models[0]->driver == DRIVER_LINUX;
}

int64_t
tensor_bytes(const struct g_tensor *t)
{
	int64_t depth = t->hwc.c;
	if (tensor_has_strides(t)) {
		struct g_stride s = tensor_strides(t);
		return (t->hwc.h - 1) * s.y + (t->hwc.w - 1) * s.x + t->hwc.c * s.c;
	}
	if (t->layout == LAYOUT_NHCWB16)
		depth = round_up_i64(depth, BRICK);
	const int32_t rows = G_HAS(t, G_TENSOR_rows) ? t->rows : t->hwc.h;
	return (int64_t)rows * t->hwc.w * depth *
	       graph_type_bytes(t->shape.type);
}

struct g_stride
tensor_strides(const struct g_tensor *t)
{
	int64_t e = graph_type_bytes(t->shape.type);
	if (t->layout == LAYOUT_NHCWB16)
		return (struct g_stride){
			.y = e * t->hwc.w * round_up_i64(t->hwc.c, BRICK),
			.x = e * BRICK,
			.c = e * BRICK * t->hwc.w,
		};
	int64_t x = t->pixel_stride ? t->pixel_stride : e * t->hwc.c;
	return (struct g_stride){ .y = t->row_stride ? t->row_stride : x * t->hwc.w,
				  .x = x,
				  .c = e };
}

bool
op_is_elementwise(int kind)
{
	return kind >= OP_MUL;
}

bool
op_has_table(const struct g_op *op)
{
	return op->lut && op->act != G_ACT_CLAMP;
}

struct g_range
type_range(int type)
{
	switch (type) {
	case TFL_INT8:
		return (struct g_range){ .lo = INT8_MIN, .hi = INT8_MAX };
	case TFL_UINT8:
		return (struct g_range){ .lo = 0, .hi = UINT8_MAX };
	default: /* 32-bit results are not clamped, as registers have 16 bits */
		return (struct g_range){ .lo = INT16_MIN, .hi = INT16_MAX };
	}
}

bool
op_is_pool(int kind)
{
	return kind == OP_MAXPOOL || kind == OP_AVGPOOL || kind == OP_REDUCE_SUM;
}

bool
op_has_weights(int kind)
{
	return kind == OP_CONV || kind == OP_FC || kind == OP_DEPTHWISE;
}

bool
op_is_binary(int kind)
{
	return op_is_elementwise(kind) && kind != OP_LRELU && kind != OP_ABS &&
	       kind != OP_CLZ;
}

bool
op_compares(int kind)
{
	return kind >= OP_EQUAL && kind <= OP_NOT_LESS;
}

bool
op_is_transfer(int kind)
{
	return kind == OP_COPY || kind == OP_GATHER || kind == OP_SCATTER;
}

bool
op_only_moves(const struct g_op *op)
{
	bool word = op->ifm.type == TFL_INT16, plain = op->ifm.type == TFL_UINT8;
	int64_t lo = plain ? 0 : word ? INT16_MIN : INT8_MIN;
	int64_t hi = lo + (word ? UINT16_MAX : UINT8_MAX);
	return op->kind == OP_AVGPOOL && op->kernel.y == 1 && op->kernel.x == 1 &&
	       op->stride.y == 1 && op->stride.x == 1 && op->act == G_ACT_CLAMP &&
	       op->upscale == UPSCALE_NONE && G_HAS(op, G_OP_scale) &&
	       op->scale.mult == 1u << 30 && op->scale.shift == 30 &&
	       op->ifm_zero == op->ofm_zero && op->ifm.type == op->ofm.type &&
	       (word || plain || op->ifm.type == TFL_INT8) && op->clamp.lo <= lo &&
	       op->clamp.hi >= hi && hwc_equal(op->ifm.shape, op->ofm.shape);
}

bool
op_is_row_by_row(int kind)
{
	return op_is_elementwise(kind) || kind == OP_COPY;
}

/* rows of schema/operations.def */
enum stages { STAGES_NONE, STAGES_CLAMP, STAGES_TABLE };
static const struct {
	enum block_class blocks;
	enum stages stages;
} operations[] = {
#define OPERATION(kind, name, b, s) [OP_##kind] = { .blocks = BLOCK_##b, .stages = STAGES_##s },
#include "operations.def"
#undef OPERATION
};

enum block_class
op_block_class(int kind)
{
	return operations[kind].blocks;
}

bool
op_can_clamp(int kind)
{
	return operations[kind].stages >= STAGES_CLAMP;
}

bool
op_can_look_up(int kind)
{
	return operations[kind].stages >= STAGES_TABLE;
}

int
op_ifm_bits(const struct g_op *op)
{
	return 8 * graph_type_bytes(op->ifm.type);
}

struct yx
op_dilated(const struct g_op *op)
{
	return (struct yx){ .y = (op->kernel.y - 1) * op->dilation.y + 1,
			    .x = (op->kernel.x - 1) * op->dilation.x + 1 };
}

static int32_t
sampled(int32_t ofm, int32_t ifm, int32_t up, int32_t down, int64_t first)
{
	int64_t last = (ofm - 1) * (int64_t)down + first;
	int64_t n = last < 0 ? 1 : last / up + 2;
	return n < ifm ? (int32_t)n : ifm;
}

struct yx
op_sampled(const struct g_op *op)
{
	struct hwc o = op->ofm.shape, i = op->ifm.shape;
	return (struct yx){ .y = sampled(o.h, i.h, op->up.y, op->down.y, op->first.lo),
			    .x = sampled(o.w, i.w, op->up.x, op->down.x, op->first.hi) };
}

struct hwc
op_extent(const struct g_op *op)
{
	return op->kind == OP_REORDER ? op->ifm.shape : op->ofm.shape;
}

struct block_query
op_block_query(const struct g_op *op, int32_t rows)
{
	struct yx k = op_dilated(op);
	struct hwc ifm = op->ifm.shape, ofm = op_extent(op);
	bool filters = op->kind == OP_MATMUL;
	if (op->ifm2.t && !filters &&
	    hwc_elements(op->ifm2.shape) > hwc_elements(ifm))
		ifm = op->ifm2.shape;
	return (struct block_query){
		.class = op_block_class(op->kind),
		.ifm = ifm,
		.ofm = { .h = rows, .w = ofm.w, .c = ofm.c },
		.ifm_bits = op_ifm_bits(op),
		.kernel_h = k.y, .kernel_w = k.x,
		.stride_y = op->stride.y, .stride_x = op->stride.x,
		.upscale = (enum upscale)op->upscale,
		.order = (enum out_order)op->order,
		.up_x = op->up.x, .down_x = op->down.x,
		.bricks = op->ofm.t->layout == LAYOUT_NHCWB16,
		.part_kernel = op->traversal == PART_KERNEL, .sparse = op->sparse,
		.uses_table = op_has_table(op),
		.acc40 = op->acc40,
		.one_tensor = G_HAS(op, G_OP_scalar),
		.whole = ofm,
		.repeats_h = op->ifm2.t && op->ifm2.shape.h < op->ofm.shape.h,
		.repeats_w = op->ifm2.t && op->ifm2.shape.w < op->ofm.shape.w,
		.repeats_c = op->ifm2.t && op->ifm2.shape.c < op->ofm.shape.c,
	};
}

static bool
is_apart(int32_t a, int32_t n_a, int32_t b, int32_t n_b)
{
	return a + n_a <= b || b + n_b <= a;
}

bool
operand_equal(const struct g_operand *a, const struct g_operand *b)
{
	return a->t == b->t && a->view == b->view && a->type == b->type &&
	       hwc_equal(a->shape, b->shape) && hwc_equal(a->start, b->start) &&
	       a->offset == b->offset && !memcmp(a->stride, b->stride, sizeof(a->stride));
}

bool
boxes_are_disjoint(const struct g_operand *a, const struct g_operand *b)
{
	if (a->view != VIEW_BOX || b->view != VIEW_BOX || a->type != b->type)
		return false;
	return is_apart(a->start.h, a->shape.h, b->start.h, b->shape.h) ||
	       is_apart(a->start.w, a->shape.w, b->start.w, b->shape.w) ||
	       is_apart(a->start.c, a->shape.c, b->start.c, b->shape.c);
}

bool
ops_conflict(const struct g_op *a, const struct g_op *b, const struct g_tensor *t)
{
	const struct g_operand *x[] = { &a->ofm, &a->ifm, &a->ifm2 };
	const struct g_operand *y[] = { &b->ofm, &b->ifm, &b->ifm2 };
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			if ((i == 0 || k == 0) && x[i]->t == t && y[k]->t == t &&
			    !boxes_are_disjoint(x[i], y[k]))
				return true;
	return false;
}

bool
tensors_have(const struct g_tensors *l, const struct g_tensor *t)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == t)
			return true;
	return false;
}

int64_t
graph_place_used(const struct graph *g, int place)
{
	for (size_t i = 0; i < g->n_areas; i++)
		if (!strcmp(g->areas[i]->rec.word, place_names[place]))
			return g->areas[i]->used;
	return 0;
}

bool
has_operator(const struct g_tfls *l, struct g_tfl operator)
{
	for (int i = 0; i < l->n; i++)
		if (l->v[i].subgraph == operator.subgraph && l->v[i].index == operator.index)
			return true;
	return false;
}
