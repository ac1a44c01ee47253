/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the programs need and wasi-libc does not have. */
#ifdef __wasi__

#include "wasi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/api.h>

char *program_invocation_name, *program_invocation_short_name;

static char *
own_name(void)
{
	size_t n, bytes;
	if (__wasi_args_sizes_get(&n, &bytes) || !n)
		return NULL;
	uint8_t **v = calloc(n + 1, sizeof(*v)), *s = calloc(1, bytes + 1);
	bool ok = v && s && !__wasi_args_get(v, s);
	char *name = ok ? (char *)v[0] : NULL;
	free(v);
	return name;
}

/* WASI has no working directory; the host passes its own in PWD */
__attribute__((constructor)) static void
begin(void)
{
	static char none[] = "nputools";
	char *name = own_name();
	program_invocation_name = name ? name : none;
	char *slash = strrchr(program_invocation_name, '/');
	program_invocation_short_name = slash ? slash + 1 : program_invocation_name;
	const char *directory = getenv("PWD");
	if (directory)
		(void)chdir(directory);
}

/* the host sets the mode of new files */
mode_t
umask(mode_t mask)
{
	(void)mask;
	return 022;
}

int
fchmod(int fd, mode_t mode)
{
	(void)fd, (void)mode;
	return 0;
}

int
mkstemp(char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	enum { RANDOM = 6, TRIES = 100 };
	size_t n = strlen(name);
	uint8_t r[RANDOM];
	for (int i = 0; i < TRIES && n >= RANDOM; i++) {
		if (getentropy(r, sizeof(r)))
			return -1;
		for (int k = 0; k < RANDOM; k++)
			name[n - RANDOM + (size_t)k] = letters[r[k] % 32];
		int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

ssize_t
getrandom(void *p, size_t n, unsigned flags)
{
	(void)flags;
	return getentropy(p, n) ? -1 : (ssize_t)n;
}

struct sorter {
	uint8_t *other;
	size_t size;
	int (*compare)(const void *a, const void *b, void *ctx);
	void *ctx;
};

/* Both halves are sorted.  The merge is stable, like glibc's. */
static void
merge(const struct sorter *s, uint8_t *p, size_t half, size_t n)
{
	size_t a = 0, b = half;
	for (size_t i = 0; i < n; i++) {
		bool from_a = b == n || (a < half &&
			s->compare(p + a * s->size, p + b * s->size, s->ctx) <= 0);
		size_t k = from_a ? a++ : b++;
		memcpy(s->other + i * s->size, p + k * s->size, s->size);
	}
	memcpy(p, s->other, n * s->size);
}

static void
sort(const struct sorter *s, uint8_t *p, size_t n)
{
	if (n < 2)
		return;
	sort(s, p, n / 2);
	sort(s, p + n / 2 * s->size, n - n / 2);
	merge(s, p, n / 2, n);
}

void
qsort_r(void *p, size_t n, size_t size,
	int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
	struct sorter s = { .other = malloc(n * size + 1), .size = size,
			    .compare = compare, .ctx = ctx };
	if (!s.other)
		abort();
	sort(&s, p, n);
	free(s.other);
}

#endif
