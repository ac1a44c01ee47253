/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user calls an operator.  A converter names a tensor after all layers that it fused,
 * the last one first: "net/re_lu_3/Relu6;net/conv2d_3/BiasAdd;net/conv2d_3/Conv2D".  The
 * label has the layer with the weights and, if one kernel computes several operators of the
 * source, the kinds of all: "conv2d_3 (CONV_2D + LOGISTIC)".  Layers with equal constants have
 * the names of one of these layers beside their own.
 */
#include "report.h"

#include <string.h>

/* Kinds whose layer gives the name, and the last word of its path. */
static const struct {
	const char *kind, *word;
} named[] = {
	{ "CONV_2D", "Conv2D" }, { "DEPTHWISE_CONV_2D", "depthwise" },
	{ "FULLY_CONNECTED", "MatMul" }, { "TRANSPOSE_CONV", "conv2d_transpose" },
};

static bool
begins_with(const char *s, size_t n, const char *word)
{
	size_t k = strlen(word);
	return n >= k && !strncmp(s, word, k);
}

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
	size_t fewest = 0, k = 0;
	for (const char *p = name; *p; p += k + (p[k] == ';')) {
		k = strcspn(p, ";");
		const char *last = last_word(p, k);
		if (last == p || !begins_with(last, (size_t)(p + k - last), word))
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

/* Prints the layer's path: without the network's first component, and without the operator. */
static void
put_layer(struct text *t, const struct npu_map *m, int layer, const char *path)
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
	if (last > part + 1)
		n = (size_t)(last - part) - 1;
	text_put(t, part, n);
}

const char *
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

static bool
has_weights(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (!strcmp(named[i].kind, kind))
			return true;
	return false;
}

void
layer_label(struct text *t, const struct npu_map *m, const char *path, int layer,
	    const int *parts, size_t n_parts)
{
	int from = layer;
	for (size_t i = n_parts; i-- > 0 && !has_weights(m->layers[from].kind);)
		if (has_weights(m->layers[parts[i]].kind))
			from = parts[i];
	size_t before = t->n;
	put_layer(t, m, from, path);
	if (t->n == before)
		text_puts(t, m->layers[from].kind);
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
