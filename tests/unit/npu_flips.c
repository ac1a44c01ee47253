/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negative control: flips every bit of a command stream, one at a time.  Verifier or
 * simulator must notice: the verifier by a rule, the simulator by an error or another
 * result.  An unnoticed flip must be in a command whose bits may have no effect.  The
 * same is done for the weights and scales behind the stream.
 *
 * usage: npu_flips [STEP]    every STEP-th of these bits
 */
#include "base/file.h"
#include "base/hash.h"
#include "sim/sim.h"
#include "stream/op.h"
#include "tflite/tflite.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3 };

/* commands in which a flipped bit may have no effect, and why */
static const struct harmless {
	const char *name; /* its begin */
	const char *why;
} harmless[] = {
	{ "IFM_BASE", "of a tile that is not used" },
	{ "OFM_BASE", "of a tile that is not used" },
	{ "IFM2_BASE", "of a tile that is not used" },
	{ "IFM_HEIGHT", "of an unused tile, or one with more rows than used" },
	{ "OFM_HEIGHT", "the same" },
	{ "IFM2_HEIGHT", "the same" },
	{ "IFM_WIDTH0", "the same for columns" },
	{ "OFM_WIDTH0", "the same for columns" },
	{ "IFM2_WIDTH0", "the same for columns" },
	{ "IFM_STRIDE", "of one row or column, or the depth of NHWC" },
	{ "OFM_STRIDE", "of one row or column, or the depth of NHWC" },
	{ "IFM2_STRIDE", "of one row or column, or the depth of NHWC" },
	{ "OFM_BLK", "other blocks fit and give the same sums" },
	{ "IFM_IB_END", "more SHRAM than needed" },
	{ "AB_START", "more SHRAM than needed" },
	{ "IFM2_IB_START", "more SHRAM than needed" },
	{ "ACC_FORMAT", "40 bits hold what 32 bits hold" },
	{ "BLOCKDEP", "less overlap than possible" },
	{ "ACTIVATION_M", "limits that no value reaches" },
	{ "OFM_SCALE", "less than rounding" },
	{ "OPA_SCALE", "less than rounding" },
	{ "OPB_SCALE", "not read in this scale mode" },
	{ "IFM_PRECISION", "rounding of operands that are not scaled" },
	{ "OFM_PRECISION", "rounding of the few exact halves" },
	{ "KERNEL_STRIDE", "decomposition, or the stride of one position" },
	{ "WEIGHT_LENGTH", "bytes behind the end mark" },
	{ "SCALE_LENGTH", "bytes behind the records" },
	{ "IFM_DEPTH", "of kernels that take it from the OFM" },
	{ "IFM_PAD", "as far as the IFM that follows is the same" },
	{ "STOP", "the mask" },
};

struct subject {
	const uint8_t *file; /* the model, bits flipped in place */
	size_t n;
	uint8_t *payload;
	uint64_t wanted; /* the result of run() without a flip */
	int arena_tensor;
	struct tfl_model *m;
	struct arena *a;
};

static size_t step = 1;
static int n_flips, n_rule, n_refused, n_differ, n_harmless, n_missed;

struct trace {
	const uint8_t *arena;
	uint64_t hash;
};

static bool
add_run(void *ctx, int64_t at, int64_t n)
{
	struct trace *t = ctx;
	t->hash = hash_xxh3_seeded(t->arena + at, (size_t)n, t->hash);
	return true;
}

/* adds the output of each operation */
static void
add_result(void *ctx, const struct sim_npu_event *ev)
{
	const struct npu_fm *f = &ev->op->ofm;
	if (npu_is_kernel(ev->op) && f->region == 1)
		(void)npu_fm_runs(f, npu_fm_box(f), add_run, ctx);
}

/* runs INPUTS random inputs and hashes the results of every operation */
static bool
run(const struct subject *s, struct arena *a, uint64_t *hash, struct err *e)
{
	struct sim *sim;
	const struct tfl_subgraph *g = &s->m->subgraph[0];
	uint64_t seed = 1;
	if (!sim_open(a, s->m, &sim, e))
		return false;
	struct trace t = { .arena = sim_tensor(sim, s->arena_tensor) };
	struct sim_hooks hooks = { .ctx = &t, .npu_event = add_result };
	for (int i = 0; i < INPUTS; i++) {
		sim_random(&seed, &g->tensor[g->in[0]], sim_tensor(sim, g->in[0]));
		if (!sim_invoke(sim, &hooks, e))
			return false;
	}
	*hash = t.hash;
	return true;
}

enum verdict { RULE, REFUSED, DIFFERS, NOTHING };

static enum verdict
judge(const struct subject *s)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct npu_stream *streams;
	struct npu_verify v = { 0 };
	int n;
	uint64_t hash;
	enum verdict r = NOTHING;
	if (!stream_find(a, s->m, &streams, &n, &e)) {
		r = REFUSED;
	} else {
		stream_verify(s->m, streams, n, &v);
		if (v.errors)
			r = RULE;
		else if (!run(s, a, &hash, &e))
			r = REFUSED;
		else if (hash != s->wanted)
			r = DIFFERS;
	}
	arena_close(a);
	return r;
}

static bool
may_be_harmless(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		if (!strncmp(name, harmless[i].name, strlen(harmless[i].name)))
			return true;
	return false;
}

static void
count(enum verdict r)
{
	n_flips++;
	n_rule += r == RULE;
	n_refused += r == REFUSED;
	n_differ += r == DIFFERS;
	n_harmless += r == NOTHING;
}

static void
flip_stream(const struct subject *s, const struct npu_stream *stream)
{
	struct npu_command c;
	struct err e = { 0 };
	size_t at = 0;
	while (stream_next(stream, &at, &c, &e))
		for (size_t bit = 32 * c.at + c.at % step; bit < 32 * at; bit += step) {
			uint8_t *p = s->payload + 32 + bit / 8;
			*p ^= (uint8_t)(1 << bit % 8);
			enum verdict r = judge(s);
			*p ^= (uint8_t)(1 << bit % 8);
			count(r);
			if (r != NOTHING || may_be_harmless(c.info->name))
				continue;
			n_missed++;
			printf("0x%06zx %s: nobody notices bit %zu\n", 4 * c.at,
			       c.info->name, bit - 32 * c.at);
		}
}

/* flips one bit of every stride-th byte of the constants */
static void
flip_constants(const struct subject *s, uint8_t *p, size_t n, size_t stride)
{
	for (size_t i = 0; i < n; i += stride) {
		p[i] ^= (uint8_t)(1 << i % 8);
		count(judge(s));
		p[i] ^= (uint8_t)(1 << i % 8);
	}
}

static void
report(const char *what)
{
	printf("%s: %d flips: %d break a rule, %d are refused, %d change a "
	       "result, %d may be harmless, %d missed\n", what, n_flips, n_rule,
	       n_refused, n_differ, n_harmless - n_missed, n_missed);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		step = (size_t)atoi(argv[1]);
	struct subject s = { .a = arena_open() };
	struct bytes file;
	struct err e = { 0 };
	struct npu_stream *stream;
	int n, failed = 0;
	if (!file_read(s.a, "tests/models/digits-ethos-u55-128.tflite", 1 << 20, &file, &e) ||
	    !tfl_read(s.a, file, "npu", &s.m, &e) ||
	    !stream_find(s.a, s.m, &stream, &n, &e) || n != 1) {
		printf("%s\n", e.text);
		return 1;
	}
	const struct tfl_subgraph *g = &s.m->subgraph[0];
	const int *in = g->op[stream[0].op].in;
	/* the model's bytes are this process's own copy of the file */
	s.payload = (uint8_t *)(uintptr_t)g->tensor[in[0]].data.p;
	struct bytes flash = g->tensor[in[1]].data;
	s.arena_tensor = in[2];
	if (!run(&s, s.a, &s.wanted, &e)) {
		printf("%s\n", e.text);
		return 1;
	}
	flip_stream(&s, &stream[0]);
	report("stream");
	failed += n_missed;
	/* most bits have an effect: a stream with half of them harmless tests nothing */
	failed += n_harmless * 2 > n_flips;
	n_flips = n_rule = n_refused = n_differ = n_harmless = n_missed = 0;
	flip_constants(&s, (uint8_t *)(uintptr_t)flash.p, flash.n,
		       step * (getenv("NPUTOOLS_ALL") ? 3 : 13));
	report("constants");
	/* the low bytes of multipliers are below the rounding; weights of channels
	 * that clamp or that meet zeros, and bytes behind an end mark, have no effect */
	failed += n_harmless * 2 > n_flips;
	arena_close(s.a);
	return failed != 0;
}
