/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier's parts (npu-dis(1), RULES): one function a group of
 * rules, all of them called by verify.c.  It shares the decoder with
 * everybody and nothing with the emitter: the SHRAM formulas are its own.
 * Private to libcommon/stream.
 */
#ifndef STREAM_VERIFY_H
#define STREAM_VERIFY_H

#include "stream/stream.h"

/* ---- memory behind the regions ------------------------------------------ */

enum { N_REGIONS = 8 };

struct written; /* which bytes of a memory have a value */

struct memory {
	bool bound;
	bool read_only;
	int64_t bytes;
	struct written *written; /* NULL: all of it, or nobody knows */
};

struct written *written_new(struct arena *a, int64_t bytes);
void written_mark(struct written *w, int64_t at, int64_t n);
/* the first byte of the range without a value, -1 if all have one */
int64_t written_hole(const struct written *w, int64_t at, int64_t n);

struct copied; /* verify_weights.c */
struct tried;
struct findings; /* findings.c */

/* ---- one stream being checked ------------------------------------------- */

struct checker;

struct queue { /* operations that may still be running, oldest first */
	struct npu_op item[8];
	int group[8]; /* a chain's members are one entry */
	int n, depth; /* depth: of entries */
};

/* U85: what passes from one operation to the next (verify85_state.c) */
struct chain {
	int n; /* members so far; 0: no chain is open */
	int operands;
	struct npu_op first;
	struct npu_fm buffer[NPU_MAX_CHAINS]; /* shape: untransposed */
	bool filled[NPU_MAX_CHAINS], read[NPU_MAX_CHAINS];
};

struct state85 {
	struct chain chain;
	bool is_member; /* the operation at hand continues a chain */
	bool any;
	struct npu_op last; /* kernel, if any */
	size_t *target;	    /* words that branches go to */
	size_t n_targets;
};

/* how the rules of a generation are checked */
struct rules {
	bool tells_redundant; /* writes of what a register has: rule 6 */
	bool kernel_limit;    /* of convolutions: rule 26 */
	int widest;	      /* element, in bits */
	bool dmas_overlap;    /* several transfers at once: rule 44 for them */
	void (*values)(struct checker *c); /* 8 to 21 */
	void (*blocks)(struct checker *c); /* 39 to 42 */
	void (*state)(struct checker *c);  /* 54, 55: kernels; NULL: none */
	void (*streams)(struct checker *c); /* 31, 32: weights and scales */
	void (*dma)(struct checker *c);	    /* 29, 30, 33, 36, 37, 52, 58 */
};

struct checker {
	struct npu_verify *out;
	struct arena *a;
	const struct npu_stream *s;
	const struct accel *accel;
	bool known; /* memory is: else addresses have no bounds */
	struct memory memory[N_REGIONS];
	uint64_t runs; /* budget of byte runs to look at */

	const struct rules *rules;
	struct state85 state85;
	size_t at; /* of the command being checked, in words */
	const char *command;
	struct npu_op op;

	struct npu_registers regs;
	bool table_valid[LUT_BYTES];
	struct queue kernels, dmas;
	int group; /* of the kernel at hand */
	struct queue waited; /* finished by waits since the last operation */
	bool waits; /* such a wait stands before this operation */
	size_t wait_at;
	bool has_previous; /* a kernel ran before, and no wait drained it */
	bool any_kernel;
	struct npu_op previous;

	struct bytes flash; /* the constants of region 0; p NULL: unknown */
	struct copied *copies;
	size_t n_copies, cap_copies;
	struct tried *tried; /* over all streams */
	struct findings *findings; /* and these */
};

/* findings.c: an error or a warning of a rule at the current command */
void found(struct checker *c, bool error, int rule, const char *fmt, ...)
    PRINTF(4, 5);
/* the same of an error that takes long to find: a thread calls run(d), which leaves text
 * where there is one.  d lives until the end of the findings */
struct decoding {
	void (*run)(struct decoding *d);
	int64_t weights; /* so many: what it costs */
	char text[400];
};
void found_later(struct checker *c, int rule, struct decoding *d);
void begin_findings(struct checker *c);
/* reports all, in the order of commands */
void end_findings(struct checker *c);
#define ERROR(c, rule, ...) found(c, true, rule, __VA_ARGS__)
#define WARN(c, rule, ...) found(c, false, rule, __VA_ARGS__)
/* if the condition breaks the rule */
#define ERROR_IF(cond, c, rule, ...)                                         \
	do {                                                                 \
		if (cond)                                                    \
			ERROR(c, rule, __VA_ARGS__);                         \
	} while (0)
#define WARN_IF(cond, c, rule, ...)                                          \
	do {                                                                 \
		if (cond)                                                    \
			WARN(c, rule, __VA_ARGS__);                          \
	} while (0)

/* ---- groups of rules ---------------------------------------------------- */

void check_word(struct checker *c, const struct npu_command *cmd); /* 1-6 */
void check_end(struct checker *c, size_t at, bool stopped);	   /* 2 */
bool check_written_registers(struct checker *c);  /* 7; false: stop here */
void check_values(struct checker *c);		  /* 8-21 */
void check_geometry(struct checker *c);		  /* 22-28 */
bool check_kernel_memory(struct checker *c);	  /* 29-35, 52 */
void check_dma(struct checker *c);
void check_tables(struct checker *c);		  /* 38 */
void check_shram(struct checker *c);		  /* 39-42 */
void check_weights(struct checker *c);		  /* 43 */
void follow_copies(struct checker *c);		  /* after each operation */
void check_order(struct checker *c);		  /* 44-47 */
void check_container(struct checker *c, const struct tfl_model *m); /* 48-51 */

/* of U85 */
void check_values85(struct checker *c);
void check_blocks85(struct checker *c);
void check_streams85(struct checker *c);
void check_dma85(struct checker *c);
void check_chain(struct checker *c);
void check_accumulators(struct checker *c);
void check_between(struct checker *c);
void find_targets(struct checker *c);
void enter_target(struct checker *c, size_t at);
void check_branch(struct checker *c);

/* verify_memory.c, for all of them */
void check_streams(struct checker *c);
bool access_range(struct checker *c, const struct npu_range *r, const char *role,
		  bool write);
void access_dma(struct checker *c, int which, const char *role);

/* verify_plan.c: what lies where in a model's memory */
struct plan;
struct plan *plan_open(struct checker *c, const struct tfl_model *m);
void plan_bind(struct plan *p, struct checker *c); /* before a stream */
/* marks what the CPU's operators before op have written */
void plan_advance(struct plan *p, int subgraph, int op);
/* after a stream: has it written its outputs? */
void plan_outputs(struct plan *p, struct checker *c);

/* ---- verify_shram.c: formulas of its own, for all generations ------------- */

/* does an OFM block need all channels of its IFM, slice by slice? */
bool check_reads_depth(const struct npu_op *op);
/* stored rows or columns of an IFM block, in whole units */
int64_t check_input_extent(const struct npu_op *op, int64_t block, int stride,
			   int dilated, int unit);

#endif
