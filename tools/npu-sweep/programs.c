/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the programs that compile, and hashes their bytes.  The hash is part of each job's
 * key.  A version number is not enough: two builds of one version may plan differently, and
 * both may use the same store.
 */
#include "sweep.h"

#include "base/file.h"
#include "base/program.h"

bool
programs_find_all(struct arena *a, struct programs *p, struct err *e)
{
	static const char *const names[] = {
		"npucc", "npu-perf", "tfl-quantcheck", "tfl-partition", "tosa-partition",
		"npu-sched", "npu-wenc", "npu-cmdgen",
	};
	enum { PROGRAM_MAX = 1 << 28 };
	const char *path[ARRAY_LEN(names)];
	struct text t = { 0 };
	bool ok = true;
	for (size_t i = 0; ok && i < ARRAY_LEN(names); i++) {
		struct arena *scratch = arena_open();
		struct bytes b;
		ok = program_find(a, names[i], &path[i], e) &&
		     file_read(scratch, path[i], PROGRAM_MAX, &b, e);
		if (ok)
			text_hash128(&t, hash_xxh3_128(b.p, b.n));
		arena_close(scratch);
	}
	if (ok)
		*p = (struct programs){ .npucc = path[0], .perf = path[1],
					.build = hash_xxh3_128(t.p, t.n) };
	text_free(&t);
	return ok;
}
