/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the tensor arena for TensorFlow Lite Micro: the model's plan
 * (OfflineMemoryAllocation, ethosu-commands(7) 13.4), the tensors that the runtime
 * places itself, and the runtime's own records (tflm.c).
 */
#include "base/fixed.h"
#include "base/little_endian.h"
#include "sim/resources.h"
#include "tfl2c.h"

#include <stdlib.h>
#include <string.h>

enum {
	ARENA_ALIGN = 16, /* of every buffer, in TFLM */
	MAX_PLACED = 8192, /* planning is quadratic; with more buffers, the plain sum */
};

struct buffer {
	int64_t at, size; /* at -1: not placed yet; bytes */
	int first, last;  /* live range: 0, then operators from 1 */
	size_t order;	  /* position in the runtime's list */
};

static int64_t
tensor_bytes(const struct tfl_tensor *t)
{
	int64_t n = t->type == TFL_INT4 ? (tfl_elements(t) + 1) / 2
					: tfl_bytes(t);
	return round_up_i64(n, ARENA_ALIGN);
}

/*
 * Larger buffers first.  Of equal ones the later first, because the runtime fills its
 * list from the end.
 */
static int
compare_size(const void *pa, const void *pb)
{
	const struct buffer *a = pa, *b = pb;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->order > b->order ? -1 : a->order < b->order;
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

/*
 * First fit like TFLM's greedy planner: fixed buffers first, then by decreasing size.
 * Returns the extent in bytes.
 */
static int64_t
first_fit(struct arena *a, struct buffer *b, size_t n, size_t n_fixed)
{
	int64_t sum = extent(b, n_fixed);
	for (size_t i = n_fixed; i < n; sum += b[i++].size)
		b[i].at = sum;
	if (n > MAX_PLACED)
		return sum;
	struct buffer *placed = anew(a, struct buffer, n);
	for (size_t i = 0; i < n_fixed; i++)
		insert(placed, i, b[i]);
	if (n > n_fixed)
		qsort(b + n_fixed, n - n_fixed, sizeof(*b), compare_size);
	for (size_t i = n_fixed; i < n; i++) {
		/* the lowest gap between placed buffers with an overlapping live range */
		b[i].at = 0;
		for (size_t k = 0; k < i; k++) {
			if (placed[k].first > b[i].last || b[i].first > placed[k].last)
				continue;
			if (placed[k].at - b[i].at >= b[i].size)
				break;
			b[i].at = max_i64(b[i].at, placed[k].at + placed[k].size);
		}
		insert(placed, i, b[i]);
	}
	return extent(placed, n);
}

bool *
plan_fast(struct arena *a, const struct tfl_subgraph *g)
{
	enum { IN_FAST = 3 }; /* input of an ethos-u operator: ethosu-commands(7) 13.3 */
	bool *is_fast = anew(a, bool, (size_t)g->n_tensors + 1);
	for (int marks = 1; marks >= 0; marks--)
		for (int i = 0; i < g->n_ops; i++) {
			const struct tfl_op *op = &g->op[i];
			bool npu = npu_is_operator(op) && !npu_is_guard(g, op);
			for (int k = 0; k < op->n_in; k++)
				if (op->in[k] >= 0 && (npu && k == IN_FAST) == marks)
					is_fast[op->in[k]] = marks;
			for (int k = 0; k < op->n_out; k++)
				if (op->out[k] >= 0)
					is_fast[op->out[k]] = false;
		}
	for (int i = 0; i < g->n_in; i++)
		is_fast[g->in[i]] = false;
	for (int i = 0; i < g->n_out; i++)
		is_fast[g->out[i]] = false;
	return is_fast;
}

struct life {
	int first, last; /* 0: before the first operator; -1: earlier, or never */
};

static void
find_lives(const struct tfl_subgraph *g, struct life *life)
{
	for (int i = 0; i < g->n_tensors; i++)
		life[i].first = life[i].last =
		    g->tensor[i].producer < 0 ? -1 : g->tensor[i].producer + 1;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++)
			if (g->op[i].in[k] >= 0)
				life[g->op[i].in[k]].last = i + 1;
	for (int i = 0; i < g->n_in; i++) {
		life[g->in[i]].first = 0;
		if (life[g->in[i]].last < 0)
			life[g->in[i]].last = 0;
	}
	for (int i = 0; i < g->n_out; i++)
		life[g->out[i]].last = g->n_ops;
}

/*
 * Reads the file's plan for the tensors of all subgraphs; without a plan, all offsets
 * are -1.
 */
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
		return err_at(e, m->name, 0, "OfflineMemoryAllocation of %zu bytes does not "
			      "match %d tensors", b.n, total);
	for (int i = 0; i < total; i++) {
		p[i] = (int32_t)load_le32(b.p + 12 + 4 * (size_t)i);
		if (p[i] < -1 || (p[i] > 0 && p[i] % ARENA_ALIGN))
			return err_at(e, m->name, 0, "OfflineMemoryAllocation places tensor %d "
				      "at %d: neither -1 nor a multiple of %d", i, p[i],
				      ARENA_ALIGN);
	}
	return true;
}

/*
 * Collects the buffers of a subgraph, the n_fixed fixed ones first.  Returns their
 * number.
 */
static size_t
collect_tensors(const struct tfl_subgraph *g, const int32_t *offset,
	const struct life *life, struct buffer *b, size_t *n_fixed)
{
	size_t n = 0;
	*n_fixed = 0;
	for (int fixed = 1; fixed >= 0; fixed--) {
		for (int i = 0; i < g->n_tensors; i++) {
			const struct tfl_tensor *t = &g->tensor[i];
			if (t->data.p || (offset[i] >= 0) != fixed || offset[i] == ELSEWHERE ||
			    (!fixed && t->is_variable) || !tensor_bytes(t))
				continue;
			b[n++] = (struct buffer){
				.at = offset[i], .size = tensor_bytes(t),
				.first = life[i].first, .last = life[i].last,
				.order = (size_t)i,
			};
		}
		if (fixed)
			*n_fixed = n;
	}
	return n;
}

/*
 * Adds the memory of subgraph g.  The plan may place subgraphs at the same offsets; the tensors
 * that the runtime places are counted behind all of them.
 */
static void
plan_subgraph(struct arena *a, const struct tfl_model *m, const struct tfl_subgraph *g,
	      const int32_t *offset, struct tensor_plan *p)
{
	bool is_first = g == m->subgraph;
	struct life *life = anew(a, struct life, (size_t)g->n_tensors);
	struct buffer *b = anew(a, struct buffer,
				(size_t)g->n_tensors +
				    TFLM_MAX_SCRATCH * (size_t)g->n_ops);
	size_t n_fixed;
	find_lives(g, life);
	size_t n = collect_tensors(g, offset, life, b, &n_fixed);
	/* the scratch buffers that kernels request come after the tensors */
	size_t order = (size_t)g->n_tensors;
	for (int i = 0; i < g->n_ops; i++) {
		int64_t bytes[TFLM_MAX_SCRATCH];
		int n_scratch = tflm_scratch(g, &g->op[i], bytes);
		for (int k = 0; k < n_scratch; k++)
			b[n++] = (struct buffer){
				.at = -1, .first = i + 1, .last = i + 1,
				.size = round_up_i64(bytes[k], ARENA_ALIGN),
				.order = order++,
			};
	}
	/*
	 * The NPU and operators of the CPU use the fixed buffers without fast scratch memory, and
	 * without inputs and outputs that have memory of their own.
	 */
	const bool *is_fast = plan_fast(a, g);
	for (size_t i = 0; i < n_fixed; i++) {
		int tensor = (int)b[i].order;
		if (!is_fast[tensor] && !(is_first && stream_separate_place(m, tensor).region))
			p->used_bytes = max_i64(p->used_bytes, b[i].at + b[i].size);
	}
	int64_t fixed = extent(b, n_fixed);
	p->plan_bytes = max_i64(p->plan_bytes, fixed);
	p->tensor_bytes += is_first ? first_fit(a, b, n, n_fixed) - fixed
				    : first_fit(a, b + n_fixed, n - n_fixed, 0);
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_variable && offset[i] < 0)
			p->variable_bytes += tensor_bytes(&g->tensor[i]);
}

int64_t
plan_tensors(struct arena *a, const struct tfl_subgraph *g,
	     const int32_t *offset, int64_t *at)
{
	struct life *life = anew(a, struct life, (size_t)g->n_tensors);
	struct buffer *b = anew(a, struct buffer, (size_t)g->n_tensors);
	size_t n_fixed;
	find_lives(g, life);
	/* variables live for the whole run, wherever the plan has them */
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_variable)
			life[i] = (struct life){ .first = -1, .last = g->n_ops };
	size_t n = collect_tensors(g, offset, life, b, &n_fixed);
	int64_t end = first_fit(a, b, n, n_fixed);
	for (int i = 0; i < g->n_tensors; i++)
		at[i] = -1;
	for (size_t i = 0; i < n; i++)
		at[b[i].order] = b[i].at;
	for (int i = 0; i < g->n_tensors; i++) {
		if (!g->tensor[i].is_variable || at[i] >= 0)
			continue;
		at[i] = end;
		end += tensor_bytes(&g->tensor[i]);
	}
	return end;
}

bool
plan_arena(struct arena *a, const struct tfl_model *m, struct tensor_plan *out,
	   struct err *e)
{
	int total = 0;
	*out = (struct tensor_plan){ 0 };
	for (int i = 0; i < m->n_subgraphs; i++)
		total += m->subgraph[i].n_tensors;
	struct sim_resources *r;
	if (!read_offsets(a, m, total, &out->offset, e) || !sim_resources_open(a, m, &r, e))
		return false;
	/* variables that operators of the CPU keep by name */
	out->n_resources = (int)sim_resources_count(r);
	for (int i = 0; i < out->n_resources; i++)
		out->variable_bytes += round_up_i64((int64_t)sim_resource(r, i)->bytes, ARENA_ALIGN);
	const int32_t *offset = out->offset;
	for (int i = 0; i < m->n_subgraphs; i++) {
		plan_subgraph(a, m, &m->subgraph[i], offset, out);
		offset += m->subgraph[i].n_tensors;
		out->n_ops += m->subgraph[i].n_ops;
	}
	out->tensor_bytes += out->plan_bytes;
	out->n_tensors = total;
	out->runtime_bytes = tflm_runtime_bytes(m, out);
	out->arena_bytes = out->tensor_bytes + out->variable_bytes +
			   out->runtime_bytes;
	tflm_two_arenas(m, out);
	return true;
}
