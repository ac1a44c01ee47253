/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that wait in a file without a name, so that memory does not grow with
 * them: in TMPDIR, or /tmp.  It is gone with the process, however that ends.
 */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

struct spool {
	int fd;
	uint64_t n; /* bytes in it */
};

bool spool_open(struct spool *s, struct err *e);
void spool_close(struct spool *s);
bool spool_put(struct spool *s, const void *p, size_t n, struct err *e);
/* XXH3 of all of it, as hash_xxh3 gives */
bool spool_hash(const struct spool *s, uint64_t *out, struct err *e);
/* all of it to another file; false: errno says why */
bool spool_copy(const struct spool *s, int to);

#endif
