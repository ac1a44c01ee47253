/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a stream's operands that its own kernels lack: tensors and constants of
 * the model file, and the feature maps that earlier kernels wrote.
 */
#ifndef PERF_OPERAND_INFO_H
#define PERF_OPERAND_INFO_H

#include "base/bytes.h"
#include "perf/perf.h"

/*
 * a tensor of the model that the stream reads or writes, as NHWC; at: bytes in the
 * region
 */
struct perf_tensor {
	int region;
	int64_t at;
	struct hwc shape;
	int bits;
};

/* all zero: no facts */
struct perf_operand_info {
	struct bytes constants; /* of region 0 */
	const struct perf_tensor *place;
	size_t n_places;
};

/* Returns the tensor that contains the byte, or NULL. */
const struct perf_tensor *perf_operand_holding(const struct perf_operand_info *operand_info, int region,
					   int64_t at);

/*
 * Finds the OFM of a kernel before row i, or the tensor, that begins at the byte.
 * Returns false if there is none.
 */
bool perf_operand_at(const struct perf_operand_info *operand_info, const struct perf_run *run, size_t i,
		   int region, int64_t at, struct perf_tensor *out);

/*
 * True if the kernels of two rows scale their first channels by the same scale records,
 * and if the records differ from channel to channel.  Then both kernels compute the
 * same channels.  False if the constants are not available.
 */
bool perf_same_channels(const struct perf_operand_info *operand_info, const struct perf_run *run,
			      const struct perf_row *a, const struct perf_row *b);

#endif
