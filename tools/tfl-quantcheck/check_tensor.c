/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about one tensor: its type, and whether its quantization parameters exist
 * and make sense (nputools-tflite(5) 5).
 */
#include "quantcheck.h"

#include <math.h>

static const struct limits {
	int type;
	int64_t min, max;
} limits[] = {
	{ TFL_INT4, -8, 7 },
	{ TFL_INT8, INT8_MIN, INT8_MAX },
	{ TFL_UINT8, 0, UINT8_MAX },
	{ TFL_INT16, INT16_MIN, INT16_MAX },
	{ TFL_INT32, INT32_MIN, INT32_MAX },
};

static const struct limits *
limits_of(int type)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (limits[i].type == type)
			return &limits[i];
	return NULL;
}

static unsigned
use_of(const struct review *r, struct place at)
{
	return r->use[at.subgraph][at.tensor].what;
}

/* true for a value of the network, not for opaque bytes, indices and constants */
static bool
is_activation(const struct review *r, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	return !t->data.p && !(use_of(r, at) & (USE_BLOB | USE_INDEX));
}

static void
check_interface_type(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	unsigned use = use_of(r, at);
	if (at.subgraph == 0 && use & (USE_INPUT | USE_OUTPUT) &&
	    !type_is_float(t->type) && !type_is_quantized(t->type))
		review_add(r, c, at, "the model's %s is %s, not a quantized type",
			   use & USE_INPUT ? "input" : "output",
			   tfl_type_name(t->type));
}

static void
check_type(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	switch (t->type) {
	case TFL_INT4: case TFL_INT8: case TFL_INT16: case TFL_INT32:
	case TFL_INT64: case TFL_UINT8: case TFL_UINT16: case TFL_UINT32:
	case 12: /* UINT64 */
	case TFL_BOOL:
	case TFL_RESOURCE: /* a handle */
		return;
	default:
		if (!type_is_float(t->type)) /* the rules about operators report floats */
			review_add(r, c, at, "type %s (%d) is neither integer "
					     "nor boolean",
				   tfl_type_name(t->type), t->type);
	}
}

static void
check_half_missing(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	if (type_is_quantized(t->type) && t->quant.n_scale && !t->quant.n_zero)
		review_add(r, c, at, "a scale without a zero point: runtimes treat the "
				     "tensor as not quantized");
}

static void
check_details(struct review *r, const struct check *c, struct place at)
{
	if (place_tensor(r, at)->quant.other)
		review_add(r, c, at, "blockwise, multi-axis or custom "
				     "quantization details");
}

static void
check_scale_value(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	const struct tfl_quant *q = &t->quant;
	int bad = 0, first = -1;
	/* the quantization parameters of a float or index tensor have no effect */
	if (!type_is_quantized(t->type) && t->type != TFL_INT32 &&
	    t->type != TFL_INT64)
		return;
	for (int i = 0; i < q->n_scale; i++) {
		/* a scale of 0 marks integers that are not quantized */
		bool counted = type_is_quantized(t->type) || q->n_scale > 1;
		if (isfinite(q->scale[i]) &&
		    (q->scale[i] > 0 || (!counted && q->scale[i] == 0)))
			continue;
		if (!bad++)
			first = i;
	}
	if (bad == 1 && q->n_scale == 1)
		review_add(r, c, at, "scale %g is not a positive number",
			   (double)q->scale[0]);
	else if (bad)
		review_add(r, c, at, "%d of %d scales are not positive numbers; "
				     "channel %d has %g",
			   bad, q->n_scale, first, (double)q->scale[first]);
}

static void
check_zero_range(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	const struct limits *l = limits_of(t->type);
	for (int i = 0; l && i < t->quant.n_zero; i++) {
		int64_t z = t->quant.zero[i];
		if (z >= l->min && z <= l->max)
			continue;
		review_add(r, c, at, "zero point %lld is outside %s, %lld to "
				     "%lld", (long long)z,
			   tfl_type_name(t->type), (long long)l->min,
			   (long long)l->max);
		return;
	}
}

static void
check_axis_activation(struct review *r, const struct check *c,
		      struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	if (is_activation(r, at) && type_is_quantized(t->type) &&
	    (t->quant.n_scale > 1 || t->quant.n_zero > 1))
		review_add(r, c, at, "%d scales along axis %d of values that "
				     "are computed at run time",
			   t->quant.n_scale, t->quant.axis);
}

/*
 * A converter invents a range of about 1e-6 for a tensor whose calibrated range was
 * empty (hence scales like 7.8e-09 = 1e-6 / 128).  No meaningful value of a network
 * has a range of less than 1e-5.
 */
static const double dead_range = 1e-5;

static void
check_dead_branch(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	const struct limits *l = limits_of(t->type);
	/* one unit of a cell state or a filter may be small, but its range may not */
	if (!is_activation(r, at) || !type_is_quantized(t->type) || !l ||
	    t->quant.n_scale != 1 || !(t->quant.scale[0] > 0))
		return;
	double range = (double)(l->max - l->min) * (double)t->quant.scale[0];
	if (range < dead_range)
		review_add(r, c, at, "scale %g: the whole range is %g, so the "
				     "calibration data had only zeros here",
			   (double)t->quant.scale[0], range);
}

const struct check tensor_checks[] = {
	{ .name = "interface-float", .integer = true, .severity = WARNING,
	  .rule = "inputs and outputs of the model are integers",
	  .tensor = check_float_border },
	{ .name = "interface-type", .severity = NOTE,
	  .rule = "inputs and outputs of the model are 8 or 16 bits wide",
	  .tensor = check_interface_type },
	{ .name = "type", .integer = true, .severity = ERROR,
	  .rule = "a tensor is of an integer or boolean type",
	  .tensor = check_type },
	{ .name = "no-quantization", .integer = true, .severity = ERROR,
	  .rule = "values of 8 or 16 bits have a scale and a zero point",
	  .tensor = check_missing },
	{ .name = "no-zero-point", .severity = ERROR,
	  .rule = "a scale comes with a zero point",
	  .tensor = check_half_missing },
	{ .name = "quantization-details", .severity = ERROR,
	  .rule = "quantization is affine, per tensor or per axis",
	  .tensor = check_details },
	{ .name = "scale-value", .severity = ERROR,
	  .rule = "a scale is finite and positive",
	  .tensor = check_scale_value },
	{ .name = "zero-point-range", .severity = ERROR,
	  .rule = "a zero point is a value of the tensor's type",
	  .tensor = check_zero_range },
	{ .name = "axis-activation", .severity = ERROR,
	  .rule = "only constants have a scale per channel",
	  .tensor = check_axis_activation },
	{ .name = "dead-branch", .severity = WARNING,
	  .rule = "values have a range of at least 1e-5",
	  .tensor = check_dead_branch },
};
const int n_tensor_checks = ARRAY_LEN(tensor_checks);
