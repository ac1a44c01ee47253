/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records [-x] GRAPH.wenc...
 *
 * Emits the streams of encoded graphs, and decodes them.  The emitter's records, which estimates
 * read, must equal the decoded operations.  Prints the number of records, and each difference;
 * status 1: there are some.  -x: first changes a member of each record.
 */
#include "base/file.h"
#include "emit/emit.h"
#include "graph/graph.h"
#include "stream/op.h"
#include "stream/stream.h"
#include "target/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t n_records, n_wrong;
static int change;

static void
same(const struct npu_op *op, const char *what, int64_t got, int64_t want)
{
	if (got == want)
		return;
	n_wrong++;
	printf("word %zu, %s: %s %" PRId64 ", decoded %" PRId64 "\n", op->at, npu_op_name(op), what,
	       got, want);
}

#define SAME(field) same(r, #field, (int64_t)r->field, (int64_t)d->field)
#define SAME3(field) (SAME(field.h), SAME(field.w), SAME(field.c))

static void
same_range(const struct npu_op *op, const char *what, struct npu_range r, struct npu_range d)
{
	same(op, what, r.n, d.n);
	if (!r.n)
		return;
	same(op, what, r.at, d.at);
	same(op, what, r.region, d.region);
}

static void
same_fm(const struct npu_op *op, const struct npu_fm *f, const struct npu_fm *e)
{
	same(op, "height", f->shape.h, e->shape.h);
	same(op, "width", f->shape.w, e->shape.w);
	same(op, "depth", f->shape.c, e->shape.c);
	same(op, "zero point", f->zero, e->zero);
	same(op, "bits", f->bits, e->bits);
	same(op, "sign", f->is_signed, e->is_signed);
	same(op, "bricks", f->bricks, e->bricks);
	same(op, "storage", f->storage, e->storage);
	same(op, "chain", f->chain, e->chain);
	if (!npu_fm_stored(f) || (f == &op->ifm2 && op->ifm2_scalar))
		return;
	same(op, "region", f->region, e->region);
	for (int i = 0; i < 4; i++)
		same(op, "base", f->base[i], e->base[i]);
	same(op, "h0", f->h0, e->h0);
	same(op, "h1", f->h1, e->h1);
	same(op, "w0", f->w0, e->w0);
	same(op, "stride_y", f->stride_y, e->stride_y);
	same(op, "stride_x", f->stride_x, e->stride_x);
	same(op, "stride_c", f->stride_c, e->stride_c);
}

static void
same_window(const struct npu_op *r, const struct npu_op *d)
{
	SAME(kernel_h); SAME(kernel_w); SAME(dilated_h); SAME(dilated_w);
	SAME(stride_y); SAME(stride_x); SAME(dilation_y); SAME(dilation_x);
	SAME(pad_top); SAME(pad_left); SAME(pad_bottom); SAME(pad_right);
	SAME(upscale); SAME(ifm_up_h); SAME(ifm_up_w); SAME(part_kernel);
	SAME(resize_y.n); SAME(resize_y.d); SAME(resize_y.offset);
	SAME(resize_x.n); SAME(resize_x.d); SAME(resize_x.offset);
}

static void
same_result(const struct npu_op *r, const struct npu_op *d)
{
	SAME(activation); SAME(clip_range); SAME(min); SAME(max);
	same_range(r, "table", r->table, d->table);
	SAME(global_scale); SAME(rounding); SAME(ifm_rounding);
	SAME(ofm_mult); SAME(ofm_shift); SAME(ofm_double);
	SAME(operand_scale); SAME(opa_mult); SAME(opa_shift); SAME(opa_double);
	if (r->has_ifm2) {
		SAME(opb_mult); SAME(opb_shift); SAME(opb_double); SAME(ifm2_rounding);
	}
	SAME(transpose); SAME(reverse);
}

static void
same_kernel(const struct npu_op *r, const struct npu_op *d, bool u85)
{
	SAME(mode); SAME3(extent);
	same_fm(r, &r->ifm, &d->ifm);
	same_fm(r, &r->ofm, &d->ofm);
	SAME(has_ifm2); SAME(ifm_scalar); SAME(ifm2_scalar); SAME(ifm2_first); SAME(scalar);
	SAME3(ifm_broadcast); SAME3(ifm2_broadcast);
	if (r->has_ifm2)
		same_fm(r, &r->ifm2, &d->ifm2);
	same_window(r, d);
	same_result(r, d);
	SAME(cores); SAME(weights_ifm2); SAME(fast_weights); SAME(sparse_weights);
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		same_range(r, "weights", r->weights[i], d->weights[i]);
	for (int i = 0; i < 2; i++)
		same_range(r, "scales", r->scales[i], d->scales[i]);
	SAME(acc_format); SAME3(block); SAME(blockdep);
	if (u85) {
		SAME3(ublock);
		return;
	}
	SAME(ib_end); SAME(ab_start); SAME(ib2_start);
}

static void
same_dma(const struct npu_op *r, const struct npu_op *d)
{
	same_range(r, "source", r->src, d->src);
	same_range(r, "destination", r->dst, d->dst);
	same_range(r, "rows", r->rows, d->rows);
	SAME(src_internal); SAME(dst_internal); SAME(src_dims); SAME(dst_dims);
	SAME(size0); SAME(size1); SAME(skip0); SAME(skip1);
	SAME(src_step[0]); SAME(src_step[1]); SAME(dst_step[0]); SAME(dst_step[1]);
	SAME(src_indexed); SAME(dst_indexed); SAME(row_max); SAME(row_skip);
}

static void
same_op(const struct npu_op *r, const struct npu_op *d, bool u85)
{
	n_records++;
	SAME(kind); SAME(at); SAME(index); SAME(param); SAME(target);
	if (r->kind != d->kind)
		return;
	if (npu_is_kernel(r))
		same_kernel(r, d, u85);
	else if (r->kind == NPU_DMA)
		same_dma(r, d);
}

static bool
compare_node(struct arena *a, const struct graph *g, const struct g_node *n, struct err *e)
{
	const struct accel *accel;
	struct memory_system memory;
	struct emit_words w;
	struct npu_walk walk;
	struct npu_op d;
	size_t i = 0;
	if (!graph_target(g, &accel, &memory, e) || !emit_node(a, g, n, &w, e))
		return false;
	const struct npu_stream s = { .accel = accel, .word = w.word, .n_words = w.n, .name = "" };
	walk_init(&walk, &s);
	for (; i < w.n_ops && walk_next(&walk, &d, e); i++) {
		w.op[i].blockdep += change;
		same_op(&w.op[i], &d, accel->generation == GEN_U85);
	}
	if (e->status)
		return false;
	if (i < w.n_ops || walk_next(&walk, &d, e))
		return err_set(e, "%zu records, another number of operations", w.n_ops);
	return !e->status;
}

static bool
compare(struct arena *a, const char *path, struct err *e)
{
	struct bytes file;
	struct graph *g;
	if (!file_read(a, path, INT32_MAX, &file, e) ||
	    !graph_read(a, file, path, STAGE_WENC, &g, e))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->nodes[i]->kind == NODE_NPU && !compare_node(a, g, g->nodes[i], e))
			return false;
	return true;
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	change = argc > 1 && !strcmp(argv[1], "-x");
	for (int i = 1 + change; i < argc; i++) {
		struct arena *a = arena_open();
		const bool ok = compare(a, argv[i], &e);
		arena_close(a);
		if (!ok) {
			fprintf(stderr, "%s: %s\n", argv[i], e.text);
			return 2;
		}
	}
	printf("%zu records, %zu differences\n", n_records, n_wrong);
	return n_wrong || !n_records;
}
