/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses outputs that would destroy an input. */
#include "base/file.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct input {
	struct input *next;
	dev_t device;
	ino_t inode;
	char path[];
};

/* Global, because a file may be read in one place and written in quite another one.  Inputs are
 * only added, by any thread. */
static _Atomic(struct input *) inputs;

static bool
is_same(const struct input *i, const struct stat *st)
{
	return i->device == st->st_dev && i->inode == st->st_ino;
}

void
file_note_input(const char *path, const struct stat *st)
{
	const struct input *last = atomic_load(&inputs);
	if (last && is_same(last, st))
		return; /* a library's program may read one profile again and again */
	size_t n = strlen(path) + 1;
	struct input *new = malloc(sizeof(*new) + n);
	if (!new)
		return; /* then the file is not protected */
	new->device = st->st_dev;
	new->inode = st->st_ino;
	memcpy(new->path, path, n);
	new->next = atomic_load(&inputs);
	while (!atomic_compare_exchange_weak(&inputs, &new->next, new))
		;
}

bool
file_check_output(const char *output, const char *input, struct err *e)
{
	struct stat in, out;
	return file_is_standard(output) || file_is_standard(input) || stat(output, &out) ||
	       stat(input, &in) || !S_ISREG(in.st_mode) || in.st_dev != out.st_dev ||
	       in.st_ino != out.st_ino ||
	       err_at(e, output, 0, "the output would overwrite the input %s; name another file",
		      input);
}

bool
file_check_inputs(const char *output, struct err *e)
{
	struct stat st;
	if (stat(output, &st) || !S_ISREG(st.st_mode))
		return true;
	for (const struct input *i = atomic_load(&inputs); i; i = i->next)
		/* an input that was deleted may have left its inode to another file */
		if (is_same(i, &st) && !file_check_output(output, i->path, e))
			return false;
	return true;
}
