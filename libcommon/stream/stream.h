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

struct bytes;
struct npu_op;
struct text;
struct tfl_model;
struct tfl_op;
struct tfl_subgraph;

/* ---- containers (ethosu-commands(7) 14) --------------------------------- */

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
 * Finds every ethos-u operator of a model but guards, in execution order, subgraph after
 * subgraph.
 * The words are copied into the arena.  *n is 0 if the model has no such operator.  Fails
 * on a payload that breaks ethosu-commands(7) 14.1 (rule 48) or on an unknown CONFIG word.
 */
bool stream_find(struct arena *a, const struct tfl_model *m,
		 struct npu_stream **out, int *n, struct err *e);

/*
 * Fails if the model in file has no ethos-u operator, n being 0.  accel: the accelerator to
 * compile for; NULL: any.
 */
bool stream_some(int n, const char *file, const struct accel *accel, struct err *e);

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
 * A guard is an ethos-u operator without outputs whose stream is only NPU_OP_STOP.  It makes an
 * interpreter keep the memory of variables (ethosu-commands(7) 13.4).
 */
bool npu_is_guard(const struct tfl_subgraph *g, const struct tfl_op *op);

/* where a stream finds an input or output of the model outside of the arena */
struct stream_place {
	int region; /* 3 to 7; 0: the tensor is in the arena */
	int64_t at; /* bytes; 0 if the region has no other tensor */
};

/*
 * Returns the place of an input or output of a model that is one ethos-u operator, and
 * whose memory plan has an offset for the scratch memory.  A tensor has a region of its
 * own if it is one of the operator's base pointers and the plan has no offset for the
 * tensor.  It is in a region with others if the plan has it inside of that region.
 */
struct stream_place stream_separate_place(const struct tfl_model *m, int tensor);

/*
 * Returns the number of regions that contain several inputs or outputs: 0, 1 or 2.  They are
 * inputs of the operator behind the first four: uint8 tensors of rank 1 that are neither
 * inputs nor outputs of the model, planned behind the scratch memory.
 */
enum { STREAM_IO_REGIONS = 2 };
int stream_io_regions(const struct tfl_model *m);
/* Returns the tensor of the k-th of these regions, which is region 3 + k; -1: none. */
int stream_io_region(const struct tfl_model *m, int k);

/* ---- words to commands (ethosu-commands(7) 1, 2) ------------------------ */

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
 * (signed).  Of a negative stride the command's param is the sign, 0xffff or 0x00ff
 * (ethosu-commands(7), 1).
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
