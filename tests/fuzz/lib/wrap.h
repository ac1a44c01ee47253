/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nputools-ops(7): INT32 arithmetic wraps around in the reference and saturates on
 * the NPU.  Determines whether this happens with the current inputs.
 */
#ifndef FUZZ_WRAP_H
#define FUZZ_WRAP_H

#include "sim/sim.h"

/*
 * Runs the plain model once for every kind of inputs, as npu-sim --inputs does from
 * seed 0, and computes its INT32 arithmetic again without a limit.  A model that does
 * not run does not wrap.
 */
bool model_wraps(struct arena *a, const struct tfl_model *m, const enum sim_values *kinds,
		 size_t n_kinds);

#endif
