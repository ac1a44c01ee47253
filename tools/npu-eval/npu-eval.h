/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of npu-eval.  read.c reads outputs.  classes.c and errors.c
 * score them, and agree.c compares outputs with each other.  table.c, json.c and csv.c
 * print the scores.  layers.c is --layers: it shows where an integer network loses
 * precision.
 */
#ifndef NPU_EVAL_H
#define NPU_EVAL_H

#include "base/file.h"
#include "base/npy.h"
#include "samples/samples.h"
#include "tflite/tflite.h"

enum { MAX_OUTPUTS = 64 };
enum format { AS_TABLE, AS_JSON, AS_CSV };

struct options {
	const char *labels; /* file of the labels; with --layers, the model */
	const char *file[MAX_OUTPUTS];
	int n_files;
	const char *model;   /* gives scales to integer outputs; NULL: none */
	const char *targets; /* file of the expected outputs, element by element; NULL: none */
	bool regression, layers;
	int top;      /* K of --top: accuracy among the K best answers */
	int parted;   /* largest number of items to list on which two outputs disagree */
	enum format format;
	const char *output;
};

/* ---- read.c ---------------------------------------------------------------- */

/* a .npy file of n items with each numbers per item */
struct values {
	const char *file;
	struct npy npy;
	size_t n, each;
	double scale; /* of integers: value = scale * (q - zero); 1 and 0 if not known */
	double zero;
};
/* the real value k of an item */
double value_at(const struct values *v, size_t item, size_t k);

/* Reads values of n items along the first dimension; n = 0: of any number of items. */
bool read_values(struct arena *a, const char *path, size_t n, struct values *v,
		 struct err *e);

/* ---- classes.c --------------------------------------------------------------- */

struct class_score {
	size_t support;	  /* items with this label */
	size_t predicted; /* items with this answer */
	size_t right;	  /* items with this label and this answer */
	double precision, recall, f1; /* 0 if the divisor is 0 */
};

struct answers { /* the scores of one output */
	const struct values *v;
	size_t n_classes;
	/* of each item: index of the largest value, the first one of equal values */
	size_t *answer;
	size_t right, in_top;
	struct class_score *score; /* one per class */
	double precision, recall, f1; /* means over the classes that occur */
	size_t *confusion; /* [label][answer], number of items */
	bool has_auc;
	double auc; /* for two classes: of class 1 against class 0 */
};

/* Scores the outputs v against the labels.  Fails for more than 8192 classes. */
bool count_classes(struct arena *a, const struct options *o, const struct labels *l,
		   const struct values *v, size_t n_classes, struct answers *out,
		   struct err *e);

/* ---- errors.c ---------------------------------------------------------------- */

struct errors { /* of one output against targets */
	const struct values *v;
	double mae, mse, rmse, largest;
	size_t worst; /* item with the largest mean squared error */
	double *each; /* one mean squared error per item */
	bool has_auc;
	double auc; /* of the items' errors, label 1 against label 0 */
};

/* If targets is NULL, the labels are the targets. */
bool count_errors(struct arena *a, const struct labels *l, const struct values *targets,
		  const struct values *v, struct errors *out, struct err *e);
/*
 * Computes the area under the ROC curve: the probability that a positive item scores
 * higher than a negative item, where ties count as half.  Returns false if there are no
 * positive or no negative items.
 */
bool area_under_roc(const double *score, const bool *positive, size_t n, double *out);

/* ---- agree.c ----------------------------------------------------------------- */

struct agreement { /* of two outputs */
	int first, second;
	size_t equal;
	size_t *parted; /* items with different answers, in order */
	size_t n_parted;
	double largest; /* largest difference of two values */
};
struct agreement find_agreement(struct arena *a, const struct answers *all, int first,
				int second);

/* ---- the report ---------------------------------------------------------------- */

struct report {
	const struct options *o;
	const struct labels *l;
	const struct answers *answers; /* one per output; NULL for regression */
	const struct errors *errors;   /* one per output; NULL for classification */
	int n;
	const struct agreement *agreement;
	int n_agreements;
};
void print_table(struct text *t, const struct report *r);
void print_json(struct text *t, const struct report *r);
void print_csv(struct text *t, const struct report *r);
/* the class's name, or its number if it has no name */
void put_class(struct text *t, const struct labels *l, size_t class);

/* ---- layers.c ------------------------------------------------------------------- */

/* Runs the model o->labels on the items in o->file, and prints the report of --layers. */
bool run_layers(struct arena *a, const struct options *o, struct text *t,
		struct err *e);

#endif
