/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user calls an operator.  A converter names a tensor after all layers that it fused,
 * the last one first: "net/re_lu_3/Relu6;net/conv2d_3/BiasAdd;net/conv2d_3/Conv2D".  The
 * label has the layer with the weights and, if one kernel computes several operators of the
 * source, the kinds of all: "conv2d_3 (CONV_2D + LOGISTIC)".  Layers with equal constants have
 * the names of one of these layers beside their own.
 */
#include "map/map.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Kinds whose layer gives the name, and the last word of its path. */
static const struct {
	const char *kind, *word;
} named[] = {
	{ "CONV_2D", "Conv2D" }, { "DEPTHWISE_CONV_2D", "depthwise" },
	{ "FULLY_CONNECTED", "MatMul" }, { "TRANSPOSE_CONV", "conv2d_transpose" },
};

/* the word behind the last slash of the n letters at s */
static const char *
last_word(const char *s, size_t n)
{
	const char *slash = memrchr(s, '/', n);
	return slash ? slash + 1 : s;
}

/* how many layers' names have the n letters at part as one of their parts */
static size_t
layers_with(const struct npu_map *m, const char *part, size_t n)
{
	size_t found = 0;
	for (size_t i = 0; i < m->n_layers; i++) {
		size_t k = 0;
		const char *p = m->layers[i].name;
		for (; *p; p += k + (p[k] == ';')) {
			k = strcspn(p, ";");
			if (k == n && !strncmp(p, part, n))
				break;
		}
		found += *p != '\0';
	}
	return found;
}

/*
 * The part of a joined name whose last word is this; NULL: none.  Of several parts, the layer's
 * own is the one that the fewest layers have.
 */
static const char *
part_with(const struct npu_map *m, const char *name, const char *word, size_t *n)
{
	const char *best = NULL;
	size_t fewest = 0, k = 0, n_word = strlen(word);
	for (const char *p = name; *p; p += k + (p[k] == ';')) {
		k = strcspn(p, ";");
		const char *last = last_word(p, k);
		if (last == p || (size_t)(p + k - last) < n_word || strncmp(last, word, n_word) != 0)
			continue;
		/* most names have one such part, and nothing is counted */
		if (best) {
			fewest = fewest ? fewest : layers_with(m, best, *n);
			size_t layers = layers_with(m, p, k);
			if (layers >= fewest)
				continue;
			fewest = layers;
		}
		best = p;
		*n = k;
	}
	return best;
}

/* The layer's path without the network's first component; and without the operator, if short. */
static const char *
path_of(struct arena *a, const struct npu_map *m, size_t layer, const char *path, bool is_short)
{
	const char *name = m->layers[layer].name, *kind = m->layers[layer].kind;
	size_t n;
	const char *part = NULL;
	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		if (strcmp(named[i].kind, kind) != 0)
			continue;
		part = part_with(m, name, "BiasAdd", &n);
		if (!part)
			part = part_with(m, name, named[i].word, &n);
	}
	if (!part) {
		part = name;
		n = strcspn(name, ";");
	}
	size_t skip = strlen(path);
	if (skip < n && !strncmp(part, path, skip)) {
		part += skip;
		n -= skip;
	}
	const char *last = last_word(part, n);
	if (is_short && last > part + 1)
		n = (size_t)(last - part) - 1;
	return n ? arena_strndup(a, part, n) : kind;
}

/* the network's name and a slash, with which most names begin, or "" */
static const char *
layers_path(struct arena *a, const struct npu_map *m)
{
	for (size_t k = 0; m->n_layers && k < 3; k++) {
		const char *s = m->layers[k * (m->n_layers - 1) / 2].name;
		const char *slash = strchr(s, '/');
		size_t part = slash ? (size_t)(slash - s) + 1 : 0, same = 0;
		for (size_t i = 0; part && i < m->n_layers; i++)
			same += !strncmp(m->layers[i].name, s, part);
		if (2 * same > m->n_layers && m->n_layers > 1)
			return arena_strndup(a, s, part);
	}
	return "";
}

/* ---- labels of all layers --------------------------------------------------------- */

struct entry {
	const char *s;
	size_t i;
};

static int
by_text(const void *p, const void *q)
{
	const struct entry *x = p, *y = q;
	int order = strcmp(x->s, y->s);
	return order ? order : (x->i > y->i) - (x->i < y->i);
}

const char **
map_labels(struct arena *a, const struct npu_map *m)
{
	const char *path = layers_path(a, m);
	size_t n = m->n_layers;
	const char **label = anew(a, const char *, n + 1);
	struct entry *v = anew(a, struct entry, n + 1);
	for (size_t i = 0; i < n; i++) {
		label[i] = path_of(a, m, i, path, true);
		v[i] = (struct entry){ .s = label[i], .i = i };
	}
	qsort(v, n, sizeof(*v), by_text);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !strcmp(v[end].s, v[i].s);)
			end++;
		for (size_t k = i; end - i > 1 && k < end; k++)
			label[v[k].i] = path_of(a, m, v[k].i, path, false);
	}
	return label;
}

/* ---- short labels ------------------------------------------------------------------- */

/* bytes of a label's path, before kinds */
static size_t
path_length(const char *s)
{
	const char *kinds = strstr(s, " (");
	return kinds ? (size_t)(kinds - s) : strlen(s);
}

/* bytes that two paths have in common at their ends */
static size_t
common_end(const char *x, const char *y)
{
	size_t n = path_length(x), m = path_length(y), k = 0;
	while (k < n && k < m && x[n - 1 - k] == y[m - 1 - k])
		k++;
	return k;
}

/* orders paths by their letters from the last to the first */
static int
by_end(const void *p, const void *q)
{
	const char *x = ((const struct entry *)p)->s, *y = ((const struct entry *)q)->s;
	size_t n = path_length(x), m = path_length(y), k = common_end(x, y);
	if (k == n || k == m)
		return (n > m) - (n < m);
	return (unsigned char)x[n - 1 - k] < (unsigned char)y[m - 1 - k] ? -1 : 1;
}

const char **
map_short_labels(struct arena *a, const char *const *label, size_t n, size_t most)
{
	const char **out = anew(a, const char *, n + 1);
	struct entry *v = anew(a, struct entry, n + 1);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct entry){ .s = label[i], .i = i };
	qsort(v, n, sizeof(*v), by_end);
	size_t before = 0; /* bytes that the paths before share with this one */
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !by_end(&v[i], &v[end]);)
			end++;
		size_t after = end < n ? common_end(v[i].s, v[end].s) : 0;
		size_t same = before > after ? before : after;
		for (size_t k = i; k < end; k++) {
			const char *s = v[k].s;
			if (text_shortened(a, s, most) != s) {
				/* from behind the last slash that is more than `same` bytes
				 * before its path's end */
				size_t length = path_length(s);
				size_t at = same < length ? length - same - 1 : 0;
				while (at > 0 && s[at - 1] != '/')
					at--;
				s += at;
			}
			out[v[k].i] = text_shortened(a, s, most);
		}
		before = after;
	}
	return out;
}

void
map_number_labels(struct arena *a, const char **label, size_t n, size_t most)
{
	struct entry *v = anew(a, struct entry, n + 1);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct entry){ .s = label[i], .i = i };
	qsort(v, n, sizeof(*v), by_text);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !strcmp(v[end].s, v[i].s);)
			end++;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			const char *number = arena_printf(a, ", operator %zu", v[k].i);
			label[v[k].i] = arena_printf(
				a, "%s%s", text_shortened(a, v[k].s, most - strlen(number)), number);
		}
	}
}

/* ---- layers whose kernels compute several operators --------------------------------- */

static bool
has_weights(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (!strcmp(named[i].kind, kind))
			return true;
	return false;
}

void
map_put_label(struct text *t, const struct npu_map *m, const char *const *label, int layer,
	      const int *parts, size_t n_parts)
{
	int from = layer;
	for (size_t i = n_parts; i-- > 0 && !has_weights(m->layers[from].kind);)
		if (has_weights(m->layers[parts[i]].kind))
			from = parts[i];
	text_puts(t, label[from]);
	if (!n_parts)
		return;
	/* in the order of the source */
	text_puts(t, " (");
	for (size_t i = 0; i < n_parts; i++)
		if (parts[i] < layer)
			text_printf(t, "%s + ", m->layers[parts[i]].kind);
	text_puts(t, m->layers[layer].kind);
	for (size_t i = 0; i < n_parts; i++)
		if (parts[i] > layer)
			text_printf(t, " + %s", m->layers[parts[i]].kind);
	text_puts(t, ")");
}
