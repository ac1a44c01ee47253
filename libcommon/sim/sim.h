/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs models on the host, bit for bit as TensorFlow Lite Micro would: plain
 * operators by the reference kernels, "ethos-u" operators by executing their
 * command stream.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "target/target.h"
#include "tflite/tflite.h"

/* ---- a model, ready to run -------------------------------------------- */

struct sim;

/*
 * Told about what happens during sim_invoke.  Every member may be NULL; a
 * callback that returns false (and sets e) ends the run.
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
	/* operator op_index of subgraph 0 has written its outputs */
	bool (*op_done)(void *ctx, struct sim *s, int op_index, struct err *e);
	/* the NPU has executed one operation of operator op_index */
	void (*npu_event)(void *ctx, const struct sim_npu_event *ev);
	struct sim_npu npu;
};

/*
 * Activations above this many bytes in total are refused: 256 MiB is beyond
 * any microcontroller, and a small hostile file can't ask for more memory.
 */
#define SIM_MAX_BYTES ((size_t)1 << 28)

/*
 * Gives every tensor of subgraph 0 its memory.  Constants stay in the file.
 * A plain model has one buffer per tensor; in a model with an
 * "OfflineMemoryAllocation" (ethosu-commands(7) 13.4) the planned tensors
 * share one buffer at their offsets, so what the plan overlays is overlaid.
 * Variables get their initial value (sim_reset).  m must outlive s.
 * Fails on an operator that no kernel implements, on sub-graph calls, and on
 * plans that overlap or lie outside SIM_MAX_BYTES.
 */
bool sim_open(struct arena *a, const struct tfl_model *m, struct sim **out,
	      struct err *e);

/*
 * The same for two models that are to be compared: an operator may be unknown to
 * the kernels, or be refused by its kernel.  Random values, by XXH3 of its
 * inputs, stand in for its results then, so that it tells apart whatever two
 * models give it.
 */
bool sim_open_to_compare(struct arena *a, const struct tfl_model *m,
			 struct sim **out, struct err *e);
/*
 * The same of a TOSA graph (tosa/tosa.h): sim_model() is a model with its tensors
 * and operators, and no file.
 */
struct tosa_graph;
bool sim_open_tosa(struct arena *a, const struct tosa_graph *g, struct sim **out,
		   struct err *e);
/*
 * After sim_invoke: the first value of this operator of a TOSA graph that violates
 * a precondition, so that the result is open; a line, or NULL.
 */
const char *sim_warning(const struct sim *s, int op_index);
/* after sim_invoke: why random values stood in for what this operator writes, or
 * NULL: they did not */
const char *sim_stand_in(const struct sim *s, int op_index);
/* those values, of an operator of g; data: of each tensor */
void sim_stand_in_values(const struct tfl_subgraph *g, const struct tfl_op *op,
			 uint8_t *const *data);

/*
 * Variables back to their initial values (nputools-tflite(5) 6.1), those kept
 * by name (sim/resources.h), too
 */
void sim_reset(struct sim *s);

/*
 * The memory of tensor index of subgraph 0: tfl_bytes(tensor) bytes.  Inputs
 * are written there before sim_invoke, outputs read there after it.  Between
 * operators a planned tensor holds its value only as long as it lives.
 */
void *sim_tensor(struct sim *s, int index);
const struct tfl_model *sim_model(const struct sim *s);

/* runs all operators once; hooks may be NULL */
bool sim_invoke(struct sim *s, const struct sim_hooks *hooks, struct err *e);

/*
 * Random elements for a tensor: SplitMix64 from *state, one step for every
 * element, whose highest bits are the element: uniform over an integer type;
 * FLOAT32: a signed 24-bit integer divided by 2^23, so [-1, 1); BOOL: a bit.
 */
void sim_random(uint64_t *state, const struct tfl_tensor *t, void *data);

/*
 * Other inputs that are worth a try: every element the least of its type, the
 * greatest, or one after the other, beginning with the least.  FLOAT32: -1 and 1;
 * BOOL: 0 and 1.
 */
enum sim_values { SIM_RANDOM, SIM_MIN, SIM_MAX, SIM_ALTERNATING, SIM_N_VALUES };
/* "random", "min", "max", "alternating" */
const char *sim_values_name(enum sim_values v);
/* state is that of SIM_RANDOM, and stays for the others */
void sim_make_values(enum sim_values v, uint64_t *state,
		     const struct tfl_tensor *t, void *data);

/*
 * Of each tensor of g, whose operators are in running order: the number of things
 * that GATHER, GATHER_ND, SCATTER_ND or EMBEDDING_LOOKUP pick by its elements, at once
 * or by way of RESHAPE, SQUEEZE, EXPAND_DIMS and CAST; of several the least; 0: none does.
 */
int64_t *sim_indices(struct arena *a, const struct tfl_subgraph *g);

/*
 * The same as sim_make_values() for a tensor of indices of n things, INT32 or INT64:
 * 0 to n - 1 instead of all that the type has; random: n times the 32 highest bits of a
 * step, without their fraction.
 */
void sim_make_indices(enum sim_values v, uint64_t *state, const struct tfl_tensor *t,
		      int64_t n, void *data);

/* ---- the NPU ------------------------------------------------------------ */

enum { SIM_N_REGIONS = 8 };

/* memory behind one base pointer (BASEP) */
struct sim_region {
	const uint8_t *rd; /* NULL: nothing is bound to this region */
	uint8_t *wr;	   /* the same memory; NULL: read-only */
	size_t bytes;
};

/* after every operation of a stream; text is one line without newline */
struct npu_op;
struct sim_npu_event {
	int op_index;	 /* of the ethos-u operator in subgraph 0 */
	size_t at_bytes; /* of the command word, from the stream's first word */
	const char *text;
	const struct npu_op *op; /* decoded: stream/stream.h */
	const struct sim_region *region; /* the job's, SIM_N_REGIONS of them */
};

/*
 * One ethos-u operator (ethosu-commands(7) 13.3, 14).  payload is its
 * input 0, driver header included, and names the accelerator; with accel it is
 * the bare words that a device of this kind would fetch.  Region k is
 * input k + 1, then the outputs follow: 0 constants, 1 the tensor arena,
 * 2 fast memory of its own.
 */
struct map_command; /* stream/map.h */
struct sim_npu_job {
	const char *name; /* of the model, for diagnostics */
	int op_index;
	struct bytes payload;
	const struct accel *accel; /* NULL: the payload's */
	struct sim_region region[SIM_N_REGIONS];
	const struct map_command *commands; /* of the stream; NULL: no names */
	const struct sim_hooks *hooks; /* NULL: nobody listens */
	uint64_t max_steps; /* refuse longer streams, in nanoseconds; 0: 34 s */
};

/*
 * Executes the command stream.  Every access is checked against its region;
 * an error names the command's offset and the rule, and is an answer about the
 * stream (EXIT_NO), unless it is about what this model is ready to compute.
 */
bool sim_npu_run(const struct sim_npu_job *job, struct err *e);

#endif
