/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool.h"

#include "base/file.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP = 1 << 13 }; /* the buffer is on the stack, which may have 64 KB only */

/* Opens a file without a name in dir; -1 on failure. */
static int
open_in(const char *dir)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/.nputools-XXXXXX", dir);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkstemp(path);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

bool
spool_open(struct spool *s, struct err *e)
{
	const char *dir = getenv("TMPDIR");
	*s = (struct spool){ .fd = -1 };
	if (dir && *dir)
		s->fd = open_in(dir);
	/* if TMPDIR is unusable, try /tmp */
	if (s->fd < 0)
		s->fd = open_in("/tmp");
	return s->fd >= 0 || err_set(e, "/tmp: %s", strerror(errno));
}

void
spool_close(struct spool *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
}

struct spool
spool_part(const struct spool *s, uint64_t at)
{
	return (struct spool){ .fd = s->fd, .at = at };
}

bool
spool_put(struct spool *s, const void *p, size_t n, struct err *e)
{
	if (lseek(s->fd, (off_t)(s->at + s->n), SEEK_SET) < 0 || !file_put(s->fd, p, n))
		return err_set(e, "temporary file: %s", strerror(errno));
	s->n += n;
	return true;
}

static bool
read_whole(int fd, uint64_t at, uint8_t *p, size_t n)
{
	while (n) {
		ssize_t k = pread(fd, p, n, (off_t)at);
		if (k < 0 && errno == EINTR)
			continue;
		if (!k)
			errno = EIO;
		if (k <= 0)
			return false;
		p += k;
		at += (uint64_t)k;
		n -= (size_t)k;
	}
	return true;
}

/* number of bytes of the step at offset `at` */
static size_t
step_from(const struct spool *s, uint64_t at)
{
	return s->n - at < STEP ? (size_t)(s->n - at) : STEP;
}

bool
spool_hash(const struct spool *s, uint64_t *out, struct err *e)
{
	uint8_t buf[STEP];
	struct hash_stream *h = hash_begin();
	bool ok = true;
	for (uint64_t at = 0; ok && at < s->n; at += STEP) {
		size_t n = step_from(s, at);
		ok = read_whole(s->fd, s->at + at, buf, n) ||
		     err_set(e, "temporary file: %s", strerror(errno));
		if (ok)
			hash_add(h, buf, n);
	}
	*out = hash_end(h);
	return ok;
}

bool
spool_copy(const struct spool *s, int to)
{
	uint8_t buf[STEP];
	for (uint64_t at = 0; at < s->n; at += STEP) {
		size_t n = step_from(s, at);
		if (!read_whole(s->fd, s->at + at, buf, n) || !file_put(to, buf, n))
			return false;
	}
	return true;
}
