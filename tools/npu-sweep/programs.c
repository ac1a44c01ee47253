/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the programs that compile, and hashes their bytes.  The hash is part of each job's
 * key.  A version number is not enough: two builds of one version may plan differently, and
 * both may use the same store.
 */
#include "sweep.h"

#include "base/file.h"
#include "base/program.h"

static bool
add_program(struct arena *a, const char *name, const char **path, struct text *t,
	    struct err *e)
{
	enum { PROGRAM_MAX = 1 << 28 };
	struct bytes b;
	if (!program_find(a, name, path, e))
		return false;
	struct arena *scratch = arena_open();
	bool ok = file_read(scratch, *path, PROGRAM_MAX, &b, e);
	if (ok)
		text_hash128(t, hash_xxh3_128(b.p, b.n));
	arena_close(scratch);
	return ok;
}

bool
programs_find_all(struct arena *a, struct programs *p, struct err *e)
{
	static const char *const names[] = {
		"npucc", "npu-perf", "tfl-quantcheck", "tfl-partition", "tosa-partition",
		"npu-sched", "npu-wenc", "npu-cmdgen",
	};
	const char *path[ARRAY_LEN(names)];
	struct text t = { 0 };
	bool ok = true;
	for (size_t i = 0; ok && i < ARRAY_LEN(names); i++)
		ok = add_program(a, names[i], &path[i], &t, e);
	if (ok)
		*p = (struct programs){ .npucc = path[0], .perf = path[1],
					.build = hash_xxh3_128(t.p, t.n) };
	text_free(&t);
	return ok;
}
