/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides between NPU and CPU, with the rules that hold for every family
 * (nputools-lowering(7) 2).
 */
#include "../part.h"

#include "base/nearest.h"
#include "kernels/kernels.h"
#include "sim/resources.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { MAX_DIM = 65535 };

const char *
part_say(const struct part *p, const char *fmt, ...)
{
	char buf[256];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	return arena_strdup(p->a, buf);
}

const struct tfl_tensor *
part_in(const struct part *p, const struct tfl_op *op, int k)
{
	if (k >= op->n_in || op->in[k] < 0)
		return NULL;
	return &p->sg->tensor[op->in[k]];
}

const struct tfl_tensor *
part_out(const struct part *p, const struct tfl_op *op, int k)
{
	return k < op->n_out ? &p->sg->tensor[op->out[k]] : NULL;
}

const char *
check_arity(const struct part *p, const struct tfl_op *op, int min_in, int max_in,
	    int n_out)
{
	if (op->n_in < min_in || op->n_in > max_in || op->n_out != n_out)
		return part_say(p, "%d inputs and %d outputs are not supported",
				   op->n_in, op->n_out);
	for (int i = 0; i < min_in; i++)
		if (op->in[i] < 0)
			return part_say(p, "input %d is absent", i);
	return NULL;
}

static int
type_bit(int type)
{
	return type == TFL_INT8	   ? TYPE_I8
	       : type == TFL_UINT8 ? TYPE_U8
	       : type == TFL_INT16 ? TYPE_I16
	       : type == TFL_INT32 ? TYPE_I32
	       : type == TFL_INT64 ? TYPE_I64
	       : type == TFL_BOOL  ? TYPE_BOOL
				   : 0;
}

bool
has_type(const struct tfl_tensor *t, int types)
{
	return (type_bit(t->type) & types) != 0;
}

static const char *
check_quant(const struct part *p, const struct tfl_tensor *t, const char *role)
{
	if (t->quant.n_scale != 1 || t->quant.other)
		return part_say(p, "%s has no per-tensor quantization", role);
	float s = t->quant.scale[0];
	if (!(s > 0) || !isfinite(s))
		return part_say(p, "%s has scale %g, which is not a positive number",
				   role, (double)s);
	struct g_range r = type_range(t->type);
	int64_t z = t->quant.n_zero ? t->quant.zero[0] : 0;
	if (z < r.lo || z > r.hi)
		return part_say(p, "%s has zero point %lld, outside of its type",
				   role, (long long)z);
	return NULL;
}

const char *
check_fixed(const struct part *p, const struct tfl_tensor *t, const char *role)
{
	if (t->is_dynamic || !t->has_shape)
		return part_say(p, "%s has a dynamic shape", role);
	if (t->is_sparse)
		return part_say(p, "%s is sparse", role);
	return t->is_variable ? part_say(p, "%s is a variable", role) : NULL;
}

const char *
check_fm(const struct part *p, const struct tfl_tensor *t, const char *role,
	  int types)
{
	if (!has_type(t, types))
		return part_say(p, "%s is %s", role, tfl_type_name(t->type));
	const char *why = check_fixed(p, t, role);
	if (why)
		return why;
	for (int i = 0; i < t->rank; i++)
		if (t->dim[i] < 1 || t->dim[i] > MAX_DIM)
			return part_say(p, "%s has a dimension of %d (1 to %d)",
					role, t->dim[i], MAX_DIM);
	struct hwc s = tfl_hwc(t);
	if (s.h > MAX_DIM + 1)
		return part_say(p, "%s has %d rows", role, s.h);
	return t->type == TFL_INT32 || t->type == TFL_BOOL
		   ? NULL
		   : check_quant(p, t, role);
}

const char *
check_within(const struct part *p, const struct tfl_op *op, int types)
{
	const char *why = check_fm(p, part_in(p, op, 0), "IFM", types);
	return why ? why : check_fm(p, part_out(p, op, 0), "OFM", types);
}

const char *
check_ifm_ofm(const struct part *p, const struct tfl_op *op)
{
	return check_within(p, op, family_types(op));
}

const char *
check_single(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 1, 1, 1);
	return why ? why : check_ifm_ofm(p, op);
}

const char *
check_same_quant(const struct part *p, const struct tfl_op *op)
{
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	if (i->type != o->type)
		return part_say(p, "IFM is %s, OFM is %s", tfl_type_name(i->type),
				tfl_type_name(o->type));
	if (i->type != TFL_INT32 && !quant_equal(i, o))
		return part_say(p, "IFM and OFM differ in quantization");
	return NULL;
}

const char *
check_own_state(const struct part *p, const struct tfl_op *op, int k, const char *role)
{
	const struct tfl_tensor *t = part_in(p, op, k);
	if (!t || !t->is_variable)
		return part_say(p, "%s is not a variable", role);
	return p->operands[op->in[k]] == 1
		   ? NULL
		   : part_say(p, "%s is used more than once", role);
}

const char *
check_activation(const struct part *p, const struct tfl_op *op, int activation)
{
	if (activation >= TFL_ACT_NONE && activation <= TFL_ACT_RELU6)
		return NULL;
	return part_say(p, "%s with fused activation %d is not supported",
			   tfl_op_label(op),
			activation);
}

const char *
check_options(const struct part *p, const struct tfl_op *op,
	      const struct fb_table *t)
{
	if (op->options.buf && op->options.table == t)
		return NULL;
	return part_say(p, "%s is missing", t->name);
}

bool
kept_on_cpu(const struct options *o, const struct tfl_op *op, int index)
{
	char number[16];
	(void)snprintf(number, sizeof(number), "%d", index);
	for (size_t i = 0; i < o->n_cpu; i++)
		if (!strcmp(o->cpu[i], tfl_op_label(op)) ||
		    !strcmp(o->cpu[i], number))
			return true;
	return false;
}

static bool
is_kept(const struct part *p, const char *asked)
{
	const char *cpu[] = { asked };
	const struct options one = { .cpu = cpu, .n_cpu = 1 };
	for (int i = 0; i < p->sg->n_ops; i++)
		if (kept_on_cpu(&one, &p->sg->op[i], i))
			return true;
	return false;
}

/*
 * Refuses --cpu with an index that the model lacks, or with a name that neither
 * TFLite nor the model has.  SOFTMAX in a model without one is accepted, because
 * users pass the same options for many models.
 */
bool
check_asked(const struct part *p, const struct options *o, struct err *e)
{
	size_t n = 0;
	const char **names = anew(p->a, const char *,
				  TFL_BUILTIN_LIMIT + (size_t)p->sg->n_ops);
	for (int i = 0; i < TFL_BUILTIN_LIMIT; i++)
		if (tfl_op_name(i) && *tfl_op_name(i))
			names[n++] = tfl_op_name(i);
	for (int i = 0; i < p->sg->n_ops; i++)
		names[n++] = tfl_op_label(&p->sg->op[i]);
	for (size_t k = 0; k < o->n_cpu; k++) {
		const char *meant = nearest_word(o->cpu[k], names, n);
		if (is_kept(p, o->cpu[k]) || (meant && !strcmp(meant, o->cpu[k])))
			continue;
		return err_set(e, "%s: error: --cpu=%s: no operator has this name or "
				  "index%s%s%s", p->m->name, o->cpu[k],
			       meant ? "; did you mean " : "", meant ? meant : "",
			       meant ? "?" : "");
	}
	return true;
}

/* refuses an input that has constant data but that the application may replace */
static const char *
check_sources(const struct part *p, const struct tfl_op *op)
{
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_tensor *t = part_in(p, op, k);
		if (!t || t->is_variable)
			continue;
		if (p->is_model_input[op->in[k]] && t->data.p)
			return part_say(p, "input %d is both an input of the model and "
					   "constant", k);
	}
	return NULL;
}

/* refuses an operator that the reference kernel can't run: there would be no result to equal */
static const char *
check_reference(const struct part *p, const struct tfl_op *op)
{
	struct err e = { 0 };
	/* variable accesses were checked with their variable, and only copy */
	if (sim_is_resource_op(op) || kernel_check(p->sg, op, &e))
		return NULL;
	const char *rule = strstr(e.text, "): ");
	return part_say(p, "the reference kernel can't run it: %s",
			   rule ? rule + 3 : e.text);
}

/*
 * True if the operator is lowered to more than copies and 1x1 averages.  npu-sched
 * has another method for 1x1 averages, and copies take values unchanged.
 */
static bool
subtracts_zeros(int code)
{
	static const int codes[] = {
		TFL_CONV_2D, TFL_DEPTHWISE_CONV_2D, TFL_TRANSPOSE_CONV,
		TFL_FULLY_CONNECTED, TFL_BATCH_MATMUL, TFL_MEAN, TFL_SUM, TFL_ADD,
		TFL_SUB, TFL_MUL, TFL_SQUARED_DIFFERENCE, TFL_ABS, TFL_PRELU,
		TFL_LEAKY_RELU, TFL_LOGISTIC, TFL_TANH,
	};
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/*
 * tfl-quantcheck refuses a model with such zero points, because TensorFlow Lite
 * Micro takes them for 0
 */
static const char *
check_wide_zeros(const struct part *p, const struct tfl_op *op)
{
	const struct accel *a = p->l->accel;
	if (!a || !accel_lacks(a, LACK_WIDE_ZEROS) || !subtracts_zeros(op->code))
		return NULL;
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		bool in = k < op->n_in;
		const struct tfl_tensor *t = in ? part_in(p, op, k)
						: part_out(p, op, k - op->n_in);
		if (t && t->type == TFL_INT16 && t->quant.n_zero && t->quant.zero[0])
			return part_say(p, "%s is INT16 with zero point %lld, but %s "
					   "assumes 0", in ? "an input" : "the output",
					(long long)t->quant.zero[0], a->name);
	}
	return NULL;
}

static const char *
decide_op(const struct part *p, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	if (p->op[i].left_out)
		return NULL;
	if (p->op[i].asked)
		return "kept on the CPU by --cpu";
	if (p->op[i].constant)
		return NULL;
	if (p->limit && p->limit[i])
		return p->limit[i];
	if (p->op[i].border)
		return "it converts a FLOAT32 input or output of the model; "
		       "--integer-io leaves it out";
	if (op->code == TFL_CUSTOM)
		return "custom operator";
	const struct family *f = family_find(op->code);
	if (!f)
		return "no lowering for this operator";
	const char *why = f->check(p, op);
	if (!why)
		why = check_wide_zeros(p, op);
	if (!why)
		why = check_sources(p, op);
	return why ? why : check_reference(p, op);
}

void
decide(struct part *p, const struct options *o)
{
	for (int i = 0; i < p->sg->n_ops; i++) {
		p->op[i].asked = kept_on_cpu(o, &p->sg->op[i], i);
		p->op[i].why = decide_op(p, i);
		p->op[i].npu = !p->op[i].why;
	}
}
