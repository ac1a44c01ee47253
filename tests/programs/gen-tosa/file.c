/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the drawn graph as a FlatBuffer. */
#include "gen.h"

#include <assert.h>
#include <string.h>

int
gen_new(struct gen *g, int type, int rank, const int32_t *dim)
{
	assert(g->n_tensors < MAX_TENSORS);
	struct gen_tensor *t = &g->tensor[g->n_tensors];
	*t = (struct gen_tensor){ .type = type, .rank = rank };
	memcpy(t->dim, dim, (size_t)rank * sizeof(*dim));
	return g->n_tensors++;
}

static fbw_off
name_of(struct gen *g, int tensor)
{
	return fbw_string(g->w, arena_printf(g->a, "t%d", tensor));
}

/* CONST or CONST_SHAPE for a tensor with data */
static void
add_constant(struct gen *g, int tensor, int code)
{
	assert(g->n_ops < MAX_OPS);
	fbw_table(g->w, &fb_TosaNone);
	g->op[g->n_ops++] = (struct gen_op){ .code = code, .out = tensor,
					     .attribute = fbw_end(g->w) };
}

int
gen_input(struct gen *g, int type, int rank, const int32_t *dim)
{
	int x = gen_new(g, type, rank, dim);
	g->in[g->n_in++] = x;
	return x;
}

int
gen_const(struct gen *g, int type, int rank, const int32_t *dim, const int64_t *v)
{
	int64_t n = 1;
	int t = gen_new(g, type, rank, dim);
	for (int i = 0; i < rank; i++)
		n *= dim[i];
	size_t bytes = ((size_t)n * (size_t)tosa_type_bits(type) + 7) / 8;
	uint8_t *p = anew(g->a, uint8_t, bytes);
	for (int64_t i = 0; i < n; i++)
		if (type == TOSA_INT4)
			p[i / 2] |= (uint8_t)((v[i] & 15) << 4 * (i % 2));
		else
			tosa_store(type, p, i, v[i]);
	g->tensor[t].data = (struct bytes){ .p = p, .n = bytes };
	add_constant(g, t, type == TOSA_SHAPE ? TOSA_CONST_SHAPE : TOSA_CONST);
	return t;
}

int
gen_number(struct gen *g, int type, int64_t v)
{
	return gen_const(g, type, 1, (int32_t[]){ 1 }, &v);
}

int
gen_shape(struct gen *g, int n, const int64_t *v)
{
	return gen_const(g, TOSA_SHAPE, 1, (int32_t[]){ n }, v);
}

fbw_off
gen_attribute(struct gen *g, const struct fb_table *t, int n_lists,
	      const int32_t *const *list, const int *length, int n, const int64_t *v)
{
	fbw_off lists[3];
	for (int i = 0; i < n_lists; i++)
		lists[i] = fbw_i32s(g->w, list[i], (size_t)length[i]);
	fbw_table(g->w, t);
	for (int i = 0; i < n_lists; i++)
		fbw_ref(g->w, i, lists[i]);
	for (int i = 0; i < n; i++)
		fbw_int(g->w, n_lists + i, v[i]);
	return fbw_end(g->w);
}

int
gen_op(struct gen *g, int code, fbw_off attribute, int n, const int *in, int type,
       int rank, const int32_t *dim)
{
	assert(g->n_ops < MAX_OPS && n <= 8);
	if (!attribute) {
		fbw_table(g->w, &fb_TosaNone);
		attribute = fbw_end(g->w);
	}
	int out = gen_new(g, type, rank, dim);
	struct gen_op *op = &g->op[g->n_ops++];
	*op = (struct gen_op){ .code = code, .n_in = n, .out = out,
			       .attribute = attribute };
	memcpy(op->in, in, (size_t)n * sizeof(*in));
	return out;
}

/* ---- the file --------------------------------------------------------------------- */

static fbw_off
names(struct gen *g, int n, const int *v)
{
	fbw_off *s = anew(g->a, fbw_off, (size_t)n);
	for (int i = 0; i < n; i++)
		s[i] = name_of(g, v[i]);
	return fbw_offsets(g->w, s, (size_t)n);
}

static fbw_off
tensor(struct gen *g, int i)
{
	const struct gen_tensor *t = &g->tensor[i];
	bool shape = t->type == TOSA_SHAPE;
	fbw_off name = name_of(g, i), data = 0, dims = 0;
	if (t->data.n)
		data = fbw_bytes(g->w, t->data.p, t->data.n, 8);
	if (!shape)
		dims = fbw_i32s(g->w, t->dim, (size_t)t->rank);
	fbw_table(g->w, shape ? &fb_TosaShape : &fb_TosaTensor);
	if (shape) {
		fbw_ref(g->w, FB_TosaShape_name, name);
		fbw_int(g->w, FB_TosaShape_rank, t->dim[0]);
		fbw_ref(g->w, FB_TosaShape_data, data);
	} else {
		fbw_ref(g->w, FB_TosaTensor_name, name);
		fbw_ref(g->w, FB_TosaTensor_shape, dims);
		fbw_int(g->w, FB_TosaTensor_type, t->type);
		fbw_ref(g->w, FB_TosaTensor_data, data);
	}
	return fbw_end(g->w);
}

static fbw_off
operator(struct gen *g, const struct gen_op *op)
{
	int ends[8] = { op->out };
	for (int i = 1; i <= op->n_more; i++)
		ends[i] = op->out + i;
	fbw_off in = names(g, op->n_in, op->in), out = names(g, 1 + op->n_more, ends);
	fbw_table(g->w, &fb_TosaOperator);
	fbw_int(g->w, FB_TosaOperator_op, op->code);
	fbw_int(g->w, FB_TosaOperator_attribute_type, op->code);
	fbw_ref(g->w, FB_TosaOperator_attribute, op->attribute);
	fbw_ref(g->w, FB_TosaOperator_inputs, in);
	fbw_ref(g->w, FB_TosaOperator_outputs, out);
	return fbw_end(g->w);
}

/* the set outputs, or results that no operator reads, without constants */
static int
outputs(const struct gen *g, int *out)
{
	int n = g->n_out;
	if (n) {
		memcpy(out, g->out, (size_t)n * sizeof(*out));
		return n;
	}
	for (int i = 0; i < g->n_ops; i++) {
		bool read = g->op[i].code == TOSA_CONST || g->op[i].code == TOSA_CONST_SHAPE;
		for (int k = 0; k < g->n_ops; k++)
			for (int j = 0; j < g->op[k].n_in; j++)
				read |= g->op[k].in[j] == g->op[i].out;
		if (!read)
			out[n++] = g->op[i].out;
	}
	return n;
}

static fbw_off
block(struct gen *g)
{
	fbw_off *list[3];
	int n[3] = { 0 }, ends[MAX_OPS];
	for (int k = 0; k < 3; k++)
		list[k] = anew(g->a, fbw_off, MAX_TENSORS + MAX_OPS);
	for (int i = 0; i < g->n_ops; i++)
		list[0][n[0]++] = operator(g, &g->op[i]);
	for (int i = 0; i < g->n_tensors; i++) {
		int k = g->tensor[i].type == TOSA_SHAPE ? 2 : 1;
		list[k][n[k]++] = tensor(g, i);
	}
	fbw_off vec[3];
	for (int k = 0; k < 3; k++)
		vec[k] = fbw_offsets(g->w, list[k], (size_t)n[k]);
	int n_out = outputs(g, ends);
	fbw_off in = names(g, g->n_in, g->in), out = names(g, n_out, ends);
	fbw_off name = fbw_string(g->w, g->name ? g->name : "main");
	fbw_table(g->w, &fb_TosaBlock);
	fbw_ref(g->w, FB_TosaBlock_name, name);
	fbw_ref(g->w, FB_TosaBlock_operators, vec[0]);
	fbw_ref(g->w, FB_TosaBlock_tensors, vec[1]);
	fbw_ref(g->w, FB_TosaBlock_inputs, in);
	fbw_ref(g->w, FB_TosaBlock_outputs, out);
	fbw_ref(g->w, FB_TosaBlock_shapes, vec[2]);
	return fbw_end(g->w);
}

struct gen *
gen_region(struct gen *g, const char *name)
{
	struct gen *r = anew(g->a, struct gen, 1);
	r->a = g->a;
	r->w = g->w;
	r->state = g->state++;
	r->name = name;
	return g->region[g->n_regions++] = r;
}

static fbw_off
region(struct gen *g)
{
	fbw_off b = block(g), blocks = fbw_offsets(g->w, &b, 1);
	fbw_off name = fbw_string(g->w, g->name ? g->name : "main");
	fbw_table(g->w, &fb_TosaRegion);
	fbw_ref(g->w, FB_TosaRegion_name, name);
	fbw_ref(g->w, FB_TosaRegion_blocks, blocks);
	return fbw_end(g->w);
}

bool
gen_file(struct gen *g, struct bytes *out, struct err *e)
{
	fbw_off all[3] = { region(g) };
	for (int i = 0; i < g->n_regions; i++)
		all[1 + i] = region(g->region[i]);
	fbw_off regions = fbw_offsets(g->w, all, 1 + (size_t)g->n_regions);
	fbw_table(g->w, &fb_TosaVersion);
	fbw_int(g->w, FB_TosaVersion_major, 1);
	fbw_int(g->w, FB_TosaVersion_minor, g->minor);
	fbw_int(g->w, FB_TosaVersion_patch, 0);
	fbw_int(g->w, FB_TosaVersion_draft, 0);
	fbw_off version = fbw_end(g->w);
	fbw_table(g->w, &fb_TosaGraph);
	fbw_ref(g->w, FB_TosaGraph_version, version);
	fbw_ref(g->w, FB_TosaGraph_regions, regions);
	if (!fbw_finish(g->w, fbw_end(g->w), out, e))
		return false;
	uint8_t *p = anew(g->a, uint8_t, out->n);
	memcpy(p, out->p, out->n);
	memcpy(p + 4, "TOSA", 4); /* the builder writes TFLite's identifier */
	out->p = p;
	return true;
}
