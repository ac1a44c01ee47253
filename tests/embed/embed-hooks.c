/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's functions: progress and cancelling, allocate and release (tests/libnputools.bats).
 * usage: embed-hooks starve MODEL PART JOBS [STEP [CALL]]
 *        embed-hooks cancel MODEL PART JOBS
 * PART "quantize": nputools_quantize() of a float model with one input of 784 values; else
 * nputools_compile(), or with CALL another function: partition, front, stage-0 to stage-3, and of
 * the compiled model verify, estimate, simulate.
 * starve: lets the first and the last allocations of a call fail, and each STEP-th of the others,
 * one call for each.  A call fails with the
 * code "memory" or gives the bytes of a call without failures, and frees all its memory.
 * cancel: cancels calls earlier and earlier.  Prints the longest time, in ms of processor time,
 * between two calls of progress in each function of the library.
 */
#include "nputools.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_MODEL = 64 << 20, EDGE = 20 };

/* an allocator that counts, and fails from one allocation on */
struct heap {
	pthread_mutex_t lock;
	long n, left; /* allocations; blocks that are not freed */
	long fails;   /* number of the first allocation that fails; -1: none */
	int once;     /* only this one fails */
};

static void *
allocate(void *context, size_t size)
{
	struct heap *h = context;
	(void)pthread_mutex_lock(&h->lock);
	int fails = h->fails >= 0 && (h->once ? h->n == h->fails : h->n >= h->fails);
	void *p = fails ? NULL : malloc(size);
	h->n++;
	h->left += p != NULL;
	(void)pthread_mutex_unlock(&h->lock);
	if (p)
		memset(p, 0xa5, size);
	return p;
}

static void
release(void *context, void *block)
{
	struct heap *h = context;
	(void)pthread_mutex_lock(&h->lock);
	h->left--;
	(void)pthread_mutex_unlock(&h->lock);
	free(block);
}

struct clock {
	double begin, last, gap; /* ms */
	double done;
	double cancel; /* cancels after this time; 0: never */
	int calls, falls;
};

static double
now(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* of all threads */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
progress(void *context, double done)
{
	struct clock *c = context;
	double t = now();
	c->gap = t - c->last > c->gap ? t - c->last : c->gap;
	c->last = t;
	c->calls++;
	c->falls += done < c->done || done > 1;
	c->done = done;
	return c->cancel > 0 && t - c->begin > c->cancel;
}

static void
start(struct clock *c, double cancel)
{
	double t = now();
	*c = (struct clock){ .begin = t, .last = t, .cancel = cancel };
}

static size_t
read_file(const char *name, unsigned char **p)
{
	FILE *f = fopen(name, "rb");
	*p = malloc(MAX_MODEL);
	size_t n = f && *p ? fread(*p, 1, MAX_MODEL, f) : 0;
	if (f)
		(void)fclose(f);
	return n;
}

static size_t n_samples; /* 0: no quantize */

/* the input of the tested call */
static struct nputools_buffer zeros;
static enum { COMPILE, OTHERS, STAGE } kind;
static int which; /* place in others[], or the stage */

static int
simulate_zeros(const struct nputools_options *o, const void *model, size_t n,
	       struct nputools_output *out)
{
	struct nputools_buffer result[1];
	return nputools_simulate(o, model, n, &zeros, 1, result, 1, out);
}

static const struct {
	const char *name;
	int (*run)(const struct nputools_options *o, const void *model, size_t n,
		   struct nputools_output *out);
	int takes_compiled;
} others[] = {
	{ "compile", nputools_compile, 0 },   { "partition", nputools_partition, 0 },
	{ "front", nputools_front, 0 },	      { "verify", nputools_verify, 1 },
	{ "estimate", nputools_estimate, 1 }, { "simulate", simulate_zeros, 1 },
};

/* the call that is tested */
static int
work(const struct nputools_options *o, const unsigned char *model, size_t n,
     struct nputools_output *out)
{
	enum { VALUES = 784, MOST = 300 };
	static float values[VALUES];
	static struct nputools_buffer samples[MOST];
	const struct nputools_quantization how = {
		.size = sizeof(how), .ranges = NPUTOOLS_RANGES_MSE, .bias_correction = 1,
		.accuracy = -1,
	};
	if (!n_samples && kind == STAGE)
		return nputools_stage(o, which, model, n, out);
	if (!n_samples)
		return (kind == OTHERS ? others[which].run : nputools_compile)(o, model, n, out);
	for (int i = 0; i < VALUES; i++)
		values[i] = (float)(i % 17) / 16;
	for (size_t i = 0; i < n_samples; i++)
		samples[i] = (struct nputools_buffer){ values, sizeof(values) };
	return nputools_quantize(o, &how, model, n, samples, n_samples, out);
}

static int
same(const struct nputools_output *x, const struct nputools_output *y)
{
	return x->size == y->size && !memcmp(x->data, y->data, x->size);
}

/* The next of n failures: all of the first and the last, which are options and results. */
static long
after(long i, long step, long n)
{
	if (i < EDGE || i >= n - EDGE)
		return i + 1;
	return i + step < n - EDGE ? i + step : n - EDGE;
}

static int
starve(struct nputools_options o, const unsigned char *model, size_t n, long step)
{
	struct heap h = { .fails = -1 };
	struct nputools_output want, have;
	long failed = 0, done = 0, wrong = 0, all;
	(void)pthread_mutex_init(&h.lock, NULL);
	o.allocate = allocate;
	o.release = release;
	o.memory_context = &h;
	if (work(&o, model, n, &want))
		return 2;
	all = h.n;
	for (long i = 0; i < 2 * all; i = after(i, step, 2 * all)) {
		long before = h.left;
		h.n = 0;
		h.fails = i / 2;
		h.once = (int)(i & 1);
		int status = work(&o, model, n, &have);
		if (status == NPUTOOLS_TROUBLE && have.code == NPUTOOLS_ERROR_MEMORY &&
		    strstr(have.messages, "error: out of memory\n"))
			failed++;
		else if (status == NPUTOOLS_YES && same(&have, &want))
			done++;
		else
			wrong++;
		nputools_free(&have);
		wrong += h.left != before;
	}
	h.fails = -1;
	if (work(&o, model, n, &have) || !same(&have, &want))
		wrong++;
	nputools_free(&have);
	nputools_free(&want);
	printf("%ld allocations: %ld calls failed, %ld done, %ld wrong, %ld blocks left\n", all,
	       failed, done, wrong, h.left);
	return wrong || h.left || !failed;
}

/* Makes the input of zeros of a model with one input and one output. */
static void
make_zeros(const struct nputools_options *o, const struct nputools_output *model)
{
	struct nputools_output out;
	zeros = (struct nputools_buffer){ 0 };
	/* the message of a wrong size tells the right one */
	(void)simulate_zeros(o, model->data, model->size, &out);
	const char *p = strstr(out.messages, "takes ");
	zeros.size = p ? (size_t)strtoul(p + strlen("takes "), NULL, 10) : 0;
	zeros.data = calloc(1, zeros.size + 1);
	nputools_free(&out);
}

/* Selects the call that is tested, and makes its input of the model; false if there is no such
 * call. */
static int
prepare(const char *call, const struct nputools_options *o, const unsigned char *model, size_t n,
	struct nputools_output *in)
{
	struct nputools_output out;
	*in = (struct nputools_output){ 0 };
	if (sscanf(call, "stage-%d", &which) == 1) {
		kind = STAGE;
		for (int i = 0; i < which; i++) {
			int status = nputools_stage(o, i, i ? in->data : model, i ? in->size : n, &out);
			nputools_free(in);
			*in = out;
			if (status)
				return 0;
		}
		return which <= NPUTOOLS_EMIT;
	}
	kind = OTHERS;
	for (which = 0; strcmp(others[which].name, call); which++)
		if (which + 1 == sizeof(others) / sizeof(others[0]))
			return 0;
	if (others[which].takes_compiled) {
		if (nputools_compile(o, model, n, in))
			return 0;
		make_zeros(o, in);
	}
	return 1;
}

/* Prints the longest time between two calls of progress in the other functions. */
static int
cancel_others(struct nputools_options o, struct clock *c, const struct nputools_output *model)
{
	struct nputools_output out;
	int wrong = 0;
	start(c, 0);
	wrong += nputools_verify(&o, model->data, model->size, &out) != NPUTOOLS_YES;
	printf("verify: longest %.0f ms\n", c->gap);
	nputools_free(&out);
	start(c, 0);
	wrong += nputools_estimate(&o, model->data, model->size, &out) != NPUTOOLS_YES;
	printf("estimate: longest %.0f ms\n", c->gap);
	nputools_free(&out);
	make_zeros(&o, model);
	start(c, 0);
	wrong += simulate_zeros(&o, model->data, model->size, &out) != NPUTOOLS_YES;
	printf("simulate: longest %.0f ms in %.0f ms\n", c->gap, now() - c->begin);
	nputools_free(&out);
	free((void *)zeros.data);
	zeros.data = NULL;
	return wrong;
}

static int
cancel(struct nputools_options o, const unsigned char *model, size_t n)
{
	struct nputools_output want, out;
	struct clock c;
	int wrong = 0, cancelled = 0;
	o.progress = progress;
	o.progress_context = &c;
	start(&c, 0);
	if (work(&o, model, n, &want))
		return 2;
	double time = now() - c.begin;
	printf("%s: %d calls in %.0f ms, longest %.0f ms, falls %d\n",
	       n_samples ? "quantize" : "compile", c.calls, time, c.gap, c.falls);
	wrong += c.falls;
	for (int i = 0; i < 20; i++, time /= 1.6) {
		start(&c, time);
		int status = work(&o, model, n, &out);
		int is_end = status == NPUTOOLS_TROUBLE && out.code == NPUTOOLS_ERROR_CANCELLED &&
			     strstr(out.messages, "error: cancelled\n");
		cancelled += is_end;
		wrong += !is_end && (status || !same(&out, &want));
		nputools_free(&out);
	}
	if (!n_samples)
		wrong += cancel_others(o, &c, &want);
	nputools_free(&want);
	printf("%d cancelled, %d wrong\n", cancelled, wrong);
	return wrong || !cancelled;
}

int
main(int argc, char **argv)
{
	unsigned char *model = NULL;
	if (argc < 5)
		return 2;
	struct nputools_options o = { .size = sizeof(o), .part = argv[3],
				      .jobs = (unsigned)atoi(argv[4]) };
	const int starves = !strcmp(argv[1], "starve");
	size_t n = read_file(argv[2], &model);
	if (!strcmp(argv[3], "quantize")) {
		o.part = NULL;
		n_samples = starves ? 3 : 300;
	}
	struct nputools_output in = { 0 };
	int status = 2;
	if (argc <= 6 || prepare(argv[6], &o, model, n, &in)) {
		const unsigned char *data = in.data ? in.data : model;
		n = in.data ? in.size : n;
		status = starves ? starve(o, data, n, argc > 5 ? atol(argv[5]) : 1)
				 : cancel(o, data, n);
	}
	nputools_free(&in);
	free((void *)zeros.data);
	free(model);
	return status;
}
