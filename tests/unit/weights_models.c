/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints bytes and speed of the encoder on the weights of whole networks, and the
 * zeroth-order entropy of the values, with one stream for each layer.  The setup is that of
 * the figures that scripts/bench-weights prints beside: ethos-u55-256, blocks min(64, O)
 * deep, the reference's choice of order.  Every stream is decoded again.
 *
 * weights_models [-LEVEL] [FILE.tflite...]
 *
 * Without files: the files of $NPUTOOLS_SHARED/models that are listed below.
 */
#include "coding.h"
#include "views.h"

#include "target/accel.h"
#include "target/blocks.h"
#include "tflite/tflite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SKIPPED = 77 };

struct sum {
	size_t layers, weights, values, bytes;
	double entropy; /* bytes */
	double encode_s, cost_s, decode_s;
};

/* the zeroth-order entropy of a layer's values in their order, in bytes */
static double
entropy_of(const int16_t *v, size_t n)
{
	size_t count[2 * WEIGHTS_VALUE_MAX + 1] = { 0 };
	double bits = 0;

	for (size_t i = 0; i < n; i++)
		count[v[i] + WEIGHTS_VALUE_MAX]++;
	for (size_t i = 0; i < sizeof(count) / sizeof(*count); i++)
		if (count[i])
			bits += (double)count[i] *
				log2((double)n / (double)count[i]);
	return bits / 8;
}

static bool
measure(const int16_t *v, size_t n, int level, struct sum *sum)
{
	struct arena *a = arena_open();
	struct coding c = { .v = v, .n = n, .level = level };
	bool ok = coding_run(&c, a);

	sum->encode_s += c.encode_s;
	sum->cost_s += c.cost_s;
	sum->decode_s += c.decode_s;
	sum->layers++;
	sum->values += n;
	sum->bytes += c.out.n;
	sum->entropy += entropy_of(v, n);
	arena_close(a);
	return ok;
}

/* the weights of an operator as [O,H,W,I]; false if it has none */
static bool
view_of(const struct tfl_op *op, const struct tfl_tensor *w,
	struct weights_view *v)
{
	const int32_t *d = w->dim;

	if (!w->data.p || (w->type != TFL_INT8 && w->type != TFL_UINT8))
		return false;
	if (op->code == TFL_CONV_2D && w->rank == 4)
		*v = view_ohwi(w->data.p, d[0], d[1], d[2], d[3]);
	else if (op->code == TFL_DEPTHWISE_CONV_2D && w->rank == 4)
		*v = view_depthwise(w->data.p, d[1], d[2], d[3]);
	else if (op->code == TFL_FULLY_CONNECTED && w->rank == 2)
		*v = view_ohwi(w->data.p, d[0], 1, 1, d[1]);
	else
		return false;
	v->is_unsigned = w->type == TFL_UINT8;
	return true;
}

static bool
measure_op(const struct tfl_op *op, const struct tfl_tensor *w, int level,
	   struct sum *s)
{
	struct weights_view v;

	if (!view_of(op, w, &v))
		return true;
	int32_t zero = w->quant.n_zero ? (int32_t)w->quant.zero[0] : 0;
	v.zero = &zero;
	v.n_zero = 1;
	int32_t whole = (v.o + 7) / 8 * 8;
	struct weights_order ord = {
		.traversal = op->code == TFL_DEPTHWISE_CONV_2D
				 ? WEIGHTS_DEPTHWISE
			     : op->code == TFL_CONV_2D &&
				     block_part_kernel(&accels[ACCEL_U55_128], v.i, v.h * v.w, 8,
						       false)
				 ? WEIGHTS_PART_KERNEL
				 : WEIGHTS_DEPTH_FIRST,
		.block_depth = whole < 64 ? whole : 64,
		.ou = 8, .ifm_bits = 8, .dilation_y = 1, .dilation_x = 1,
		.end = v.o, .cores = 1,
	};
	size_t n = weights_order_count(&ord, v.h, v.w, v.i);
	int16_t *values = malloc(n * sizeof(*values));
	if (!values)
		return false;
	weights_reorder(&v, &ord, values);
	s->weights += (size_t)v.o * (size_t)v.h * (size_t)v.w * (size_t)v.i;
	bool ok = measure(values, n, level, s);
	if (!ok)
		printf("a %s layer does not come back\n",
		       tfl_op_name(op->code));
	free(values);
	return ok;
}

static bool
measure_file(const char *path, int level, struct sum *s)
{
	struct arena *a = arena_open();
	struct tfl_model *m;
	struct err e = { 0 };
	bool ok = tfl_read_file(a, path, &m, &e);

	if (!ok)
		printf("%s\n", e.text);
	for (int g = 0; ok && g < m->n_subgraphs; g++) {
		const struct tfl_subgraph *graph = &m->subgraph[g];
		for (int i = 0; i < graph->n_ops; i++) {
			const struct tfl_op *op = &graph->op[i];
			if (op->n_in >= 2 && op->in[1] >= 0)
				ok &= measure_op(op,
						 &graph->tensor[op->in[1]],
						 level, s);
		}
	}
	arena_close(a);
	return ok;
}

static void
print_row(const char *path, const struct sum *s)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	double n = 1e-6 * (double)s->values;

	printf("%-.*s\t%zu\t%zu\t%zu\t%zu\t%.0f\t%.1f\t%.1f\t%.0f\n",
	       (int)strcspn(name, "."), name, s->layers, s->weights, s->values,
	       s->bytes, s->entropy, n / s->encode_s, n / s->cost_s, n / s->decode_s);
}

int
main(int argc, char **argv)
{
	static const char *const listed[] = { "ad01_int8", "kws_ref_model",
					      "person_detect" };
	const char *shared = getenv("NPUTOOLS_SHARED");
	int level = WEIGHTS_LEVEL_DEFAULT, first = 1;
	bool ok = true, skipped = false;

	if (argc > 1 && argv[1][0] == '-')
		level = atoi(argv[first++] + 1);
	printf("model\tlayers\tweights\tvalues\tbytes\tentropy\tencode\tcost\t"
	       "decode\n");
	for (int i = first; i < argc; i++) {
		struct sum s = { 0 };
		ok &= measure_file(argv[i], level, &s);
		print_row(argv[i], &s);
	}
	for (size_t i = 0; first == argc && i < ARRAY_LEN(listed); i++) {
		struct sum s = { 0 };
		char path[4096];
		snprintf(path, sizeof(path), "%s/models/%s.tflite",
			 shared ? shared : "../shared", listed[i]);
		FILE *there = fopen(path, "rb");
		if (!there) {
			printf("skipped: no %s\n", path);
			skipped = true;
			continue;
		}
		(void)fclose(there);
		ok &= measure_file(path, level, &s);
		print_row(path, &s);
	}
	return !ok ? EXIT_NO : skipped ? EXIT_SKIPPED : EXIT_YES;
}
