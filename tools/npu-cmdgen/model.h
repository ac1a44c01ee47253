/* SPDX-License-Identifier: Apache-2.0 */
/* What the files share that build the compiled model (model.c). */
#ifndef NPU_CMDGEN_MODEL_H
#define NPU_CMDGEN_MODEL_H

#include "cmdgen.h"

enum { EMPTY_BUFFER = 0 };

/* the model being put together */
struct build {
	struct cmdgen *c;
	struct tflw_model w;
	size_t cap_buffers, cap_opcodes, cap_tensors, cap_metadata;
	uint32_t *buffer_map; /* of the original, 0: not kept yet */
	int *opcode_map;      /* of the original, -1 */
	struct tflw_subgraph sg;
	int *tensor_map;   /* of subgraph 0, -1: dropped */
	int *made;	   /* of the graph's tensors that the original hasn't, -1 */
	int64_t *plan;	   /* arena offset of every new tensor, -1 */
	size_t cap_plan;
	int flash, scratch, fast; /* tensor indices, -1 */
};

/* ---- model_tensors.c ---- */

uint32_t add_buffer(struct build *b, struct bytes data);
/* of the original, each once */
uint32_t keep_buffer(struct build *b, uint32_t original);
uint32_t keep_opcode(struct build *b, const struct tfl_op *op);
uint32_t ethosu_opcode(struct build *b);
/* tensors of the original in the new model; -1 stays -1 */
const int *keep_tensors(struct build *b, const int *v, int n);
/* a variable of the graph's own */
int make_tensor(struct build *b, const struct g_tensor *t);
/* uint8, of rank 1; at: its offset in the arena, or -1 */
int add_bytes_tensor(struct build *b, const char *name, int64_t bytes, uint32_t buffer,
		     int64_t at);
/* flash, scratch and fast (ethosu-commands(7) 13.3) */
bool add_special_tensors(struct build *b);
/*
 * TFLite tensors that the graph's stand for, or they themselves: how many.  Where base
 * pointers are counted each is one: what has memory of its own is no other tensor there.
 */
int node_tensors(struct build *b, const struct g_tensors *l, int *out);
/* as many at most */
int count_tensors(const struct g_tensors *l);

/* ---- model_metadata.c ---- */

/* all of it, when the subgraphs are there */
void build_metadata(struct build *b);

#endif
