/* SPDX-License-Identifier: Apache-2.0 */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* as many symbolic links as Linux follows in a path */

/* Returns the first n bytes of path followed by name. */
static char *
join(const char *path, size_t n, const char *name)
{
	size_t k = strlen(name);
	char *p = malloc(n + k + 1);
	if (!p)
		return NULL;
	memcpy(p, path, n);
	memcpy(p + n, name, k + 1);
	return p;
}

/* length of the directory part of path: "a/" of "a/b", 0 for "b" */
static size_t
directory_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash + 1 - path) : 0;
}

char *
place_of(const char *path)
{
	char target[PATH_MAX];
	char *at = join(path, strlen(path), "");
	for (int i = 0; at && i < MAX_LINKS; i++) {
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		if (n < 0)
			return at; /* not a link, or the file does not exist yet */
		target[n] = '\0';
		char *next = join(at, *target == '/' ? 0 : directory_bytes(at),
				  target);
		free(at);
		at = next;
	}
	free(at);
	errno = at ? ELOOP : ENOMEM;
	return NULL;
}

char *
place_directory(const char *path)
{
	size_t n = directory_bytes(path);
	if (!n)
		return join(".", 1, "");
	return join(path, n > 1 ? n - 1 : 1, "");
}

/*
 * Replaces the X at the end of name and creates this file.  mkstemp() would open it for
 * reading, too, which the sandbox permits for no file of the directory.
 */
static int
create_new(char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345"; /* a power of two */
	enum { ATTEMPTS = 100, RANDOM = 6 };
	uint8_t random[RANDOM];
	char *x = name + strlen(name) - RANDOM;
	int fd = -1;
	for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
		if (getrandom(random, sizeof(random), 0) != sizeof(random))
			return -1;
		for (int k = 0; k < RANDOM; k++)
			x[k] = letters[random[k] % (sizeof(letters) - 1)];
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

int
place_temporary(const char *place, char **name)
{
	/*
	 * a fixed short name: names are at most 255 bytes, and place's may have all of
	 * them
	 */
	*name = join(place, directory_bytes(place), ".nputools-XXXXXX");
	if (!*name)
		return -1;
	int fd = create_new(*name);
	if (fd >= 0)
		return fd;
	int saved = errno;
	free(*name);
	*name = NULL;
	errno = saved;
	return -1;
}

/*
 * If place exists, the two files exchange their names.  A plain rename() over an
 * existing file makes ext4 write the new data to disk at once, to protect it against a
 * system crash (9 ms for 6 MB).  Our outputs do not need this protection, as a build
 * can repeat them.
 */
enum place_taken
place_take(const char *from, const char *place)
{
#ifdef RENAME_EXCHANGE
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, place, RENAME_EXCHANGE))
		return PLACE_EXCHANGED;
#endif
	bool is_new = access(place, F_OK) && errno == ENOENT;
	if (rename(from, place))
		return PLACE_FAILED;
	return is_new ? PLACE_NEW : PLACE_REPLACED;
}

void
place_give_back(const char *from, const char *place, enum place_taken how)
{
#ifdef RENAME_EXCHANGE
	if (how == PLACE_EXCHANGED)
		(void)renameat2(AT_FDCWD, from, AT_FDCWD, place, RENAME_EXCHANGE);
#endif
	if (how == PLACE_NEW)
		(void)rename(place, from);
}
