/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes one to three words of a stream, and compares the verdicts of tests/linux/driver.c
 * and of linux_check().  Both refuse the same streams, except in the cases that
 * nputools-linux(7) lists.  For a stream that both accept, both compute the same bytes of
 * each region.
 * usage: linux-mutants [MUTANTS [SEED]] FILE...   compiled models
 */
#include "../../linux/driver.h"

#include "base/file.h"
#include "linux/linux.h"
#include "raw/raw.h"
#include "target/accel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint32_t
draw(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 32) % n);
}

struct tally {
	unsigned mutants, both_accept, both_refuse, stricter, bad;
	unsigned rule[LINUX_RULES]; /* of refusals by linux_check() */
};

static void
mutate(uint32_t *w, size_t n)
{
	for (uint32_t i = 0, k = 1 + draw(3); i < k; i++) {
		size_t at = draw((uint32_t)n);
		switch (draw(5)) {
		case 0: /* a bit */
			w[at] ^= 1U << draw(32);
			break;
		case 1: /* a word from another place */
			w[at] = w[draw((uint32_t)n)];
			break;
		case 2: /* another value */
			w[at] = (w[at] & 0xffff) | draw(1 << 16) << 16;
			break;
		case 3: /* another command of the same kind */
			w[at] = (w[at] & ~UINT32_C(0x1f)) | draw(0x20);
			break;
		default: /* a limit */
			w[at] = (w[at] & 0xffff) | (draw(2) ? 0xffff0000 : 0);
			break;
		}
	}
}

/* true in the cases in which npu-dis refuses a stream that the driver accepts */
static bool
is_stricter(const struct npu_stream *s, const struct linux_finding *f)
{
	if (f->rule == LINUX_EXTENT)
		return true;
	if (f->rule == LINUX_COMMAND)
		return strstr(f->text, "doesn't exist on") != NULL;
	return f->rule == LINUX_REGISTER_SET && f->command &&
	       !strcmp(f->command, "DMA_START") &&
	       (strstr(f->text, "_STRIDE") || strstr(f->text, "_SKIP")) && s->n_words;
}

static bool
same_use(const struct linux_use *a, const struct driver_use *b)
{
	for (int i = 0; i < LINUX_REGIONS; i++)
		if (a->bytes[i] != b->bytes[i] || a->written[i] != b->written[i])
			return false;
	return true;
}

static void
judge(struct tally *t, const struct npu_stream *s)
{
	struct linux_use use;
	struct linux_finding f;
	struct driver_use driver;
	bool ok = linux_check(s, NULL, &use, &f);
	bool taken = !driver_check(accel_is_u65(s->accel), s->word, s->n_words, &driver);
	t->mutants++;
	if (!ok)
		t->rule[f.rule]++;
	if (ok && taken && same_use(&use, &driver)) {
		t->both_accept++;
	} else if (!ok && !taken) {
		t->both_refuse++;
	} else if (!ok && is_stricter(s, &f)) {
		t->stricter++;
	} else {
		t->bad++;
		printf("mutant %u of %s: driver %s, linux_check %s %s: %s\n", t->mutants,
		       s->accel->name, taken ? "accepts" : "refuses",
		       ok ? "accepts" : linux_rule_name(f.rule),
		       ok || !f.command ? "" : f.command, ok ? "" : f.text);
	}
}

static void
judge_mutants(struct arena *a, struct tally *t, const struct npu_stream *s, unsigned n)
{
	uint32_t *w = anew(a, uint32_t, s->n_words);
	struct npu_stream mutant = *s;
	mutant.word = w;
	for (unsigned i = 0; i < n; i++) {
		memcpy(w, s->word, 4 * s->n_words);
		if (i) /* the first stream is the unchanged one */
			mutate(w, s->n_words);
		judge(t, &mutant);
	}
}

static bool
judge_file(const char *path, struct tally *t, unsigned n)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m;
	struct npu_stream *s;
	int streams;
	bool ok = raw_read_file(a, path, &m, &e) && stream_find(a, m, &s, &streams, &e);
	for (int i = 0; ok && i < streams; i++)
		judge_mutants(a, t, &s[i], n);
	if (!ok)
		printf("%s\n", e.text);
	arena_close(a);
	return ok;
}

int
main(int argc, char **argv)
{
	struct tally t = { 0 };
	int first = 1;
	unsigned n = 400;
	if (argc > first && argv[first][0] >= '0' && argv[first][0] <= '9')
		n = (unsigned)strtoul(argv[first++], NULL, 10);
	if (argc > first && argv[first][0] >= '0' && argv[first][0] <= '9')
		state = strtoull(argv[first++], NULL, 10);
	if (argc == first)
		return 2;
	for (int i = first; i < argc; i++)
		if (!judge_file(argv[i], &t, n))
			return 1;
	printf("%u streams: both accept %u, both refuse %u, npu-dis is stricter on %u, "
	       "other differences %u\n", t.mutants, t.both_accept, t.both_refuse,
	       t.stricter, t.bad);
	for (int i = 0; i < LINUX_RULES; i++)
		if (t.rule[i])
			printf("  %s %u\n", linux_rule_name((enum linux_rule)i), t.rule[i]);
	return t.bad != 0;
}
