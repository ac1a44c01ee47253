/* SPDX-License-Identifier: Apache-2.0 */
/* A subgraph, ready to run: shared by open.c and run.c. */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include "sim/sim.h"
#include "tflite/tflite.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct sim {
	struct arena *a;
	const struct tfl_model *m;
	const struct tfl_subgraph *g;
	struct sim **body; /* by subgraph, with the first one; NULL: nobody calls it */
	int turns;	   /* of loops in this inference; in the first subgraph's */
	uint8_t **data;	     /* memory of every tensor */
	const int32_t *plan; /* offset of each tensor, -1: not planned; NULL: no plan */
	uint8_t *planned;    /* the buffer that planned tensors share */
	size_t planned_bytes;
	uint8_t *fast; /* NPU region 2, kept between operators */
	size_t fast_bytes;
	bool *is_input; /* by tensor */
	struct sim_resources *resources;
	const struct npu_map *names; /* NULL: no names */
	const struct tosa_graph *tosa; /* NULL: a TFLite model */
	const char **warning;	       /* one per operator of the TOSA graph, or NULL */
	const char **stand_in; /* by operator: why random values stood in, or NULL; NULL: not
				* allowed */
	struct sim_borders *borders; /* NULL: all tensors are as their shapes say */
};

/* Inputs of an ethos-u operator: ethosu-commands(7) 13.3. */
enum { IN_STREAM, IN_FLASH, IN_SCRATCH, IN_FAST, N_SPECIAL };

/* the operator of the NPU's driver */
static inline bool
sim_is_npu(const struct tfl_op *op)
{
	return op->code == TFL_CUSTOM && !strcmp(op->custom, "ethos-u");
}

/* Is the tensor at an offset of the plan? */
static inline bool
sim_is_planned(const struct sim *s, int i)
{
	return s->plan && s->plan[i] >= 0 && !s->g->tensor[i].data.p;
}

#endif
