/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one change in each of many streams that Vela 5.1 compiled for Ethos-U85, and counts
 * how often the verifier notices the change, or the simulator by another result.
 *
 * An unnoticed change may be harmless: a wait for operations without a conflict, a BLOCKDEP that is
 * lower than necessary, an order of weights that makes no difference for a shape.
 * Therefore each kind has a share that must be noticed: the share measured over all files,
 * rounded down.  Harmless changes are:
 *   waits       before branches, with or without a pending transfer
 *   decoders    of products of two feature maps, which have no weights
 *   BLOCKDEP    the largest value is right for most kernels, whose inputs are older
 *               than the previous kernel
 *
 * usage: npu85_mutants [STEP]    every STEP-th file
 */
#include "base/file.h"
#include "sim/sim.h"
#include "stream/op.h"
#include "tflite/tflite.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct subject {
	const uint8_t *file;
	size_t n, payload; /* where the stream's words begin */
	uint8_t *changed;
	struct bytes want; /* outputs of the unchanged file */
	bool runs;
};

/* makes one change of command c; false: the kind does not apply to this command */
typedef bool change(const struct npu_command *c, uint8_t *word);

static void
set_param(uint8_t *word, unsigned param)
{
	word[2] = (uint8_t)param;
	word[3] = (uint8_t)(param >> 8);
}

static bool
is_register(const struct npu_command *c, enum npu_reg reg)
{
	return !c->is_op && c->reg == reg;
}

/* a wait that lets 3 transfers continue is kept: at most 4 can be pending */
static bool
drop_dma_wait(const struct npu_command *c, uint8_t *word)
{
	if (!c->is_op || c->code != NPU_OP_DMA_WAIT || c->param == 3)
		return false;
	set_param(word, 3);
	return true;
}

static bool
drop_kernel_wait(const struct npu_command *c, uint8_t *word)
{
	if (!c->is_op || c->code != NPU_OP_KERNEL_WAIT)
		return false;
	/* PMU_MASK 0: no effect */
	word[0] = 0x13;
	set_param(word, 0);
	return true;
}

static bool
raise_blockdep(const struct npu_command *c, uint8_t *word)
{
	if (!is_register(c, NPU_BLOCKDEP) || c->param == 7 || !c->param)
		return false;
	set_param(word, c->param + 1u);
	return true;
}

static bool
largest_blockdep(const struct npu_command *c, uint8_t *word)
{
	if (!is_register(c, NPU_BLOCKDEP) || c->param == 7)
		return false;
	set_param(word, 7);
	return true;
}

static bool chained_ifm, chained_ifm2; /* of the current registers */

static bool
other_chain(const struct npu_command *c, uint8_t *word)
{
	bool it = (is_register(c, NPU_IFM_REGION) && chained_ifm) ||
		  (is_register(c, NPU_IFM2_REGION) && chained_ifm2);
	if (it)
		set_param(word, c->param + 1u);
	return it;
}

static bool
other_stream(const struct npu_command *c, uint8_t *word)
{
	if (!is_register(c, NPU_WEIGHT_BASE) && !is_register(c, NPU_WEIGHT1_BASE) &&
	    !is_register(c, NPU_WEIGHT2_BASE) && !is_register(c, NPU_WEIGHT3_BASE))
		return false;
	word[4] ^= 0x10;
	return true;
}

static bool
other_decoder(const struct npu_command *c, uint8_t *word)
{
	if (!is_register(c, NPU_WEIGHT_FORMAT))
		return false;
	set_param(word, c->param ^ 1u);
	return true;
}

static bool
other_microblock(const struct npu_command *c, uint8_t *word)
{
	if (!is_register(c, NPU_ACC_FORMAT))
		return false;
	unsigned u = (c->param >> 8) % 5 + 1;
	set_param(word, (c->param & 0xffu) | u << 8);
	return true;
}

static bool
other_scales(const struct npu_command *c, uint8_t *word)
{
	if (!is_register(c, NPU_SCALE_BASE))
		return false;
	word[4] ^= 0x10;
	return true;
}

static struct kind {
	const char *name;
	change *apply;
	double least; /* the share that must be noticed */
	int made, noticed;
} kinds[] = {
	{ "dropped DMA wait", drop_dma_wait, 0.90, 0, 0 },
	{ "dropped kernel wait", drop_kernel_wait, 0.95, 0, 0 },
	{ "BLOCKDEP one too large", raise_blockdep, 0.80, 0, 0 },
	{ "greatest BLOCKDEP", largest_blockdep, 0.20, 0, 0 },
	{ "chain buffer not yet written", other_chain, 1, 0, 0 },
	{ "wrong weight stream", other_stream, 0.98, 0, 0 },
	{ "wrong weight decoder", other_decoder, 0.85, 0, 0 },
	{ "wrong microblock", other_microblock, 0.70, 0, 0 },
	{ "wrong scale stream", other_scales, 0.98, 0, 0 },
};

/* ---- judging ------------------------------------------------------------- */

static bool
verifies(struct arena *a, const struct tfl_model *m)
{
	struct npu_stream *s;
	struct npu_verify v = { .report = NULL };
	struct err e = { 0 };
	int n;
	if (!stream_find(a, m, &s, &n, &e))
		return false;
	stream_verify(m, s, n, &v);
	return !v.errors;
}

/* all outputs, on the same inputs every time; p NULL: it failed */
static struct bytes
run(struct arena *a, const struct tfl_model *m)
{
	struct sim *s;
	struct err e = { 0 };
	uint64_t state = 1;
	const struct tfl_subgraph *g = &m->subgraph[0];
	if (!sim_open(a, m, &s, &e))
		return (struct bytes){ 0 };
	for (int k = 0; k < g->n_in; k++)
		sim_random(&state, &g->tensor[g->in[k]], sim_tensor(s, g->in[k]));
	if (!sim_invoke(s, NULL, &e))
		return (struct bytes){ 0 };
	size_t n = 0;
	for (int k = 0; k < g->n_out; k++)
		n += (size_t)tfl_bytes(&g->tensor[g->out[k]]);
	uint8_t *p = anew(a, uint8_t, n + 1), *to = p;
	for (int k = 0; k < g->n_out; k++) {
		size_t bytes = (size_t)tfl_bytes(&g->tensor[g->out[k]]);
		memcpy(to, sim_tensor(s, g->out[k]), bytes);
		to += bytes;
	}
	return (struct bytes){ .p = p, .n = n };
}

static bool
is_noticed(const struct subject *t)
{
	struct arena *a = arena_open();
	struct tfl_model *m;
	struct err e = { 0 };
	struct bytes file = { .p = t->changed, .n = t->n };
	bool noticed = !tfl_read(a, file, "mutant", &m, &e) || !verifies(a, m);
	if (!noticed) {
		struct bytes got = run(a, m);
		noticed = got.n != t->want.n || !got.p ||
			  memcmp(got.p, t->want.p, got.n) != 0;
	}
	arena_close(a);
	return noticed;
}

/* at most so many of each kind in a stream, so that no single network has them all */
enum { EACH = 12 };

static void
mutate(struct subject *t, const struct npu_stream *s)
{
	struct npu_command c;
	struct err e = { 0 };
	int made[ARRAY_LEN(kinds)] = { 0 };
	chained_ifm = chained_ifm2 = false;
	for (size_t at = 0; stream_next(s, &at, &c, &e);) {
		if (is_register(&c, NPU_IFM_PRECISION))
			chained_ifm = c.param >> 14 == NPU_CHAINED;
		if (is_register(&c, NPU_IFM2_PRECISION))
			chained_ifm2 = c.param >> 14 == NPU_CHAINED;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
			uint8_t *word = t->changed + t->payload + 4 * c.at;
			if (made[k] == EACH || !kinds[k].apply(&c, word))
				continue;
			made[k]++;
			kinds[k].made++;
			kinds[k].noticed += is_noticed(t);
			memcpy(word, t->file + t->payload + 4 * c.at, 8);
		}
	}
}

static void
judge(const char *path)
{
	struct arena *a = arena_open();
	struct tfl_model *m;
	struct npu_stream *s;
	struct err e = { 0 };
	struct bytes file;
	int n;
	if (!file_read(a, path, TFL_MAX_BYTES, &file, &e) ||
	    !tfl_read(a, file, path, &m, &e) || !stream_find(a, m, &s, &n, &e)) {
		printf("%s: %s\n", path, e.text);
		exit(1);
	}
	struct subject t = { .file = file.p, .n = file.n,
			     .changed = anew(a, uint8_t, file.n),
			     .want = run(a, m) };
	memcpy(t.changed, file.p, file.n);
	/* the words of the first operator, behind the driver's header of 32 bytes */
	const uint8_t *cop = memmem(file.p, file.n, "COP1", 4);
	t.payload = (size_t)(cop - file.p) + 32;
	/* not every stream accepts random shifts and divisors */
	if (n == 1 && t.want.p)
		mutate(&t, &s[0]);
	arena_close(a);
}

int
main(int argc, char **argv)
{
	int step = argc > 1 ? atoi(argv[1]) : 1, line = 0, failed = 0;
	const char *shared = getenv("NPUTOOLS_SHARED");
	char text[1024], name[1200];
	(void)snprintf(name, sizeof(name), "%s/reference/vela-u85/INDEX.tsv",
		       shared ? shared : "../shared");
	FILE *f = fopen(name, "r");
	if (!f) {
		printf("no reference models (NPUTOOLS_SHARED)\n");
		return 77;
	}
	while (fgets(text, sizeof(text), f)) {
		text[strcspn(text, "\t")] = '\0';
		if (line++ % step != 1 % step || line == 1)
			continue;
		(void)snprintf(name, sizeof(name), "%s/reference/vela-u85/%s",
			       shared ? shared : "../shared", text);
		struct stat st;
		if (stat(name, &st) == 0 && st.st_size < 200000)
			judge(name);
	}
	(void)fclose(f);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct kind *k = &kinds[i];
		bool ok = k->made && k->noticed >= k->least * k->made;
		failed += !ok;
		printf("%s: %d of %d noticed%s\n", k->name, k->noticed, k->made,
		       ok ? "" : ", too few");
	}
	return failed != 0;
}
