/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a model keeps by name ("resources"), as TensorFlow Lite Micro
 * keeps them: every byte is the zero point of what is first assigned until
 * CALL_ONCE has run the subgraph that initialises them, once.
 */
#ifndef SIM_RESOURCES_H
#define SIM_RESOURCES_H

#include "tflite/tflite.h"

struct sim_resources;

struct sim_resource {
	const char *container, *name;
	size_t bytes; /* 0: nobody reads or assigns it */
	uint8_t fill; /* of all its bytes before anything is assigned */
	bool has_fill;
	uint8_t *value;
};

/*
 * Finds the resources of all subgraphs and fills them.  Fails where a value has
 * another size than its variable, a handle comes from elsewhere than a VAR_HANDLE
 * of the same subgraph, or all are larger than SIM_MAX_BYTES.
 */
bool sim_resources_open(struct arena *a, const struct tfl_model *m,
			struct sim_resources **out, struct err *e);
/* filled as in the beginning, initialising subgraphs are to run again */
void sim_resources_reset(struct sim_resources *r);
size_t sim_resources_count(const struct sim_resources *r);
const struct sim_resource *sim_resource(const struct sim_resources *r, int index);
/* the resource that a tensor is the handle of, -1: of none */
int sim_resource_of(const struct sim_resources *r, int subgraph, int tensor);

bool sim_is_resource_op(const struct tfl_op *op);
/* such an operator of subgraph 0; data: the memory of each of its tensors */
bool sim_run_resource_op(struct sim_resources *r, int op_index,
			 uint8_t *const *data, struct err *e);

#endif
