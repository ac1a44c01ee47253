/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model or a TOSA graph is compiled by libnputools in two threads at once, which get the same answer,
 * one of them with the stack that nputools.h promises to be enough.  A
 * refusal has one line of error.  A compiled model obeys all rules, has an estimate, and
 * runs.  Then one byte of it is changed, and verifier, simulator and estimate take the
 * result: they may refuse it.  A model with floats is quantized, too.  The last byte of the
 * input selects chip and options, and the byte that changes.  The other bytes are the model.
 */
#include "fuzz.h"

#include "base/hash.h"
#include "lib/mutate.h"
#include "nputools.h"
#include "tflite/tflite.h"
#include "tosa/tosa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPS = 24, MAX_ELEMENTS = 1 << 14, MAX_BORDERS = 16 };
enum { STACK_BYTES = 1 << 20 }; /* the promise of nputools.h */

struct job {
	struct nputools_options o;
	struct bytes model;
	struct nputools_output out;
	int status;
};

static void
expect(bool holds, const char *what, const struct nputools_output *out)
{
	if (holds)
		return;
	(void)fprintf(stderr, "FINDING\nKIND: %s\n%s", what, out->messages);
	abort();
}

/* an error is a line, and the last; without one there are notes only */
static void
expect_messages(int status, const struct nputools_output *out)
{
	size_t n = strlen(out->messages);
	expect(status >= NPUTOOLS_YES && status <= NPUTOOLS_TROUBLE, "status", out);
	expect(status == NPUTOOLS_YES || n, "no message", out);
	expect(!n || out->messages[n - 1] == '\n', "no newline", out);
	for (size_t i = 0; i < n; i++)
		expect(out->messages[i] == '\n' || (unsigned char)out->messages[i] >= ' ',
		       "a control character", out);
}

static void *
compile(void *arg)
{
	struct job *j = arg;
	j->status = nputools_compile(&j->o, j->model.p, j->model.n, &j->out);
	return NULL;
}

static void
report(struct bytes file, bool must)
{
	static int (*const reports[])(const struct nputools_options *, const void *, size_t,
				      struct nputools_output *) = {
		nputools_verify, nputools_estimate,
	};
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct nputools_output out;
		int status = reports[i](NULL, file.p, file.n, &out);
		expect_messages(status, &out);
		expect(!must || status == NPUTOOLS_YES, "a compiled model is refused", &out);
		nputools_free(&out);
	}
}

/* zeros for each input that the model m has; m NULL: a TOSA graph, which is not run */
static void
simulate(struct bytes file, const struct tfl_model *m)
{
	if (!m)
		return;
	static const uint8_t zeros[MAX_ELEMENTS * 8];
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct nputools_buffer in[MAX_BORDERS], result[MAX_BORDERS];
	struct nputools_output out;
	if (g->n_in > MAX_BORDERS || g->n_out > MAX_BORDERS)
		return;
	for (int k = 0; k < g->n_in; k++)
		in[k] = (struct nputools_buffer){ zeros,
						  (size_t)tfl_bytes(&g->tensor[g->in[k]]) };
	int status = nputools_simulate(NULL, file.p, file.n, in, (size_t)g->n_in, result,
				       (size_t)g->n_out, &out);
	expect_messages(status, &out);
	size_t n = 0;
	for (int k = 0; status == NPUTOOLS_YES && k < g->n_out; k++)
		n += result[k].size;
	expect(n == out.size, "sizes of outputs", &out);
	nputools_free(&out);
}

static void
judge(const struct nputools_output *compiled, const struct tfl_model *m, unsigned choice)
{
	struct bytes file = { .p = compiled->data, .n = compiled->size };
	bool on_npu = memmem(file.p, file.n, "ethos-u", strlen("ethos-u")) != NULL;
	report(file, on_npu && !strstr(compiled->messages, "nothing runs on the NPU"));
	simulate(file, m);
	uint8_t *p = compiled->data;
	p[hash_xxh3_seeded(file.p, file.n, choice) % file.n] ^= (uint8_t)(1 + choice % UINT8_MAX);
	report(file, false);
	simulate(file, m);
}

/* one sample; the result, if there is one, is a model */
static void
quantize(struct bytes file, const struct tfl_model *m, unsigned choice)
{
	static float values[MAX_ELEMENTS];
	const struct nputools_quantization how = {
		.size = sizeof(how), .ranges = (int)(choice % 4), .wide = choice & 4,
		.equalize = choice & 8, .bias_correction = choice & 16,
		.float_interface = choice & 32, .allow = choice & 64 ? "all" : NULL,
	};
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct nputools_buffer in[MAX_BORDERS];
	struct nputools_output out;
	if (g->n_in > MAX_BORDERS)
		return;
	for (int i = 0; i < MAX_ELEMENTS; i++)
		values[i] = (float)(i % 17) / 8 - 1;
	for (int k = 0; k < g->n_in; k++)
		in[k] = (struct nputools_buffer){
			values, (size_t)tfl_elements(&g->tensor[g->in[k]]) * sizeof(float) };
	int status = nputools_quantize(NULL, &how, file.p, file.n, in, (size_t)g->n_in, &out);
	expect_messages(status, &out);
	expect((status == NPUTOOLS_YES) == (out.size > 0), "size of a model", &out);
	nputools_free(&out);
}

static bool
is_small(const struct tfl_model *m)
{
	for (int s = 0; s < m->n_subgraphs; s++) {
		const struct tfl_subgraph *g = &m->subgraph[s];
		if (g->n_ops > MAX_OPS)
			return false;
		for (int i = 0; i < g->n_tensors; i++)
			if (tfl_elements(&g->tensor[i]) > MAX_ELEMENTS)
				return false;
	}
	return true;
}

static bool
tosa_is_small(const struct tosa_graph *g)
{
	for (int i = 0; i < g->n_tensors; i++)
		if (tosa_elements(&g->tensor[i]) > MAX_ELEMENTS / 4)
			return false;
	return g->n_ops <= MAX_OPS;
}

static struct nputools_options
options(unsigned choice)
{
	static const char *const parts[] = {
		"alif-e3-he", "himax-we2", "nxp-imx93", "alif-e4-u85", "renesas-ra8p1",
		"alif-e8-hp", "corstone-310",
	};
	const size_t n = sizeof(parts) / sizeof(parts[0]);
	return (struct nputools_options){
		.size = sizeof(struct nputools_options), .part = parts[choice % n],
		.optimise = (int)(choice / n % 3), .effort = 1,
		.jobs = choice / n % 2 ? 2 : 0,
	};
}

static void
both(struct bytes model, const struct tfl_model *m, unsigned choice)
{
	struct job j[2];
	pthread_t thread;
	pthread_attr_t small;
	for (int i = 0; i < 2; i++)
		j[i] = (struct job){ .o = options(choice), .model = model };
	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, STACK_BYTES);
	bool second = !pthread_create(&thread, &small, compile, &j[1]);
	(void)compile(&j[0]);
	if (second)
		(void)pthread_join(thread, NULL);
	else
		(void)compile(&j[1]);
	expect_messages(j[0].status, &j[0].out);
	expect(j[0].status == j[1].status && j[0].out.size == j[1].out.size &&
		       !strcmp(j[0].out.messages, j[1].out.messages) &&
		       (!j[0].out.size || !memcmp(j[0].out.data, j[1].out.data, j[0].out.size)),
	       "two threads differ", &j[0].out);
	if (j[0].status == NPUTOOLS_YES)
		judge(&j[0].out, m, choice);
	nputools_free(&j[0].out);
	nputools_free(&j[1].out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes model = { .p = data, .n = size - 1 };
	struct err e = { 0 };
	struct tfl_model *m = NULL;
	if (!size)
		return 0;
	struct arena *a = arena_open();
	struct tosa_graph *g;
	bool small = tosa_is(model)
			     ? !tosa_read(a, model, "m", &g, &e) || tosa_is_small(g)
			     : !tfl_read(a, model, "m", &m, &e) || is_small(m);
	if (small)
		both(model, m, data[size - 1]);
	if (small && m)
		quantize(model, m, data[size - 1]);
	arena_close(a);
	return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return mutate_model(data, size, max, seed);
}
