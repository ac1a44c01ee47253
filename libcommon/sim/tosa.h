/* SPDX-License-Identifier: Apache-2.0 */
/* TOSA graphs in the simulator; private to libcommon/sim. */
#ifndef SIM_TOSA_H
#define SIM_TOSA_H

#include "sim/sim.h"
#include "tosa/tosa.h"

/* Tensors and operators of g, without a file. */
struct tfl_model *sim_model_of_tosa(struct arena *a, const struct tosa_graph *g);

/* Bytes of a tensor in this model; a constant as memory holds it. */
size_t sim_tosa_bytes(const struct tosa_tensor *t);
struct bytes sim_tosa_constant(struct arena *a, const struct tosa_tensor *t);

/*
 * Runs one operator; data has the memory of every tensor of the model.  Returns NULL, or a
 * line, allocated in keep, about a precondition that the operands violate.
 */
const char *sim_run_tosa_op(struct arena *keep, const struct tosa_graph *g,
			    int op_index, uint8_t *const *data);

/* tosa_loop.c: the same for a WHILE_LOOP.  A loop that does not end yields a warning. */
const char *sim_run_tosa_loop(struct arena *keep, const struct tosa_graph *g,
			      const struct tosa_op *op, uint8_t *const *data);

#endif
