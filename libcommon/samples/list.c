/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --list: finds the files and their labels.  The list is a text with a file and a label
 * per line, or a directory with one subdirectory per class.  Labels that are not
 * numbers are classes, numbered in the order of their names.
 */
#include "base/place.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "samples/samples.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static struct item *
add_item(struct arena *a, struct list *l)
{
	agrow(a, l->item, l->n, &l->capacity);
	return &l->item[l->n++];
}

/* ---- a directory of classes ------------------------------------------------ */

struct entry {
	char *name;
	const char *path; /* of the directory and the name */
	bool is_directory;
};

static int
compare_names(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	return strcmp(a->name, b->name);
}

/* entries of a directory, sorted by names, without those that begin with a dot */
static bool
read_entries(struct arena *a, const char *path, struct entry **out, size_t *n, struct err *e)
{
	DIR *d = opendir(path);
	size_t capacity = 0;
	struct entry *v = NULL;
	*n = 0;
	if (!d)
		return err_at(e, path, 0, "%s", strerror(errno));
	for (struct dirent *f; (f = readdir(d));) {
		if (f->d_name[0] == '.')
			continue;
		agrow(a, v, *n, &capacity);
		struct entry *x = &v[(*n)++];
		x->name = arena_strdup(a, f->d_name);
		x->path = arena_printf(a, "%s/%s", path, x->name);
		x->is_directory = file_is_directory(x->path);
	}
	(void)closedir(d);
	if (*n)
		qsort(v, *n, sizeof(*v), compare_names);
	*out = v;
	return true;
}

bool
is_stream(const char *path)
{
	struct stat st;
	return file_is_standard(path) ||
	       (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static bool
add_entry(struct arena *a, const struct entry *x, const char *label, struct list *l,
	  struct err *e)
{
	if (is_stream(x->path))
		return err_at(e, x->path, 0, "a pipe or a device, not a file");
	*add_item(a, l) = (struct item){ .path = x->path, .label = label };
	return true;
}

/*
 * Every subdirectory is a class, whether its name is a number or not.  bare: files beside
 * the subdirectories count, too.
 */
static bool
list_directory(struct arena *a, const char *path, bool bare, struct list *l, struct err *e)
{
	struct entry *v;
	size_t n;
	if (!read_entries(a, path, &v, &n, e))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct entry *file = NULL;
		size_t n_files = 0;
		if (!v[i].is_directory && bare && !add_entry(a, &v[i], "", l, e))
			return false;
		if (v[i].is_directory && !read_entries(a, v[i].path, &file, &n_files, e))
			return false;
		for (size_t k = 0; k < n_files; k++)
			if (!file[k].is_directory && !add_entry(a, &file[k], v[i].name, l, e))
				return false;
	}
	if (bare)
		return l->n || err_at(e, path, 0, "the directory has no files");
	return l->n || err_at(e, path, 0, "the directory has no subdirectory with files: make "
			      "one for each class");
}

/* ---- a list in a text file ------------------------------------------------- */

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Splits "FILE LABEL": the label is the last word, after white space or a comma. */
static bool
split_line(char *line, char **file, char **label)
{
	size_t n = strlen(line);
	while (n && is_space(line[n - 1]))
		line[--n] = '\0';
	while (is_space(*line))
		line++;
	n = strlen(line);
	size_t k = n;
	while (k && !is_space(line[k - 1]) && line[k - 1] != ',')
		k--;
	*label = line + k;
	while (k && (is_space(line[k - 1]) || line[k - 1] == ','))
		line[--k] = '\0';
	*file = line;
	return k && **label;
}

/* a path relative to the list's directory, unless the path is absolute */
static const char *
path_beside_list(struct arena *a, const char *list, const char *path)
{
	const char *slash = list ? strrchr(list, '/') : NULL;
	if (*path == '/' || !slash)
		return path;
	return arena_printf(a, "%.*s/%s", (int)(slash - list), list, path);
}

static bool
list_text(struct arena *a, const char *path, struct list *l, struct err *e)
{
	struct bytes file;
	if (!file_read(a, path, MAX_INPUT_BYTES, &file, e))
		return false;
	char *at = (char *)arena_alloc(a, file.n + 1, 1), *next;
	memcpy(at, file.p, file.n);
	at[file.n] = '\0';
	if (strlen(at) != file.n)
		return err_at(e, file_name(path), 0, "not a text file: there is a NUL byte");
	for (unsigned line = 1; at; at = next, line++) {
		char *name, *label;
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		at[strcspn(at, "#")] = '\0';
		if (!at[strspn(at, " \t\r")])
			continue;
		if (!split_line(at, &name, &label))
			return err_at(e, file_name(path), line,
				      "a line needs the name of a file and a label, "
				      "not '%s'", at);
		struct item *it = add_item(a, l);
		*it = (struct item){ .path = path_beside_list(a, path, name), .label = label,
				     .line = line };
	}
	return l->n || err_at(e, file_name(path), 0, "the list names no files");
}

/* Returns the text's first line that is not empty, at most 4096 bytes; NULL: no text. */
static const char *
first_line(struct arena *a, struct bytes file)
{
	size_t n = file.n < 4096 ? file.n : 4096, from = 0, to = 0;
	for (size_t i = 0; i < n; i++)
		if (file.p[i] < ' ' && file.p[i] != '\t' && file.p[i] != '\r' && file.p[i] != '\n')
			return NULL;
	while (from < n && strchr(" \t\r\n", file.p[from]))
		from++;
	for (to = from; to < n && file.p[to] != '\n' && file.p[to] != '#';)
		to++;
	return arena_printf(a, "%.*s", (int)(to - from), (const char *)file.p + from);
}

/* ---- labels ---------------------------------------------------------------- */

static bool
is_number(const char *s)
{
	char *end;
	(void)strtod(s, &end);
	return end != s && !*end;
}

/*
 * A text whose first line has two words or more is a list, even if the file that the line
 * names does not exist; a table begins with a number.
 */
bool
is_list(struct arena *a, const char *path)
{
	struct bytes file;
	struct err e = { 0 };
	char *name, *label;
	if (is_stream(path) || file_is_directory(path))
		return path && file_is_directory(path);
	if (!file_read(a, path, MAX_INPUT_BYTES, &file, &e))
		return false;
	const char *line = first_line(a, file), *suffix = strrchr(path, '.');
	if (!line || !split_line(arena_strdup(a, line), &name, &label))
		return false;
	if (access(path_beside_list(a, path, name), F_OK) == 0)
		return true;
	name[strcspn(name, " \t,")] = '\0';
	return !is_number(name) && !is_picture(file) && !(suffix && !strcasecmp(suffix, ".csv"));
}

static void
number_names(struct arena *a, struct list *l)
{
	const char **name = anew(a, const char *, l->n);
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++)
		name[i] = l->item[i].label;
	qsort(name, l->n, sizeof(*name), compare_names);
	for (size_t i = 0; i < l->n; i++)
		if (!n || strcmp(name[n - 1], name[i]) != 0)
			name[n++] = name[i];
	for (size_t i = 0; i < l->n; i++) {
		const char **at = bsearch(&l->item[i].label, name, n, sizeof(*name),
					  compare_names);
		l->item[i].class = (int)(at - name);
	}
}

bool
read_list(struct arena *a, const char *path, struct list *l, struct err *e)
{
	*l = (struct list){ 0 };
	bool directory = path && file_is_directory(path);
	if (!(directory ? list_directory(a, path, false, l, e) : list_text(a, path, l, e)))
		return false;
	for (size_t i = 0; i < l->n; i++)
		l->named |= !is_number(l->item[i].label);
	if (l->named)
		number_names(a, l);
	return true;
}

bool
number_classes(struct arena *a, struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!*l->item[i].label)
			return false;
		l->named |= !is_number(l->item[i].label);
	}
	if (l->named)
		number_names(a, l);
	for (size_t i = 0; i < l->n && !l->named; i++) {
		double v = strtod(l->item[i].label, NULL);
		if (!(v >= 0 && v < MAX_CLASSES && v == floor(v)))
			return false;
		l->item[i].class = (int)v;
	}
	return true;
}

bool
read_files(struct arena *a, const char *path, struct list *l, struct err *e)
{
	*l = (struct list){ 0 };
	return path && file_is_directory(path) ? list_directory(a, path, true, l, e)
					       : list_text(a, path, l, e);
}

void
permit_list(const struct sandbox *s, const char *path)
{
	struct stat st;
	struct list l;
	struct err e = { 0 };
	sandbox_read(s, path);
	if (file_is_standard(path) || (!stat(path, &st) && S_ISFIFO(st.st_mode))) {
		sandbox_read(s, "/");
		return;
	}
	struct arena *a = arena_open();
	bool ok = read_files(a, path, &l, &e);
	/* files and directories of classes may be links to other places */
	for (size_t i = 0; ok && i < l.n; i++) {
		char *dir = l.item[i].line ? NULL : place_directory(l.item[i].path);
		sandbox_read(s, dir);
		sandbox_read(s, l.item[i].path);
		free(dir);
	}
	arena_close(a);
}

void
print_labels(struct text *t, const struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->named)
			text_printf(t, "%d\t%s\n", l->item[i].class, l->item[i].label);
		else
			text_printf(t, "%s\n", l->item[i].label);
}
