/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nputools-ops(7): where INT32 wraps around in the reference, the NPU saturates.
 * Does it, in these very inputs?
 */
#ifndef FUZZ_WRAP_H
#define FUZZ_WRAP_H

#include "sim/sim.h"

/*
 * Runs the plain model once for every kind of inputs, as npu-sim --inputs does from
 * seed 0, and computes its INT32 arithmetic again without an end.  A model that does
 * not run does not wrap.
 */
bool model_wraps(struct arena *a, const struct tfl_model *m, const enum sim_values *kinds,
		 size_t n_kinds);

#endif
