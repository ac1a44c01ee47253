/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A temporary file without a name, for data that shall not use memory.  It is in TMPDIR
 * or /tmp.  The system deletes it when the process ends, even if the process is killed.
 */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

struct spool {
	int fd;
	uint64_t at; /* byte of the file at which the spool begins */
	uint64_t n;  /* number of bytes */
};

bool spool_open(struct spool *s, struct err *e);
void spool_close(struct spool *s);
/* An empty spool in the file of s, from byte `at`; only s is closed. */
struct spool spool_part(const struct spool *s, uint64_t at);
/* Appends n bytes. */
bool spool_put(struct spool *s, const void *p, size_t n, struct err *e);
/* Computes the XXH3 of the whole content, equal to hash_xxh3(). */
bool spool_hash(const struct spool *s, uint64_t *out, struct err *e);
/* Copies the whole content to an open file.  On failure returns false and sets errno. */
bool spool_copy(const struct spool *s, int to);

#endif
