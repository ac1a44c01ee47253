/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of schema/rewrites.def share.  A rule is one file with one public function.
 * The function searches the graph for the rule's pattern.  Where the condition holds and the
 * replacement pays, the function replaces operations, and adds a record with exact_note().
 * The order of records and operations alone decides, so the same graph gives the same result.
 */
#ifndef REWRITE_RULES_H
#define REWRITE_RULES_H

#include "graph/facts.h"
#include "lower/lower.h"

struct estimate;

struct exact {
	struct lower *l; /* the front end and the accelerator; NULL: a rule of npu-sched */
	const struct accel *accel; /* NULL: any */
	struct graph *g;
	struct arena *a;
	const char *rule; /* name of the rule that is being applied */
	bool spilling;	  /* the arena of the runtime is not in SRAM; for rules PLANNED */
	bool overlap;	  /* operands may read the same bytes several times, and operations may
			   * shift a tensor in place */
	struct estimate *estimate; /* NULL without an accelerator */
	struct err *e;
};

/* Applies a rule.  Returns false for an error, such as constants that cannot be read. */
typedef bool exact_rule(struct exact *x);
#define REWRITE(name, function, sentence) exact_rule function;
#include "rewrites.def"

/* Adds a record: the rule was applied to op.  The text is a sentence without a full stop. */
struct g_rewrite *exact_note(struct exact *x, const struct g_op *op, int64_t bytes,
			     double cycles, const char *fmt, ...) PRINTF(5, 6);
/* Appends a number as in "61,440". */
void exact_number(struct text *t, int64_t v);
/* True if the operand is a constant of one word, *v.  *ok is false if it cannot be read. */
bool exact_is_word(const struct exact *x, const struct g_operand *o, int32_t *v, bool *ok);
/* True if the operands of an operation of two are not scaled. */
bool exact_is_unscaled(const struct g_op *op);
/* Remove an operation, or a tensor that no operation uses. */
void exact_drop_op(struct exact *x, const struct g_op *op);
void exact_drop_tensor(struct exact *x, const struct g_tensor *t);
/* Removes those of the first n tensors that are marked and that no operation uses. */
void exact_drop_unused(struct exact *x, const bool *marked, size_t n);
/* Moves n operations from `first` on before operation `at`, which is none of them. */
void exact_move(struct exact *x, size_t first, size_t n, size_t at);

/* True if only the graph's operations see the tensor, and its memory is its own. */
bool exact_is_inner(const struct graph *g, const struct g_tensor *t);
/* The only operation that writes an inner tensor, which the reader alone reads; NULL: none. */
struct g_op *exact_writer(const struct graph *g, const struct g_tensor *t,
			  const struct g_op *reader);
/* True if the operand is a whole dense tensor of bytes, in any shape. */
bool exact_is_bytes(const struct g_operand *o);

/* ---- estimate.c ---------------------------------------------------------------- */

/*
 * Cycles of operations in several memory systems of the accelerator's generation, because the
 * memory system is not known before npu-sched: by the calibrated estimate, and by the mean of
 * the calibrated estimate and the published formulas.
 */
enum { ESTIMATES = 6 };
struct cycles {
	int n;
	double v[ESTIMATES];
};

struct estimate *estimate_open(struct arena *a, const struct accel *accel);
/*
 * Adds the cycles of an operation in its fastest block.  False: no block fits.  The kernel
 * takes at least as long as the front end needs to read its commands.
 */
bool estimate_add(const struct estimate *s, const struct g_op *op, struct cycles *c);
/*
 * True if the sum of a over all systems is below this share of the sum of b, and if a is in no
 * system slower by more than 1 %.
 */
bool cycles_are_fewer(const struct cycles *a, const struct cycles *b, double share);
/* The cycles saved by a instead of b, in the first memory system. */
double cycles_saved(const struct cycles *a, const struct cycles *b);

/* The operations that a rule replaces, and their replacement; behind the last one is NULL. */
enum { MOST_CHANGED = 20 };
struct change {
	const struct g_op *old[MOST_CHANGED], *now[MOST_CHANGED];
};
/* True if cycles_are_fewer() for the replacement; *saved: cycles_saved(). */
bool change_pays(const struct exact *x, const struct change *c, double share, double *saved);

#endif
