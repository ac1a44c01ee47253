/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/block.h"
#include "base/foreign.h"
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 1 << 16 };

bool
file_is_standard(const char *path)
{
	return !path || !strcmp(path, "-");
}

const char *
file_name(const char *path)
{
	return file_is_standard(path) ? "standard input" : path;
}

const char *
file_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path ? path : "-";
}

/* Reads a regular file, whose size is the file's st_size, usually in one read. */
static bool
read_sized(struct arena *a, int fd, size_t size, uint8_t **out, size_t *got)
{
	uint8_t *p = arena_alloc(a, size + 1, 1);
	size_t n = 0;
	while (n < size) {
		ssize_t k = read(fd, p + n, size - n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return false;
		if (!k)
			break;
		n += (size_t)k;
	}
	*out = p;
	*got = n;
	return true;
}

/* Reads a pipe into a block that grows; the arena owns the block at the end. */
static bool
read_growing(struct arena *a, int fd, size_t max, uint8_t **out, size_t *got)
{
	uint8_t *buf = NULL;
	size_t n = 0, cap = 0;
	ssize_t k;
	for (;;) {
		if (cap - n < READ_STEP) {
			size_t twice = cap ? cap * 2 : READ_STEP * 4;
			uint8_t *more = block_grow(buf, cap, twice);
			if (!more)
				break;
			buf = more;
			cap = twice;
		}
		k = read(fd, buf + n, cap - n - 1);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		n += (size_t)k;
		if (n > max)
			break;
	}
	bool ok = buf && (k >= 0 || n > max);
	if (ok) {
		buf[n] = 0;
		*out = arena_keep(a, buf, cap);
		*got = n;
		return true;
	}
	int saved = errno;
	block_free(buf, cap);
	errno = saved;
	return false;
}

static const char *awaited; /* global, as standard input is */

void
file_await(const char *what)
{
	awaited = what;
}

bool
file_take(struct arena *a, const char *path, size_t max, uint8_t **p, size_t *n,
	  struct err *e)
{
	int fd = file_is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && sandbox_refuses(path))
		return err_at(e, path, 0, "the command line does not name this file; "
			      "--permit=FILE permits to read it");
	if (fd < 0)
		return err_at(e, path, 0, "%s", strerror(errno));
	/* standard input that is a terminal looks like a program that hangs */
	if (file_is_standard(path) && awaited && isatty(STDIN_FILENO))
		(void)fprintf(stderr, "%s: waiting for the %s on standard input, which is a "
				      "terminal: name a file, or end the input with Ctrl-D\n",
			      program_invocation_short_name, awaited);
	struct stat st = { 0 };
	bool ok;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		size_t size = (size_t)st.st_size;
		ok = size > max ? (*n = size, true)
				: read_sized(a, fd, size, p, n);
	} else {
		ok = read_growing(a, fd, max, p, n);
	}
	int saved = ok ? 0 : errno;
	if (!file_is_standard(path)) {
		if (ok && S_ISREG(st.st_mode))
			file_note_input(path, &st);
		(void)close(fd);
	}
	if (saved == EISDIR && !file_is_standard(path))
		return err_at(e, path, 0, "%s", foreign_directory(path));
	if (!ok)
		return err_at(e, file_name(path), 0, "%s", strerror(saved));
	return *n <= max ||
	       err_at(e, file_name(path), 0, "larger than %zu bytes", max);
}

bool
file_read(struct arena *a, const char *path, size_t max, struct bytes *out,
	  struct err *e)
{
	uint8_t *p = NULL;
	size_t n = 0;
	bool ok = file_take(a, path, max, &p, &n, e);
	*out = (struct bytes){ .p = p, .n = n };
	return ok;
}

bool
file_put(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;
	while (n) {
		ssize_t k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}
