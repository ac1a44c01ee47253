/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that build the compiled model (model.c and model_*.c). */
#ifndef NPU_CMDGEN_MODEL_H
#define NPU_CMDGEN_MODEL_H

#include "stream/stream.h"
#include "tflite/write.h"

#include "cmdgen.h"

enum { EMPTY_BUFFER = 0 };

/* of an ethos-u operator, as its kernel checks them */
static const uint8_t ethosu_options[] = { 0x01, 0x04, 0x01 };

/* the new model under construction */
struct build {
	struct cmdgen *c;
	struct tflw_model w;
	size_t cap_buffers, cap_opcodes, cap_tensors, cap_metadata;
	uint32_t *buffer_map; /* buffer of the original -> new buffer; 0: not copied yet */
	/* operator code of the original -> new code; -1: not copied yet */
	int *opcode_map;
	struct tflw_subgraph sg;
	int64_t arena_end; /* bytes of the first subgraph's part of the arena */
	int64_t *base;	   /* by subgraph: where its part begins */
	int64_t top;	   /* bytes of the whole arena */
	bool body_keeps;   /* a body has variables in the arena */
	int *tensor_map;   /* tensor of subgraph 0 -> new tensor; -1: dropped */
	/* graph tensor that the original lacks -> new tensor; -1: not made yet */
	int *made;
	int64_t *plan;	   /* arena offset in bytes of every new tensor; -1: none */
	size_t cap_plan;
	int flash, scratch, fast; /* tensor indices; -1: not added */
	/* tensors of the regions that contain several inputs or outputs; -1: none */
	int io_region[STREAM_IO_REGIONS];
};

/* ---- model_tensors.c ---- */

uint32_t add_buffer(struct build *b, struct bytes data);
/* copy a buffer or operator code of the original; each is copied only once */
uint32_t keep_buffer(struct build *b, uint32_t original);
uint32_t keep_opcode(struct build *b, const struct tfl_op *op);
/* Returns an operator code of the new model that equals *o; adds it if there is none. */
uint32_t add_opcode(struct build *b, const struct tflw_opcode *o);
uint32_t ethosu_opcode(struct build *b);
/*
 * Copies tensors of the original to the new model and returns their new indices; -1
 * stays -1.
 */
const int *keep_tensors(struct build *b, const int *v, int n);
/* Adds a tensor that only the graph has. */
int make_tensor(struct build *b, const struct g_tensor *t);
/* Adds a uint8 tensor of rank 1.  The argument at is its offset in the arena, or -1. */
int add_bytes_tensor(struct build *b, const char *name, int64_t bytes, uint32_t buffer,
		     int64_t at);
/* Adds the tensors flash, scratch and fast (ethosu-commands(7) 13.3). */
bool add_special_tensors(struct build *b);
/*
 * Adds the tensors of the regions that contain several inputs or outputs, if the only node
 * packs them (graph/separate.c).  In the plan they are behind the scratch tensors.  Fails
 * if the plan has no offsets for them.
 */
bool add_io_regions(struct build *b);
/*
 * Lists in out the new model's tensors for the graph tensors l: the TFLite tensors that
 * each of them stands for, or the graph tensor itself if it stands for none.  Returns
 * their number.  A graph tensor with memory of its own is listed only as an input or
 * output of the model, because each listed tensor takes a base pointer.
 */
int node_tensors(struct build *b, const struct g_tensors *l, int *out);
/* an upper bound of node_tensors() */
int count_tensors(const struct g_tensors *l);

/* ---- model_bodies.c ---- */

bool has_stream(const struct tfl_model *m); /* true if the first subgraph has one */
/* Sets b->base; the first subgraph is complete. */
bool place_bodies(struct build *b);
/* The offset of a tensor of a compiled body; -1: the runtime chooses it. */
int64_t body_planned_at(const struct build *b, int index, int tensor);
/* Sets *out to a compiled body; false: subgraph `index` was not compiled. */
bool put_body(struct build *b, int index, struct tflw_subgraph *out);

/* ---- model_guard.c ---- */

/* Appends a guard to the first subgraph, if an interpreter needs one.  The plan is complete. */
void add_guard(struct build *b);

/* ---- model_signatures.c ---- */

/* Copies the original's signatures; inputs and outputs become those of the new model. */
void keep_signatures(struct build *b);

/* ---- model_metadata.c ---- */

/* Writes all metadata; the subgraphs are complete. */
void build_metadata(struct build *b);

#endif
