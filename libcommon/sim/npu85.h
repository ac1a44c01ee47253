/* SPDX-License-Identifier: Apache-2.0 */
/*
 * U85's part of the functional model (ethosu-commands(7), sections above 20).  Besides
 * memory, its operations leave chain buffers, accumulators, and a flag for branches.
 * Private to libcommon/sim.
 */
#ifndef SIM_NPU85_H
#define SIM_NPU85_H

#include "sim/npu.h"

/* ---- npu85_fm.c: operands and results --------------------------------- */

/*
 * An operand of [h][w][c] elements minus its zero point: from memory, from a chain buffer,
 * or a scalar, which has one element.  For elements of 64 bits v64 is set instead of v.
 */
struct npu_operand {
	const int32_t *v;
	const int64_t *v64;
	struct hwc shape;
};

/* Returns false after npu_fail(). */
bool npu85_load(struct npu_run *r, const struct npu_fm *f, bool scalar,
		const char *role, struct npu_operand *out);

/* Stores n results [n][c] of row y, from column x on, to memory or to a chain buffer. */
void npu85_store(struct npu_run *r, int32_t y, int32_t x, int32_t n,
		 const int64_t *v);

/*
 * npu85_open_ofm() checks the OFM and allocates the chain buffer of a chained one.
 * npu85_close_ofm() is called at the end of an operation.
 */
bool npu85_open_ofm(struct npu_run *r);
void npu85_close_ofm(struct npu_run *r);

/* ---- npu85_output.c: steps 5 to 9 of ethosu-commands(7) 26.1 ------------- */

/*
 * (v * mult + addend) >> shift; the addend depends on the sign of v
 * (ethosu-commands(7) 26.2).
 */
struct npu_scaler {
	uint32_t mult;
	int shift;
	int64_t add, add_negative;
};

/* Precomputes a scale; npu_scaled() applies it to v. */
struct npu_scaler npu_scaler(uint32_t mult, int shift, enum npu_rounding mode,
			     int double_shift);
int64_t npu_scaled(const struct npu_scaler *s, int64_t v);

/* The output stage.  npu85_stage() checks it and prepares the channels' scales and biases. */
struct npu_stage {
	struct npu_scaler *scaler; /* one per channel; NULL: `one` for all */
	const struct npu_channel *channel;
	struct npu_scaler one;
	int64_t *row;
};
bool npu85_stage(struct npu_run *r, struct npu_stage *s);

/*
 * Passes on accumulators acc[n][c] of row y from column x on: they are kept (then acc has
 * their final values), or are scaled and stored.
 */
bool npu85_put(struct npu_run *r, struct npu_stage *s, int32_t y, int32_t x,
	       int32_t n, int64_t *acc);

/* ---- accumulators (ethosu-commands(7) 26.5) -------------------------------- */

/*
 * npu85_open_accumulators() checks accumulators that are continued or kept, and allocates
 * those to keep.  npu85_held() returns the start values of row y from column x on, [w][c];
 * NULL: they start at 0.
 */
bool npu85_open_accumulators(struct npu_run *r);
const int64_t *npu85_held(const struct npu_run *r, int32_t y, int32_t x);

/* ---- operations ---------------------------------------------------------- */

/* Called before a kernel, and after it even if it failed. */
bool npu85_check(struct npu_run *r);
void npu85_close(struct npu_run *r);
bool npu85_run_pool(struct npu_run *r);
bool npu85_run_eltwise(struct npu_run *r);
bool npu85_run_resize(struct npu_run *r);
bool npu85_run_dma(struct npu_run *r);

/* The filters of a matrix product, for npu_conv.c. */
bool npu85_matrix(struct npu_run *r, struct npu_filters *out);

#endif
