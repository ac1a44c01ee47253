/* SPDX-License-Identifier: Apache-2.0 */
/* TOSA graphs in the simulator; private to libcommon/sim. */
#ifndef SIM_TOSA_H
#define SIM_TOSA_H

#include "sim/sim.h"
#include "tosa/tosa.h"

/* tensors and operators of g, without a file */
struct tfl_model *sim_model_of_tosa(struct arena *a, const struct tosa_graph *g);

/* bytes that a tensor takes there; a constant as memory holds it */
size_t sim_tosa_bytes(const struct tosa_tensor *t);
struct bytes sim_tosa_constant(struct arena *a, const struct tosa_tensor *t);

/*
 * One operator; data: of every tensor, as that model has it.  NULL, or a line
 * about a precondition that its operands violate, in keep.
 */
const char *sim_run_tosa_op(struct arena *keep, const struct tosa_graph *g,
			    int op_index, uint8_t *const *data);

/* tosa_loop.c: the same of a WHILE_LOOP, which a warning says has not ended */
const char *sim_run_tosa_loop(struct arena *keep, const struct tosa_graph *g,
			      const struct tosa_op *op, uint8_t *const *data);

#endif
