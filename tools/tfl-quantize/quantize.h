/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-quantize turns a float network into an integer network.  The parts in running
 * order: decode.c turns stored weights into FLOAT32 constants and computes constant
 * shapes; fold.c folds operators.  samples.c reads the calibration data.  calibrate.c runs the network and
 * measures the ranges; ranges.c has the methods.  parameters.c chooses scales and zero points by the rules of
 * rules.c.  constants.c quantizes weights and biases, and convert.c rewrites the network.
 * report.c prints the ranges.  net.c is a network that can be edited.
 */
#ifndef TFL_QUANTIZE_H
#define TFL_QUANTIZE_H

#include "samples/samples.h"
#include "tflite/write.h"

enum interface { INTERFACE_INT8, INTERFACE_FLOAT };
enum method { RANGES_MINMAX, RANGES_MOVING_AVERAGE, RANGES_PERCENTILE, RANGES_MSE };
enum activations { ACTIVATIONS_INT8, ACTIVATIONS_INT16 };

enum { MAX_SOURCES = 64 };

struct options {
	const char *model, *output;
	const char *data[MAX_SOURCES]; /* "PATH", or "K=PATH" for input K */
	int n_data;
	struct sample_options in;
	bool random; /* random numbers in place of data */
	unsigned frames; /* samples of one sequence; variables keep their values in it */
	enum interface interface;
	enum activations type;
	enum method ranges;
	bool no_fold;
	bool allow; /* operators without an integer version keep their floats ... */
	const char *allowed; /* ... if this list has their names; NULL: all of them */
	bool per_channel_fc; /* FULLY_CONNECTED has one scale per output channel */
	unsigned jobs;
};

/* ---- net.c ------------------------------------------------------------------------ */

enum width { WIDTH_8, WIDTH_16, WIDTH_FLOAT }; /* of an operator's feature maps */

struct net_op {
	struct tfl_op op; /* in and out may be changed */
	bool removed;
	enum width width;
	int activation; /* fused, in place of that of op; -1: that of op */
};
struct net {
	struct arena *a;
	const struct tfl_model *m; /* the file that options of operators are copied from */
	struct tfl_tensor *tensor; /* data: the value of a constant */
	struct net_op *op;
	int *in, *out;
	int n_tensors, n_ops, n_in, n_out;
	int tensors_capacity, ops_capacity;
	int *index; /* after net_write(): of each tensor in the file; -1: dropped */
};
/* The first subgraph of a model. */
struct net *net_open(struct arena *a, const struct tfl_model *m);
/* Adds a tensor and returns its index. */
int net_add_tensor(struct net *n, const struct tfl_tensor *t);
/* Inserts QUANTIZE or DEQUANTIZE before position `at` of the operators. */
void net_insert(struct net *n, int at, int code, int in, int out);
/* The slot of the fused activation in an operator's options; -1: none. */
int net_activation_slot(const struct tfl_op *op);
/* The fused activation of an operator; -1: it has none. */
int net_activation(const struct net_op *o);
/* Writes the network; tensors that nobody uses are dropped. */
bool net_write(struct net *n, struct bytes *out, struct err *e);
/* Replaces every use of tensor `from` as an input or as an output of the network. */
void net_replace(struct net *n, int from, int to);

/* ---- decode.c --------------------------------------------------------------------- */

/*
 * Returns the model with FLOAT32 constants in place of FLOAT16 and integer weights, and
 * with constants in place of computed shapes.  fold: also calls fold_operators().
 */
bool decode_model(struct arena *a, const struct tfl_model *m, bool fold,
		  struct tfl_model **out, struct err *e);

/* ---- fold.c ----------------------------------------------------------------------- */

/* Removes operators that weights, biases and fused activations of others can compute. */
void fold_operators(struct net *n);

/* ---- rules.c ---------------------------------------------------------------------- */

enum rule_kind {
	RULE_NONE,    /* the operator has no integer version */
	RULE_FREE,    /* each tensor has its own scale */
	RULE_SAME,    /* inputs and outputs have one scale */
	RULE_FIXED,   /* the specification gives the scale of the output */
	RULE_WEIGHTS, /* weights, and a bias in units of input scale * weight scale */
	RULE_SVDF,
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

/* ---- samples.c -------------------------------------------------------------------- */

/* The calibration data, read file by file. */
struct sample_stream;
bool samples_open(struct arena *a, const struct options *o, const struct tfl_subgraph *g,
		  struct sample_stream **out, struct err *e);
/*
 * Reads the next sample of every input as floats of the tensors' shapes.  *more becomes
 * false at the end of the data.
 */
bool samples_next(struct sample_stream *s, float *const *input, bool *more, struct err *e);
void samples_close(struct sample_stream *s);

/* ---- calibrate.c ------------------------------------------------------------------ */

struct range {
	float lo, hi; /* lo > hi: no value was seen */
};
struct ranges {
	struct range *range;   /* one per tensor: of all values */
	struct range *clipped; /* one per tensor: for INT8, by the method of --ranges */
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
		      const struct options *o, struct err *e);

/* ---- convert.c -------------------------------------------------------------------- */

/* Makes the network integer. */
bool convert(struct net *n, struct parameters *p, const struct options *o, struct err *e);

#endif
