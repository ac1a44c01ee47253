/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register command streams, the reading side.  These functions find streams in a compiled
 * model, decode words into commands and registers into operations, and print streams.
 * Numbers in parentheses are sections of ethosu-commands(7) and
 * ethosu-memory(7).  This side does not depend on how our compiler emits a stream.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "base/arena.h"
#include "stream/commands.h"
#include "stream/op.h"
#include "tflite/tflite.h"

struct text;

/* ---- containers (14) ---------------------------------------------------- */

/* One command stream: of an ethos-u operator, or of a file of raw words. */
struct npu_stream {
	const struct accel *accel; /* from the CONFIG word; of raw words, from the caller */
	const uint32_t *word;
	size_t n_words;
	uint32_t config, id; /* words of the payload's configuration; 0: raw words */
	int subgraph, op;    /* indices in the model; -1: raw words */
	const char *name;    /* of the operator's stream tensor, or of the file */
};

/*
 * Finds every ethos-u operator of a model, in execution order, subgraph after subgraph.
 * The words are copied into the arena.  *n is 0 if the model has no such operator.  Fails
 * on a payload that breaks 14.1 (rule 48) or on an unknown CONFIG word.
 */
bool stream_find(struct arena *a, const struct tfl_model *m,
		 struct npu_stream **out, int *n, struct err *e);

/* Decodes one driver payload ("COP1").  Leaves out->subgraph and out->op unchanged. */
bool stream_payload(struct arena *a, struct bytes payload,
		    struct npu_stream *out, struct err *e);

/*
 * Decodes bare words, little-endian, of accelerator accel.  A driver payload is recognised
 * by its FourCC; accel is ignored then.  Bare words with accel NULL are an error.
 */
bool stream_raw(struct arena *a, struct bytes words, const struct accel *accel,
		struct npu_stream *out, struct err *e);

bool npu_is_operator(const struct tfl_op *op); /* its custom code is "ethos-u" */

/*
 * Returns the region, 3 to 7, of an input or output of the model that has memory of its
 * own; 0 if the tensor has none.  A tensor has its own memory under three conditions: the
 * model is one ethos-u operator, the tensor is one of the operator's base pointers, and
 * the memory plan has an offset for the scratch memory but none for the tensor.
 */
int stream_separate_region(const struct tfl_model *m, int tensor);

/* ---- words to commands (1, 2) ------------------------------------------- */

struct npu_command {
	size_t at;	   /* word index of the code word */
	uint32_t code;	   /* low half of the code word */
	uint16_t param;
	uint32_t payload;  /* the next word; cmd1 only */
	bool has_payload;
	bool is_op;
	enum npu_reg reg;  /* valid if !is_op */
	enum generation_id generation;
	const struct npu_command_info *info;
};

/*
 * Decodes the command at word *at and moves *at behind the command.  Returns false at the
 * end of the words (e unchanged) or on words that are no command (e set).
 */
bool stream_next(const struct npu_stream *s, size_t *at,
		 struct npu_command *out, struct err *e);

/* ---- registers ---------------------------------------------------------- */

struct npu_registers {
	uint32_t value[NPU_REGS]; /* param of a cmd0 register, payload of a cmd1 register */
	uint16_t high[NPU_REGS];  /* param of a cmd1 register */
	bool written[NPU_REGS];
};

/* Applies a register write. */
void npu_write(struct npu_registers *r, const struct npu_command *c);

/*
 * Value of an ADDRESS or BYTES40 register (0 to 2^40 - 1), and of a STRIDE register
 * (signed).  On U55 the param carries only the sign (1, "Exception").
 */
int64_t npu_address(const struct npu_registers *r, enum npu_reg reg);
int64_t npu_stride(const struct npu_registers *r, enum npu_reg reg);

/* ---- operations ----------------------------------------------------------- */

/* Iterates over the operations of a stream. */
struct npu_walk {
	const struct npu_stream *stream;
	size_t at;
	int n_ops; /* kernels and DMAs so far: the next npu_op.index */
	struct npu_registers regs;
};

/* Starts at word 0 with all registers undefined. */
void walk_init(struct npu_walk *w, const struct npu_stream *s);

/*
 * Runs register writes up to the next operation and decodes the operation.  Returns false
 * at the end of the words, or with e set on words that are no command.
 */
bool walk_next(struct npu_walk *w, struct npu_op *op, struct err *e);

/* Decodes operation c from the registers.  Accepts any values. */
void npu_op_decode(const struct npu_registers *r, const struct accel *accel,
		   const struct npu_command *c, struct npu_op *op);

/* ---- text --------------------------------------------------------------- */

/*
 * Prints the listing in the layout of the reference compiler: heading, one line per
 * command, number of commands, length.  Words that are no command end the listing and set
 * e; the lines before them are printed.  fields: append the decoded bit fields to each
 * line.
 */
bool stream_print(struct text *t, const struct npu_stream *s, bool fields,
		  struct err *e);

/* Prints one line without newline: offset, operation, shapes, addresses, ... */
void stream_print_op(struct text *t, const struct npu_op *op);

#endif
