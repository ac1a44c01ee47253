/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a model fully integer?  Facts about each tensor (review.c), rules about
 * tensors and operators (check_tensor.c, check_op.c), the model's float ends
 * (check_ends.c), its signal chain (check_signal.c), what is printed (report.c).
 */
#ifndef QUANTCHECK_H
#define QUANTCHECK_H

#include "tflite/tflite.h"

enum severity {
	NOTE,	 /* worth knowing; never changes the answer */
	WARNING, /* changes the answer under --strict */
	ERROR,	 /* the answer is no */
	SEVERITIES
};

struct review;

/* where a finding is: op and tensor are -1 when it is not about one */
struct place {
	int subgraph, op, tensor;
};

/* one rule; exactly one of the two functions is set */
struct check {
	const char *name; /* as printed, and in the man page */
	enum severity severity;
	const char *rule; /* one line for --rules */
	void (*tensor)(struct review *r, const struct check *c,
		       struct place at);
	void (*op)(struct review *r, const struct check *c, struct place at);
};

extern const struct check tensor_checks[], op_checks[];
extern const int n_tensor_checks, n_op_checks;

/* rule number i, those about tensors first; NULL: there are no more */
const struct check *rule_at(int i);

/* rules that may be broken: a bit each, by number */
typedef uint64_t rule_set;

struct finding {
	const struct check *check;
	enum severity severity; /* the check's, or NOTE: it is allowed */
	struct place at;
	const char *text;
	/* it comes of what another finding reports: text and counts leave it out */
	bool follows;
};

/* what a tensor is used for in its subgraph */
enum {
	USE_INPUT = 1 << 0,  /* of the subgraph */
	USE_OUTPUT = 1 << 1, /* of the subgraph */
	USE_READ = 1 << 2,   /* by an operator */
	USE_WRITTEN = 1 << 3,
	USE_MID = 1 << 4,  /* intermediate: carries quantization only */
	USE_BLOB = 1 << 5, /* opaque bytes of a custom operator */
	USE_INDEX = 1 << 6, /* indices, sizes, axes: numbers, not values */
};

struct use {
	unsigned what;
	int op; /* that writes it, else the first that reads it, else -1 */
};

struct review {
	struct arena *a;
	const struct tfl_model *m;
	struct use **use; /* [subgraph][tensor] */
	struct finding *finding;
	size_t n_findings, cap_findings;
	int count[SEVERITIES];
	rule_set allowed;
	int allowed_errors; /* they count as notes */
	struct float_ends {
		int n, first; /* tensors, and the first of them */
		bool border;  /* with QUANTIZE or DEQUANTIZE beside it */
	} float_in, float_out;
	/* integers of a signal chain that stand for themselves: how many tensors
	 * of subgraph 0, and the first; none without signal operators */
	int n_signals, first_signal;
};

/* runs every check on every tensor and operator; findings in model order */
void review_model(struct review *r, struct arena *a, const struct tfl_model *m,
		  rule_set allowed);

void review_add(struct review *r, const struct check *c, struct place at,
		const char *fmt, ...) PRINTF(4, 5);
/* the same as a warning, whatever the rule's own severity */
void review_warn(struct review *r, const struct check *c, struct place at,
		 const char *fmt, ...) PRINTF(4, 5);
/* the same again, but it only follows from another finding */
void review_follow(struct review *r, const struct check *c, struct place at,
		   const char *fmt, ...) PRINTF(4, 5);

/* check_ends.c: float inputs and outputs.  Needs: use.  Leaves: float_in, _out */
void find_float_ends(struct review *r);
/* QUANTIZE that reads a float input, DEQUANTIZE that writes a float output */
bool is_border_operator(const struct review *r, struct place at);
void check_float_end(struct review *r, const struct check *c, struct place at);

/*
 * check_signal.c: an audio front end (TensorFlow Lite Micro's Signal operators)
 * computes with integers that have no scale.  Needs: use.
 */
void find_signals(struct review *r);
void check_missing(struct review *r, const struct check *c, struct place at);

/* ---- review.c --- */

static inline const struct tfl_tensor *
place_tensor(const struct review *r, struct place at)
{
	return &r->m->subgraph[at.subgraph].tensor[at.tensor];
}

static inline const struct tfl_op *
place_op(const struct review *r, struct place at)
{
	return &r->m->subgraph[at.subgraph].op[at.op];
}

/* tensor of an operator's input k; NULL when absent */
const struct tfl_tensor *op_input(const struct review *r, struct place at,
				  int k);

bool type_is_float(int type);	  /* any width */
bool type_is_quantized(int type); /* 4, 8 or 16 bit integers */

/* the answer: no errors, and under strict no warnings */
bool review_answer(const struct review *r, bool strict);

/* how many of a model's operators read or compute floats; *all: how many there are */
int review_float_operators(const struct review *r, int *all);
/* the rules that make the answer no, by number, commas between: --allow's argument */
void review_put_rules(struct text *t, const struct review *r, bool strict);

/* ---- report.c --- */

void report_text(struct text *t, const struct review *r, bool strict,
		 bool tables);
void report_json(struct text *t, const struct review *r, bool strict);
void report_rules(struct text *t);
/* "severity: rule: operator 3 CONV_2D, tensor 7 (name): text" */
void report_finding(struct text *t, const struct review *r,
		    const struct finding *f);

#endif
