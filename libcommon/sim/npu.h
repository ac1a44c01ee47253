/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functional NPU model: what its files share.  Numbers are
 * sections of ethosu-commands(7) and ethosu-memory(7).  Private to libcommon/sim.
 *
 * An operation reads its inputs whole, computes, then writes: the model has
 * no SHRAM but the tables' 2 KiB, and no time.
 */
#ifndef SIM_NPU_H
#define SIM_NPU_H

#include "sim/sim.h"
#include "stream/stream.h"

struct decoded; /* weights.c's cache */

/* what U85's operations leave to the next: chained maps, kept accumulators */
struct npu_link {
	int32_t *v; /* [h][w][c]; NULL: empty */
	struct hwc shape;
	int bits;
	bool is_signed;
};

struct npu_held {
	int64_t *v; /* [h][w][c]; NULL: none */
	struct hwc shape, ublock;
};

struct npu_run {
	const struct sim_npu_job *job;
	const struct accel *accel;
	struct npu_op op;	/* being executed */
	struct arena *a;	/* scratch of the operation */
	struct arena *keep;	/* of the stream: decoded weights */
	struct decoded *cache;
	struct err *e;
	uint64_t max_steps, budget; /* against endless streams */
	uint8_t table[LUT_BYTES];
	bool table_valid[LUT_BYTES];
	uint64_t overflows; /* sums that left the accumulator, words the OFM */

	/* U85 */
	struct arena *links, *holding;
	struct npu_link chain[NPU_MAX_CHAINS];
	struct npu_held held;
	bool flag; /* bit 0 of the last kernel's first result, for branches */
	size_t *op_at; /* NULL before the first branch: words of kernels and transfers */
	size_t n_op_at;
};

/* sets "operator K (ethos-u), 0xOFFSET conv: ..."; returns false */
bool npu_fail(struct npu_run *r, const char *fmt, ...) PRINTF(2, 3);

/* takes n steps, about a nanosecond each, from the budget, or fails */
bool npu_spend(struct npu_run *r, uint64_t n);

/* ---- npu_memory.c: feature maps in and out (5) -------------------------- */

/* is every byte of f inside its region, for reading or writing (rule 30)? */
bool fm_check(struct npu_run *r, const struct npu_fm *f, const char *role,
	      bool write);

/* the bytes of a range, or NULL after npu_fail */
const uint8_t *range_read(struct npu_run *r, const struct npu_range *n,
			  const char *role);
uint8_t *range_write(struct npu_run *r, const struct npu_range *n,
		     const char *role);

/*
 * All of f's shape as [h][w][c] less f->zero, after fm_check.  The 16-bit form
 * needs fm_fits16.
 */
int16_t *fm_load16(struct npu_run *r, const struct npu_fm *f);
int32_t *fm_load32(struct npu_run *r, const struct npu_fm *f);
int64_t *fm_load64(struct npu_run *r, const struct npu_fm *f);
bool fm_fits16(const struct npu_fm *f);
int32_t fm_largest(const struct npu_fm *f); /* of |element - zero| */

/* stores v[n][c] at row y, columns x to x + n - 1 of the OFM */
void fm_store(struct npu_run *r, int32_t y, int32_t x, int32_t n,
	      const int32_t *v);

/* ---- npu_weights.c ------------------------------------------------------ */

struct npu_filters {
	/*
	 * conv: [o][kh][kw][i], rows of pitch (a multiple of 16, zero filled),
	 * the number of rows a multiple of 4.  depthwise: [kh][kw][c].
	 */
	int16_t *w;
	int64_t pitch;
	int32_t largest; /* |w| */
};

struct npu_channel {
	int64_t bias;
	uint32_t mult;
	int shift;
};

bool npu_load_filters(struct npu_run *r, struct npu_filters *out);
/* one record an output channel; from OFM_SCALE when scaling is global */
bool npu_load_channels(struct npu_run *r, struct npu_channel **out);

/* ---- npu_output.c: scale, zero point, function, clamp (6.2 to 6.6) ------ */

int64_t npu_scale(int64_t v, uint32_t mult, int shift,
		  enum npu_rounding rounding);
/* operand scaling of ADD and SUB: d is 20 or 15 (6.10) */
int64_t npu_scale_operand(int64_t v, uint32_t mult, int shift,
			  enum npu_rounding rounding, int d);

/* checks registers and table of the output stage */
bool npu_output_check(struct npu_run *r);
/* from scaled values to stored ones, in place */
void npu_output(const struct npu_run *r, const int64_t *s, int64_t n,
		int32_t *out);

/* counts sums that the accumulator's format can't hold (U8) */
void npu_watch(struct npu_run *r, const int64_t *acc, int64_t n);

/* npu_function.c: 6.6 */
int32_t npu_sigmoid(int64_t v);
int32_t npu_tanh(int64_t v);

/* ---- npu.c ---------------------------------------------------------------- */

/* is there an IFM, and does the kernel suit its dilation?  Else npu_fail */
bool npu_check_window(struct npu_run *r, int dilation_rule);

/* ---- operations, one file each ------------------------------------------ */

bool npu_run_conv(struct npu_run *r);	   /* npu_conv.c: and depthwise, U85's */
bool npu_run_pool(struct npu_run *r);	   /* npu_pool.c */
bool npu_run_eltwise(struct npu_run *r);   /* npu_eltwise.c */
bool npu_run_dma(struct npu_run *r);	   /* npu_dma.c */

/* ---- where a kernel's taps fall (5.4) ----------------------------------- */

/*
 * Along one axis: from virtual coordinate v (output position * stride - pad +
 * tap * dilation) to the stored one, or -1 for padding and inserted zeros.
 */
struct npu_axis {
	int32_t stride, pad, dilation, taps;
	int64_t extent; /* upscaled: IH_up */
	enum upscale upscale;
};

static inline int32_t
axis_stored(const struct npu_axis *a, int64_t v)
{
	if (v < 0 || v >= a->extent)
		return -1;
	if (a->upscale == UPSCALE_NONE)
		return (int32_t)v;
	if (a->upscale == UPSCALE_ZEROS && v % 2)
		return -1;
	return (int32_t)(v / 2);
}

static inline int32_t
axis_tap(const struct npu_axis *a, int32_t out, int32_t tap)
{
	return axis_stored(a, (int64_t)out * a->stride - a->pad +
				  (int64_t)tap * a->dilation);
}

/* npu.c */
struct npu_axis npu_axis_y(const struct npu_op *op);
struct npu_axis npu_axis_x(const struct npu_op *op);

#endif
