/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io_layout.h"

#include "base/cli.h"
#include "base/nearest.h"
#include "base/text.h"

#include <string.h>

struct io_layout *
io_layout_add(struct io_layouts *l, const char *arg, const char *const *names,
	 const char **rest)
{
	const char *name = arg;
	int index = cli_index(&name), k = 0;
	size_t n = rest ? strcspn(name, ",") : strlen(name);
	while (names[k] && (strlen(names[k]) != n || strncmp(name, names[k], n) != 0))
		k++;
	if (!names[k]) {
		struct text t = { 0 };
		char word[64] = "";
		/* such as "nhwc, nhcwb16 or nchw" */
		for (int i = 0; names[i]; i++)
			text_printf(&t, "%s%s", !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
		memcpy(word, name, n < sizeof(word) ? n : sizeof(word) - 1);
		const char *meant = nearest_word(word, names, (size_t)k);
		cli_error("a layout must be %s, with an optional K= before it, not "
			  "'%s'%s%s%s",
			  text_str(&t), arg, meant ? "; did you mean " : "",
			  meant ? meant : "", meant ? "?" : "");
		text_free(&t);
		return NULL;
	}
	if (l->n == MAX_IO_LAYOUTS) {
		cli_error("more than %d layouts", MAX_IO_LAYOUTS);
		return NULL;
	}
	if (rest)
		*rest = name + n;
	struct io_layout *x = &l->v[l->n++];
	*x = (struct io_layout){ .index = index, .layout = k };
	return x;
}

const struct io_layout *
io_layout_find(const struct io_layouts *l, int k)
{
	const struct io_layout *x = NULL;
	for (int i = 0; i < l->n; i++)
		if (l->v[i].index < 0 || l->v[i].index == k)
			x = &l->v[i];
	return x;
}

bool
io_layouts_check(const struct io_layouts *l, int n, const char *what, const char *file,
	   struct err *e)
{
	for (int i = 0; i < l->n; i++)
		if (l->v[i].index >= n)
			return err_at(e, file, 0, "there is no %s %d", what,
				      l->v[i].index);
	return true;
}
