/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that the checks of many families share: nputools-lowering(7) 2. */
#include "../part.h"

#include "graph/facts.h"
#include "kernels/kernels.h"

#include <math.h>

enum { MAX_DIM = 65535 };

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
check_arity(const struct part *p, const struct tfl_op *op)
{
	const struct kernel_inputs *k = kernel_inputs(op->code);
	if (op->n_in < k->least || op->n_in > k->most ||
	    (op->n_out != k->outputs && k->outputs < INT32_MAX))
		return arena_printf(p->a, "%d input%s and %d output%s are not supported", op->n_in,
				    op->n_in == 1 ? "" : "s", op->n_out, op->n_out == 1 ? "" : "s");
	for (int i = 0; i < k->least; i++)
		if (op->in[i] < 0)
			return arena_printf(p->a, "input %d is absent", i);
	return NULL;
}

bool
has_type(const struct tfl_tensor *t, int types)
{
	int bit = t->type == TFL_INT8	 ? TYPE_I8
		  : t->type == TFL_UINT8 ? TYPE_U8
		  : t->type == TFL_INT16 ? TYPE_I16
		  : t->type == TFL_INT32 ? TYPE_I32
		  : t->type == TFL_INT64 ? TYPE_I64
		  : t->type == TFL_BOOL	 ? TYPE_BOOL
					 : 0;
	return (bit & types) != 0;
}

const char *
check_fixed(const struct part *p, const struct tfl_tensor *t, const char *role)
{
	if (t->is_dynamic || !t->has_shape)
		return arena_printf(p->a, "%s has a dynamic shape", role);
	if (t->is_sparse)
		return arena_printf(p->a, "%s is sparse", role);
	return t->is_variable ? arena_printf(p->a, "%s is a variable", role) : NULL;
}

const char *
check_typed(const struct part *p, const struct tfl_tensor *t, const char *role, int types)
{
	if (!has_type(t, types))
		return arena_printf(p->a, "%s is %s", role, tfl_type_name(t->type));
	return check_fixed(p, t, role);
}

const char *
check_fm(const struct part *p, const struct tfl_tensor *t, const char *role,
	  int types)
{
	const char *why = check_typed(p, t, role, types);
	if (why)
		return why;
	for (int i = 0; i < t->rank; i++)
		if (t->dim[i] < 1 || t->dim[i] > MAX_DIM)
			return arena_printf(p->a, "%s has a dimension of %d (1 to %d)",
					role, t->dim[i], MAX_DIM);
	struct hwc s = tfl_hwc(t);
	if (s.h > MAX_DIM + 1)
		return arena_printf(p->a, "%s has %d rows", role, s.h);
	if (t->type == TFL_INT32 || t->type == TFL_BOOL)
		return NULL;
	if (t->quant.n_scale != 1 || t->quant.other)
		return arena_printf(p->a, "%s has no per-tensor quantization", role);
	float scale = t->quant.scale[0];
	if (!(scale > 0) || !isfinite(scale))
		return arena_printf(p->a, "%s has scale %g, which is not a positive number",
				   role, (double)scale);
	struct g_range r = type_range(t->type);
	int64_t z = t->quant.n_zero ? t->quant.zero[0] : 0;
	if (z < r.lo || z > r.hi)
		return arena_printf(p->a, "%s has zero point %lld, outside of its type",
				   role, (long long)z);
	return NULL;
}

const char *
check_within(const struct part *p, const struct lop *o, int types)
{
	return check_fm(p, o->ifm, "IFM", types) ?: check_fm(p, o->ofm, "OFM", types);
}

const char *
check_ifm_ofm(const struct part *p, const struct lop *o)
{
	return check_within(p, o, family_types(o->op));
}

const char *
check_same_quant(const struct part *p, const struct lop *o)
{
	if (o->ifm->type != o->ofm->type)
		return arena_printf(p->a, "IFM is %s, OFM is %s", tfl_type_name(o->ifm->type),
				tfl_type_name(o->ofm->type));
	return o->ifm->type == TFL_INT32 || quant_equal(o->ifm, o->ofm)
		   ? NULL
		   : "IFM and OFM differ in quantization";
}

const char *
check_own_state(const struct part *p, const struct tfl_op *op, int k, const char *role)
{
	const struct tfl_tensor *t = part_in(p, op, k);
	if (!t || !t->is_variable)
		return arena_printf(p->a, "%s is not a variable", role);
	return p->operands[op->in[k]] == 1
		   ? NULL
		   : arena_printf(p->a, "%s is used more than once", role);
}

const char *
check_activation(const struct part *p, const struct tfl_op *op, int activation)
{
	if (activation >= TFL_ACT_NONE && activation <= TFL_ACT_RELU6)
		return NULL;
	return arena_printf(p->a, "%s with fused activation %d is not supported",
			   tfl_op_label(op),
			activation);
}

const char *
check_options(const struct part *p, const struct tfl_op *op,
	      const struct fb_table *t)
{
	if (op->options.buf && op->options.table == t)
		return NULL;
	return arena_printf(p->a, "%s is missing", t->name);
}
