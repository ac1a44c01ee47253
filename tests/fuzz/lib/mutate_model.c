/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes a model so that most of it stays meaningful: one dimension in all places
 * with that value; types together with their constants; an operator replaced by
 * another one; an operator inserted before it.  One change in four sets a field of
 * any table to any value.
 */
#include "mutate.h"
#include "tree.h"

#include "base/little_endian.h"
#include "tflite/fields.h"
#include "tflite/wire.h"

#include <string.h>

struct change {
	struct arena *a;
	struct dice *d;
	struct tree *model, *graph; /* subgraph 0 */
};

#define ITEMS(t, slot) ((t)->field[slot].n)
#define INT(t, slot) ((t)->field[slot].i)

static const struct {
	int code, tag;
} operators[] = {
#define TFL_OP(code, name, tag) { code, tag },
#include "tflite_ops.def"
};

static struct tree *
any_item(struct change *c, struct tree *t, int slot)
{
	struct field *f = &t->field[slot];
	return f->n ? f->item[roll(c->d, f->n)] : NULL;
}

static struct tree *
any_tensor(struct change *c)
{
	return any_item(c, c->graph, FB_SubGraph_tensors);
}

static struct tree *
any_op(struct change *c)
{
	return any_item(c, c->graph, FB_SubGraph_operators);
}

/* ---- constants keep the size of their tensor ----------------------------- */

static size_t
bytes_of(const struct tree *tensor)
{
	int type = (int)INT(tensor, FB_Tensor_type);
	int64_t n = tfl_type_bytes(type);
	for (size_t i = 0; i < ITEMS(tensor, FB_Tensor_shape); i++) {
		int64_t dim = tree_get(tensor, FB_Tensor_shape, i);
		if (dim < 0 || dim > 1 << 16 || (n *= dim) > 1 << 16)
			return 0;
	}
	return (size_t)n;
}

static struct tree *
buffer_of(const struct change *c, const struct tree *tensor)
{
	struct field *f = &c->model->field[FB_Model_buffers];
	uint64_t i = (uint64_t)INT(tensor, FB_Tensor_buffer);
	return i && i < f->n && f->item[i]->field[FB_Buffer_data].n ? f->item[i]
								    : NULL;
}

static void
fit_constant(struct change *c, struct tree *tensor)
{
	struct tree *b = buffer_of(c, tensor);
	size_t n = bytes_of(tensor);
	if (b && n)
		tree_resize(c->a, b, FB_Buffer_data, n);
}

/* ---- changes --------------------------------------------------------------- */

static int64_t
new_dimension(struct dice *d, int64_t was)
{
	static const int16_t dims[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31,
					32, 33, 64, 65, 127, 256, -1 };
	return one_in(d, 20) ? odd_number(d, was)
	       : one_in(d, 3) ? was + (one_in(d, 2) ? 1 : -1)
			      : dims[1 + roll(d, ARRAY_LEN(dims) - 2)];
}

static void
change_dimension(struct change *c)
{
	struct tree *t = any_tensor(c);
	struct field *all = &c->graph->field[FB_SubGraph_tensors];
	size_t n = t ? ITEMS(t, FB_Tensor_shape) : 0;
	if (!n)
		return;
	size_t axis = roll(c->d, n);
	int64_t was = tree_get(t, FB_Tensor_shape, axis);
	int64_t now = new_dimension(c->d, was);
	bool same_axis = one_in(c->d, 2), alone = one_in(c->d, 3);
	for (size_t i = 0; i < all->n; i++) {
		struct tree *o = all->item[i];
		if (alone && o != t)
			continue;
		for (size_t k = 0; k < ITEMS(o, FB_Tensor_shape); k++)
			if (tree_get(o, FB_Tensor_shape, k) == was &&
			    (k == axis || !same_axis))
				tree_set(o, FB_Tensor_shape, k, now);
		fit_constant(c, o);
	}
}

static void
change_rank(struct change *c)
{
	struct tree *t = any_tensor(c);
	size_t n = t ? ITEMS(t, FB_Tensor_shape) : 0;
	if (!t)
		return;
	if (n && one_in(c->d, 2)) {
		tree_resize(c->a, t, FB_Tensor_shape, n - 1);
	} else {
		tree_resize(c->a, t, FB_Tensor_shape, n + 1);
		tree_set(t, FB_Tensor_shape, n, one_in(c->d, 2) ? 1 : 3);
	}
	if (one_in(c->d, 2))
		fit_constant(c, t);
}

static void
change_type(struct change *c)
{
	static const int8_t types[] = { TFL_INT8,  TFL_INT16, TFL_UINT8,
					TFL_INT32, TFL_INT64, TFL_BOOL,
					TFL_FLOAT32, TFL_INT4, TFL_UINT32 };
	struct tree *t = any_tensor(c);
	struct field *all = &c->graph->field[FB_SubGraph_tensors];
	if (!t)
		return;
	int64_t was = INT(t, FB_Tensor_type);
	int64_t now = types[roll(c->d, one_in(c->d, 3) ? ARRAY_LEN(types) : 4)];
	bool alone = one_in(c->d, 3);
	for (size_t i = 0; i < all->n; i++) {
		struct tree *o = all->item[i];
		if (INT(o, FB_Tensor_type) != was || (alone && o != t))
			continue;
		INT(o, FB_Tensor_type) = now;
		fit_constant(c, o);
		struct tree *q = o->field[FB_Tensor_quantization].child;
		/* 16 bits and more have zero points of 0 */
		for (size_t k = 0; q && now != TFL_INT8 && now != TFL_UINT8 &&
				   k < ITEMS(q, FB_QuantizationParameters_zero_point);
		     k++)
			tree_set(q, FB_QuantizationParameters_zero_point, k, 0);
	}
}

static void
change_quantization(struct change *c)
{
	static const float scales[] = { 0.1f,	 0.0078125f, 1,	   0x1p-12f,
					0.3f,	 3e-7f,	     1e6f, 0x1p-26f,
					0x1p-15f, 1.0f / 256, 0,    1e-38f };
	enum { SCALE = FB_QuantizationParameters_scale,
	       ZERO = FB_QuantizationParameters_zero_point };
	struct tree *t = any_tensor(c);
	struct tree *q = t ? t->field[FB_Tensor_quantization].child : NULL;
	if (!q)
		return;
	size_t n = ITEMS(q, SCALE);
	if (one_in(c->d, 5)) {
		n = one_in(c->d, 2) ? 1 : (size_t)tree_get(t, FB_Tensor_shape, 0) % 64;
		tree_resize(c->a, q, SCALE, n);
		tree_resize(c->a, q, ZERO, n);
	} else if (one_in(c->d, 3) && ITEMS(q, ZERO)) {
		size_t i = roll(c->d, ITEMS(q, ZERO));
		tree_set(q, ZERO, i, one_in(c->d, 3) ? odd_number(c->d, 0)
						      : (int64_t)roll(c->d, 256) - 128);
	} else if (one_in(c->d, 6)) {
		INT(q, FB_QuantizationParameters_quantized_dimension) =
		    odd_number(c->d, 0);
	} else if (n) {
		float f = scales[roll(c->d, ARRAY_LEN(scales))];
		memcpy(q->field[SCALE].p + 4 * roll(c->d, n), &f, sizeof(f));
	}
}

static int64_t
any_index(struct change *c)
{
	int64_t n = (int64_t)ITEMS(c->graph, FB_SubGraph_tensors);
	return one_in(c->d, 12) ? odd_number(c->d, n)
	       : one_in(c->d, 8) ? -1
				 : (int64_t)roll(c->d, (size_t)n);
}

static void
change_indices(struct change *c, struct tree *t, int slot)
{
	size_t n = ITEMS(t, slot);
	size_t how = roll(c->d, 5);
	if (how == 0 && n)
		tree_resize(c->a, t, slot, n - 1);
	else if (how == 1)
		tree_resize(c->a, t, slot, ++n);
	if (n && how)
		tree_set(t, slot, how == 1 ? n - 1 : roll(c->d, n), any_index(c));
}

static void
change_wiring(struct change *c)
{
	struct tree *op = any_op(c);
	if (one_in(c->d, 4))
		change_indices(c, c->graph, one_in(c->d, 2) ? FB_SubGraph_inputs
							     : FB_SubGraph_outputs);
	else if (op)
		change_indices(c, op, one_in(c->d, 4) ? FB_Operator_outputs
						       : FB_Operator_inputs);
}

/* adds an operator code, so that other operators do not change */
static int64_t
add_opcode(struct change *c, int code)
{
	struct tree *t = tree_new(c->a, &fb_OperatorCode);
	size_t n = ITEMS(c->model, FB_Model_operator_codes);
	INT(t, FB_OperatorCode_deprecated_builtin_code) = code < 127 ? code : 127;
	INT(t, FB_OperatorCode_builtin_code) = code;
	INT(t, FB_OperatorCode_version) = one_in(c->d, 4) ? 1 + (int)roll(c->d, 5) : 1;
	tree_insert(c->a, c->model, FB_Model_operator_codes, n, t);
	return (int64_t)n;
}

static void
become(struct change *c, struct tree *op, size_t k)
{
	const struct fb_table *t = operators[k].tag < fb_BuiltinOptions.n
				       ? fb_BuiltinOptions.member[operators[k].tag]
				       : NULL;
	INT(op, FB_Operator_opcode_index) = add_opcode(c, operators[k].code);
	if (!one_in(c->d, 8)) {
		INT(op, FB_Operator_builtin_options_tag) = t ? operators[k].tag : 0;
		struct tree *was = op->field[FB_Operator_builtin_options].child;
		if (!was || was->table != t)
			op->field[FB_Operator_builtin_options].child =
			    t ? tree_new(c->a, t) : NULL;
	}
}

static void
change_operator(struct change *c)
{
	struct tree *op = any_op(c);
	if (op)
		become(c, op, roll(c->d, ARRAY_LEN(operators)));
}

static void
change_option(struct change *c)
{
	struct tree *op = any_op(c);
	struct tree *o = op ? op->field[FB_Operator_builtin_options].child : NULL;
	if (!o || !o->table->n_slots)
		return;
	int slot = (int)roll(c->d, (size_t)o->table->n_slots);
	struct field *f = &o->field[slot];
	f->i = one_in(c->d, 4) ? odd_number(c->d, f->i) : (int64_t)roll(c->d, 7);
	f->f = (double)odd_number(c->d, 1) / (one_in(c->d, 2) ? 8 : 1);
	if (tree_unit(o->table->slot[slot].kind) > 1 && f->n)
		tree_set(o, slot, roll(c->d, f->n), odd_number(c->d, 1));
}

/* adds an operator that reads a tensor and makes one like it, for others to read */
static void
add_operator(struct change *c)
{
	struct field *tensors = &c->graph->field[FB_SubGraph_tensors];
	struct tree *op = tree_new(c->a, &fb_Operator), *like = any_op(c);
	if (!tensors->n)
		return;
	size_t in = roll(c->d, tensors->n), out = tensors->n;
	struct tree *made = tree_copy(c->a, tensors->item[in]);
	INT(made, FB_Tensor_buffer) = 0;
	if (like && one_in(c->d, 2))
		op = tree_copy(c->a, like);
	else
		become(c, op, roll(c->d, ARRAY_LEN(operators)));
	if (!ITEMS(op, FB_Operator_inputs))
		tree_resize(c->a, op, FB_Operator_inputs, 1 + roll(c->d, 2));
	for (size_t i = 0; i < ITEMS(op, FB_Operator_inputs); i++)
		if (!i || one_in(c->d, 3))
			tree_set(op, FB_Operator_inputs, i, (int64_t)in);
	tree_resize(c->a, op, FB_Operator_outputs, 1);
	tree_set(op, FB_Operator_outputs, 0, (int64_t)out);
	tree_insert(c->a, c->graph, FB_SubGraph_tensors, out, made);
	struct field *ops = &c->graph->field[FB_SubGraph_operators];
	size_t at = roll(c->d, ops->n + 1);
	for (size_t i = at; i < ops->n; i++)
		for (size_t k = 0; k < ITEMS(ops->item[i], FB_Operator_inputs); k++)
			if (tree_get(ops->item[i], FB_Operator_inputs, k) == (int64_t)in)
				tree_set(ops->item[i], FB_Operator_inputs, k,
					 (int64_t)out);
	tree_insert(c->a, c->graph, FB_SubGraph_operators, at, op);
	if (at + 1 == ops->n || one_in(c->d, 4)) {
		size_t n = ITEMS(c->graph, FB_SubGraph_outputs);
		tree_resize(c->a, c->graph, FB_SubGraph_outputs, n + 1);
		tree_set(c->graph, FB_SubGraph_outputs, n, (int64_t)out);
	}
}

static void
change_constant(struct change *c)
{
	struct tree *t = any_tensor(c), *b = t ? buffer_of(c, t) : NULL;
	if (!b)
		return;
	struct field *f = &b->field[FB_Buffer_data];
	if (one_in(c->d, 8)) {
		tree_resize(c->a, b, FB_Buffer_data, roll(c->d, 2 * f->n));
	} else if (INT(t, FB_Tensor_type) == TFL_INT32 && f->n >= 4) {
		size_t at = 4 * roll(c->d, f->n / 4);
		store_le32(f->p + at, (uint32_t)odd_number(c->d, load_le32(f->p + at)));
	} else {
		f->p[roll(c->d, f->n)] = (uint8_t)dice_next(c->d);
	}
}

static void
change_role(struct change *c)
{
	struct tree *t = any_tensor(c), *u = any_tensor(c);
	if (!t)
		return;
	switch (roll(c->d, 4)) {
	case 0:
		INT(t, FB_Tensor_is_variable) ^= 1;
		break;
	case 1:
		INT(t, FB_Tensor_buffer) = INT(u, FB_Tensor_buffer);
		break;
	case 2:
		INT(t, FB_Tensor_buffer) =
		    (int64_t)roll(c->d, ITEMS(c->model, FB_Model_buffers) + 1);
		break;
	default:
		t->field[FB_Tensor_quantization] = u->field[FB_Tensor_quantization];
		break;
	}
}

static void
change_list(struct change *c)
{
	static const int slots[] = { FB_SubGraph_operators, FB_SubGraph_operators,
				     FB_SubGraph_tensors };
	int slot = slots[roll(c->d, ARRAY_LEN(slots))];
	struct field *f = &c->graph->field[slot];
	if (!f->n)
		return;
	size_t i = roll(c->d, f->n), k = roll(c->d, f->n);
	struct tree *t = f->item[i];
	switch (roll(c->d, 3)) {
	case 0:
		tree_remove(c->graph, slot, i);
		break;
	case 1:
		f->item[i] = f->item[k];
		f->item[k] = t;
		break;
	default:
		tree_insert(c->a, c->graph, slot, k, tree_copy(c->a, t));
		break;
	}
}

/* ---- any table, any field --------------------------------------------------- */

static void
change_field(struct change *c, struct tree *t)
{
	if (!t->table->n_slots)
		return;
	int slot = (int)roll(c->d, (size_t)t->table->n_slots);
	struct field *f = &t->field[slot];
	unsigned unit = tree_unit(t->table->slot[slot].kind);
	if (f->item && f->n && !one_in(c->d, 8)) {
		change_field(c, f->item[roll(c->d, f->n)]);
	} else if (f->child && !one_in(c->d, 8)) {
		change_field(c, f->child);
	} else if (f->item && f->n) {
		tree_insert(c->a, t, slot, roll(c->d, f->n),
			    tree_copy(c->a, f->item[roll(c->d, f->n)]));
	} else if (unit && f->n && one_in(c->d, 2)) {
		size_t i = roll(c->d, f->n);
		tree_set(t, slot, i, odd_number(c->d, tree_get(t, slot, i)));
	} else if (unit) {
		tree_resize(c->a, t, slot, roll(c->d, 6));
	} else {
		f->i = odd_number(c->d, f->i);
		f->f = (double)odd_number(c->d, 0) / 4;
	}
}

static void
change_any(struct change *c)
{
	change_field(c, one_in(c->d, 3) ? c->model : c->graph);
}

static void (*const changes[])(struct change *) = {
	change_dimension, change_dimension, change_dimension, change_rank,
	change_type,	  change_quantization, change_quantization, change_wiring,
	change_operator,  change_option,    change_option,    add_operator,
	add_operator,	  change_constant,  change_role,      change_list,
	change_any,
};

static size_t
mutate_tree(struct change *c, struct fb_ref root, uint8_t *out, size_t max)
{
	size_t n = 0;
	c->model = tree_read(c->a, root);
	struct field *graphs = &c->model->field[FB_Model_subgraphs];
	c->graph = graphs->n ? graphs->item[one_in(c->d, 8) ? roll(c->d, graphs->n) : 0]
			     : NULL;
	for (size_t k = 1 + roll(c->d, 4); c->graph && k-- > 0;)
		changes[roll(c->d, ARRAY_LEN(changes))](c);
	return tree_write(c->model, out, max, &n) ? n : 0;
}

size_t
mutate_model(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct dice d = dice_init(seed);
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct fb_ref root;
	uint8_t choice = size ? data[size - 1] : 0;
	struct change c = { .a = a, .d = &d };
	size_t n = 0;
	if (one_in(&d, 8))
		choice = (uint8_t)roll(&d, 8);
	if (size > 1 && max > 1 && !one_in(&d, 40) &&
	    fb_verify((struct bytes){ .p = data, .n = size - 1 }, "m", &root, &e))
		n = mutate_tree(&c, root, data, max - 1);
	if (!n && size > 1 && !one_in(&d, 10))
		n = mutate_tosa(data, size - 1, seed);
	if (!n)
		n = mutate_bytes(data, size ? size - 1 : 0, max - 1, seed);
	data[n] = choice;
	arena_close(a);
	return n + 1;
}
