/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensor arena that TensorFlow Lite Micro needs: what the model's plan
 * says (OfflineMemoryAllocation, spec/command-stream.md 13.4), what the
 * runtime places itself, and what it keeps for its own books.
 */
#include "base/fixed.h"
#include "tfl2c.h"

#include <stdlib.h>
#include <string.h>

enum {
	ARENA_ALIGN = 16, /* of every buffer, in TFLM */
	MAX_PLACED = 8192, /* placing is quadratic: beyond, the plain sum */
};

/*
 * The estimate.  Sizes of TFLM's structures on a 32-bit target, rounded up
 * to cover the releases since 2021: an eval tensor is 12 bytes, a node with
 * its registration 40, a kernel's own record about 40, an input or output
 * that is asked for 64 with 24 of quantization.  Interpreter, allocator and
 * planner objects take about 1 KiB.  Kernels of convolutions keep a
 * multiplier and a shift for every channel, that of a SOFTMAX of 16 bits two
 * tables, exp and 1 / (1 + x), of 513 values each.  While it plans, TFLM holds
 * about 80 bytes a tensor where the activations will be.
 * Held against what TFLM's memory_arena_threshold_test.cc records on 64-bit
 * hosts without variables, an upper bound for us: 54 tensors, 15 operators
 * 3560 bytes (we: 4032), 13 tensors, 5 operators 1672 (we: 2416).
 */
enum {
	COST_BASE = 1536,
	COST_TENSOR = 16,
	COST_OP = 96,
	COST_INTERFACE = 96,
	COST_CHANNEL = 8,
	COST_TABLE16 = 513 * 2,
	COST_PLANNING = 80,
};

struct buffer {
	int64_t at, size; /* at -1: to be placed */
	int first, last;  /* operators between which it lives */
};

static int64_t
tensor_bytes(const struct tfl_tensor *t)
{
	int64_t n = t->type == TFL_INT4 ? (tfl_elements(t) + 1) / 2
					: tfl_bytes(t);
	return round_up_i64(n, ARENA_ALIGN);
}

/* larger first; the runtime's sort keeps the later of equals behind */
static int
compare_size(const void *pa, const void *pb)
{
	const struct buffer *a = pa, *b = pb;
	return a->size > b->size ? -1 : a->size < b->size;
}

static bool
meet(const struct buffer *a, const struct buffer *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/* the lowest gap between placed buffers that live at the same time */
static int64_t
lowest_gap(const struct buffer *placed, size_t n, const struct buffer *b)
{
	int64_t at = 0;
	for (size_t i = 0; i < n; i++) {
		if (!meet(&placed[i], b))
			continue;
		if (placed[i].at - at >= b->size)
			break;
		if (placed[i].at + placed[i].size > at)
			at = placed[i].at + placed[i].size;
	}
	return at;
}

/* keeps placed sorted by address */
static void
insert(struct buffer *placed, size_t n, struct buffer b)
{
	size_t i = n;
	for (; i && placed[i - 1].at > b.at; i--)
		placed[i] = placed[i - 1];
	placed[i] = b;
}

static int64_t
extent(const struct buffer *b, size_t n)
{
	int64_t end = 0;
	for (size_t i = 0; i < n; i++)
		if (b[i].at >= 0 && b[i].at + b[i].size > end)
			end = b[i].at + b[i].size;
	return end;
}

/* as TFLM's greedy planner: fixed ones first, then by falling size */
static int64_t
place(struct arena *a, struct buffer *b, size_t n, size_t n_fixed)
{
	int64_t sum = extent(b, n_fixed);
	for (size_t i = n_fixed; i < n; i++)
		sum += b[i].size;
	if (n > MAX_PLACED)
		return sum;
	struct buffer *placed = anew(a, struct buffer, n);
	for (size_t i = 0; i < n_fixed; i++)
		insert(placed, i, b[i]);
	if (n > n_fixed)
		qsort(b + n_fixed, n - n_fixed, sizeof(*b), compare_size);
	for (size_t i = n_fixed; i < n; i++) {
		b[i].at = lowest_gap(placed, i, &b[i]);
		insert(placed, i, b[i]);
	}
	return extent(placed, n);
}

struct life {
	int first, last; /* -1: never */
};

static void
find_lives(const struct tfl_subgraph *g, struct life *life)
{
	for (int i = 0; i < g->n_tensors; i++)
		life[i] = (struct life){ .first = g->tensor[i].producer,
					 .last = g->tensor[i].producer };
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++)
			if (g->op[i].in[k] >= 0)
				life[g->op[i].in[k]].last = i;
	for (int i = 0; i < g->n_in; i++) {
		life[g->in[i]].first = 0;
		if (life[g->in[i]].last < 0)
			life[g->in[i]].last = 0;
	}
	for (int i = 0; i < g->n_out; i++)
		life[g->out[i]].last = g->n_ops;
}

/* subgraph 0's and the others' plan of the file, or NULL */
static bool
read_offsets(struct arena *a, const struct tfl_model *m, int total,
	     const int32_t **out, struct err *e)
{
	struct bytes b = tfl_metadata(m, "OfflineMemoryAllocation");
	int32_t *p = anew(a, int32_t, (size_t)total);
	for (int i = 0; i < total; i++)
		p[i] = -1;
	*out = p;
	if (!b.p)
		return true;
	if (b.n < 12 || b.n % 4 || load_le32(b.p + 8) != (uint32_t)total ||
	    b.n / 4 - 3 != (uint32_t)total)
		return err_set(e, "%s: error: OfflineMemoryAllocation of %zu "
				  "bytes does not hold %d tensors' offsets",
			       m->name, b.n, total);
	for (int i = 0; i < total; i++) {
		p[i] = (int32_t)load_le32(b.p + 12 + 4 * (size_t)i);
		if (p[i] < -1 || (p[i] > 0 && p[i] % ARENA_ALIGN))
			return err_set(e, "%s: error: OfflineMemoryAllocation "
					  "places tensor %d at %d: neither -1 "
					  "nor a multiple of %d",
				       m->name, i, p[i], ARENA_ALIGN);
	}
	return true;
}

/* buffers of a subgraph, the fixed ones in front; how many are fixed */
static size_t
collect(const struct tfl_subgraph *g, const int32_t *offset,
	const struct life *life, struct buffer *b, size_t *n_fixed)
{
	size_t n = 0;
	*n_fixed = 0;
	for (int fixed = 1; fixed >= 0; fixed--) {
		for (int i = 0; i < g->n_tensors; i++) {
			const struct tfl_tensor *t = &g->tensor[i];
			if (t->data.p || (offset[i] >= 0) != fixed ||
			    (!fixed && (t->is_variable || life[i].first < 0)))
				continue;
			bool always = life[i].first < 0;
			b[n++] = (struct buffer){
				.at = offset[i], .size = tensor_bytes(t),
				.first = always ? 0 : life[i].first,
				.last = always ? g->n_ops : life[i].last,
			};
		}
		if (fixed)
			*n_fixed = n;
	}
	return n;
}

static void
plan_subgraph(struct arena *a, const struct tfl_subgraph *g,
	      const int32_t *offset, struct tensor_plan *p)
{
	struct life *life = anew(a, struct life, (size_t)g->n_tensors);
	struct buffer *b = anew(a, struct buffer, (size_t)g->n_tensors);
	size_t n_fixed;
	find_lives(g, life);
	size_t n = collect(g, offset, life, b, &n_fixed);
	p->plan_bytes += extent(b, n_fixed);
	p->tensor_bytes += place(a, b, n, n_fixed);
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_variable && offset[i] < 0)
			p->variable_bytes += tensor_bytes(&g->tensor[i]);
}

/* records that convolutions on the CPU keep for every output channel */
static int64_t
kernel_channels(const struct tfl_subgraph *g)
{
	int64_t n = 0;
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		bool mac = op->code == TFL_CONV_2D ||
			   op->code == TFL_DEPTHWISE_CONV_2D ||
			   op->code == TFL_TRANSPOSE_CONV ||
			   op->code == TFL_FULLY_CONNECTED;
		const struct tfl_tensor *w =
		    mac && op->n_in > 1 && op->in[1] >= 0
			? &g->tensor[op->in[1]] : NULL;
		n += w && w->quant.n_scale > 1 ? w->quant.n_scale : 0;
	}
	return n;
}

/* tables that kernels of the CPU keep, each buffer by itself */
static int64_t
kernel_tables(const struct tfl_subgraph *g)
{
	int64_t n = 0;
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		const struct tfl_tensor *in = op->n_in && op->in[0] >= 0
						  ? &g->tensor[op->in[0]] : NULL;
		if (in && op->code == TFL_SOFTMAX && in->type == TFL_INT16)
			n += 2 * round_up_i64(COST_TABLE16, ARENA_ALIGN);
	}
	return n;
}

static void
estimate_runtime(const struct tfl_model *m, struct tensor_plan *p)
{
	int64_t bytes = COST_BASE;
	for (int i = 0; i < m->n_subgraphs; i++) {
		const struct tfl_subgraph *g = &m->subgraph[i];
		p->n_tensors += g->n_tensors;
		p->n_ops += g->n_ops;
		bytes += kernel_channels(g) * COST_CHANNEL + kernel_tables(g);
	}
	bytes += (int64_t)p->n_tensors * COST_TENSOR;
	bytes += (int64_t)p->n_ops * COST_OP;
	bytes += (int64_t)(m->subgraph[0].n_in + m->subgraph[0].n_out) *
		 COST_INTERFACE;
	int64_t planning = (int64_t)p->n_tensors * COST_PLANNING;
	if (planning > p->tensor_bytes)
		bytes += planning - p->tensor_bytes;
	p->runtime_bytes = round_up_i64(bytes, ARENA_ALIGN);
}

bool
plan_arena(struct arena *a, const struct tfl_model *m, struct tensor_plan *out,
	   struct err *e)
{
	int total = 0;
	*out = (struct tensor_plan){ 0 };
	for (int i = 0; i < m->n_subgraphs; i++)
		total += m->subgraph[i].n_tensors;
	if (!read_offsets(a, m, total, &out->offset, e))
		return false;
	const int32_t *offset = out->offset;
	for (int i = 0; i < m->n_subgraphs; i++) {
		plan_subgraph(a, &m->subgraph[i], offset, out);
		offset += m->subgraph[i].n_tensors;
	}
	estimate_runtime(m, out);
	out->arena_bytes = out->tensor_bytes + out->variable_bytes +
			   out->runtime_bytes;
	return true;
}
