/* SPDX-License-Identifier: Apache-2.0 */
/* Chance, tensors, operators: the functions that the families use. */
#include "gen.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* splitmix64: any seed is valid */
static uint64_t
mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

const struct choice *
gen_given(const struct gen *g)
{
	for (int k = g->n_given; k-- > 0;) /* the last one counts */
		if (g->given[k].op == g->op && g->given[k].i == g->n)
			return &g->given[k];
	return NULL;
}

int64_t
gen_choose(struct gen *g, int64_t n)
{
	const struct choice *c = gen_given(g);
	uint64_t from = mix(mix(g->seed) + (uint64_t)g->op) + (uint64_t)g->n;
	int64_t v = (int64_t)(mix(from) % (uint64_t)n);
	if (c)
		v = c->value < n ? c->value : n - 1;
	if (g->show)
		printf("%d.%d=%lld\n", g->op, g->n, (long long)v);
	g->n++;
	return v;
}

int64_t
gen_range(struct gen *g, int64_t lo, int64_t hi)
{
	return lo + gen_choose(g, hi - lo + 1);
}

bool
gen_chance(struct gen *g, int percent)
{
	return gen_choose(g, 100) >= 100 - percent;
}

double
gen_real(struct gen *g, double lo, double hi)
{
	double u = (double)gen_choose(g, 1 << 20) * 0x1p-20;
	return exp(log(lo) + u * (log(hi) - log(lo)));
}

int
gen_type(struct gen *g)
{
	int64_t r = gen_range(g, 0, 9);
	return r < 6 ? TFL_INT8 : r < 8 ? TFL_UINT8 : TFL_INT16;
}

struct tfl_tensor *
gen_t(struct gen *g, int i)
{
	return &g->tensor[i].t;
}

struct shape
shape_of(struct gen *g, int i)
{
	struct shape s = { .rank = gen_t(g, i)->rank };
	memcpy(s.dim, gen_t(g, i)->dim, sizeof(s.dim));
	return s;
}

int64_t
shape_elements(struct shape s)
{
	int64_t n = 1;
	for (int i = 0; i < s.rank; i++)
		n *= s.dim[i];
	return n;
}

/* mostly small; 1 and multiples of 16 are frequent */
static int32_t
dimension(struct gen *g)
{
	int64_t r = gen_range(g, 0, 9);
	return (int32_t)(r == 0	  ? 1
			 : r < 8  ? gen_range(g, 2, 19)
			 : r == 8 ? gen_range(g, 20, 80)
				  : 16 * gen_range(g, 1, 4));
}

struct shape
gen_shape(struct gen *g, int rank, int32_t batch)
{
	struct shape s = { .rank = rank };
	do {
		for (int i = 0; i < rank; i++)
			s.dim[i] = dimension(g);
		if (rank == 4)
			s.dim[0] = batch;
	} while (shape_elements(s) > GEN_ELEMENTS);
	return s;
}

int
gen_tensor(struct gen *g, int type, struct shape s, float scale, int zero)
{
	int i = g->n_tensors++;
	assert(i < GEN_TENSORS);
	struct tfl_tensor *t = gen_t(g, i);
	*t = (struct tfl_tensor){ .type = type, .rank = s.rank, .has_shape = true,
				  .producer = -1 };
	t->name = arena_printf(g->a, "t%d", i);
	memcpy(t->dim, s.dim, sizeof(t->dim));
	if (scale > 0)
		gen_quant(g, i, scale, zero);
	return i;
}

void
gen_quant(struct gen *g, int tensor, float scale, int zero)
{
	float *f = anew(g->a, float, 1);
	int64_t *z = anew(g->a, int64_t, 1);
	*f = scale;
	*z = zero;
	gen_t(g, tensor)->quant = (struct tfl_quant){ .scale = f, .zero = z,
						      .n_scale = 1, .n_zero = 1 };
}

static int
zero_point(struct gen *g, int type)
{
	bool edge = gen_chance(g, 25);
	switch (type) {
	case TFL_INT8:
		return (int)(edge ? -128 : gen_range(g, -128, 127));
	case TFL_UINT8:
		return (int)(edge ? 128 : gen_range(g, 0, 255));
	default:
		return 0;
	}
}

int
gen_random(struct gen *g, int type, struct shape s)
{
	double scale = type == TFL_INT16 ? gen_real(g, 1e-5, 1e-3)
					 : gen_real(g, 3e-3, 0.2);
	return gen_tensor(g, type, s, (float)scale, zero_point(g, type));
}

int
gen_like(struct gen *g, int i, struct shape s)
{
	const struct tfl_quant *q = &gen_t(g, i)->quant;
	return gen_tensor(g, gen_t(g, i)->type, s, q->n_scale ? q->scale[0] : 0,
			  q->n_zero ? (int)q->zero[0] : 0);
}

static int32_t
batch(struct gen *g)
{
	return gen_chance(g, 10) ? (int32_t)gen_range(g, 2, 3) : 1;
}

int
gen_input(struct gen *g, int rank, int type)
{
	int made = -1;
	for (int i = 0; g->graph && i < g->n_tensors; i++)
		if (!g->is_const[i] && gen_t(g, i)->rank == rank &&
		    gen_t(g, i)->type == type && gen_t(g, i)->quant.n_scale &&
		    gen_chance(g, 60)) /* the result of CAST has no scale */
			made = i;
	if (made < 0)
		made = gen_random(g, type, gen_shape(g, rank, batch(g)));
	g->is_used[made] = true;
	return made;
}

int
gen_any_input(struct gen *g)
{
	int type = gen_type(g);
	return gen_input(g, (int)gen_range(g, 1, 4), type);
}

enum { IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* a constant with data in the file's format, which is not copied */
static int
constant(struct gen *g, int type, struct shape s, struct bytes data)
{
	int i = gen_tensor(g, type, s, 0, 0);
	g->buffer[++g->n_buffers] = data;
	g->tensor[i].buffer = (uint32_t)g->n_buffers;
	g->is_const[i] = true;
	return i;
}

int
gen_const(struct gen *g, int type, struct shape s, const void *data)
{
	size_t n = (size_t)shape_elements(s), size = (size_t)tfl_type_bytes(type);
	const uint8_t *v = data;
	uint8_t *le = anew(g->a, uint8_t, n * size);
	for (size_t i = 0; i < n * size; i += size)
		for (size_t k = 0; k < size; k++)
			le[i + k] = v[i + (IS_BIG_ENDIAN ? size - 1 - k : k)];
	return constant(g, type, s, (struct bytes){ .p = le, .n = n * size });
}

int
gen_ints(struct gen *g, int n, const int32_t *v)
{
	return gen_const(g, TFL_INT32, SHAPE(n), v);
}

int
gen_index(struct gen *g, int32_t v)
{
	struct shape s = { .rank = gen_chance(g, 50) ? 0 : 1, .dim = { 1 } };
	return gen_const(g, TFL_INT32, s, &v);
}

/* all values from one choice, not one choice for each value */
static uint64_t
noise(uint64_t state, size_t i)
{
	return state ? mix(mix(state) + i) : 0;
}

void
gen_many(struct gen *g, int n, int32_t lo, int32_t hi, int32_t *v)
{
	uint64_t state = (uint64_t)gen_choose(g, 1 << 20);
	for (int i = 0; i < n; i++)
		v[i] = state ? lo + (int32_t)(noise(state, (size_t)i) %
					      (uint64_t)(hi - lo + 1))
			     : 0;
}

int
gen_noise(struct gen *g, int type, struct shape s, float scale, int zero)
{
	size_t n = (size_t)shape_elements(s) * (size_t)tfl_type_bytes(type);
	uint8_t *v = anew(g->a, uint8_t, n);
	uint64_t state = (uint64_t)gen_choose(g, 1 << 20);
	for (size_t i = 0; i < n; i++)
		v[i] = (uint8_t)noise(state, i);
	int t = constant(g, type, s, (struct bytes){ .p = v, .n = n });
	if (scale > 0)
		gen_quant(g, t, scale, zero);
	return t;
}

void
gen_op(struct gen *g, int code, int n_in, const int *in, int n_out,
       const int *out, int tag, const struct fb_table *options,
       const int64_t *ints, const double *floats)
{
	assert(g->n_ops < GEN_OPS);
	int *ports = anew(g->a, int, (size_t)(n_in + n_out));
	memcpy(ports, in, (size_t)n_in * sizeof(int));
	memcpy(ports + n_in, out, (size_t)n_out * sizeof(int));
	for (int i = 0; i < n_in; i++)
		if (in[i] >= 0)
			g->is_used[in[i]] = true;
	for (int i = 0; i < n_out; i++)
		g->is_made[out[i]] = true;
	struct tflw_op *op = &g->op_at[g->n_ops];
	*op = (struct tflw_op){ .opcode = (uint32_t)g->n_ops, .in = ports,
				.n_in = n_in, .out = ports + n_in, .n_out = n_out,
				.options = options, .options_tag = tag };
	if (options) {
		int64_t *v = anew(g->a, int64_t, 16);
		double *f = anew(g->a, double, 16);
		for (int i = 0; i < options->n_slots && i < 16; i++) {
			v[i] = ints ? ints[i] : 0;
			f[i] = floats ? floats[i] : 0;
		}
		op->option = v;
		op->option_float = f;
	}
	g->code[g->n_ops++] = (struct tflw_opcode){ .code = code, .version = 1 };
}

int
gen_op1(struct gen *g, int code, int n_in, const int *in, int out, int tag,
	const struct fb_table *options, const int64_t *ints)
{
	gen_op(g, code, n_in, in, 1, &out, tag, options, ints, NULL);
	return out;
}

void
gen_mid(struct gen *g, int n, const int *mid)
{
	int *v = anew(g->a, int, (size_t)n);
	memcpy(v, mid, (size_t)n * sizeof(*v));
	g->op_at[g->n_ops - 1].mid = v;
	g->op_at[g->n_ops - 1].n_mid = n;
}
