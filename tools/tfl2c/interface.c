/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints macros for each input and output: shape, type, quantization, offset in the
 * arena.  Prints functions that convert between real numbers and the tensor's integers.
 */
#include "tfl2c.h"

#include "base/fixed.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct ctype {
	int type;
	const char *name;
	int min, max; /* 0, 0: no conversion functions */
} ctypes[] = {
	{ TFL_INT8, "int8_t", INT8_MIN, INT8_MAX },
	{ TFL_UINT8, "uint8_t", 0, UINT8_MAX },
	{ TFL_INT16, "int16_t", INT16_MIN, INT16_MAX },
	{ TFL_INT32, "int32_t", 0, 0 },
	{ TFL_INT64, "int64_t", 0, 0 },
	{ TFL_UINT16, "uint16_t", 0, 0 },
	{ TFL_UINT32, "uint32_t", 0, 0 },
	{ TFL_FLOAT32, "float", 0, 0 },
	{ TFL_FLOAT64, "double", 0, 0 },
	{ TFL_BOOL, "unsigned char", 0, 0 },
};

static const struct ctype *
ctype_of(int type)
{
	for (size_t i = 0; i < ARRAY_LEN(ctypes); i++)
		if (ctypes[i].type == type)
			return &ctypes[i];
	return NULL;
}

const char *
c_type(int type)
{
	const struct ctype *c = ctype_of(type);
	return c ? c->name : NULL;
}

bool
is_quantized(const struct tfl_tensor *x)
{
	return x->quant.n_scale == 1 && x->quant.n_zero == 1 &&
	       isfinite(x->quant.scale[0]) && x->quant.scale[0] > 0;
}

void
put_float(struct text *t, float v)
{
	size_t at = t->n;
	text_float(t, v);
	if (!memchr(t->p + at, '.', t->n - at) &&
	    !memchr(t->p + at, 'e', t->n - at))
		text_puts(t, ".0");
	text_putc(t, 'f');
}

void
put_scale(struct text *t, const struct job *j, const char *io,
	  const struct tfl_tensor *x)
{
	int64_t zero = x->quant.zero[0];
	text_printf(t, "#define %s_%s_SCALE ", j->prefix, io);
	put_float(t, x->quant.scale[0]);
	text_printf(t, "\n#define %s_%s_ZERO_POINT %s%lld%s\n", j->prefix, io,
		    zero < 0 ? "(" : "", (long long)zero, zero < 0 ? ")" : "");
}

void
put_rounding(struct text *t, const char *least, const char *most)
{
	text_printf(t, "\tif (q > 0.0f)\n\t\tq = (q < %s ? q : %s) + 0.49999997f;\n"
		       "\telse if (q < 0.0f)\n\t\tq = (q > %s ? q : %s) - 0.49999997f;\n"
		       "\telse /* and not a number */\n\t\tq = 0.0f;\n", most, most, least, least);
}

static void
put_quantization(struct text *t, const struct job *j, const char *io,
		 const struct ctype *c, const struct tfl_tensor *x)
{
	char lower[32] = { 0 };
	int64_t zero = x->quant.zero[0];
	for (size_t i = 0; io[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)io[i]);
	put_scale(t, j, io, x);
	if (!c || c->min == c->max || zero < c->min || zero > c->max)
		return;
	const char *p = j->prefix, *n = j->o->name;
	text_printf(t, "\nstatic inline %s\n%s_%s_quantize(float value)\n{\n"
		       "\tfloat q = value / %s_%s_SCALE;\n", c->name, n, lower, p, io);
	char least[32], most[32];
	(void)snprintf(least, sizeof(least), "%d.0f", c->min - (int)zero);
	(void)snprintf(most, sizeof(most), "%d.0f", c->max - (int)zero);
	put_rounding(t, least, most);
	text_printf(t, "\treturn %s_TO(%s, %s_TO(int32_t, q) + %s_%s_ZERO_POINT);\n}\n\n",
		    p, c->name, p, p, io);
	text_printf(t,
		"static inline float\n%s_%s_dequantize(%s q)\n{\n"
		"\treturn %s_%s_SCALE * %s_TO(float, q - %s_%s_ZERO_POINT);\n"
		"}\n",
		n, lower, c->name, p, io, p, p, io);
}

void
put_tensor_macros(struct text *t, const struct job *j, const char *io,
		  const struct tfl_tensor *x)
{
	const struct ctype *c = ctype_of(x->type);
	char what[64];
	text_printf(t, "\n/* %s: %s", io, tfl_type_name(x->type));
	text_putc(t, ' ');
	put_comment_text(t, x->name);
	text_puts(t, " */\n");
	if (c)
		text_printf(t, "#define %s_%s_TYPE %s\n", j->prefix, io,
			    c->name);
	(void)snprintf(what, sizeof(what), "%s_RANK", io);
	put_define(t, j, what, x->rank);
	text_printf(t, "#define %s_%s_SHAPE { ", j->prefix, io);
	for (int i = 0; i < x->rank; i++)
		text_printf(t, "%s%d", i ? ", " : "", x->dim[i]);
	text_puts(t, x->rank ? " }\n" : "1 }\n");
	(void)snprintf(what, sizeof(what), "%s_ELEMENTS", io);
	put_define(t, j, what, tfl_elements(x));
	(void)snprintf(what, sizeof(what), "%s_BYTES", io);
	put_define(t, j, what, tfl_bytes(x));
}

/* arena offset in bytes by the model's plan, or by that of the call; -1: none */
static int64_t
place_of(const struct job *j, int tensor)
{
	return j->o->format == FORMAT_CALL ? j->call.at[tensor]
					   : j->plan.offset[tensor];
}

static void
put_tensor(struct text *t, const struct job *j, const char *io, int index,
	   const struct border_tensor *d)
{
	const struct tfl_tensor *x = &j->m->subgraph[0].tensor[index];
	char what[64];
	put_tensor_macros(t, j, io, x);
	if (j->borders.actual > 1) {
		(void)snprintf(what, sizeof(what), "%s_BYTES_EACH", io);
		put_define(t, j, what, border_input_step(d));
	}
	put_layout(t, j, io, d);
	/* in the arena, or behind a base address of the NPU */
	struct stream_place own = stream_separate_place(j->m, index);
	(void)snprintf(what, sizeof(what), "%s_ARENA_OFFSET", io);
	if (!own.region && place_of(j, index) >= 0)
		put_define(t, j, what, place_of(j, index));
	if (own.region) {
		text_puts(t, "/* outside of the arena: the NPU's base address, aligned to 16 */\n");
		(void)snprintf(what, sizeof(what), "%s_REGION", io);
		put_define(t, j, what, own.region);
	}
	if (own.region && stream_io_regions(j->m)) {
		(void)snprintf(what, sizeof(what), "%s_REGION_OFFSET", io);
		put_define(t, j, what, own.at);
	}
	if (is_quantized(x))
		put_quantization(t, j, io, ctype_of(x->type), x);
}

/* "#define P_EACH_INPUT(X) X(0) X(1)": the list of the n inputs, or outputs */
static void
put_each(struct text *t, const struct job *j, const char *io, int n)
{
	enum { PER_LINE = 8 };
	text_printf(t, "#define %s_EACH_%s(X)", j->prefix, io);
	for (int i = 0; i < n; i++)
		text_printf(t, "%s X(%d)", i && i % PER_LINE == 0 ? " \\\n   " : "", i);
	text_putc(t, '\n');
}

void
put_interface(struct text *t, const struct job *j)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	char io[32];
	text_putc(t, '\n');
	text_printf(t, "#ifdef __cplusplus\n"
		       "#define %s_TO(type, value) static_cast<type>(value)\n"
		       "#else\n#define %s_TO(type, value) ((type)(value))\n"
		       "#endif\n", j->prefix, j->prefix);
	if (j->borders.desired) {
		text_puts(t, "/* number of inputs in one run: they follow each other, "
			     "_BYTES_EACH apart,\n * and so do the outputs */\n");
		put_define(t, j, "DESIRED_BATCH_SIZE", j->borders.desired);
		put_define(t, j, "ACTUAL_BATCH_SIZE", j->borders.actual);
	}
	put_define(t, j, "INPUTS", g->n_in);
	put_define(t, j, "OUTPUTS", g->n_out);
	text_puts(t, "/* a list of all inputs or outputs: X is a macro of one number */\n");
	put_each(t, j, "INPUT", g->n_in);
	put_each(t, j, "OUTPUT", g->n_out);
	for (int i = 0; i < g->n_in; i++) {
		(void)snprintf(io, sizeof(io), "INPUT_%d", i);
		put_tensor(t, j, io, g->in[i], &j->borders.in[i]);
	}
	for (int i = 0; i < g->n_out; i++) {
		(void)snprintf(io, sizeof(io), "OUTPUT_%d", i);
		put_tensor(t, j, io, g->out[i], &j->borders.out[i]);
	}
	if (!j->plan.plan_bytes && j->o->format != FORMAT_CALL)
		return;
	text_puts(t, "\n/* 1: writing the output overwrites the input.  0 does not "
		     "mean that\n * the input is kept: other tensors can share its "
		     "memory */\n");
	bool any = false;
	for (int i = 0; i < g->n_in; i++)
		for (int k = 0; k < g->n_out; k++) {
			int in = g->in[i], out = g->out[k];
			int64_t a = place_of(j, in), b = place_of(j, out);
			bool yes = a >= 0 && b >= 0 &&
				   spans_overlap(a, tfl_bytes(&g->tensor[in]), b,
						 tfl_bytes(&g->tensor[out]));
			text_printf(t, "#define %s_INPUT_%d_OVERLAPS_OUTPUT_%d "
				       "%d\n", j->prefix, i, k, yes);
			any |= yes;
		}
	put_define(t, j, "OVERLAP", any);
}
