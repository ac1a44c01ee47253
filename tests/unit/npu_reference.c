/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes streams that Vela compiled: every stream of $NPUTOOLS_SHARED/reference
 * must give the golden outputs of its model, byte for byte.  The exceptions compute
 * other values and must do so.
 *
 * usage: npu_reference [STEP]    every STEP-th of them
 */
#include "golden_run.h"
#include "reference.h"

#include <stdio.h>

/*
 * Streams that compute other values than their operator (nputools-lowering(7) 8).
 * The NPU model is not at fault: the networks, and other cases of these operators,
 * are exact.
 */
static const struct exception {
	const char *version, *op;
	const char *cases; /* each between spaces */
	int64_t most;	   /* largest allowed difference; 0: any */
	const char *reason;
} exceptions[] = {
	{ "3.12.0", "CONV_2D", " 1 ", 0,
	  "stride folding ignores the horizontal dilation" },
	{ "3.12.0", "PACK", " 5 9 ", 0, "only the first plane is copied" },
	{ "3.12.0", "SQUARED_DIFFERENCE", " 4 7 11 ", 0,
	  "first operand broadcast: intermediates have the small shape" },
	{ "3.12.0", "TRANSPOSE", " 5 8 ", 0,
	  "permutation [0, 1] transposes anyway" },
	{ "3.12.0", "TRANSPOSE_CONV", " 1 4 5 11 ", 0,
	  "stride 1x1: pads are 0" },
	{ "3.12.0", "UNPACK", " 0 10 ", 0,
	  "negative axis: wrong slice, read outside the arena" },
	{ "3.12.0", "RELU6", " 0 3 5 8 9 10 ", 0,
	  "rescales, which TFLite Micro doesn't" },
	{ "5.1.0", "RELU6", " 0 3 5 8 9 10 ", 0,
	  "rescales, which TFLite Micro doesn't" },
	{ "5.1.0", "MIRROR_PAD", " 1 2 3 4 5 6 7 8 9 11 ", 0,
	  "padding of depth, or rank 2: not done" },
	{ "5.1.0", "REDUCE_MAX", " 6 ", 0, "keep_dims false: wrong shape" },
	{ "5.1.0", "REDUCE_MIN", " 0 1 3 ", 0, "keep_dims false: wrong shape" },
	{ "5.1.0", "SUM", " 0 2 3 7 8 9 ", 0,
	  "of several axes only one is summed" },
	{ "5.1.0", "SUM", " 1 4 6 10 11 ", 1,
	  "half up instead of double rounding" },
};

static int n_exact, n_excepted, n_failed;
static int step = 1, n_seen; /* every step-th model is executed */

static const struct exception *
find_exception(const char *version, const char *op, const char *number)
{
	char key[32];
	(void)snprintf(key, sizeof(key), " %s ", number);
	for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
		if (!strcmp(exceptions[i].version, version) &&
		    !strcmp(exceptions[i].op, op) &&
		    strstr(exceptions[i].cases, key))
			return &exceptions[i];
	return NULL;
}

static void
judge(const char *path, const char *dir, const struct exception *x)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	int64_t most = golden_run(a, path, dir, &e);
	if (!x && most == 0) {
		n_exact++;
	} else if (x && most && !(x->most && (most < 0 || most > x->most))) {
		n_excepted++;
	} else {
		n_failed++;
		printf("%s: %s: %s, largest difference %lld\n", path, dir,
		       most < 0 ? e.text : x ? "an exception" : "differs",
		       (long long)most);
	}
	arena_close(a);
}

static void
judge_network(const struct reference *r)
{
	if (n_seen++ % step)
		return;
	struct arena *a = arena_open();
	for (int k = 0; k < 2; k++)
		judge(r->path, arena_printf(a, "%s/golden/%s/%d", r->shared,
					    r->stem, k), NULL);
	arena_close(a);
}

static void
judge_operator(const struct reference *r)
{
	if (n_seen++ % step)
		return;
	struct arena *a = arena_open();
	judge(r->path, arena_printf(a, "%s/golden/ops/%s/%s", r->shared,
				    r->folder, r->stem),
	      find_exception(r->version, r->folder, r->stem));
	arena_close(a);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		step = atoi(argv[1]);
	for (size_t i = 0; i < ARRAY_LEN(reference_versions); i++) {
		const char *v = reference_versions[i];
		reference_models("vela-compiled", v, judge_network);
		reference_models("vela-ops", v, judge_operator);
	}
	if (!n_exact && !n_failed) {
		printf("no reference models (NPUTOOLS_SHARED)\n");
		return 77;
	}
	for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
		printf("exception: %s %s%s: %s\n", exceptions[i].version,
		       exceptions[i].op, exceptions[i].cases,
		       exceptions[i].reason);
	printf("%d exact, %d exceptions, %d failed\n", n_exact, n_excepted,
	       n_failed);
	return n_failed != 0;
}
