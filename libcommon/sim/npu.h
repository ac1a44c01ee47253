/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functional NPU model: declarations that its files share.  Numbers are sections of
 * ethosu-commands(7) and ethosu-memory(7).  Private to libcommon/sim.
 *
 * An operation first reads all its inputs, then computes, then writes.  The model has no
 * SHRAM except the 2 KiB of the tables, and no time.
 */
#ifndef SIM_NPU_H
#define SIM_NPU_H

#include "sim/sim.h"
#include "stream/op.h"
#include "stream/stream.h"

struct decoded; /* cache of npu_weights.c */

/*
 * State that U85's operations leave to the next one: chained feature maps, kept
 * accumulators.
 */
struct npu_link {
	int32_t *v; /* [h][w][c]; NULL: the chain buffer is empty */
	struct hwc shape;
	int bits;
	bool is_signed;
};

struct npu_held {
	int64_t *v; /* [h][w][c]; NULL: no accumulators are kept */
	struct hwc shape, ublock;
};

struct npu_run {
	const struct sim_npu_job *job;
	const struct accel *accel;
	struct npu_op op;	/* the current operation */
	struct arena *a;	/* scratch of the current operation */
	struct arena *keep;	/* lives as long as the stream: decoded weights */
	struct decoded *cache;
	struct err *e;
	uint64_t max_steps, budget; /* limit and remainder of steps, so that endless streams
				     * stop */
	uint8_t table[LUT_BYTES];
	bool table_valid[LUT_BYTES];
	uint64_t overflows; /* sums outside the accumulator's range, words outside the OFM's */

	/* U85 only */
	struct arena *links, *holding;
	struct npu_link chain[NPU_MAX_CHAINS];
	struct npu_held held;
	bool flag; /* bit 0 of the last kernel's first result, for branches */
	size_t *op_at; /* words of kernels and transfers; NULL before the first branch */
	size_t n_op_at;
};

/* ---- npu_checks.c: used by all other files, and uses none ----------------- */

/* The name of the current kernel or transfer in the model's source map, or NULL. */
const char *npu_label(struct arena *a, const struct npu_run *r);

/* Sets the error "operator K (ethos-u), 0xOFFSET conv: ...".  Returns false. */
bool npu_fail(struct npu_run *r, const char *fmt, ...) PRINTF(2, 3);

/* Takes n steps, about a nanosecond each, from the budget.  Fails if too few are left. */
bool npu_spend(struct npu_run *r, uint64_t n);

/*
 * Checks that the IFM is not empty and that the kernel suits its dilation; else
 * npu_fail().
 */
bool npu_check_window(struct npu_run *r, int dilation_rule);

/* ---- npu_memory.c: feature maps in and out (ethosu-memory(7) 5) --------- */

/* True if every byte of f is inside its region and may be read or written (rule 30). */
bool fm_check(struct npu_run *r, const struct npu_fm *f, const char *role,
	      bool write);

/* The bytes of a range, or NULL after npu_fail(). */
const uint8_t *range_read(struct npu_run *r, const struct npu_range *n,
			  const char *role);
uint8_t *range_write(struct npu_run *r, const struct npu_range *n,
		     const char *role);

/*
 * Load the whole shape of f as [h][w][c], minus f->zero.  fm_check() must have succeeded.
 * fm_load16() requires fm_fits16().
 */
int16_t *fm_load16(struct npu_run *r, const struct npu_fm *f);
int32_t *fm_load32(struct npu_run *r, const struct npu_fm *f);
int64_t *fm_load64(struct npu_run *r, const struct npu_fm *f);
bool fm_fits16(const struct npu_fm *f);
int32_t fm_largest(const struct npu_fm *f); /* largest possible |element - zero| */

/* Stores v[n][c] at row y, columns x to x + n - 1 of the OFM. */
void fm_store(struct npu_run *r, int32_t y, int32_t x, int32_t n,
	      const int32_t *v);

/* ---- npu_weights.c ------------------------------------------------------ */

struct npu_filters {
	/*
	 * conv: [o][kh][kw][i], rows of pitch elements (a multiple of 16, padded with
	 * zeros); the number of rows is a multiple of 4.  depthwise: [kh][kw][c].
	 */
	int16_t *w;
	int64_t pitch;
	int32_t largest; /* largest |w| */
};

struct npu_channel {
	int64_t bias;
	uint32_t mult;
	int shift;
};

/* Decodes the weights of the operation, or takes them from the cache (rules 32, 39, 43). */
bool npu_load_filters(struct npu_run *r, struct npu_filters *out);
/*
 * One entry per output channel, from the scale records; from OFM_SCALE if scaling is
 * global.
 */
bool npu_load_channels(struct npu_run *r, struct npu_channel **out);

/* ---- npu_output.c: scale, zero point, function, clamp (ethosu-commands(7) 6) ---- */

/* v * mult >> shift, rounded (ethosu-commands(7) 6.2). */
int64_t npu_scale(int64_t v, uint32_t mult, int shift,
		  enum npu_rounding rounding);
/* Operand scaling of ADD and SUB; d is 20 or 15 (ethosu-commands(7) 6.10). */
int64_t npu_scale_operand(int64_t v, uint32_t mult, int shift,
			  enum npu_rounding rounding, int d);

/* Checks registers and table of the output stage. */
bool npu_output_check(struct npu_run *r);
/* From n scaled values to stored ones. */
void npu_output(const struct npu_run *r, const int64_t *s, int64_t n,
		int32_t *out);

/* Counts sums that the accumulator's format can't hold (U8 in ethosu-commands(7) 17). */
void npu_watch(struct npu_run *r, const int64_t *acc, int64_t n);

/* npu_function.c: ethosu-commands(7) 6.6 */
int32_t npu_sigmoid(int64_t v);
int32_t npu_tanh(int64_t v);

/* ---- operations, one file each ------------------------------------------ */

bool npu_run_conv(struct npu_run *r);	   /* npu_conv.c: CONV and DEPTHWISE, of U85, too */
bool npu_run_pool(struct npu_run *r);	   /* npu_pool.c */
bool npu_run_eltwise(struct npu_run *r);   /* npu_eltwise.c */
bool npu_run_dma(struct npu_run *r);	   /* npu_dma.c */

/* ---- stored positions of a kernel's taps (ethosu-memory(7) 5.4) ---------- */

/*
 * One axis.  axis_stored() maps a virtual coordinate v (output position * stride - pad +
 * tap * dilation) to the stored one; -1: padding or an inserted zero.
 */
struct npu_axis {
	int32_t stride, pad, dilation, taps;
	int64_t extent; /* of the upscaled IFM: IH_up or IW_up */
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

/* ---- npu_eltwise.c: what elementwise operations of all generations share ---- */

/* IFM and IFM2 have the same type (rule 13) */
bool npu_check_same_types(struct npu_run *r);
/* Copies row y of [h][w][c] values to one row of the shape `to`, with broadcasts. */
void npu_broadcast_row(const int32_t *v, struct hwc from, struct hwc to, int32_t y,
		       int32_t *row);

static inline int
npu_leading_zeros(int32_t v)
{
	return v ? __builtin_clz((unsigned)v) : 32;
}

/* ---- npu_samples.c: the samples under the kernel of a pool --------------- */

struct npu_samples {
	const int32_t *v; /* [h][w][c], minus the zero point */
	struct hwc shape;
	struct npu_axis ay, ax;
};

/* the value of an accumulator before the first sample */
int64_t npu_samples_start(int mode);
/*
 * Joins the samples inside the IFM to the accumulators of one output position, one per
 * channel.  Returns their number.  ARGMAX: an accumulator is a value times NPU_PLACES, minus
 * the position of the value.
 */
enum { NPU_PLACES = 1 << 16 };
int32_t npu_samples_join(const struct npu_samples *p, int mode, int32_t oy, int32_t ox,
			 int64_t *acc);
/* the steps of a whole pool */
bool npu_samples_spend(struct npu_run *r, struct hwc ofm);
/* 1 / n as the NPU computes it: multiplier and shift, (2^(bits+k) + 2^k) / n >> bits+k */
uint32_t npu_reciprocal(int32_t n, int bits, int *shift);

/* npu_checks.c */
struct npu_axis npu_axis_y(const struct npu_op *op);
struct npu_axis npu_axis_x(const struct npu_op *op);

#endif
