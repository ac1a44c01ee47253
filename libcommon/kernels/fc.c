/* SPDX-License-Identifier: Apache-2.0 */
/* FULLY_CONNECTED: nputools-lowering(7) 3.2. */
#include "kernels/products.h"

struct dense {
	const struct tfl_tensor *in, *out;
	const void *x;
	void *y;
	int64_t rows;
	int64_t n_block; /* rows per product */
	struct matrix filters;
	int64_t *acc;
	struct matrix block;
	struct requant r;
};

static bool
check_weights(struct call *c, struct dense *d, const struct tfl_tensor *w,
	      int64_t *n, int64_t *cols)
{
	if (w->rank < 1)
		return call_mismatch(c, "weights (%s) have rank 0", w->name);
	*cols = w->dim[w->rank - 1];
	if (*cols < 1 || tfl_elements(d->in) % *cols)
		return call_mismatch(
		    c, "%lld input elements are not rows of %lld",
		    (long long)tfl_elements(d->in), (long long)*cols);
	*n = tfl_elements(w) / *cols;
	d->rows = tfl_elements(d->in) / *cols;
	if (*n < 1 || *n > INT32_MAX || w->dim[0] != *n ||
	    tfl_elements(d->out) != d->rows * *n)
		return call_mismatch(
		    c,
		    "output has %lld elements, %lld rows of %lld "
		    "are computed",
		    (long long)tfl_elements(d->out), (long long)d->rows,
		    (long long)*n);
	return call_matrices(c, tfl_elements(d->out), *n, *cols, &d->n_block);
}

static bool
check_fc_types(struct call *c, const struct dense *d, const struct tfl_tensor *w,
	    const struct tfl_tensor *bias)
{
	if (!call_type(c, d->in, "input", T_QUANT) ||
	    !call_weights(c, d->in, w) ||
	    !call_same_type(c, d->in, d->out))
		return false;
	if (bias &&
	    !call_type(c, bias, "bias",
		       d->in->type == TFL_INT16 ? T_I32 | T_I64 : T_I32))
		return false;
	int64_t format = TFL_OPT(c->op, FullyConnectedOptions, weights_format);
	return format == 0 ||
	       call_err(c, "weights are stored shuffled, which is "
			   "not supported");
}

bool
kernel_fully_connected(struct call *c)
{
	const struct tfl_tensor *w = call_in(c, 1), *bias = call_in(c, 2);
	struct dense d = { .in = call_in(c, 0),
			   .out = call_out(c, 0),
			   .x = c->io->in[0],
			   .y = c->io->out[0] };
	int64_t n = 0, cols = 0;
	struct affine x, zw = { 0 };
	if (!check_fc_types(c, &d, w, bias) ||
	    !check_weights(c, &d, w, &n, &cols) ||
	    !call_affine(c, d.in, "input", &x))
		return false;
	/* a per-tensor zero point is used, per-channel ones count as 0 */
	if (w->quant.n_scale == 1 && !call_affine(c, w, "weights", &zw))
		return false;
	struct requant_from f = {
		.in = d.in,
		.weights = w,
		.bias = bias,
		.out = d.out,
		.bias_data = bias ? c->io->in[2] : NULL,
		.n = (int32_t)n,
		.axis = 0,
		.weight_zero = zw.zero,
		.activation = TFL_OPT(c->op, FullyConnectedOptions,
				      fused_activation_function),
		.float_product = true,
		.wide = sums_are_wide(d.in, bias,
				      TFL_OPT(c->op, FullyConnectedOptions,
					      quantized_bias_type)),
	};
	if (!requant_prepare(c, &f, &d.r))
		return false;
	if (c->check)
		return true;
	d.filters = matrix_new(c->a, n, cols);
	d.block = matrix_new(c->a, d.n_block, cols);
	d.acc = anew(c->a, int64_t, (size_t)(d.n_block * n));
	for (int64_t j = 0; j < n; j++)
		copy_minus(matrix_row(d.filters, j), w->type, c->io->in[1],
			   j * cols, cols, zw.zero);
	/*
	 * Subtract the zero point through the bias: sum (x - z) w = sum x w - z sum w.  The
	 * products take raw inputs, as an int16 minus its zero point may need more than 16 bits.
	 */
	for (int64_t j = 0; x.zero && j < n; j++) {
		const int16_t *row = matrix_row(d.filters, j);
		int64_t sum = 0;
		for (int64_t k = 0; k < cols; k++)
			sum += row[k];
		d.r.bias[j] = (int64_t)((uint64_t)d.r.bias[j] - (uint64_t)(x.zero * sum));
	}
	for (int64_t row = 0; row < d.rows; row += d.n_block) {
		int64_t left = d.rows - row;
		int64_t here = left < d.n_block ? left : d.n_block;
		for (int64_t i = 0; i < here; i++)
			copy_minus(matrix_row(d.block, i), d.in->type, d.x,
				   (row + i) * cols, cols, 0);
		matrix_products(d.block, here, d.filters, d.acc);
		for (int64_t i = 0; i < here; i++)
			requant_store(&d.r, d.acc + i * n, (int32_t)n, d.out,
				      d.y, (row + i) * n);
	}
	return true;
}
