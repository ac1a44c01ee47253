/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that may overlap in time.  DMA against kernels: wait commands by
 * ethosu-commands(7) 11.2.  Kernel against kernel: BLOCKDEP by ethosu-commands(7) 11.3,
 * with the depth of IFM blocks that the hardware really reads.
 */
#include "emit/regs.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "target/accel.h"
#include "target/blocks.h"

#include <assert.h>
#include <string.h>

void
access_add(struct accesses *l, int region, int64_t lo, int64_t hi, bool write)
{
	assert(l->n < MAX_ACCESSES);
	if (lo < hi)
		l->v[l->n++] = (struct access){ region, lo, hi, write };
}

void
access_shram(struct accesses *l, int shram, const struct accel *accel, const struct g_op *op)
{
	int32_t lut = accel_lut_base(accel);
	if (op_has_table(op) || !accel->lut_banks)
		access_add(l, shram, lut, lut + LUT_BYTES, !op_has_table(op));
}

static bool
conflict(const struct accesses *few, const struct accesses *many)
{
	for (int i = 0; i < few->n; i++) {
		const struct access *x = &few->v[i];
		for (int k = many->n - 1; k >= 0; k--) { /* the last ones are a kernel's weights */
			const struct access *y = &many->v[k];
			if (x->region == y->region && (x->write || y->write) &&
			    x->lo < y->hi && y->lo < x->hi)
				return true;
		}
	}
	return false;
}

/*
 * Finds how many operations of the other queue may still run beside l: those younger than
 * the youngest operation that conflicts with l.  That operation and all older ones will be
 * done after a wait, and leave the queue.  -1: no operation conflicts.
 */
static int
outstanding(const struct accesses **q, int *n, const struct accesses *l)
{
	for (int i = *n - 1; i >= 0; i--) {
		const bool more = l->n > q[i]->n;
		if (!conflict(more ? q[i] : l, more ? l : q[i]))
			continue;
		int younger = *n - 1 - i;
		memmove(q, q + i + 1, (size_t)younger * sizeof(*q));
		*n = younger;
		return younger;
	}
	return -1;
}

static void
remember(const struct accesses **q, int *n, int depth, const struct accesses *l)
{
	if (*n == depth) {
		memmove(q, q + 1, (size_t)(depth - 1) * sizeof(*q));
		--*n;
	}
	q[(*n)++] = l;
}

int
hazard_kernel(struct hazards *h, const struct accesses *l)
{
	int n = outstanding(h->dma, &h->n_dma, l);
	remember(h->kernel, &h->n_kernels, MAX_KERNELS, l);
	return n;
}

struct hazard_waits
hazard_dma(struct hazards *h, const struct accel *accel, const struct accesses *l)
{
	struct hazard_waits w = { .kernel = outstanding(h->kernel, &h->n_kernels, l), .dma = -1 };
	if (!accel_lacks(accel, LACK_OVERTAKING))
		w.dma = outstanding(h->dma, &h->n_dma, l);
	remember(h->dma, &h->n_dma, accel->max_dma, l);
	return w;
}

/* ---- the emitter's waits --------------------------------------------------- */

void
access_fm(struct accesses *l, const struct npu_fm *fm, bool write)
{
	struct g_range tile[2];
	int n = emit_extent(fm, tile);
	for (int i = 0; i < n; i++)
		access_add(l, fm->region, tile[i].lo, tile[i].hi, write);
}

static const struct accesses *
kept(struct emitter *m, const struct accesses *l)
{
	struct accesses *k = anew(m->scratch, struct accesses, 1);
	k->v = anew(m->scratch, struct access, (size_t)l->n + 1);
	k->n = l->n;
	memcpy(k->v, l->v, (size_t)l->n * sizeof(*l->v));
	return k;
}

void
emit_kernel_waits(struct emitter *m, struct accesses *l, bool continues)
{
	struct hazards *h = &m->hazards;
	if (continues) { /* the whole chain takes the place of its first kernels */
		assert(h->n_kernels > 0);
		const struct accesses *chain = h->kernel[--h->n_kernels];
		for (int i = 0; i < chain->n; i++)
			access_add(l, chain->v[i].region, chain->v[i].lo, chain->v[i].hi,
				   chain->v[i].write);
	}
	int n = hazard_kernel(h, kept(m, l));
	if (n >= 0)
		emit_wait(m, NPU_DMA_WAIT, n);
}

void
emit_dma_waits(struct emitter *m, const struct accesses *l)
{
	struct hazard_waits w = hazard_dma(&m->hazards, m->accel, kept(m, l));
	if (w.kernel >= 0)
		emit_wait(m, NPU_KERNEL_WAIT, w.kernel);
	if (w.dma >= 0)
		emit_wait(m, NPU_DMA_WAIT, w.dma);
}

/* ---- BLOCKDEP ------------------------------------------------------------ */

struct box {
	int64_t lo[3], hi[3]; /* y, x, c in coordinates of the tensor */
};

/* Number of blocks of a kernel's OFM; depth is the innermost axis, height the outermost. */
static int64_t
block_count(const struct depend *d, int64_t n[3])
{
	struct hwc b = d->op->block;
	n[0] = (d->rows.hi - d->rows.lo + b.h - 1) / b.h;
	n[1] = ceil_div(op_extent(d->op).w, b.w);
	n[2] = (d->depth.hi - d->depth.lo + b.c - 1) / b.c;
	return n[0] * n[1] * n[2];
}

static struct box
ofm_block(const struct depend *d, int64_t i, const int64_t n[3])
{
	struct hwc b = d->op->block, s = op_extent(d->op);
	const int64_t at[3] = { i / (n[1] * n[2]), i / n[2] % n[1], i % n[2] };
	const int64_t size[3] = { b.h, b.w, b.c };
	const int64_t first[3] = { d->rows.lo, 0, d->depth.lo };
	const int64_t end[3] = { d->rows.hi, s.w, d->depth.hi };
	struct box r;
	for (int k = 0; k < 3; k++) {
		r.lo[k] = first[k] + at[k] * size[k];
		r.hi[k] = r.lo[k] + size[k];
		if (r.hi[k] > end[k])
			r.hi[k] = end[k];
	}
	return r;
}

static void
add_start(struct box *b, const struct g_operand *o)
{
	if (o->view != VIEW_BOX)
		return;
	const int32_t s[3] = { o->start.h, o->start.w, o->start.c };
	for (int k = 0; k < 3; k++) {
		b->lo[k] += s[k];
		b->hi[k] += s[k];
	}
}

static bool
reduces_depth(int kind)
{
	return block_class_is_deep(op_block_class(kind));
}

/* The part of its IFM that input job i of a kernel reads. */
static struct box
input_job(const struct depend *d, const struct g_operand *f, int64_t i)
{
	const struct g_op *op = d->op;
	int64_t n[3], slices = 1;
	(void)block_count(d, n);
	if (reduces_depth(op->kind))
		slices = ceil_div(op->ifm.shape.c, d->ifm_block.c);
	struct box b = ofm_block(d, i / slices, n);
	if (!op_is_elementwise(op->kind)) {
		struct yx k = op_dilated(op);
		const int32_t stride[2] = { op->stride.y, op->stride.x };
		const int32_t size[2] = { k.y, k.x };
		const int32_t pad[2] = { op->pad.top, op->pad.left };
		int up = op->upscale == UPSCALE_NONE ? 1 : 2;
		for (int a = 0; a < 2; a++) {
			int64_t lo = b.lo[a] * stride[a] - pad[a];
			int64_t hi = (b.hi[a] - 1) * stride[a] - pad[a] + size[a];
			b.lo[a] = lo < 0 ? 0 : lo / up;
			b.hi[a] = (hi + up - 1) / up;
		}
	}
	if (reduces_depth(op->kind)) {
		b.lo[2] = i % slices * d->ifm_block.c;
		b.hi[2] = b.lo[2] + d->ifm_block.c;
	}
	add_start(&b, f);
	return b;
}

/* Compares the bytes of the whole tensors, which is coarse and safe. */
static bool
tensors_meet(const struct g_tensor *a, const struct g_tensor *b)
{
	if (tensor_is_const(a) || tensor_is_const(b) || a->area != b->area)
		return false;
	return a->at < b->at + tensor_bytes(b) && b->at < a->at + tensor_bytes(a);
}

static bool
same_coordinates(const struct g_operand *a, const struct g_operand *b)
{
	if (a->t != b->t || a->type != b->type || G_HAS(a->t, G_TENSOR_rows))
		return false;
	if (a->view == VIEW_RESHAPE && b->view == VIEW_RESHAPE)
		return hwc_equal(a->shape, b->shape);
	return (a->view == VIEW_WHOLE || a->view == VIEW_BOX) &&
	       (b->view == VIEW_WHOLE || b->view == VIEW_BOX);
}

int
emit_blockdep(const struct accel *a, const struct depend *prev,
	      const struct depend *cur)
{
	int largest = accel_generation(a)->max_blockdep;
	if (!prev->op)
		return 0;
	/* parts with 16 banks: a kernel without a table overwrites the table */
	if (!a->lut_banks && op_has_table(prev->op) && !op_has_table(cur->op))
		return 0;
	const struct g_operand *out = &prev->op->ofm;
	bool first = tensors_meet(out->t, cur->op->ifm.t);
	bool second = cur->op->ifm2.t && tensors_meet(out->t, cur->op->ifm2.t);
	if (!first && !second)
		return largest;
	if (prev->op->kind == OP_REORDER) /* addresses of blocks are not in their order */
		return 0;
	if (cur->op->kind == OP_RESIZE) /* the rows that RESIZE reads are not derived here */
		return 0;
	/* filters are not read in the order in which the OFM is written */
	if (second && (first || cur->op->kind == OP_MATMUL))
		return 0;
	const struct g_operand *in = first ? &cur->op->ifm : &cur->op->ifm2;
	if (!hwc_equal(in->shape, cur->op->ifm.shape) || !same_coordinates(out, in))
		return 0;

	int64_t of_cur[3], jobs = block_count(cur, of_cur);
	if (reduces_depth(cur->op->kind))
		jobs *= ceil_div(cur->op->ifm.shape.c, cur->ifm_block.c);
	int64_t n[3], blocks = block_count(prev, n);
	int64_t most = blocks < jobs ? blocks : jobs;
	int64_t best = most < largest ? most : largest;
	for (int64_t i = 0; i < best && i < jobs; i++) {
		struct box job = input_job(cur, in, i);
		for (int64_t j = 0; i + j < best && j < blocks; j++) {
			struct box b = ofm_block(prev, blocks - 1 - j, n);
			add_start(&b, out);
			bool meet = true;
			for (int k = 0; k < 3; k++)
				meet &= job.lo[k] < b.hi[k] && b.lo[k] < job.hi[k];
			if (meet)
				best = i + j;
		}
	}
	return (int)best;
}
