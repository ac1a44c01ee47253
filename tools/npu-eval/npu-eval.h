/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-eval's parts.  read.c reads labels and outputs; classes.c and errors.c count,
 * agree.c sets outputs side by side, and table.c, json.c, csv.c print that.
 * layers.c is --layers: where an integer network loses precision.
 */
#ifndef NPU_EVAL_H
#define NPU_EVAL_H

#include "base/file.h"
#include "base/npy.h"
#include "tflite/tflite.h"

enum { MAX_OUTPUTS = 64, MAX_CLASSES = 100000 };
enum format { AS_TABLE, AS_JSON, AS_CSV };

struct options {
	const char *labels; /* with --layers: the model */
	const char *file[MAX_OUTPUTS];
	int n_files;
	const char *model;   /* whose scales integers have */
	const char *targets; /* what the outputs should be, element by element */
	bool regression, layers;
	int top;      /* of --top */
	int parted;   /* items listed where outputs part */
	enum format format;
	const char *output;
};

/* ---- read.c ---------------------------------------------------------------- */

/* numbers of n items, so many each, as a .npy file has them */
struct values {
	const char *file;
	struct npy npy;
	size_t n, each;
	double scale; /* of integers: scale * (q - zero); 1 and 0 where none is known */
	double zero;
};
double value_at(const struct values *v, size_t item, size_t k);

struct labels {
	const char *file;
	size_t n;
	double *v;	   /* of each item */
	const char **name; /* of each class below n_names; NULL: none is known */
	size_t n_names;
	bool whole; /* all are numbers of classes */
};

/* a line each, "NUMBER" or "NUMBER TAB NAME", or a .npy file of numbers */
bool read_labels(struct arena *a, const char *path, struct labels *l, struct err *e);
/* n items in front, or n is 0 and as many as there are */
bool read_values(struct arena *a, const char *path, size_t n, struct values *v,
		 struct err *e);

/* ---- classes.c --------------------------------------------------------------- */

struct class_score {
	size_t support;	  /* items of the class */
	size_t predicted; /* items that are said to be */
	size_t right;	  /* both */
	double precision, recall, f1; /* 0 where nothing is divided by nothing */
};

struct answers { /* of one output */
	const struct values *v;
	size_t n_classes;
	size_t *answer;	    /* of each item: the largest value, the first of equal ones */
	size_t right, in_top;
	struct class_score *score; /* of each class */
	double precision, recall, f1; /* means over the classes that occur */
	size_t *confusion; /* [label][answer] */
	bool has_auc;
	double auc; /* of two classes: of the second against the first */
};

bool count_classes(struct arena *a, const struct options *o, const struct labels *l,
		   const struct values *v, size_t n_classes, struct answers *out,
		   struct err *e);

/* ---- errors.c ---------------------------------------------------------------- */

struct errors { /* of one output against targets */
	const struct values *v;
	double mae, mse, rmse, largest;
	size_t worst; /* the item with the largest mean squared error */
	double *each; /* mean squared error of every item */
	bool has_auc;
	double auc; /* of those errors, label 1 against 0 */
};

/* targets NULL: the labels */
bool count_errors(struct arena *a, const struct labels *l, const struct values *targets,
		  const struct values *v, struct errors *out, struct err *e);
/*
 * The chance that a positive item's score is above a negative one's, ties counting
 * half: the area under the ROC curve.  False where one kind is missing.
 */
bool area_under_roc(const double *score, const bool *positive, size_t n, double *out);

/* ---- agree.c ----------------------------------------------------------------- */

struct agreement { /* of two outputs */
	int first, second;
	size_t equal;
	size_t *parted; /* the items that they answer otherwise, in order */
	size_t n_parted;
	double largest; /* difference of two values */
};
struct agreement find_agreement(struct arena *a, const struct answers *all, int first,
				int second);

/* ---- the report ---------------------------------------------------------------- */

struct report {
	const struct options *o;
	const struct labels *l;
	const struct answers *answers; /* of each output, or NULL */
	const struct errors *errors;   /* the same of regression */
	int n;
	const struct agreement *agreement;
	int n_agreements;
};
void print_table(struct text *t, const struct report *r);
void print_json(struct text *t, const struct report *r);
void print_csv(struct text *t, const struct report *r);
/* "name", or the class's number where it has none */
void put_class(struct text *t, const struct labels *l, size_t class);

/* ---- layers.c ------------------------------------------------------------------- */

bool run_layers(struct arena *a, const struct options *o, struct text *t,
		struct err *e);

#endif
