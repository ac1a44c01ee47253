/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a model keeps by name ("resources"), as in TensorFlow Lite Micro.  All
 * bytes of a variable are the zero point of the value that is first assigned, until
 * CALL_ONCE has run the subgraph that initialises the variables.  This subgraph runs once.
 */
#ifndef SIM_RESOURCES_H
#define SIM_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct sim_resources;
struct tfl_model;
struct tfl_op;

struct sim_resource {
	const char *container, *name;
	size_t bytes; /* 0: no operator reads or assigns it */
	uint8_t fill; /* value of all bytes before the first assignment */
	bool has_fill;
	uint8_t *value;
};

/*
 * Finds the resources of all subgraphs and fills them.  Fails if a value and its variable
 * differ in size, if a handle is not from a VAR_HANDLE of the same subgraph, or if all
 * resources together are larger than SIM_MAX_BYTES.
 */
bool sim_resources_open(struct arena *a, const struct tfl_model *m,
			struct sim_resources **out, struct err *e);
/* Fills the resources as at the start.  Initialising subgraphs will run again. */
void sim_resources_reset(struct sim_resources *r);
size_t sim_resources_count(const struct sim_resources *r);
const struct sim_resource *sim_resource(const struct sim_resources *r, int index);
/* The resource that a tensor is the handle of; -1: none. */
int sim_resource_of(const struct sim_resources *r, int subgraph, int tensor);

bool sim_is_resource_op(const struct tfl_op *op);
/* Runs such an operator of a subgraph.  data has the memory of each tensor. */
bool sim_run_resource_op(struct sim_resources *r, int subgraph, int op_index,
			 uint8_t *const *data, struct err *e);

#endif
