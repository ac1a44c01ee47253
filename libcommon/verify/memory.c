/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that operations read and write: rules 29 to 38, 52 and 59. */
#include "verify/rules.h"

#include "target/accel.h"

#include <inttypes.h>
#include <string.h>

/* ---- one access --------------------------------------------------------- */

struct access {
	struct checker *c;
	struct memory *m;
	const char *role;
	int region;
	bool write, bad; /* bad: a finding was reported */
	int64_t tail; /* number of bytes at the end of the access that may be unwritten */
};

/*
 * Checks one run of bytes: the run is inside the buffer (rule 30), and all bytes that
 * are read have been written (rule 52).
 */
static bool
check_run(void *ctx, int64_t at, int64_t n)
{
	struct access *x = ctx;
	struct memory *m = x->m;
	if (at < 0 || at > m->bytes || n > m->bytes - at) {
		ERROR(x->c, 30, "%s: %" PRId64 " bytes at 0x%" PRIx64
		      " are outside region %d of %" PRId64 " bytes", x->role, n,
		      (uint64_t)at, x->region, m->bytes);
		x->bad = true;
		return false;
	}
	if (!x->c->runs)
		return false;
	x->c->runs--;
	if (!m->written)
		return true;
	if (x->write) {
		written_mark(m->written, at, n);
		return true;
	}
	int64_t hole = written_hole(m->written, at, n);
	if (hole < 0 || (x->tail && hole >= at + n - x->tail))
		return true;
	ERROR(x->c, VERIFY_RULE_WRITTEN, "%s: byte 0x%" PRIx64 " of region %d"
	      " is read, and nothing has written it", x->role,
	      (uint64_t)hole, x->region);
	x->bad = true;
	return false;
}

/* Checks rules 29 and 33.  False: the region has no buffer that the access can be checked with. */
static bool
open_access(struct access *x, struct checker *c, int region, const char *role,
	    bool write)
{
	*x = (struct access){ .c = c, .role = role, .region = region,
			      .write = write, .m = &c->memory[region] };
	ERROR_IF(write && region == 0, c, 33, "%s is written to region 0, which "
		 "is read-only", role);
	if (!c->has_memory)
		return false;
	ERROR_IF(!x->m->bound, c, 29, "%s: region %d has no buffer", role,
		 region);
	return x->m->bound && !(write && x->m->read_only);
}

bool
access_range(struct checker *c, const struct npu_range *r, const char *role,
	     bool write)
{
	struct access x;
	if (r->n <= 0 || !open_access(&x, c, r->region, role, write))
		return true;
	(void)check_run(&x, r->at, r->n);
	return !x.bad;
}

static bool
access_fm(struct checker *c, const struct npu_fm *f, const char *role,
	  bool write)
{
	struct access x;
	if (!open_access(&x, c, f->region, role, write))
		return true;
	int64_t n = hwc_elements(f->shape) * npu_fm_bytes(f);
	if (n > x.m->bytes && npu_fm_nests(f)) {
		ERROR(c, 30, "%s of %" PRId64 " bytes is larger than region %d"
		      " of %" PRId64 " bytes", role, n, f->region, x.m->bytes);
		return false;
	}
	(void)npu_fm_runs(f, npu_fm_box(f), check_run, &x);
	return !x.bad;
}

/* ---- rule 31: alignment ------------------------------------------------- */

static void
check_alignment(struct checker *c, const struct npu_fm *f, const char *role)
{
	int64_t e = f->bits / 8, unit = f->bricks ? BRICK : e;
	for (int t = 0; t < 4; t++)
		ERROR_IF(f->base[t] % unit, c, 31, "%s: base 0x%" PRIx64
			 " of tile %d is no multiple of %" PRId64, role,
			 (uint64_t)f->base[t], t, unit);
	ERROR_IF(f->stride_y % unit, c, 31, "%s: row stride %" PRId64
		 " is no multiple of %" PRId64, role, f->stride_y, unit);
	if (f->bricks) {
		ERROR_IF(f->stride_x != BRICK * e, c, 31, "%s: column stride %"
			 PRId64 " of NHCWB16, which needs %" PRId64 " bytes", role,
			 f->stride_x, BRICK * e);
		ERROR_IF(f->stride_c % unit, c, 31, "%s: depth stride %" PRId64
			 " is no multiple of 16", role, f->stride_c);
	} else {
		ERROR_IF(f->stride_x % unit, c, 31, "%s: column stride %" PRId64
			 " is no multiple of %" PRId64, role, f->stride_x, unit);
	}
}

/* ---- rule 32: weights and scales ---------------------------------------- */

void
check_streams(struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool filters = op->kind == NPU_CONV || op->kind == NPU_DEPTHWISE;
	for (int k = 0; filters && k < op->cores; k++) {
		int32_t n = (op->ofm.shape.c - k + op->cores - 1) / op->cores;
		const struct npu_range *w = &op->weights[k], *s = &op->scales[k];
		int64_t need = (int64_t)n * 10;
		ERROR_IF(w->at % 16 || w->n % 16, c, 31, "weights: address 0x%"
			 PRIx64 " or length %" PRId64 " is no multiple of 16",
			 (uint64_t)w->at, w->n);
		ERROR_IF(n > 0 && w->n == 0, c, 32, "core %d has %d channels"
			 ", but no weights", k, n);
		if (op->global_scale)
			continue;
		ERROR_IF(s->n % 16, c, 31, "scales: length %" PRId64
			 " is no multiple of 16", s->n);
		ERROR_IF(s->n < (need + 15) / 16 * 16 || s->n >= 1 << 20, c, 32,
			 "core %d: %" PRId64 " bytes of scales for %d channels of 10 "
			 "bytes each, in all below 2^20",
			 k, s->n, n);
		WARN_IF(s->at % 16, c, 31, "scales: address 0x%" PRIx64
			" is no multiple of 16", (uint64_t)s->at);
	}
}

/* ---- rules 34, 35 ------------------------------------------------------- */

/* True if the runs of a feature map are few enough to compare each pair of runs. */
static bool
is_small(const struct npu_fm *f)
{
	return (int64_t)f->shape.h * f->shape.w * (f->shape.c / BRICK + 1) < 2048;
}

/*
 * True for a pool that moves one row to lower addresses, in blocks that hold whole pixels.  The
 * blocks write in ascending order, and each byte is read before its block's own write or before
 * that of a later block.
 */
static bool
shifts_down(const struct npu_op *op)
{
	const struct npu_fm *in = &op->ifm, *out = &op->ofm;
	return op->kind == NPU_POOL && op->kernel_h == 1 && op->kernel_w == 1 &&
	       op->stride_x == 1 && op->upscale == UPSCALE_NONE && op->transpose == NPU_HWC &&
	       op->reverse == NPU_FORWARD && hwc_equal(in->shape, out->shape) &&
	       in->bits == out->bits && out->shape.h == 1 && out->shape.c <= op->block.c &&
	       !in->bricks && !out->bricks && in->w0 >= in->shape.w && out->w0 >= out->shape.w &&
	       in->stride_x == out->stride_x &&
	       in->stride_x >= in->shape.c * npu_fm_bytes(in) && out->base[0] < in->base[0];
}

/* Checks operand 0, the IFM, or 1, IFM2. */
static void
check_in_place(struct checker *c, int which)
{
	const struct npu_op *op = &c->op;
	const struct npu_fm *in = which ? &op->ifm2 : &op->ifm, *out = &op->ofm;
	const char *role = which ? "IFM2" : "IFM";
	if (in->region != out->region)
		return;
	bool same = op->kind == NPU_ELEMENTWISE && npu_fm_same_place(in, out) &&
		    hwc_equal(in->shape, out->shape);
	if (same || !npu_fm_extents_overlap(in, npu_fm_box(in), out, npu_fm_box(out)) || (!which && shifts_down(op)))
		return;
	if (npu_block_overwritten(op, c->accel, which, &c->runs))
		ERROR(c, 35, "a block of the OFM overwrites bytes of the %s that a later "
		      "block reads", role);
	else if (!is_small(in) || !is_small(out))
		WARN(c, 35, "the address ranges of OFM and %s overlap, and are too large to "
		     "compare byte by byte", role);
	else
		WARN_IF(npu_fm_overlap(in, npu_fm_box(in), out, npu_fm_box(out), NULL), c,
			35, "the OFM overwrites bytes of the %s", role);
}

/*
 * Rule 59: pixels of an IFM that share bytes are overlapping windows of one row, or are repeated
 * by a stride of 0 or by a second tile.  Other reads of this kind, and an OFM over such an IFM, are errors: no reason
 * for them is known.
 */
static void
check_windows(struct checker *c)
{
	const struct npu_fm *f = &c->op.ifm;
	bool filters = c->op.kind == NPU_CONV || c->op.kind == NPU_DEPTHWISE;
	bool tiles = f->shape.w > f->w0 || f->shape.h > f->h0 || f->shape.h > f->h1;
	if (!filters || tiles || npu_fm_nests(f))
		return;
	int64_t e = npu_fm_bytes(f), row = (f->shape.w - 1) * f->stride_x + f->shape.c * e;
	/* in each direction, elements are apart, or a stride of 0 repeats one element */
	bool windows = !f->bricks &&
		       (f->shape.w == 1 || !f->stride_x || f->stride_x >= e) &&
		       (f->shape.h == 1 || !f->stride_y || f->stride_y >= row);
	ERROR_IF(!windows, c, 59, "pixels of the IFM share bytes, and are not windows of one row of "
		 "NHWC");
	ERROR_IF(c->op.ofm.region == f->region &&
			 npu_fm_extents_overlap(f, npu_fm_box(f), &c->op.ofm, npu_fm_box(&c->op.ofm)), c, 59,
		 "the OFM shares bytes with an IFM whose pixels overlap");
}

bool
check_kernel_memory(struct checker *c)
{
	const struct npu_op *op = &c->op;
	/* IFM, IFM2 and OFM are in memory */
	bool tensor1 = !op->ifm_scalar && npu_fm_stored(&op->ifm);
	bool tensor2 = op->has_ifm2 && !op->ifm2_scalar && npu_fm_stored(&op->ifm2);
	bool out = npu_fm_stored(&op->ofm) && !op->acc_kept;
	int most = c->rules->max_bits;
	if (op->ifm.bits > most || op->ofm.bits > most || op->ifm_up_h < 1 ||
	    op->ifm_up_w < 1 || (op->has_ifm2 && op->ifm2.bits > most))
		return false; /* other rules have reported it */
	if (tensor1) {
		check_alignment(c, &op->ifm, "IFM");
		check_windows(c);
	}
	if (out)
		check_alignment(c, &op->ofm, "OFM");
	if (tensor2)
		check_alignment(c, &op->ifm2, "IFM2");
	c->rules->streams(c);
	WARN_IF(out && !npu_fm_nests(&op->ofm), c, 34,
		"two elements of the OFM may share a byte");
	if (tensor1 && out)
		check_in_place(c, 0);
	if (tensor2 && out)
		check_in_place(c, 1);
	bool ok = !tensor1 || access_fm(c, &op->ifm, "IFM", false);
	if (tensor2)
		ok &= access_fm(c, &op->ifm2, "IFM2", false);
	for (int k = 0; k < NPU_MAX_STREAMS; k++)
		ok &= access_range(c, &op->weights[k], "weights", false);
	for (size_t k = 0; k < ARRAY_LEN(op->scales); k++)
		ok &= access_range(c, &op->scales[k], "scales", false);
	return (!out || access_fm(c, &op->ofm, "OFM", true)) && ok;
}

/* ---- DMA: rules 36, 37 -------------------------------------------------- */

void
access_dma(struct checker *c, int which, const char *role)
{
	const struct npu_op *op = &c->op;
	struct access x;
	int region = which ? op->dst.region : op->src.region;
	if (!op->src.n || !open_access(&x, c, region, role, which))
		return;
	/* a length of 16 n may copy bytes behind a tensor (rule 36) */
	x.tail = 15;
	(void)npu_dma_runs(op, which, check_run, &x);
}

void
check_dma(struct checker *c)
{
	const struct npu_op *op = &c->op;
	int64_t at = op->dst.at, n = op->dst.n;
	ERROR_IF(op->src_dims > 3 || op->dst_dims > 3, c, 8, "stride mode 3 is not defined");
	if (op->src_internal) {
		WARN(c, 37, "the transfer reads from SHRAM");
	} else {
		ERROR_IF(!accel_is_wide(c->accel) && op->src.at % 16, c, 36,
			 "source address 0x%" PRIx64 " is no multiple of 16",
			 (uint64_t)op->src.at);
		access_dma(c, 0, "DMA source");
	}
	if (op->dst_internal) {
		int32_t base = accel_lut_base(c->accel);
		int all = (1 << c->accel->cores) - 1;
		ERROR_IF(at % 16 || n % 16, c, 36, "SHRAM address 0x%" PRIx64
			 " or length %" PRId64 " is no multiple of 16", (uint64_t)at, n);
		ERROR_IF(at < base || n > base + LUT_BYTES - at, c, 37,
			 "SHRAM address 0x%" PRIx64 " with %" PRId64 " bytes is outside the "
			 "tables at 0x%" PRIx32, (uint64_t)at, n, (uint32_t)base);
		ERROR_IF((op->dst.region & all) != all, c, 37,
			 "core mask %d does not select all %d cores", op->dst.region,
			 c->accel->cores);
		for (int64_t i = at - base; i >= 0 && i < at - base + n && i < LUT_BYTES;
		     i++)
			c->table_valid[i] = true;
		return;
	}
	ERROR_IF(!accel_is_wide(c->accel) && (at % 16 || n % 16), c, 36,
		 "destination address 0x%" PRIx64 " or length %" PRId64
		 " is no multiple of 16", (uint64_t)at, n);
	access_dma(c, 1, "DMA destination");
}

/* ---- tables: rule 38 ---------------------------------------------------- */

void
check_tables(struct checker *c)
{
	const struct npu_op *op = &c->op;
	if (!npu_uses_table(op)) {
		/* accumulators overwrite the tables (ethosu-memory(7) 8.3) */
		if (!c->accel->lut_banks)
			memset(c->table_valid, 0, sizeof(c->table_valid));
		return;
	}
	struct npu_range t = op->table;
	int n = op->activation - NPU_ACT_TABLE0;
	if (n > 7)
		return;
	ERROR_IF((t.n == 1024 && n % 4) || (t.n == 2048 && n), c, 38,
		 "table %d: a table of %" PRId64 " bytes cannot begin at this slot", n, t.n);
	for (int64_t i = t.at; i < t.at + t.n && i < LUT_BYTES; i++)
		if (!c->table_valid[i]) {
			ERROR(c, 38, "table %d: byte %" PRId64 " of %" PRId64
			      " has not been loaded", n, i - t.at, t.n);
			return;
		}
}
