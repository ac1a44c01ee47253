/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/block.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 1 << 16 };

static bool
is_std(const char *path)
{
	return !path || (path[0] == '-' && !path[1]);
}

const char *
file_name(const char *path)
{
	return is_std(path) ? "standard input" : path;
}

/* a regular file: its size is known, one read does it */
static bool
read_sized(struct arena *a, int fd, size_t size, struct bytes *out)
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
	*out = (struct bytes){ .p = p, .n = n };
	return true;
}

/* a pipe: grow outside the arena, which then keeps it */
static bool
read_growing(struct arena *a, int fd, size_t max, struct bytes *out)
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
		*out = (struct bytes){ .p = arena_keep(a, buf, cap), .n = n };
		return true;
	}
	int saved = errno;
	block_free(buf, cap);
	errno = saved;
	return false;
}

bool
file_read(struct arena *a, const char *path, size_t max, struct bytes *out,
	  struct err *e)
{
	int fd = is_std(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, "%s: %s", path, strerror(errno));
	struct stat st;
	bool ok;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		size_t size = (size_t)st.st_size;
		ok = size > max ? (out->n = size, true)
				: read_sized(a, fd, size, out);
	} else {
		ok = read_growing(a, fd, max, out);
	}
	int saved = errno;
	if (!is_std(path))
		(void)close(fd);
	if (!ok)
		return err_set(e, "%s: %s", file_name(path), strerror(saved));
	return out->n <= max ||
	       err_set(e, "%s: error: larger than %zu bytes", file_name(path),
		       max);
}

/* fewer turns between the two ends of a pipe, where there is a lot to say */
static void
widen_pipe(int fd, size_t n)
{
#ifdef F_SETPIPE_SZ
	enum { USUAL_BYTES = 1 << 16, WIDE_BYTES = 1 << 20 };
	if (n > USUAL_BYTES)
		(void)fcntl(fd, F_SETPIPE_SZ, WIDE_BYTES); /* not a pipe: no harm */
#else
	(void)fd, (void)n;
#endif
}

static bool
write_part(int fd, const uint8_t *p, size_t n)
{
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

static bool
write_all(int fd, const struct bytes *part, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!write_part(fd, part[i].p, part[i].n))
			return false;
	return true;
}

/*
 * temp gets path's name at once.  Where there is a file already the two change
 * names: over one that is renamed to, ext4 begins to write its data to disk, 9 ms
 * for 6 MB, against a crash of the system; a build makes its outputs again.
 */
static bool
take_name(const char *temp, const char *path)
{
#ifdef RENAME_EXCHANGE
	if (!renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE))
		return !unlink(temp);
#endif
	return !rename(temp, path); /* path is new, or names can't be changed */
}

/* to fd, which is closed then; errno says why not */
static bool
write_and_close(int fd, const struct bytes *part, size_t n)
{
	bool ok = fd >= 0 && write_all(fd, part, n);
	int saved = errno;
	if (fd >= 0 && close(fd) && ok)
		return false;
	errno = saved;
	return ok;
}

/* a file beside path that gets its name when it is whole */
static bool
write_beside(const char *path, const struct bytes *part, size_t n)
{
	static const char suffix[] = ".tmpXXXXXX"; /* as mkstemp wants it */
	size_t len = strlen(path);
	char *temp = malloc(len + sizeof(suffix));
	if (!temp)
		out_of_memory();
	memcpy(temp, path, len);
	memcpy(temp + len, suffix, sizeof(suffix));

	int fd = mkstemp(temp);
	mode_t mask = umask(0);
	(void)umask(mask);
	bool ok = write_and_close(fd, part, n) && !chmod(temp, 0666 & ~mask) &&
		  take_name(temp, path);
	int saved = errno;
	if (!ok && fd >= 0)
		(void)unlink(temp);
	free(temp);
	errno = saved;
	return ok;
}

/* the number of an open file that path is a name of, or -1 */
static int
open_number(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		size_t n = strlen(dirs[i]);
		char *end;
		if (strncmp(path, dirs[i], n) != 0 || !isdigit((unsigned char)path[n]))
			continue;
		long fd = strtol(path + n, &end, 10);
		if (!*end && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* a device or a pipe: there is nothing to give a name to */
static bool
is_special(const char *path)
{
	struct stat st;
	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static bool
is_link(const char *path)
{
	struct stat st;
	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* what a link leads to, made empty where it isn't there; NULL: it can't be */
static char *
led_to(const char *path, bool *made)
{
	if (access(path, F_OK)) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		*made = fd >= 0 && !close(fd);
	}
	return realpath(path, NULL);
}

static bool
write_file(const char *path, const struct bytes *part, size_t n)
{
	if (is_special(path))
		return write_and_close(open(path, O_WRONLY | O_CLOEXEC), part, n);
	if (!is_link(path))
		return write_beside(path, part, n);
	bool made = false;
	char *real = led_to(path, &made); /* the link stays */
	bool ok = real && write_beside(real, part, n);
	int saved = errno;
	if (!ok && real && made)
		(void)unlink(real);
	free(real);
	errno = saved;
	return ok;
}

bool
file_write(const char *path, const void *p, size_t n, bool binary,
	   struct err *e)
{
	struct bytes whole = { .p = p, .n = n };
	return file_write_parts(path, &whole, 1, binary, e);
}

bool
file_write_parts(const char *path, const struct bytes *part, size_t n,
		 bool binary, struct err *e)
{
	int fd = is_std(path) ? STDOUT_FILENO : open_number(path);
	if (fd < 0)
		return write_file(path, part, n) ||
		       err_set(e, "%s: %s", path, strerror(errno));
	if (binary && isatty(fd))
		return err_set(e, "binary output is not written to a terminal: "
				  "use -o FILE or redirect");
	size_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += part[i].n;
	widen_pipe(fd, bytes);
	if (fflush(stdout) || !write_all(fd, part, n))
		return err_set(e, "%s: %s", is_std(path) ? "standard output" : path,
			       strerror(errno));
	return true;
}
