/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes and speed of the encoder on the weights of whole networks, one stream
 * a layer: ethos-u55-256, blocks min(64, O) deep, the reference's choice of
 * order (the setup of spec/weight-stream.md, 6.4, whose figures
 * scripts/bench-weights prints beside).  Every stream is decoded again.
 *
 *	weights_models [-LEVEL] [FILE.tflite...]
 *
 * Without files: those of $NPUTOOLS_SHARED/models that 6.4 lists.
 */
#include "tflite/tflite.h"
#include "weights/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_SKIPPED = 77 };
enum { LEAST_RUNS = 2, MOST_RUNS = 50 };

struct sum {
	size_t layers, weights, values, bytes;
	double encode_s, cost_s, decode_s;
};

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is measured of a stream, and what came out of it. */
struct subject {
	const int16_t *v;
	size_t n;
	int level;
	struct bytes out;
	size_t cost;
	bool same;
};

static void
run_encode(struct subject *s, struct arena *a)
{
	s->out = weights_encode(a, s->v, s->n, s->level);
}

static void
run_cost(struct subject *s, struct arena *a)
{
	(void)a;
	s->cost = weights_cost(s->v, s->n, s->level);
}

static void
run_decode(struct subject *s, struct arena *a)
{
	struct weights_values back = { 0 };
	struct err e = { 0 };

	s->same = weights_decode(a, s->out, (int64_t)s->n, &back, &e) &&
		  memcmp(back.v, s->v, s->n * sizeof(*s->v)) == 0;
}

/*
 * Seconds of one run: the least of several, as a stream of a thousand values
 * takes less than what waking the caches for it does.
 */
static double
least_time(struct arena *a, struct subject *s,
	   void (*run)(struct subject *, struct arena *))
{
	double least = HUGE_VAL, spent = 0;

	for (int i = 0; i < LEAST_RUNS || (i < MOST_RUNS && spent < 2e-3);
	     i++) {
		double t0 = now();
		run(s, a);
		double t = now() - t0;
		spent += t;
		least = t < least ? t : least;
	}
	return least;
}

static bool
measure(const int16_t *v, size_t n, int level, struct sum *sum)
{
	struct arena *a = arena_open();
	struct subject s = { .v = v, .n = n, .level = level };

	sum->encode_s += least_time(a, &s, run_encode);
	sum->cost_s += least_time(a, &s, run_cost);
	sum->decode_s += least_time(a, &s, run_decode);
	sum->layers++;
	sum->values += n;
	sum->bytes += s.out.n;
	bool ok = s.same && s.cost == s.out.n;
	arena_close(a);
	return ok;
}

/* the weights of an operator as [O,H,W,I]; false: it has none */
static bool
view_of(const struct tfl_op *op, const struct tfl_tensor *w,
	struct weights_view *v)
{
	const int32_t *d = w->dim;

	if (!w->data.p || (w->type != TFL_INT8 && w->type != TFL_UINT8))
		return false;
	if (op->code == TFL_CONV_2D && w->rank == 4)
		*v = weights_view_ohwi(w->data.p, d[0], d[1], d[2], d[3]);
	else if (op->code == TFL_DEPTHWISE_CONV_2D && w->rank == 4)
		*v = weights_view_depthwise(w->data.p, d[1], d[2], d[3]);
	else if (op->code == TFL_FULLY_CONNECTED && w->rank == 2)
		*v = weights_view_ohwi(w->data.p, d[0], 1, 1, d[1]);
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
				     weights_prefer_part_kernel(v.h, v.w, v.i,
								8)
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

	printf("%-.*s\t%zu\t%zu\t%zu\t%zu\t%.1f\t%.1f\t%.0f\n",
	       (int)strcspn(name, "."), name, s->layers, s->weights, s->values,
	       s->bytes, n / s->encode_s, n / s->cost_s, n / s->decode_s);
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
	printf("model\tlayers\tweights\tvalues\tbytes\tencode\tcost\tdecode\n");
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
