/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of classes in the format of Arm's ML evaluation kit: GetLabelsVector() in the
 * model's file, and its declaration in the file of --declarations.
 */
#include "base/file.h"
#include "tfl2c.h"

#include <string.h>

enum { MAX_LABELS_BYTES = 1 << 20 };

bool
read_class_names(struct arena *a, const char *path, struct labels *out, struct err *e)
{
	struct bytes rest;
	size_t cap = 0;
	*out = (struct labels){ .wanted = path != NULL };
	if (!path)
		return true;
	if (!file_read(a, path, MAX_LABELS_BYTES, &rest, e))
		return false;
	while (rest.n) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;
		size_t used = end ? n + 1 : n;
		char *line = arena_strndup(a, (const char *)rest.p, n);
		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		rest = (struct bytes){ .p = rest.p + used, .n = rest.n - used };
		if (!*line)
			continue;
		agrow(a, out->name, (size_t)out->n, &cap);
		out->name[out->n++] = line;
	}
	return out->n || err_at(e, path, 0, "the file has no labels");
}

void
put_labels(struct text *t, const struct job *j)
{
	text_puts(t, "\nstatic const char *labelsVec[] LABELS_ATTRIBUTE = {\n");
	for (int i = 0; i < j->labels.n; i++) {
		text_puts(t, "    ");
		text_c_string(t, j->labels.name[i]);
		text_puts(t, ",\n");
	}
	text_printf(t, "};\n\n");
	put_labels_declaration(t);
	text_printf(t, "\nbool GetLabelsVector(std::vector<std::string> &labels)\n{\n"
		       "    labels.assign(labelsVec, labelsVec + %d);\n"
		       "    return true;\n}\n", j->labels.n);
}

void
put_labels_declaration(struct text *t)
{
	text_puts(t, "extern bool GetLabelsVector(std::vector<std::string> &labels);\n");
}
