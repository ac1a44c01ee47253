/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Border tensors (inputs and outputs) whose layout in memory is not that of their values.
 * The caller of the simulator reads and writes dense values and sees their shapes.
 * Private to libcommon/sim.
 */
#ifndef SIM_BORDERS_H
#define SIM_BORDERS_H

#include "borders/borders.h"

#include <stdint.h>

struct sim_borders;
struct tfl_op;

/* *out is NULL if the model has no such tensor. */
bool sim_borders_open(struct arena *a, const struct tfl_model *m, struct sim_borders **out,
		   struct err *e);
/* The model with the shapes of the values. */
const struct tfl_model *sim_borders_model(const struct sim_borders *x);
/*
 * The dense values of a tensor; `memory` if its layout is plain.  x may be NULL, also
 * below.
 */
uint8_t *sim_border_values(const struct sim_borders *x, int tensor, uint8_t *memory);
/*
 * Copy the inputs into memory, and the outputs that op wrote out of memory.  data has the
 * memory of each tensor.
 */
void sim_borders_enter(const struct sim_borders *x, uint8_t *const *data);
void sim_borders_leave(const struct sim_borders *x, const struct tfl_op *op, uint8_t *const *data);

#endif
