/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file tells of its streams' maps and constants beside the streams; and what
 * earlier kernels of a stream tell of later ones' operands.
 */
#ifndef PERF_KNOWN_H
#define PERF_KNOWN_H

#include "base/bytes.h"
#include "perf/perf.h"

/* a tensor of the model that the stream reads or writes; NHWC */
struct perf_place {
	int region;
	int64_t at;
	struct hwc shape;
	int bits;
};

/* all zero: nothing is known */
struct perf_known {
	struct bytes constants; /* of region 0 */
	const struct perf_place *place;
	size_t n_places;
};

/* the tensor that has that byte */
const struct perf_place *perf_known_holder(const struct perf_known *known, int region,
					   int64_t at);

/* the tensor that begins there, or the OFM of a kernel before row i; false: none */
bool perf_known_at(const struct perf_known *known, const struct perf_run *run, size_t i,
		   int region, int64_t at, struct perf_place *out);

/*
 * Do the kernels of two rows scale their first channels alike, by the same bytes, and
 * differently from channel to channel?  Then they make the same channels: false where
 * the constants aren't known.
 */
bool perf_known_same_channels(const struct perf_known *known, const struct perf_run *run,
			      const struct perf_row *a, const struct perf_row *b);

#endif
