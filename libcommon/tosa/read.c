/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a FlatBuffer into a graph, and checks names, constants and writers. */
#include "tosa/load.h"

#include "base/little_endian.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = INT32_MAX, MAX_GROWN = 1 << 20 /* limit of tensors, including branches */ };

/* ---- tensors ----------------------------------------------------------------- */

/* Checks that a name has no NUL byte, and makes it safe for a terminal. */
static bool
take_name(struct load *l, const char *s, size_t n, const char **out)
{
	if (strlen(s) != n)
		return BAD(l, "a name has a NUL byte in it: %s", text_plain(l->a, s));
	*out = text_plain(l->a, s);
	return true;
}

static bool
load_dims(struct load *l, struct tosa_tensor *t, struct fb_ref ref)
{
	struct fb_vec shape = fb_vector(ref, FB_TosaTensor_shape);
	if (fb_int(ref, FB_TosaTensor_is_unranked))
		return BAD(l, "tensor %s has no rank: dynamic shapes are not supported",
			   t->name);
	if (shape.n > TOSA_MAX_RANK)
		return BAD(l, "tensor %s has %u dimensions, level 8K allows %d",
			   t->name, shape.n, TOSA_MAX_RANK);
	int64_t n = 1;
	t->rank = (int)shape.n;
	for (int i = 0; i < t->rank; i++) {
		t->dim[i] = (int32_t)load_le32(shape.p + 4 * (size_t)i);
		if (t->dim[i] < 1)
			return BAD(l, "tensor %s: dimension %d is %d%s", t->name, i,
				   t->dim[i], t->dim[i] == -1 ? ": dynamic shapes are "
								"not supported"
							      : ", at least 1 is "
								"needed");
		n *= t->dim[i];
		if (n > MAX_DIM)
			return BAD(l, "tensor %s has more than 2^31 elements", t->name);
	}
	return true;
}

static bool
load_data(struct load *l, struct tosa_tensor *t, struct fb_ref ref)
{
	struct fb_vec data = fb_vector(ref, FB_TosaTensor_data);
	if ((uint64_t)fb_int(ref, FB_TosaTensor_offset) > 1)
		return BAD(l, "tensor %s has its data outside of the FlatBuffer: not "
			   "supported", t->name);
	if (!data.n)
		return true;
	if (!tosa_type_bits(t->type))
		return BAD(l, "constant %s is of type %s", t->name,
			   tosa_type_name(t->type));
	if ((int64_t)data.n != tosa_bytes(t))
		return BAD(l, "constant %s of %s has %u bytes, %lld are needed",
			   t->name, tosa_text(l->a, t), data.n,
			   (long long)tosa_bytes(t));
	t->data = (struct bytes){ .p = data.p, .n = data.n };
	return true;
}

static bool
load_tensor(struct load *l, struct tosa_tensor *t, struct fb_ref ref)
{
	size_t n;
	const char *name = fb_string(ref, FB_TosaTensor_name, &n);
	t->producer = -1;
	if (!take_name(l, name, n, &t->name))
		return false;
	int64_t type = fb_int(ref, FB_TosaTensor_type);
	t->type = type < 256 ? (int)type : 255;
	if (fb_int(ref, FB_TosaTensor_variable))
		return BAD(l, "tensor %s is a variable: not supported", t->name);
	return load_dims(l, t, ref) && load_data(l, t, ref);
}

static bool
load_shape(struct load *l, struct tosa_tensor *t, struct fb_ref ref)
{
	size_t n;
	const char *name = fb_string(ref, FB_TosaShape_name, &n);
	struct fb_vec data = fb_vector(ref, FB_TosaShape_data);
	int64_t rank = fb_int(ref, FB_TosaShape_rank);
	static const uint8_t none[8];
	t->producer = -1;
	t->type = TOSA_SHAPE;
	t->rank = 1;
	if (!take_name(l, name, n, &t->name))
		return false;
	if (rank * 8 != (int64_t)data.n)
		return BAD(l, "shape %s of rank %lld has %u bytes, %lld are needed",
			   t->name, (long long)rank, data.n, (long long)rank * 8);
	t->dim[0] = (int32_t)rank;
	t->data = (struct bytes){ .p = data.n ? data.p : none, .n = data.n };
	return true;
}

static int
by_name(const void *a, const void *b)
{
	const struct load_name *x = a, *y = b;
	return strcmp(x->s, y->s);
}

/* Copies a vector of `used` elements to one with capacity for n or more; updates *cap. */
static void *
grown(struct arena *a, const void *v, int *cap, int used, int n, size_t size)
{
	int more = *cap ? 2 * *cap : n;
	*cap = more < n ? n : more;
	uint8_t *p = arena_alloc(a, (size_t)*cap, size);
	if (used)
		memcpy(p, v, (size_t)used * size);
	return p;
}

bool
load_tensors_fit(struct load *l, int n_tensors)
{
	return n_tensors <= MAX_GROWN ||
	       BAD(l, "more than %d tensors with those of branches and loops", MAX_GROWN);
}

bool
load_more_tensors(struct load *l, int n)
{
	struct tosa_graph *g = l->g;
	int need = g->n_tensors + n, cap = l->cap_tensors;
	if (g->n_tensors && !load_tensors_fit(l, need))
		return false;
	if (g->tensor && need <= l->cap_tensors)
		return true;
	g->tensor = grown(l->a, g->tensor, &l->cap_tensors, g->n_tensors, need,
			  sizeof(*g->tensor));
	l->writer = grown(l->a, l->writer, &cap, g->n_tensors, need, sizeof(*l->writer));
	return true;
}

bool
load_tensors(struct load *l)
{
	struct tosa_graph *g = l->g;
	uint32_t n = fb_vector(l->block, FB_TosaBlock_tensors).n;
	uint32_t shapes = fb_vector(l->block, FB_TosaBlock_shapes).n;
	int first = g->n_tensors;
	l->n_names = (int)(n + shapes);
	l->names = anew(l->a, struct load_name, (size_t)l->n_names);
	if (!load_more_tensors(l, l->n_names))
		return false;
	struct tosa_tensor *t = &g->tensor[first];
	for (uint32_t i = 0; i < n; i++)
		if (!load_tensor(l, &t[i], fb_item(l->block, FB_TosaBlock_tensors, i)))
			return false;
	for (uint32_t i = 0; i < shapes; i++)
		if (!load_shape(l, &t[n + i], fb_item(l->block, FB_TosaBlock_shapes, i)))
			return false;
	g->n_tensors += l->n_names;
	for (int i = 0; i < l->n_names; i++)
		l->names[i] = (struct load_name){ .s = t[i].name, .tensor = first + i };
	if (l->n_names)
		qsort(l->names, (size_t)l->n_names, sizeof(*l->names), by_name);
	for (int i = 1; i < l->n_names; i++)
		if (!strcmp(l->names[i].s, l->names[i - 1].s))
			return BAD(l, "two tensors or shapes are called %s",
				   l->names[i].s);
	return true;
}

/* ---- operators ------------------------------------------------------------------ */

struct load_name *
load_find(struct load *l, const char *name)
{
	struct load_name key = { .s = name };
	return l->n_names ? bsearch(&key, l->names, (size_t)l->n_names, sizeof(key),
				    by_name)
			  : NULL;
}

bool
load_names(struct load *l, struct fb_ref t, int slot, const char *what,
	   const char *role, const int **out, int *n_out)
{
	uint32_t n = fb_vector(t, slot).n;
	int *v = anew(l->a, int, n);
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const char *name;
		const char *s = fb_text(t, slot, i, &len);
		if (!take_name(l, s, len, &name))
			return false;
		const struct load_name *found = load_find(l, name);
		if (!found)
			return BAD(l, "%s: %s %u is %s, which is not declared", what,
				   role, i, name);
		v[i] = found->tensor;
	}
	*out = v;
	*n_out = (int)n;
	return true;
}

const char *
load_label(struct load *l, const struct tosa_op *op)
{
	return arena_printf(l->a, "operator %d (%s)", op->number, op->name);
}

static bool
note_writer(struct load *l, const struct tosa_op *op)
{
	for (int k = 0; k < op->n_out; k++) {
		int *w = &l->writer[op->out[k]];
		struct tosa_tensor *t = &l->g->tensor[op->out[k]];
		bool constant = op->code == TOSA_CONST || op->code == TOSA_CONST_SHAPE;
		if (*w)
			return BAD(l, "%s writes %s, which operator %d writes, too",
				   load_label(l, op), t->name, *w - 1);
		if (t->is_input)
			return BAD(l, "%s writes %s, which is an input of the graph",
				   load_label(l, op), t->name);
		if (constant && !t->data.p)
			return BAD(l, "%s: %s has no data", load_label(l, op), t->name);
		if (!constant && t->data.p)
			return BAD(l, "%s writes %s, which is a constant",
				   load_label(l, op), t->name);
		*w = 1 + op->number;
	}
	return true;
}

static bool
load_op(struct load *l, uint32_t place, struct tosa_op *op)
{
	int number = l->number++;
	struct fb_ref ref = fb_item(l->block, FB_TosaBlock_operators, place);
	int64_t code = fb_int(ref, FB_TosaOperator_op);
	const struct tosa_op_info *info = tosa_op_info(code);
	if (!info)
		return BAD(l, "operator %d is number %lld, which TOSA 1.0 does not have",
			   number, (long long)code);
	*op = (struct tosa_op){ .code = (int)code, .name = info->name,
				.number = number };
	if (info->why_not)
		return BAD(l, "%s: %s", load_label(l, op), info->why_not);
	int64_t tag = fb_int(ref, FB_TosaOperator_attribute_type);
	op->attribute = fb_child(ref, FB_TosaOperator_attribute);
	const struct fb_table *need = fb_TosaAttribute.member[code];
	if (tag ? tag != code : need != &fb_TosaNone)
		return BAD(l, "%s has attributes of operator %lld", load_label(l, op),
			   (long long)tag);
	if (!load_names(l, ref, FB_TosaOperator_inputs, load_label(l, op), "input", &op->in,
			&op->n_in) ||
	    !load_names(l, ref, FB_TosaOperator_outputs, load_label(l, op), "output",
			&op->out, &op->n_out))
		return false;
	bool flow = op->code == TOSA_COND_IF || op->code == TOSA_WHILE_LOOP;
	if (flow && l->inside)
		return BAD(l, "%s inside of a branch or loop is not supported",
			   load_label(l, op));
	if (flow && op->n_in && op->n_out)
		return note_writer(l, op);
	if (op->n_in < info->min_in || op->n_in > info->max_in || op->n_out != 1)
		return BAD(l, "%s has %d input%s and %d output%s, %s%d and 1 are needed",
			   load_label(l, op), op->n_in, op->n_in == 1 ? "" : "s", op->n_out,
			   op->n_out == 1 ? "" : "s",
			   info->max_in > info->min_in ? "at least " : "", info->min_in);
	return note_writer(l, op);
}

struct tosa_op *
load_more_ops(struct load *l, int n)
{
	struct tosa_graph *g = l->g;
	if (!g->op || g->n_ops + n > l->cap_ops)
		g->op = grown(l->a, g->op, &l->cap_ops, g->n_ops, g->n_ops + n,
			      sizeof(*g->op));
	return &g->op[g->n_ops];
}

bool
load_ops(struct load *l)
{
	struct tosa_graph *g = l->g;
	uint32_t n = fb_vector(l->block, FB_TosaBlock_operators).n;
	struct tosa_op *op = load_more_ops(l, (int)n);
	for (uint32_t i = 0; i < n; i++) {
		if (!load_op(l, i, op))
			return false;
		if (op->code == TOSA_CONST || op->code == TOSA_CONST_SHAPE)
			continue;
		for (int k = 0; k < op->n_out; k++)
			g->tensor[op->out[k]].producer = g->n_ops;
		g->n_ops++;
		op++;
	}
	return true;
}

/* ---- the graph ----------------------------------------------------------------- */

/* Border tensors must have a type that an NPU tensor can have. */
static bool
check_border(struct load *l, const int *v, int n, const char *role)
{
	for (int i = 0; i < n; i++) {
		const struct tosa_tensor *t = &l->g->tensor[v[i]];
		if (t->type != TOSA_BOOL && t->type != TOSA_INT8 &&
		    t->type != TOSA_INT16 && t->type != TOSA_INT32)
			return BAD(l, "%s %s is of type %s: bool, i8, i16 and i32 are "
				   "supported", role, t->name, tosa_type_name(t->type));
	}
	return true;
}

bool
tosa_is(struct bytes file)
{
	return file.n >= 8 && !memcmp(file.p + 4, "TOSA", 4);
}

bool
tosa_read(struct arena *a, struct bytes file, const char *name,
	  struct tosa_graph **out, struct err *e)
{
	static const struct fb_format format = {
		.id = "TOSA", .what = "a TOSA graph", .root = &fb_TosaGraph };
	struct tosa_graph *g = anew(a, struct tosa_graph, 1);
	struct load l = { .a = a, .g = g, .e = e };
	g->name = name;
	g->file = file;
	if (!fb_verify_as(&format, file, name, &l.root, e))
		return false;
	struct fb_ref version = fb_child(l.root, FB_TosaGraph_version);
	if (!version.buf)
		return BAD(&l, "the file has no version");
	long long major = fb_int(version, FB_TosaVersion_major);
	if (major < 0)
		return BAD(&l, "the file has no number of its version");
	if (major != 1)
		return BAD(&l, "version %lld.%lld, only 1.0 and 1.1 are supported", major,
			   (long long)fb_int(version, FB_TosaVersion_minor));
	if (!load_find_main(&l) || !load_graph(&l) ||
	    !check_border(&l, g->in, g->n_in, "input") ||
	    !check_border(&l, g->out, g->n_out, "output"))
		return false;
	*out = g;
	return true;
}
