/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a model fully integer?  review.c collects facts about each tensor.  The rules
 * are about tensors and operators (check_tensor.c, check_op.c), float inputs and
 * outputs (check_borders.c), and signal chains (check_signal.c).  report.c prints the
 * findings.
 */
#ifndef QUANTCHECK_H
#define QUANTCHECK_H

#include "base/hash_table.h"
#include "base/text.h"
#include "tflite/tflite.h"

enum severity {
	NOTE,	 /* worth knowing; never changes the answer */
	WARNING, /* changes the answer only under --strict */
	ERROR,	 /* makes the answer "no" */
	SEVERITIES
};

struct review;

/* location of a finding; op and tensor are -1 if the finding is not about one */
struct place {
	int subgraph, op, tensor;
};

/* one rule; exactly one of the two functions is set */
struct check {
	const char *name; /* as printed and in the man page */
	enum severity severity;
	const char *rule; /* one line for --rules */
	bool integer; /* a model that breaks the rule is not fully integer */
	bool is_final; /* no later stage takes a model that breaks the rule */
	void (*tensor)(struct review *r, const struct check *c,
		       struct place at);
	void (*op)(struct review *r, const struct check *c, struct place at);
};

extern const struct check tensor_checks[], op_checks[];
extern const int n_tensor_checks, n_op_checks;

/* rule number i, rules about tensors first; NULL: i is too large */
const struct check *rule_at(int i);

/* rules that may be broken: bit i is rule number i */
enum { MAX_RULES = 64 };
typedef uint64_t rule_set;
/* Adds the rules of a comma-separated list, the argument of --allow. */
bool rules_add(rule_set *rules, const char *list, struct err *e);

struct finding {
	const struct check *check;
	enum severity severity; /* the check's, or NOTE if the rule is allowed to be broken */
	struct place at;
	const char *text;
	/* a consequence of another finding; the text report and the counts omit it */
	bool follows;
};

/* what a tensor is used for in its subgraph */
enum {
	USE_INPUT = 1 << 0,  /* of the subgraph */
	USE_OUTPUT = 1 << 1, /* of the subgraph */
	USE_READ = 1 << 2,   /* by an operator */
	USE_WRITTEN = 1 << 3,
	USE_MID = 1 << 4,  /* intermediate: only carries quantization */
	USE_BLOB = 1 << 5, /* opaque bytes of a custom operator */
	USE_INDEX = 1 << 6, /* indices, sizes, axes: plain numbers, not quantized values */
};

struct use {
	unsigned what;
	/* the operator that writes the tensor, else the first that reads it; -1: none */
	int op;
};

struct review {
	struct arena *a;
	const struct tfl_model *m;
	struct use **use; /* [subgraph][tensor] */
	struct finding *finding;
	size_t n_findings, cap_findings;
	int count[SEVERITIES];
	rule_set allowed;
	struct hash_table variables; /* of kernel_equal_quantization() */
	int allowed_errors; /* number of errors of allowed rules; these count as notes */
	struct float_borders {
		int n, first; /* number of float tensors; index of the first */
		bool border;  /* QUANTIZE or DEQUANTIZE is next to one of these tensors */
	} float_in, float_out;
	/*
	 * Plain integers of a signal chain in subgraph 0: number of tensors, and
	 * index of the first.  n_signals is 0 if the model has no signal operators.
	 */
	int n_signals, first_signal;
	/* tensors of subgraph 0 around the integer network; n_ops 0: nothing to cut */
	struct cuts {
		int n_ops; /* operators of floats outside */
		int n_in, n_out;
		int *in, *out;
	} cuts;
};

/* runs every check on every tensor and operator; findings are in the model's order */
void review_model(struct review *r, struct arena *a, const struct tfl_model *m,
		  rule_set allowed);

/* adds a finding about a location: the rule that is broken, and a text */
void review_add(struct review *r, const struct check *c, struct place at,
		const char *fmt, ...) PRINTF(4, 5);
/* like review_add(), but as a warning, whatever the rule's own severity */
void review_warn(struct review *r, const struct check *c, struct place at,
		 const char *fmt, ...) PRINTF(4, 5);
/* like review_warn(), but for a consequence of another finding */
void review_follow(struct review *r, const struct check *c, struct place at,
		   const char *fmt, ...) PRINTF(4, 5);

/* check_borders.c: finds float inputs and outputs.  Needs: use.  Result: float_in, float_out */
void find_float_borders(struct review *r);
/* true for QUANTIZE that reads a float input and DEQUANTIZE that writes a float output */
bool is_border_operator(const struct review *r, struct place at);
void check_float_border(struct review *r, const struct check *c, struct place at);

/*
 * check_signal.c: finds the integers without a scale of an audio front end
 * (TensorFlow Lite Micro's Signal operators).  Needs: use.  Result: n_signals,
 * first_signal.
 */
void find_signals(struct review *r);
void check_missing(struct review *r, const struct check *c, struct place at);

/* cuts.c: finds float parts before and behind an integer network.  Result: cuts */
void find_cuts(struct review *r);
/* the options that leave these parts out; returns false if there are none */
bool report_cuts(struct text *t, const struct review *r);

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

/* the tensor that is input k of an operator; NULL if absent */
const struct tfl_tensor *op_input(const struct review *r, struct place at,
				  int k);

bool type_is_float(int type);	  /* any width */
bool type_is_quantized(int type); /* integers of 4, 8 or 16 bits */

/* the answer: true if there are no errors and, under strict, no warnings */
bool review_answer(const struct review *r, bool strict);

/* number of a model's operators that read or compute floats; *all: number of operators */
int review_float_operators(const struct review *r, int *all);
/* false if tfl-quantize is sure to refuse the model: an input has integers without a scale */
bool review_can_be_quantized(const struct review *r);
/* the words for the answer "no": floats, or integers that the kernels take for other values */
const char *review_refusal(const struct review *r, bool strict);
/* what to do about the rules that make the answer "no": the argument that --allow needs, or that no
 * argument helps */
void review_put_advice(struct text *t, const struct review *r, bool strict);

/* ---- pass.c --- */

/* The answer; "no" is an error in one line: why, how many operators are affected, and which --allow
 * would change the answer.  Warnings count if they are part of the reason. */
bool review_pass(const struct review *r, bool strict, struct err *e);
/* Warnings and errors, each after the name of a program, which may be empty.  More than two of one
 * rule and severity are one line, at the place of the first. */
void report_briefly(struct text *t, const struct review *r, const char *program);

/* ---- report.c --- */

/* quiet: the verdict alone */
void report_text(struct text *t, const struct review *r, bool strict, bool quiet);
void report_json(struct text *t, const struct review *r, bool strict);
void report_rules(struct text *t);
/* "severity: rule: operator 3 CONV_2D, tensor 7 (name): text" */
void report_finding(struct text *t, const struct review *r,
		    const struct finding *f);
/* one line for n findings of a rule and severity: rule, remedy, number, the first of them */
void report_kind(struct text *t, const struct review *r, const struct finding *f, int n);

#endif
