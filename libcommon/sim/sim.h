/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs models on the host, with the same bits as TensorFlow Lite Micro.  Plain operators
 * run by the reference kernels, "ethos-u" operators by executing their command stream.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/bytes.h"
#include "target/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct tfl_model;
struct tfl_op;
struct tfl_subgraph;
struct tfl_tensor;

/* ---- a model, ready to run -------------------------------------------- */

struct sim;

/*
 * Callbacks of sim_invoke().  Every member may be NULL.  A callback that returns false
 * (and sets e) stops the run.
 */
struct sim_npu_event;
struct sim_npu_job;

/* what runs command streams in sim_npu_run()'s place; run NULL: nothing does */
struct sim_npu {
	void *ctx;
	bool (*run)(void *ctx, const struct sim_npu_job *job, struct err *e);
};

struct sim_hooks {
	void *ctx;
	/* Operator op_index of subgraph 0 has written its outputs. */
	bool (*op_done)(void *ctx, struct sim *s, int op_index, struct err *e);
	/* The NPU has executed one operation of operator op_index. */
	void (*npu_event)(void *ctx, const struct sim_npu_event *ev);
	struct sim_npu npu;
};

/*
 * Activations above this many bytes in total are refused: 256 MiB is beyond any
 * microcontroller, and a small hostile file can't ask for more memory.
 */
#define SIM_MAX_BYTES ((size_t)1 << 28)

/*
 * Allocates the memory of every tensor of subgraph 0, and of its bodies (tflite/calls.h).  Constants stay in the file.
 *
 * In a plain model each tensor has its own buffer.  In a model with an
 * "OfflineMemoryAllocation" (ethosu-commands(7) 13.4) the planned tensors share one buffer
 * at their offsets, so that tensors overlap as in the plan.  Variables get their initial
 * value (sim_reset).  m must outlive s.
 *
 * IF and WHILE run the subgraphs that they call, which have memory of the same kinds.
 *
 * Fails on an operator that no kernel implements, and on plans that overlap or exceed
 * SIM_MAX_BYTES.
 */
bool sim_open(struct arena *a, const struct tfl_model *m, struct sim **out,
	      struct err *e);

/*
 * The same for two models that are to be compared.  An operator may have no kernel, or be
 * refused by its kernel.  Random values, seeded with XXH3 of the operator's inputs, then
 * stand in for its results: they differ if the two models feed different inputs to the
 * operator.
 */
bool sim_open_to_compare(struct arena *a, const struct tfl_model *m,
			 struct sim **out, struct err *e);
/*
 * The same for a TOSA graph (tosa/tosa.h).  sim_model() is then a model with the graph's
 * tensors and operators, without a file.
 */
struct tosa_graph;
bool sim_open_tosa(struct arena *a, const struct tosa_graph *g, struct sim **out,
		   struct err *e);
/* The number of an operator as messages name it: its index; of a TOSA graph, that in its file. */
int sim_op_number(const struct sim *s, int op_index);
/*
 * After sim_invoke(): a line about the first value of this operator of a TOSA graph that
 * violates a precondition, so that the result is undefined; or NULL.
 */
const char *sim_warning(const struct sim *s, int op_index);
/*
 * After sim_invoke(): why random values stood in for the results of this operator; NULL if
 * its kernel computed them.
 */
const char *sim_stand_in(const struct sim *s, int op_index);
/* Writes these random values for an operator of g; data has the memory of each tensor. */
void sim_stand_in_values(const struct tfl_subgraph *g, const struct tfl_op *op,
			 uint8_t *const *data);

/*
 * Resets variables to their initial values (nputools-tflite(5) 6.1), variables kept by
 * name (sim/resources.h) included.
 */
void sim_reset(struct sim *s);

/*
 * Moves the planned tensors of a compiled model to memory of the caller, which has the bytes
 * of the plan and may be shared with other models.  Variables keep their values.
 */
void sim_place(struct sim *s, uint8_t *memory);

/*
 * The memory of tensor index of subgraph 0: tfl_bytes(tensor) bytes.  Write inputs before
 * sim_invoke(), read outputs after it.  Between operators a planned tensor holds its value
 * only during its lifetime.
 */
void *sim_tensor(struct sim *s, int index);
const struct tfl_model *sim_model(const struct sim *s);

/* Runs all operators once; hooks may be NULL. */
bool sim_invoke(struct sim *s, const struct sim_hooks *hooks, struct err *e);

/*
 * Fills a tensor with random elements.  SplitMix64 takes one step from *state per element,
 * and the element is the highest bits of the result: uniform over an integer type;
 * FLOAT32: a signed 24-bit integer divided by 2^23, so in [-1, 1); BOOL: one bit.
 */
void sim_random(uint64_t *state, const struct tfl_tensor *t, void *data);

/*
 * Other input values that are worth testing: every element is the minimum of its type, or
 * the maximum, or the two alternate, the minimum first.  FLOAT32: -1 and 1; BOOL: 0 and 1.
 */
enum sim_values { SIM_RANDOM, SIM_MIN, SIM_MAX, SIM_ALTERNATING, SIM_N_VALUES };
/* Returns "random", "min", "max" or "alternating". */
const char *sim_values_name(enum sim_values v);
/* state is used and advanced by SIM_RANDOM only. */
void sim_make_values(enum sim_values v, uint64_t *state,
		     const struct tfl_tensor *t, void *data);

/*
 * Finds tensors of indices in g, whose operators are in execution order.  Returns one
 * number per tensor: how many things its elements select from in GATHER, GATHER_ND,
 * SCATTER_ND or EMBEDDING_LOOKUP, directly or through RESHAPE, SQUEEZE, EXPAND_DIMS and
 * CAST.  It is the smallest number if there are several, and 0 if no operator uses the
 * elements as indices.
 */
int64_t *sim_indices(struct arena *a, const struct tfl_subgraph *g);

/*
 * The same as sim_make_values() for a tensor of indices of n things, INT32 or INT64:
 * values are from 0 to n - 1 instead of all values of the type.  A random index is the
 * integer part of n * (the 32 highest bits of a step) / 2^32.
 */
void sim_make_indices(enum sim_values v, uint64_t *state, const struct tfl_tensor *t,
		      int64_t n, void *data);

/* ---- the NPU ------------------------------------------------------------ */

enum { SIM_N_REGIONS = 8 };

/* The memory behind one base pointer (BASEP). */
struct sim_region {
	const uint8_t *rd; /* NULL: no memory is bound to this region */
	uint8_t *wr;	   /* the same memory; NULL: read-only */
	size_t bytes;
};

/* Sent after every operation of a stream.  text is one line without newline. */
struct npu_op;
struct sim_npu_event {
	int op_index;	 /* index of the ethos-u operator in subgraph 0 */
	size_t at_bytes; /* offset of the command word from the stream's first word */
	const char *text;
	const struct npu_op *op; /* decoded: stream/stream.h */
	const struct sim_region *region; /* the SIM_N_REGIONS regions of the job */
};

/*
 * One ethos-u operator (ethosu-commands(7) 13.3, 14).  payload is its input 0, driver
 * header included, and names the accelerator.  If accel is set, payload is instead the
 * bare words that such a device would fetch.  Region k is input k + 1, then the outputs
 * follow: 0 constants, 1 the tensor arena, 2 the fast memory.
 */
struct map_command; /* see map/map.h */
struct sim_npu_job {
	const char *name; /* of the model, for diagnostics */
	int op_index;
	struct bytes payload;
	const struct accel *accel; /* NULL: the payload names it */
	struct sim_region region[SIM_N_REGIONS];
	const struct map_command *commands; /* of the stream; NULL: no names */
	const struct sim_hooks *hooks; /* may be NULL */
	uint64_t max_steps; /* refuse longer streams; in nanoseconds; 0: 34 s */
};

/*
 * Executes the command stream.  Every access is checked against its region.  An error
 * names the command's offset and the rule.  Its status is EXIT_NO, a result about the
 * stream, unless the stream computes more than max_steps allows.
 */
bool sim_npu_run(const struct sim_npu_job *job, struct err *e);

#endif
