/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies streams that Vela compiled: no stream may break a rule, except those
 * listed below, which must break it.
 */
#include "reference.h"
#include "tflite/tflite.h"
#include "verify/verify.h"

#include <stdio.h>

static const struct exception {
	const char *version, *op;
	const char *cases; /* each between spaces */
	int rule;
	const char *reason;
	int also; /* another rule that these streams may break, or 0 */
} exceptions[] = {
	/* these streams compute other values (nputools-lowering(7) 8) */
	{ "3.12.0", "PACK", " 5 9 ", 52, "only the first plane is copied", 0 },
	{ "3.12.0", "SQUARED_DIFFERENCE", " 4 7 ", 52,
	  "intermediates have the small shape of the first operand", 35 },
	{ "3.12.0", "SQUARED_DIFFERENCE", " 11 ", 35,
	  "the same, and what is read instead is overwritten", 0 },
	{ "3.12.0", "UNPACK", " 0 10 ", 52, "slices outside the input", 0 },
	{ "5.1.0", "MIRROR_PAD", " 1 2 3 4 5 6 7 8 9 11 ", 52,
	  "padding of depth or rank 2 is not written", 0 },
	/* outputs are right in program order */
	{ "5.1.0", "DEPTHWISE_CONV_2D_mult", " 1 ", 47,
	  "the pool before writes a square map transposed, and its last block "
	  "but two is the second that is read: BLOCKDEP 3 is one too many", 0 },
};

static int n_clean, n_without, n_excepted, n_failed, n_warnings;
static unsigned n_streams;

struct findings {
	const char *path;
	int rule, also; /* the expected rule and one that may also be reported; 0: none */
	bool seen, other;
};

static void
look(void *ctx, const struct npu_finding *f)
{
	struct findings *x = ctx;
	if (!f->error) {
		n_warnings++;
	} else if (f->rule == x->rule) {
		x->seen = true;
	} else if (f->rule != x->also) {
		x->other = true;
		printf("%s: 0x%06zx %s: rule %d: %s\n", x->path, f->at_bytes,
		       f->command ? f->command : "", f->rule, f->text);
	}
}

static void
judge(const struct reference *r, const struct exception *expected)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m;
	struct npu_stream *s;
	int n = 0;
	int rule = expected ? expected->rule : 0;
	struct findings x = { .path = r->path, .rule = rule,
			      .also = expected ? expected->also : 0 };
	struct npu_verify v = { .report = look, .ctx = &x };
	bool ok = tfl_read_file(a, r->path, &m, &e) &&
		  stream_find(a, m, &s, &n, &e);
	if (ok)
		stream_verify(m, s, n, &v);
	n_streams += (unsigned)n;
	if (!ok || x.other || (rule && !x.seen)) {
		n_failed++;
		printf("%s: %s\n", r->path, ok ? "see above, or an exception "
						 "that is none" : e.text);
	} else if (rule) {
		n_excepted++;
	} else if (n) {
		n_clean++;
	} else {
		n_without++;
	}
	arena_close(a);
}

static void
judge_network(const struct reference *r)
{
	judge(r, NULL);
}

static void
judge_operator(const struct reference *r)
{
	char key[32];
	const struct exception *x = NULL;
	(void)snprintf(key, sizeof(key), " %s ", r->stem);
	for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
		if (!strcmp(exceptions[i].version, r->version) &&
		    !strcmp(exceptions[i].op, r->folder) &&
		    strstr(exceptions[i].cases, key))
			x = &exceptions[i];
	judge(r, x);
}

int
main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(reference_versions); i++) {
		const char *v = reference_versions[i];
		reference_models("vela-compiled", v, judge_network);
		reference_models("vela-ops", v, judge_operator);
	}
	if (!n_clean && !n_failed) {
		printf("no reference models (NPUTOOLS_SHARED)\n");
		return 77;
	}
	for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
		printf("exception: %s %s%s: rule %d: %s\n",
		       exceptions[i].version, exceptions[i].op,
		       exceptions[i].cases, exceptions[i].rule,
		       exceptions[i].reason);
	printf("%u streams: %d models clean, %d without streams, %d exceptions, "
	       "%d warnings, %d failed\n", n_streams, n_clean, n_without,
	       n_excepted, n_warnings, n_failed);
	return n_failed != 0;
}
