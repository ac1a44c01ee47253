/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes sparse constants dense, as DENSIFY does, and removes DENSIFY.
 *
 * A file stores a sparse tensor by levels.  A level is a dimension of the tensor, or of the
 * blocks that it consists of, and has positions for each position of the level before.  A dense
 * level has all its indices.  A sparse level has those of a list: position i of the level before
 * has the part of the list from segment i to segment i + 1.  Each position of the last level is
 * an element.
 */
#include "quantize.h"

#include "base/little_endian.h"
#include "tflite/fields.h"

#include <string.h>

enum { MOST_LEVELS = 2 * TFL_MAX_RANK, MOST_BYTES = 1 << 26, SPARSE_CSR = 1 };

struct numbers { /* integers of `width` bytes */
	const uint8_t *p;
	uint32_t n, width;
};

struct level {
	int64_t size, step; /* the number of indices; elements of the tensor from one to the next */
	bool sparse;
	struct numbers segment, index;
};

struct layout {
	struct level level[MOST_LEVELS];
	int n;
	const uint8_t *from;
	uint8_t *to;
	size_t bytes; /* of an element */
};

static int64_t
number(const struct numbers *l, int64_t i)
{
	const uint8_t *p = l->p + (int64_t)l->width * i;
	return l->width == 4 ? (int32_t)load_le32(p) : l->width == 2 ? load_le16(p) : *p;
}

/* The list in a union of three tables, whose only field is a vector. */
static struct numbers
numbers_of(struct fb_ref level, int tag, int value)
{
	enum { NONE, INTS, SHORTS, BYTES };
	int64_t kind = fb_int(level, tag);
	struct fb_ref table = fb_child(level, value);
	if (!table.buf || kind <= NONE || kind > BYTES)
		return (struct numbers){ 0 };
	struct fb_vec v = fb_vector(table, FB_Int32Vector_values);
	return (struct numbers){ .p = v.p, .n = v.n, .width = kind == INTS ? 4 : kind == SHORTS ? 2 : 1 };
}

/* Sets of[d] to the level of dimension d, and of[rank + k] to that of block k. */
static bool
read_levels(struct layout *l, const struct tfl_tensor *t, struct fb_ref sparsity,
	    struct level **of)
{
	struct fb_vec order = fb_vector(sparsity, FB_SparsityParameters_traversal_order);
	uint32_t n_blocks = fb_vector(sparsity, FB_SparsityParameters_block_map).n;
	if (n_blocks > (uint32_t)t->rank || order.n != (uint32_t)t->rank + n_blocks ||
	    fb_vector(sparsity, FB_SparsityParameters_dim_metadata).n != order.n)
		return false;
	l->n = (int)order.n;
	for (uint32_t k = 0; k < order.n; k++) {
		uint32_t d = load_le32(order.p + 4 * (size_t)k);
		if (d >= order.n || of[d])
			return false;
		of[d] = &l->level[k];
		struct fb_ref from = fb_item(sparsity, FB_SparsityParameters_dim_metadata, k);
		*of[d] = (struct level){
			.sparse = fb_int(from, FB_DimensionMetadata_format) == SPARSE_CSR,
			.size = fb_int(from, FB_DimensionMetadata_dense_size),
			.segment = numbers_of(from, FB_DimensionMetadata_array_segments_type,
					      FB_DimensionMetadata_array_segments),
			.index = numbers_of(from, FB_DimensionMetadata_array_indices_type,
					    FB_DimensionMetadata_array_indices) };
	}
	return true;
}

/* Finds how far apart elements of neighbouring indices are, and the sizes of sparse levels. */
static bool
find_steps(const struct tfl_tensor *t, struct fb_ref sparsity, struct level **of)
{
	struct fb_vec map = fb_vector(sparsity, FB_SparsityParameters_block_map);
	struct level *block[TFL_MAX_RANK] = { NULL }; /* one per dimension; NULL: no blocks */
	for (uint32_t k = 0; k < map.n; k++) {
		uint32_t d = load_le32(map.p + 4 * (size_t)k);
		struct level *v = of[(uint32_t)t->rank + k];
		if (d >= (uint32_t)t->rank || block[d] || v->sparse || v->size < 1)
			return false;
		block[d] = v;
	}
	int64_t step = 1;
	for (int d = t->rank - 1; d >= 0; step *= t->dim[d--]) {
		int64_t of_block = block[d] ? block[d]->size : 1, size = t->dim[d] / of_block;
		if (t->dim[d] % of_block || (!of[d]->sparse && of[d]->size != size))
			return false;
		of[d]->size = size;
		of[d]->step = step * of_block;
		if (block[d])
			block[d]->step = step;
	}
	return true;
}

/* True if the lists are consistent, and the last level has `elements` positions. */
static bool
check_levels(const struct layout *l, uint64_t elements)
{
	int64_t n = 1; /* positions of the levels so far */
	for (int k = 0; k < l->n; k++) {
		const struct level *v = &l->level[k];
		if (!v->sparse) {
			n *= v->size;
			if (n > MOST_BYTES)
				return false;
			continue;
		}
		if (v->segment.n != (uint64_t)n + 1 || number(&v->segment, 0) != 0)
			return false;
		for (int64_t i = 0; i < n; i++)
			if (number(&v->segment, i + 1) < number(&v->segment, i))
				return false;
		n = number(&v->segment, n);
		if (n > v->index.n)
			return false;
		for (int64_t i = 0; i < n; i++)
			if (number(&v->index, i) < 0 || number(&v->index, i) >= v->size)
				return false;
	}
	return (uint64_t)n == elements;
}

/* position: in the level before; at: the element that the indices so far lead to */
static void
copy_level(const struct layout *l, int level, int64_t position, int64_t at)
{
	const struct level *v = &l->level[level];
	if (level == l->n) {
		memcpy(l->to + (size_t)at * l->bytes, l->from + (size_t)position * l->bytes, l->bytes);
		return;
	}
	int64_t first = v->sparse ? number(&v->segment, position) : position * v->size;
	int64_t end = v->sparse ? number(&v->segment, position + 1) : first + v->size;
	for (int64_t i = first; i < end; i++)
		copy_level(l, level + 1, i, at + v->step * (v->sparse ? number(&v->index, i) : i - first));
}

bool
net_make_dense(struct net *n, struct err *e)
{
	for (int i = 0; i < n->n_tensors; i++) {
		struct tfl_tensor *t = &n->tensor[i];
		if (!t->is_sparse || !t->data.p)
			continue;
		int64_t bytes = tfl_bytes(t);
		struct layout l = { .bytes = (size_t)tfl_type_bytes(t->type), .from = t->data.p };
		struct fb_ref sparsity = fb_child(t->ref, FB_Tensor_sparsity);
		struct level *of[MOST_LEVELS] = { NULL };
		if (t->type == TFL_INT4 || !l.bytes || bytes < 1 || bytes > MOST_BYTES)
			return err_at(e, n->m->name, 0, "subgraph 0: tensor %d (%s): a sparse constant "
				      "of this type or size is not supported", i, t->name);
		if (!read_levels(&l, t, sparsity, of) || !find_steps(t, sparsity, of) ||
		    t->data.n % l.bytes || !check_levels(&l, t->data.n / l.bytes))
			return err_at(e, n->m->name, 0, "subgraph 0: tensor %d (%s): its sparse data "
				      "contradict its shape or each other", i, t->name);
		l.to = arena_alloc(n->a, (size_t)bytes, 1);
		copy_level(&l, 0, 0, 0);
		t->data = (struct bytes){ .p = l.to, .n = (size_t)bytes };
		t->is_sparse = false;
	}
	for (int i = 0; i < n->n_ops; i++) {
		struct net_op *o = &n->op[i];
		if (o->op.code != TFL_DENSIFY || o->op.n_in != 1 || o->op.n_out != 1 ||
		    o->op.in[0] < 0 || !n->tensor[o->op.in[0]].data.p)
			continue;
		net_replace(n, o->op.out[0], o->op.in[0]);
		o->removed = true;
	}
	return true;
}
