/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the verifier (npu-dis(1), RULES): one function per group of rules, all of
 * them called by verify.c.  The verifier shares the decoder with the other programs and
 * nothing with the emitter: it has its own SHRAM formulas.  Private to libcommon/verify.
 */
#ifndef VERIFY_RULES_H
#define VERIFY_RULES_H

#include "base/bytes.h"
#include "stream/op.h"
#include "target/accel.h"
#include "verify/verify.h"

/* ---- memory behind the regions ------------------------------------------ */

enum { N_REGIONS = 8 };

struct written; /* which bytes of a memory have a value */

struct memory {
	bool bound; /* the region has a buffer; otherwise the other members are not valid */
	bool read_only;
	int64_t bytes; /* size of the buffer */
	struct written *written; /* NULL: all bytes have a value, or values are not tracked */
};

/* Makes a memory of `bytes` bytes without values. */
struct written *written_new(struct arena *a, int64_t bytes);
/* Gives bytes [at, at + n) a value; ignores a range outside the memory. */
void written_mark(struct written *w, int64_t at, int64_t n);
/* Returns the first byte of the range without a value; -1: all bytes have values. */
int64_t written_hole(const struct written *w, int64_t at, int64_t n);

struct copied; /* weights.c */
struct tried;
struct findings; /* findings.c */

/* ---- one stream being checked ------------------------------------------- */

struct checker;

struct queue { /* operations that may still be running, oldest first */
	struct npu_op item[8];
	int group[8]; /* of item: members of a chain have the same number and count as one entry */
	int n, depth; /* n: number of items; depth: largest number of entries */
};

/* U85: state that one operation leaves to the next (state85.c). */
struct chain {
	int n; /* members so far; 0: no chain is open */
	int operands; /* of all members, in memory */
	struct npu_op first; /* valid if n > 0 */
	struct npu_fm buffer[NPU_MAX_CHAINS]; /* valid if filled; shape: before transposition */
	/* a member has written the buffer; a later member has read it */
	bool filled[NPU_MAX_CHAINS], read[NPU_MAX_CHAINS];
};

struct state85 {
	struct chain chain;
	bool is_member; /* the current operation continues a chain */
	bool any; /* a kernel ran before, since the begin or the last branch target */
	struct npu_op last; /* the last kernel; valid if any */
	size_t *target;	    /* word indices of the targets of branches */
	size_t n_targets;
};

/* How the verifier checks the rules of a generation. */
struct rules {
	bool reports_redundant; /* report a write of the value that a register has: rule 6 */
	bool kernel_limit;    /* rule 26 limits the kernels of convolutions */
	int max_bits;	      /* bits of the largest element */
	bool dmas_overlap;    /* several transfers may run at once: rule 44 holds for them */
	void (*values)(struct checker *c); /* rules 8 to 21 */
	void (*blocks)(struct checker *c); /* rules 39 to 42 */
	void (*state)(struct checker *c);  /* rules 54, 55 for kernels; NULL: none */
	void (*streams)(struct checker *c); /* rules 31, 32: weights and scales */
	void (*dma)(struct checker *c);	    /* rules 29, 30, 33, 36, 37, 52, 58 */
};

struct checker {
	struct npu_verify *out;
	struct arena *a;
	const struct npu_stream *s;
	const struct accel *accel;
	bool has_memory; /* memory[] is valid; otherwise addresses have no bounds */
	struct memory memory[N_REGIONS];
	uint64_t runs; /* byte runs that may still be examined */

	const struct rules *rules;
	struct state85 state85;
	size_t at; /* word index of the current command */
	const char *command;
	struct npu_op op; /* the current operation */

	struct npu_registers regs;
	bool table_valid[LUT_BYTES]; /* a DMA has loaded this byte of the tables */
	struct queue kernels, dmas; /* operations that may still be running */
	int group; /* of the current kernel, as in struct queue */
	struct queue waited; /* operations that finished by a wait since the last operation */
	bool waits; /* a wait precedes this operation */
	size_t wait_at; /* word index of the last of these waits; valid if waits */
	bool has_previous; /* previous is valid and may still be running */
	bool any_kernel; /* a kernel ran before */
	struct npu_op previous; /* the kernel before this operation */

	struct bytes flash; /* the constants of region 0; p NULL: not available */
	struct copied *copies; /* ranges of memory that hold copies of constants */
	size_t n_copies, cap_copies;
	struct tried *tried; /* weights that were checked; for all streams */
	struct findings *findings; /* for all streams */
};

/* findings.c: reports an error or a warning of a rule at the current command. */
void found(struct checker *c, bool error, int rule, const char *fmt, ...)
    PRINTF(4, 5);
/*
 * The same for an error whose search takes long.  A thread calls run(d), which writes text
 * if it finds an error; text stays "" otherwise.  d must exist until end_findings().
 */
struct decoding {
	void (*run)(struct decoding *d);
	int64_t weights; /* number of weights, a measure of the cost */
	char text[400];
};
void found_later(struct checker *c, int rule, struct decoding *d);
void begin_findings(struct checker *c);
/* Reports all findings, in the order of commands. */
void end_findings(struct checker *c);
#define ERROR(c, rule, ...) found(c, true, rule, __VA_ARGS__)
#define WARN(c, rule, ...) found(c, false, rule, __VA_ARGS__)
/* Reports a finding if cond is true: a stream with this condition breaks the rule. */
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

/* ---- predicates for the rules --------------------------------------- */

static inline bool
is_pool(const struct npu_op *op, int mode)
{
	return op->kind == NPU_POOL && op->mode == mode;
}

static inline bool
is_elementwise(const struct npu_op *op, int mode)
{
	return op->kind == NPU_ELEMENTWISE && op->mode == mode;
}

/* True for a value that schema/ethosu.def does not list for the field and the generation. */
static inline bool
is_undefined(const struct checker *c, enum npu_field_id field, int value)
{
	return !npu_field_allows(field, c->accel->generation, (unsigned)value);
}

/* ---- groups of rules, with their numbers in npu-dis(1) ------------------- */

void check_word(struct checker *c, const struct npu_command *cmd); /* rules 1 to 6 */
void check_end(struct checker *c, size_t at, bool stopped);	   /* rule 2 */
bool check_written_registers(struct checker *c);  /* rule 7; false: skip the operation */
void check_values(struct checker *c);		  /* rules 8 to 21 */
void check_format(struct checker *c, enum npu_reg precision, const char *role); /* rule 8 */
void check_geometry(struct checker *c);		  /* rules 22 to 28 */
bool check_kernel_memory(struct checker *c);	  /* rules 29 to 35, 52, 59 */
void check_dma(struct checker *c);
void check_tables(struct checker *c);		  /* rule 38 */
void check_shram(struct checker *c);		  /* rules 39 to 42 */
void check_weights(struct checker *c);		  /* rule 43 */
/* Updates copies[] after an operation. */
void follow_copies(struct checker *c);
void check_order(struct checker *c);		  /* rules 44 to 47 */
void check_container(struct checker *c, const struct tfl_model *m); /* rules 48 to 51 */

/* The same for U85. */
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

/*
 * memory.c, used by all generations.  access_range() returns false for a byte outside of the
 * buffer, or for a read of a byte without a value; it reports these findings.
 */
void check_streams(struct checker *c);
bool access_range(struct checker *c, const struct npu_range *r, const char *role,
		  bool write);
void access_dma(struct checker *c, int which, const char *role);

/* plan.c: addresses of the tensors in a model's memory. */
struct plan;
struct plan *plan_open(struct checker *c, const struct tfl_model *m);
void plan_bind(struct plan *p, struct checker *c); /* called before a stream */
/* Marks the bytes that operators of the CPU before op have written. */
void plan_advance(struct plan *p, int subgraph, int op);
/* Called after a stream: checks that the stream has written its outputs. */
void plan_outputs(struct plan *p, struct checker *c);

/* ---- shram.c: the verifier's own formulas, for all generations ------------- */

/* True if an OFM block reads all channels of the IFM, slice by slice. */
bool check_reads_depth(const struct npu_op *op);
/* Returns the stored rows or columns of an IFM block, rounded up to whole units. */
int64_t check_input_extent(const struct npu_op *op, int64_t block, int stride,
			   int dilated, int unit);

#endif
