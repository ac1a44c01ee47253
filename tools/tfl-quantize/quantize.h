/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-quantize turns a float network into an integer network.  The parts in running
 * order: decode.c turns stored weights into FLOAT32 constants and computes constants;
 * unrolled.c with slices.c, patterns.c and fold.c fold operators.  samples.c reads the calibration data.  calibrate.c runs the network and
 * measures the ranges; ranges.c has the methods.  parameters.c chooses scales and zero points by the rules of
 * rules.c.  constants.c quantizes weights and biases, and convert.c rewrites the network.
 * result.c calls these parts.  measure.c compares the integer network with the float
 * network, also by the answers of answers.c, and report.c prints the figures.  sequences.c runs all samples.  net.c is a
 * network that can be edited; variables.c has its variables.
 */
#ifndef TFL_QUANTIZE_H
#define TFL_QUANTIZE_H

#include "base/little_endian.h"
#include "samples/samples.h"
#include "tflite/write.h"

enum interface { INTERFACE_INT8, INTERFACE_FLOAT };
enum method { RANGES_MINMAX, RANGES_MOVING_AVERAGE, RANGES_PERCENTILE, RANGES_MSE,
	      RANGES_ENTROPY };
enum activations { ACTIVATIONS_INT8, ACTIVATIONS_INT16 };

enum { MAX_SOURCES = 64 };

struct sources {
	const char *path[MAX_SOURCES]; /* "PATH", or "K=PATH" for input K */
	int n;
};

struct options {
	const char *model, *output;
	struct sources data; /* the samples */
	struct sources test; /* samples that the networks are compared on; n 0: those of data */
	bool are_test; /* data are those of test */
	const char *labels; /* file of the samples' classes; NULL: the data may have labels */
	struct sample_options in;
	bool random; /* random numbers in place of data */
	unsigned frames; /* samples of one sequence; variables keep their values in it */
	enum interface interface;
	enum activations type;
	enum method ranges;
	bool no_fold, equalize, correct_bias;
	bool allow; /* operators without an integer version keep their floats ... */
	const char *allowed; /* ... if this list has their names; NULL: all of them */
	bool per_tensor; /* all weights of an operator have one scale */
	bool per_channel_fc; /* FULLY_CONNECTED has one scale per output channel */
	const char *wide[MAX_SOURCES]; /* patterns of operators in 16 bits */
	int n_wide;
	bool has_limit;
	double most_loss; /* of accuracy, in percent; has_limit is true */
	bool report, json; /* print the report on standard error, on standard output */
	bool quiet; /* print errors only */
	unsigned jobs;
	void *caller; /* of libnputools, whose samples.c reads memory; NULL: a program */
};

/* ---- net.c ------------------------------------------------------------------------ */

enum width { WIDTH_8, WIDTH_16, WIDTH_FLOAT }; /* of an operator's feature maps */

struct net_op {
	struct tfl_op op; /* in and out may be changed */
	bool removed;
	enum width width;
	int from; /* operator of the float network; -1: a conversion that was inserted */
	int activation, padding; /* in place of those of op; -1: those of op */
	/* options of an operator that replaces another one; NULL: op has its own, or none */
	const struct fb_table *options;
	int options_tag;
	const int64_t *option;
};
struct net_variable { /* that the network keeps by name */
	int handle; /* the tensor of its VAR_HANDLE */
	int value;  /* the constant that it begins with */
	struct fb_ref ref; /* of VAR_HANDLE */
};
struct net {
	struct arena *a;
	const struct tfl_model *m; /* the file that options of operators are copied from */
	struct tfl_tensor *tensor; /* data: the value of a constant */
	struct net_op *op;
	int *in, *out;
	int n_tensors, n_ops, n_in, n_out;
	int tensors_capacity, ops_capacity;
	struct net_variable *variable;
	int n_variables;
	int *index; /* after net_write(): of each tensor in the file; -1: dropped */
};
/* The first subgraph of a model. */
struct net *net_open(struct arena *a, const struct tfl_model *m);
/* Adds a tensor and returns its index. */
int net_add_tensor(struct net *n, const struct tfl_tensor *t);
/* Inserts QUANTIZE or DEQUANTIZE before position `at` of the operators. */
void net_insert(struct net *n, int at, int code, int in, int out);
/* Input k of an operator; NULL: none. */
static inline struct tfl_tensor *
net_input(const struct net *n, const struct tfl_op *op, int k)
{
	return k < op->n_in && op->in[k] >= 0 ? &n->tensor[op->in[k]] : NULL;
}
/* Sets the error "operator I (NAME): WHY", and returns false. */
static inline bool
net_refuse(const struct net *n, int i, const char *why, struct err *e)
{
	return tfl_refuse(n->m, &n->op[i].op, i, why, e);
}
/* The slot of an option with this name; -1: the operator has no such option. */
int net_option_slot(const struct tfl_op *op, const char *name);
/* how often operators read tensor t, or the network returns it */
int net_count_users(const struct net *n, int t);
int *net_users(struct net *n); /* the same of all tensors */
/* The operator that writes t, if its only output is t; NULL: none. */
struct net_op *net_producer(struct net *n, int t);
/* The fused activation of an operator; -1: it has none. */
int net_activation(const struct net_op *o);
/* Writes the network; tensors that nobody uses are dropped. */
bool net_write(struct net *n, struct bytes *out, struct err *e);
/* Replaces every use of tensor `from` as an input or as an output of the network. */
void net_replace(struct net *n, int from, int to);

/* ---- variables.c ------------------------------------------------------------------ */

/* Finds the variables.  CALL_ONCE and VAR_HANDLE are removed; net_write() writes new ones. */
bool net_find_variables(struct net *n, struct err *e);
bool is_variable_frame(const struct tfl_op *op); /* CALL_ONCE, or VAR_HANDLE */
struct real;
/* Opens the network in real numbers; m is from net_write(). */
struct real *open_real(struct arena *a, const struct tfl_model *m);

/* ---- dense.c ---------------------------------------------------------------------- */

/* Makes sparse constants dense, and removes DENSIFY. */
bool net_make_dense(struct net *n, struct err *e);

/* ---- decode.c --------------------------------------------------------------------- */

/*
 * Returns the model with FLOAT32 constants in place of FLOAT16 and integer weights, and
 * with constants in place of computed shapes.  Then folds operators and equalizes layers,
 * as the options say.
 */
bool decode_model(struct arena *a, const struct tfl_model *m, const struct options *o,
		  struct tfl_model **out, struct err *e);

/* ---- fold.c ----------------------------------------------------------------------- */

/* Removes operators that weights, biases and fused activations of others can compute. */
void fold_operators(struct net *n);

/* ---- patterns.c ------------------------------------------------------------------- */

/*
 * Replaces chains of elementwise operators that compute HARD_SWISH, GELU and other
 * functions by one operator.  wide: INT16, in which some operators do not exist.
 */
void recognize_patterns(struct net *n, bool wide);

/* true if the reciprocals of all elements of a FLOAT32 constant are finite */
bool has_reciprocals(const struct tfl_tensor *t);
/* Makes divisions by constants multiplications; false: there is none. */
bool multiply_by_reciprocals(struct net *n);

/* ---- slices.c --------------------------------------------------------------------- */

/*
 * The first element that SLICE or STRIDED_SLICE takes.  Returns false unless the elements are
 * in one piece of the input.
 */
bool slice_start(const struct net *n, const struct tfl_op *op, int64_t *first);

/* ---- unrolled.c ------------------------------------------------------------------- */

/* Makes LSTMs that were written step by step single operators. */
void fold_unrolled(struct net *n);

/* ---- equalize.c ------------------------------------------------------------------- */

/* Makes the ranges of layers' weights equal, channel by channel. */
void equalize_layers(struct net *n);

/* ---- rules.c ---------------------------------------------------------------------- */

enum rule_kind {
	RULE_NONE,    /* the operator has no integer version */
	RULE_FREE,    /* each tensor has its own scale */
	RULE_SAME,    /* inputs and outputs have one scale */
	RULE_FIXED,   /* the specification gives the scale of the output */
	RULE_WEIGHTS, /* weights, and a bias in units of input scale * weight scale */
	RULE_SVDF,
	RULE_LSTM,
	RULE_VARIABLE, /* values that are read and assigned have one scale */
	RULE_COMPARE, /* the output is no real number */
};
struct rule {
	enum rule_kind kind;
	int version;	   /* of the operator with INT8 tensors */
	int input, weights, bias; /* RULE_WEIGHTS: positions */
	int axis;	   /* RULE_WEIGHTS: of output channels; -1: one scale for all */
	float scale, scale16; /* RULE_FIXED */
	int zero;
};
const struct rule *rule_of(int code);
struct op_plan { /* one per operator */
	bool keeps_float; /* the operator has no integer version */
	bool computed;	  /* the outputs have values in real numbers */
	bool has_16;	  /* the operator has a version with INT16 feature maps */
};
/*
 * Plans each operator.  Returns false, with the name of the operator, if an operator has
 * no integer version and the options do not allow floats.
 */
bool rules_check(struct arena *a, const struct tfl_model *m, const struct options *o,
		 struct op_plan **plan, struct err *e);

/* ---- samples.c; libnputools has its own ------------------------------------------- */

/* The calibration data, read file by file. */
struct sample_stream;
bool samples_open(struct arena *a, const struct options *o, const struct tfl_subgraph *g,
		  struct sample_stream **out, struct err *e);
/*
 * Reads the next sample of every input as floats of the tensors' shapes.  *more becomes
 * false at the end of the data.
 */
bool samples_next(struct sample_stream *s, float *const *input, bool *more, struct err *e);
/* the class of the sample that was read last; NAN: the data have no labels */
double samples_label(const struct sample_stream *s);
/* number of names of classes by which the samples have labels; 0: none, or numbers; not in the library */
int samples_names(const struct sample_stream *s);
void samples_close(struct sample_stream *s);

/* ---- sequences.c ------------------------------------------------------------------ */

struct sequence { /* samples in which variables keep their values */
	float **input; /* [sample * number of inputs + input] */
	double *label; /* one per sample: its class; NAN: none */
	size_t n, first; /* samples; number of the first one among all samples */
};
struct sequence_job {
	void *ctx;
	/* runs a sequence, at the same time as other workers */
	void (*run)(void *ctx, size_t worker, const struct sequence *s);
	/* called in the order of the samples, after run */
	bool (*join)(void *ctx, size_t worker, const struct sequence *s, struct err *e);
	size_t most, of; /* so many samples, from all parts of `of` samples; most 0: all */
};
size_t sequence_workers(const struct options *o);
/* Runs the samples; *n is their number. */
bool run_sequences(const struct options *o, const struct tfl_subgraph *g,
		   const struct sequence_job *job, size_t *n, struct err *e);

/* ---- calibrate.c ------------------------------------------------------------------ */

struct range {
	float lo, hi; /* lo > hi: no value was seen */
};
/* sums of the values of each channel, which is the last dimension */
struct channel_sums {
	int32_t n; /* channels; 0: the tensor is not summed */
	double *sum;
	double count; /* values in each channel */
};
struct ranges {
	struct range *range;   /* one per tensor: of all values */
	struct range *clipped; /* one per tensor: for INT8, by the method of --ranges */
	struct channel_sums *sums; /* one per tensor: for --bias-correction */
	size_t n;	     /* samples */
};
bool calibrate(struct arena *a, const struct options *o, const struct tfl_model *m,
	       const struct op_plan *plan, struct ranges *out, struct err *e);

/* ---- ranges.c --------------------------------------------------------------------- */

enum { HISTOGRAM_BINS = 2048 };
struct histogram {
	struct range range; /* from the first bin to the last */
	uint64_t *bin;	    /* number of values in each bin */
};
/* The range that a method chooses, other than minimum and maximum or moving average. */
struct range range_of_histogram(const struct histogram *h, enum method method);

/* ---- parameters.c ----------------------------------------------------------------- */

struct parameters {
	float scale; /* 0: the tensor is not quantized */
	int zero;
	int type;
	float lo, hi; /* the range that gave the scale */
};
/* Scale and zero point of a range, by the specification of TensorFlow Lite. */
struct parameters parameters_of(struct range r, int type);
/*
 * Chooses the parameters of all tensors.  An operator that needs equal scales gets them.
 * QUANTIZE or DEQUANTIZE is inserted into n where scales contradict each other, and between
 * operators of different widths.
 */
struct parameters *choose_parameters(struct net *n, const struct ranges *c,
				     const struct options *o);

/* ---- constants.c ------------------------------------------------------------------ */

/* Returns a new tensor of n with the values of constant t and these parameters. */
int quantize_constant(struct net *n, int t, const struct parameters *p);
/* Symmetric weights of operator op, and its bias; replaces both inputs. */
bool quantize_weights(struct net *n, int op, const struct parameters *p,
		      const struct ranges *ranges, const struct options *o, struct err *e);

/* ---- convert.c -------------------------------------------------------------------- */

/* Makes the network integer. */
bool convert(struct net *n, struct parameters *p, const struct ranges *ranges,
	     const struct options *o, struct err *e);

/* ---- result.c --------------------------------------------------------------------- */

struct result { /* an integer version of the network */
	struct net *n;
	struct parameters *p; /* one per tensor of n */
	struct tfl_model *m;
	struct bytes file;
};
/*
 * Makes an integer version of m.  wide: one per operator of m, true for operators in 16
 * bits; NULL: all operators have the type of the options.
 */
bool make_result(struct arena *a, const struct options *o, const struct tfl_model *m,
		 const struct op_plan *plan, const struct ranges *ranges, const bool *wide,
		 struct result *out, struct err *e);
/* All steps from a float model to r->r; r->f remains NULL. */
struct report;
bool quantize_model(struct arena *a, const struct options *o, const struct tfl_model *m,
		    struct report *r, struct err *e);

/* ---- answers.c -------------------------------------------------------------------- */

/* the samples for which output 0 of the float network says a class */
enum answers {
	ANSWERS_UNKNOWN,     /* none: the output has no values in real numbers */
	ANSWERS_NONE,	     /* none: more than one dimension is greater than 1 */
	ANSWERS_OF_LABELLED, /* those with labels: only labels show that the values are classes */
	ANSWERS_OF_ALL,	     /* all dimensions but the last are 1; or LOGISTIC made one value */
};
enum answers answers_of(const struct tfl_model *m, const struct op_plan *plan);
/* the position of the greatest of n values; of one value, whether it is above a half */
int answer_of(const double *v, int64_t n);
/* the shape of output 0, such as [1,12,12,2] */
const char *output_shape(struct arena *a, const struct tfl_model *m);

/* ---- measure.c -------------------------------------------------------------------- */

/*
 * Sums over all values of a tensor, squared.  own: of the operator alone, computed in real
 * numbers from the integer network's inputs.
 */
struct tensor_figures {
	double signal, noise, own_signal, own_noise;
	uint64_t n, clipped; /* values; those more than a step beyond the range of the integers */
};
struct figures {
	struct arena *a;
	size_t n; /* samples */
	struct tensor_figures *tensor; /* one per tensor of the float network */
	bool has_answers; /* of the samples, or of those with labels; false: equal is no figure */
	size_t equal; /* samples for which both networks give the same answer */
	size_t labelled, right_float, right_integer;
	int *answer; /* of the float network, one per sample */
	size_t capacity; /* of answer; 0: the float network did not run */
};
/* the ratio in decibels; INFINITY: no noise */
double noise_ratio_db(double signal, double noise);
enum compared {
	COMPARE_ANSWERS, /* the float network runs only if f has no answers of an earlier call */
	COMPARE_OUTPUTS, /* figures of the network's outputs, too */
	COMPARE_TENSORS, /* figures of all tensors, too */
};
/* Compares both networks on `most` samples, spread over all of --data; most 0: on all. */
bool compare_networks(const struct options *o, const struct tfl_model *m,
		      const struct op_plan *plan, const struct result *r, enum compared what,
		      size_t most, size_t of, struct figures *f, struct err *e);

/* ---- mixed.c ---------------------------------------------------------------------- */

/* Chooses the operators in 16 bits: *wide has one flag per operator. */
bool choose_wide(struct arena *a, const struct options *o, const struct tfl_model *m,
		 const struct op_plan *plan, const struct ranges *ranges, bool **wide,
		 struct err *e);

/* ---- report.c --------------------------------------------------------------------- */

struct report {
	const struct options *o;
	const struct tfl_model *m; /* the float network */
	const struct op_plan *plan;
	const struct ranges *ranges;
	const struct result *r;
	const struct figures *f;
};
void print_report(struct text *t, const struct report *r);
void print_json_report(struct text *t, const struct report *r);
/* Prints what the quantization costs, as one line without its end; nothing is printed if no output
 * was compared. */
void print_accuracy(struct text *t, const struct report *r);
/* The operators of the float network, in the order of their own noise, the worst first. */
int *rank_operators(struct arena *a, const struct tfl_model *m, const struct op_plan *plan,
		    const struct figures *f, int *n);

#endif
