/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs whose layout in memory is not that of their values: whoever
 * runs the model reads and writes values, one behind the other, and sees their
 * shapes.  Private to libcommon/sim.
 */
#ifndef SIM_ENDS_H
#define SIM_ENDS_H

#include "stream/ends.h"

struct sim_ends;

/* *out: NULL where the model has none */
bool sim_ends_open(struct arena *a, const struct tfl_model *m, struct sim_ends **out,
		   struct err *e);
/* the model with the shapes of the values */
const struct tfl_model *sim_ends_model(const struct sim_ends *x);
/* the values of a tensor; else, memory.  x may be NULL, here and below */
uint8_t *sim_end_values(const struct sim_ends *x, int tensor, uint8_t *memory);
/* inputs into memory; the outputs that op wrote, out of it.  data: of all tensors */
void sim_ends_enter(const struct sim_ends *x, uint8_t *const *data);
void sim_ends_leave(const struct sim_ends *x, const struct tfl_op *op, uint8_t *const *data);

#endif
