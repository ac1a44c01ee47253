/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-partition: decides which operators run on the NPU, and lowers them to NPU
 * primitives.  Functions are listed under the name of their file, in running order.
 *
 * Folders:
 *	model/		tensors of the model, and changes to it before decisions
 *	decide/		NPU or CPU for each operator
 *	join/		several operators that the NPU computes as one
 *	place/		regions, and where results are stored
 * Families of lowerings:
 *	products/	convolutions, and products of two feature maps
 *	windows/	pools and resizes over an image
 *	elements/	element by element
 *	rows/		rows that are summed or compared
 *	moves/		elements that are moved unchanged
 *
 * A row of schema/operators.def names the family of an operator.  read_NAME() translates
 * an operator of the model, once, into a struct lop, and returns NULL, or in one line why
 * the NPU can't run the operator; lower_NAME() appends the operations that the struct lop
 * describes.
 */
#ifndef TFL_PARTITION_PART_H
#define TFL_PARTITION_PART_H

#include "base/diag.h"
#include "base/io_layout.h"
#include "base/text.h"
#include "lower/arg.h"
#include "lower/conv.h"
#include "lower/nd.h"
#include "lower/pool.h"
#include "perf/cpu.h"
#include "tflite/cut.h"
#include "rewrite/exact.h"
#include "tflite/tflite.h"

/* how the operations of an NPU operator are made */
enum lowered_as {
	AS_ALONE,    /* by its own lowering */
	AS_PADDING,  /* a PAD that its consumers, convolutions and pools, do as padding */
	AS_PICK,     /* channels.c: not at all, as the results are parts of a feature map */
	AS_PART,     /* not at all, as operator `within` computes this one, too */
	AS_CONSTANT, /* fold.c: the result is computed at compile time */
	AS_TABLE,    /* compose.c: as lop.table, together with other operators */
	AS_WORDS,    /* wordquant.c: as a quantization of words */
	AS_RATIO,    /* ratio.c: as `ratio` */
};

struct part;

/* changes v, the elements of an IFM, to what the operator sees of it; returns NULL, or why not */
typedef const char *view_fn(const struct part *p, const struct tfl_op *op, struct nd *v);

/* an operator as its family's `lower` needs it */
struct lop {
	const struct tfl_op *op;
	/* its first two inputs and its first output; NULL: absent */
	const struct tfl_tensor *ifm, *ifm2, *ofm;
	/* what `read` found: one member for each kind of family */
	union {
		struct low_conv conv;
		struct low_pool pool;
		struct low_arg arg;
		int axis;
		view_fn *view; /* the result is a view of the IFM */
		void *own; /* a description that only the family knows */
	};
	enum g_op_kind kind; /* of an operator that is one operation on each element */
	int32_t zero;	    /* what one operation on each element subtracts from the IFM */
	struct low_end end; /* of the operations, or of the last one */
	/*
	 * The results for all 256 values of tensor `root` of 8 bits, the least one first:
	 * the operator is lowered as this table.  NULL: by its family's lowering
	 */
	const uint8_t *table;
	int root;
};

struct placement {
	bool npu;
	const char *why; /* reason for the CPU */
	bool asked;	 /* the user keeps the operator on the CPU (--cpu) */
	bool border;	 /* converts a float input or output of the model to or from integers */
	int level;	 /* region level, from 0 on: nputools-lowering(7) 7.2 */
	struct lop lop; /* if the family has accepted the operator */
	enum lowered_as as;
	int within; /* index of an operator */
	const struct ratio *ratio; /* the quotient that the operator quantizes */
	/* not folded, because a CPU operator reads the result, or nobody does */
	bool kept;
	const char *left_out; /* why the compiled model omits the operator; NULL: it does not */
	const char *was;      /* name of the operator's result before it was left out */
	bool rewritten;	      /* inputs or outputs differ from the original model's */
	struct g_node *node;
};

/* channels.c: the order in which a tensor stores its channels */
struct channels {
	const int32_t *at; /* at[q]: the channel stored at position q; NULL: ascending order */
	/* 1 + the tensor that stores these channels from `first` on; 0: its own memory */
	int part_of;
	int32_t first;
};

/* state.c: the initial value of a variable tensor; type is an enum tfl_type */
struct initial {
	int tensor, type;
	const uint8_t *value;
};

/* model/cut.c: what a cut leaves of the original */
struct part_cut {
	const struct tfl_model *of; /* the original */
	struct cut cut;
};

struct part {
	struct arena *a;
	int body; /* the subgraph of the model that subgraph 0 of m was; 0: the model's first */
	struct tfl_model *m;
	const struct tfl_subgraph *sg; /* subgraph 0 */
	struct graph *g;
	struct placement *op;
	struct g_operand *value; /* operand that holds each tensor; t is NULL until it exists */
	/* of each tensor: it is an input of the model, constant or not */
	bool *is_model_input;
	/* number of readers of each tensor, the model's outputs included */
	int *uses;
	/* of each tensor: how often it is an input or output of an operator */
	int *operands;
	/* of each tensor: visible outside of its region (CPU, application, next inference) */
	bool *crosses;
	struct channels *channels; /* of each tensor */
	struct lower *l;	 /* state of the lowering */
	const struct function *function; /* compose.c: that the operator of each tensor computes */
	int n_original;		 /* tensors of the model; state.c adds more */
	/* of each operator: why a later stage can't run it on the accelerator; NULL: it can */
	const char **limit;
	/* variables with an initial value that the runtime's reset can't set */
	struct initial *initial;
	size_t n_initial, cap_initial;
	int begun; /* 1 + the flag variable that is 0 until these are set; 0: no such flag */
	const struct part_cut *cut; /* NULL: the whole model */
	struct cpu_core core; /* runs the operators that stay on the CPU */
	struct err *e;
};

/* layouts of --input-layout and --output-layout that enum g_layout lacks */
enum { LAYOUT_PLANES = LAYOUT_NHCWB16 + 1 };
/* layout.c: names of enum g_layout, then of LAYOUT_PLANES; NULL at the end */
extern const char *const io_layout_names[];

struct options {
	const char *input, *output;
	const char *accel;
	const char *part; /* the chip: its accelerator and its CPU; NULL: none */
	const char **cpu; /* operators that the user keeps on the CPU: names or indices */
	size_t n_cpu;
	bool report, fail_on_cpu, by_name;
	bool allow_unequal; /* --allow=unequal-quantization */
	/* name of the model's file in the graph; NULL: the graph embeds the file */
	const char *name;
	/* lists of tensors; NULL: the model's own inputs or outputs */
	const char *cut_inputs, *cut_outputs;
	bool cut_only; /* write the cut model instead of the graph */
	int subgraph;  /* --subgraph: the body to compile; 0: the model */
	bool json;     /* of the report */
	bool list_operators; /* --verbose-operators */
	bool integer_io;
	bool separate_io; /* --separate-io-regions */
	int target; /* --target: index in low_targets */
	struct rewrite_options rewrites;
	struct io_layouts in, out;
};

/*
 * partition.c: makes the graph out->g of a model's file.  Messages call the file o->input.
 * accel NULL: for all accelerators.  Warns of operators on the CPU, unless for a report.
 */
bool partition_file(struct arena *a, const struct options *o, const struct accel *accel,
		    struct bytes file, struct part *out, struct err *e);
/* Returns true, with an error of status EXIT_NO, if --fail-on-cpu refuses the result. */
bool fails_on_cpu(const struct part *p, const struct options *o);

/* sets the union of *o; sees only the model, and returns NULL or why not */
typedef const char *read_fn(const struct part *p, struct lop *o);
/* appends the operations, or refuses: low_refuse() */
typedef void lower_fn(struct part *p, const struct lop *o);
/* two functions for each name in the column `family` of schema/operators.def */
#define OPERATOR(name, kernel, real, adder, cpu, f, ...)                             \
	read_fn read_##f;                                                            \
	lower_fn lower_##f;
#include "operators.def"
#undef OPERATOR
/* elementwise operators: JOINS_yes and, if the operator alone becomes a table, JOINS_table */
enum joins { JOINS_none, JOINS_no, JOINS_yes, JOINS_table };

/* the row of an operator in schema/operators.def, whose head explains the columns */
struct family {
	read_fn *read; /* NULL: only the CPU runs the operator */
	lower_fn *lower;
	enum joins joins;
	int types, rank; /* types: a set of TYPE_ bits */
	bool subtracts_zeros;
	enum { PLACE_none, PLACE_line, PLACE_any, PLACE_alias, PLACE_parts,
	       PLACE_middle } place;
};

/* families.c */
const struct family *family_of(int code);
/* an operator that has not been translated yet */
struct lop lop_of(const struct part *p, const struct tfl_op *op);
/* the types of IFM and OFM that the family may take, a set of TYPE_ bits */
int family_types(const struct tfl_op *op);
/* does t have the rank that the family takes? */
bool family_rank(const struct tfl_op *op, const struct tfl_tensor *t);

/*
 * borders.c, --integer-io: leaves out QUANTIZE of the model's float inputs and
 * DEQUANTIZE to its float outputs.  Result: inputs and outputs of the subgraph and
 * of the graph's model record.
 */
void leave_out_float_borders(struct part *p, const struct options *o);
/* Replaces *m by the model between these integer tensors, for --cut-only. */
bool cut_float_borders(struct arena *a, const struct options *o, struct tfl_model **m,
		       struct err *e);
/* sets `border` of operators at float inputs and outputs, left out or not */
void find_border(struct part *p);

/* state.c: variables that the model keeps by name become tensors */
void take_state(struct part *p, const struct options *o);

/* decide.c: completes `lop` of an operator; returns NULL, or why the CPU runs the operator */
const char *decide_op(const struct part *p, int i);
/* false: --cpu names an operator or index that does not exist; e says which */
bool check_asked(const struct part *p, const struct options *o, struct err *e);
/*
 * false: the CPU's kernel would refuse an operator, as its shapes contradict each other, or refuse
 * or ignore its quantizations; p->e says which
 */
bool check_cpu_kernels(const struct part *p);
/* false: an operator copies or compares integers of unequal quantizations; p->e says which */
bool check_equal_quantization(const struct part *p);
/* does the user keep this operator on the CPU? */
bool kept_on_cpu(const struct options *o, const struct tfl_op *op, int index);

/* fold.c: evaluates operators on constants, then decides NPU or CPU for every operator */
void decide_all(struct part *p, const struct options *o);
/* prints a note if a shape with an open batch was taken as constant */
void note_open_batch(const struct part *p);
/* makes those of the constant results that are outputs of the model */
void lower_constant(struct part *p, const struct tfl_op *op);

/*
 * joins.c: joins operators, from the last one to the first, by a list of rules.  Needs:
 * p->uses.  Result: `as` of joined operators, and npu of those that the NPU can run only so.
 */
void join_all(struct part *p);
/* Needs: operations.  Result: their source operators, those within a table included */
void name_parts(struct part *p);
/* is the operator not kept, folded or left out? */
bool may_join(const struct part *p, int op);

enum { MAX_JOINED = 16 };
struct join {
	enum lowered_as as; /* of the operator whose result remains */
	int n, op[MAX_JOINED]; /* the others, which are part of it */
};
/*
 * Finds the operators that become one with operator i, the last of them, and sets what its
 * lowering needs.  False: there are none.
 */
typedef bool join_rule(struct part *p, int i, struct join *j);

/* compose.c: elementwise operators that are a function of 8 bits.  First finds functions */
void find_functions(struct part *p);
join_rule join_table;

/* wordquant.c: CAST or DEQUANTIZE, and the QUANTIZE behind it */
join_rule join_words;
void lower_words(struct part *p, const struct lop *o);

/*
 * ratio.c: DEQUANTIZE of two 8-bit tensors, DIV and QUANTIZE.  Later, when levels exist,
 * raise_ratios() makes them equal for joined operators.
 */
join_rule join_ratio;
void raise_ratios(struct part *p);
void lower_ratio(struct part *p, int op);

/* nodes.c: levels, crossing tensors, and regions in order of execution */
void make_nodes(struct part *p);

/*
 * channels.c: orders channels of feature maps.  Needs: crossing tensors.  Result:
 * p->channels, and AS_PICK of operators that have nothing to do.
 */
void order_channels(struct part *p);
/* makes the results of a picked operator views of their feature map */
void lower_picked(struct part *p, const struct tfl_op *op);

/*
 * layout.c.  Needs: operations.  Result: requested layouts of inputs and outputs.
 * False: p->e says which can't be had.
 */
bool take_layouts(struct part *p, const struct options *o);

/*
 * separate.c, --separate-io-regions.  Needs: layouts.  Result: areas of inputs and
 * outputs.  False: p->e says why they can't be separate.
 */
bool separate_borders(struct part *p, const struct options *o);

/*
 * lower.c: lowers every NPU operator into its node.  Returns false if p->limit has new
 * operators: no operations can compute them, or an accelerator of the graph can't run these.
 */
bool lower_all(struct part *p);
/* stores a tensor that does not exist yet at `place`, if its producer can write there */
void bind_place(struct part *p, int tensor, struct g_operand place);

/* concat.c: binds inputs of CONCATENATION and PACK that have no memory yet to parts of the result */
void bind_concat(struct part *p, const struct lop *o);
/* pad.c: likewise, the input of a PAD to the part of the result between the borders */
void bind_pad(struct part *p, const struct lop *o);

/* report_json.c: body[0] to body[n - 1] are the bodies of p */
void print_report_json(const struct part *p, const struct part *body, size_t n, struct text *t);

/* report.c: p alone, without its bodies */
void print_report(const struct part *p, struct text *t);
/*
 * Prints the report of p, and of each body of IF and WHILE as --subgraph compiles it.  False
 * if a body can't be compiled.
 */
bool report_all(const struct part *p, const struct options *o, const struct accel *accel,
		struct text *t);
/* the name of an operator's first result, for people to read */
const char *part_name(const struct part *p, const struct tfl_op *op);
/* Warns on standard error of operators that stay on the CPU although nobody asked for it. */
void warn_of_cpu(const struct part *p, const struct options *o);
/* prints a note if the model has further subgraphs, which are not compiled */
void note_subgraphs(const struct part *p);

/* listing.c */
void print_operators(const struct part *p, struct text *t);

/* model/cut.c: replaces *m by a model of the body of --subgraph */
bool take_subgraph(struct arena *a, const struct options *o, struct tfl_model **m,
		   struct err *e);
/*
 * model/cut.c: replaces *m by the network between the tensors of --cut-inputs and
 * --cut-outputs, and notes the operators outside; *out is NULL if the options ask for no
 * cut.
 */
bool take_cut(struct arena *a, const struct options *o, struct tfl_model **m,
	      const struct part_cut **out, struct err *e);
/* --cut-only: writes the cut model */
bool write_cut(struct arena *a, const struct options *o, struct bytes file, struct err *e);
/* lines of the report for the operators outside */
void print_cut(const struct part *p, struct text *t);

/* ---- changes of the model in memory, before anything is decided ------------ */

/* rewrite.c: removes all inputs and outputs of the operator; why: for reports */
void part_leave_out(struct part *p, int op, const char *why);
/* makes an operator that the NPU is to run read another tensor */
void part_set_input(struct part *p, int op, int k, int tensor);
/* replaces all inputs, or all outputs */
void part_set_inputs(struct part *p, int op, const int *v, int n);
void part_set_outputs(struct part *p, int op, const int *v, int n);
/* after decisions: an error if a changed operator would run on the CPU */
bool check_rewritten(const struct part *p);
/* an error if npu-cmdgen can't copy an operator that the CPU keeps */
bool check_copyable(const struct part *p);

/* ---- for families -------------------------------------------------------- */

/* rules.c: rules that many checks share; each returns NULL or the reason */
const struct tfl_tensor *part_in(const struct part *p, const struct tfl_op *op,
				 int k); /* NULL if absent */
const struct tfl_tensor *part_out(const struct part *p, const struct tfl_op *op,
				  int k);
/* inputs and outputs are those of the column `inputs`; holds when a family checks */
const char *check_arity(const struct part *p, const struct tfl_op *op);
/* types of feature maps: a set of TYPE_ bits */
enum { TYPE_I8 = 1, TYPE_U8 = 2, TYPE_I16 = 4, TYPE_I32 = 8,
       TYPE_BOOL = 16, /* bytes, 0 or 1; the NPU's operands are INT8 */
       TYPE_I64 = 32,  /* pairs of words, no feature map */
       TYPE_8 = TYPE_I8 | TYPE_U8, TYPE_FM = TYPE_8 | TYPE_I16 };
/* t has one of the types */
bool has_type(const struct tfl_tensor *t, int types);
/* one of the types, static and dense, dimensions of 1 to 65535, per-tensor quantization */
const char *check_fm(const struct part *p, const struct tfl_tensor *t,
		      const char *role, int types);
/* static shape, dense, no variable */
const char *check_fixed(const struct part *p, const struct tfl_tensor *t,
			const char *role);
/* one of the types, and check_fixed() */
const char *check_typed(const struct part *p, const struct tfl_tensor *t, const char *role,
			int types);
/* check_fm() of input 0 and output 0: with these types, or with those of the family */
const char *check_within(const struct part *p, const struct lop *o, int types);
const char *check_ifm_ofm(const struct part *p, const struct lop *o);
/* input 0 and output 0 have one type and one quantization */
const char *check_same_quant(const struct part *p, const struct lop *o);
/* input k is a variable that nothing else uses, so nobody else sees it change */
const char *check_own_state(const struct part *p, const struct tfl_op *op, int k,
			    const char *role);
/* none, RELU, RELU_N1_TO_1 or RELU6 */
const char *check_activation(const struct part *p, const struct tfl_op *op,
			     int activation);
/* the operator has an options table of this kind */
const char *check_options(const struct part *p, const struct tfl_op *op,
			  const struct fb_table *t);

/* quant.c: scales, zero points, clamps */
/* scale of a per-tensor quantization; 1 if there is none */
double quant_scale(const struct tfl_tensor *t);
float quant_scale_f32(const struct tfl_tensor *t);
/* scale of channel c; of a per-tensor quantization, its scale */
float quant_channel_scale(const struct tfl_tensor *t, int c);
/*
 * 0 for INT32 and for tensors without a scale, whatever the file says, because the
 * reference computes with plain integers in these cases
 */
int32_t quant_zero(const struct tfl_tensor *t);
bool quant_equal(const struct tfl_tensor *a, const struct tfl_tensor *b);
/* clamp of a fused activation in the quantization of t; nputools-lowering(7) 3.1 */
struct g_range quant_clamp(const struct tfl_tensor *t, int activation);

/* values.c: operands of the graph for tensors of the model */
/* shape as the NPU sees it */
struct hwc tfl_hwc(const struct tfl_tensor *t);
struct g_operand part_ifm(struct part *p, int tensor); /* existing value or constant */
struct g_operand part_ofm(struct part *p, int tensor); /* existing value, or a new one */
/* the bytes of a constant: a buffer of the model, or a blob made by folding */
struct g_source part_source(struct part *p, const struct tfl_tensor *t);
/* reads a constant of at most max INT32 or INT64 parameters; false: it is none */
bool part_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n);
/* element i of a constant of 8, 16 or 32 bits */
int32_t tensor_int(const struct tfl_tensor *t, int64_t i);

/* broadcast.c: operations on two tensors */
/* t's elements in as many dimensions as o has */
struct nd nd_aligned(struct g_operand v, const struct tfl_tensor *t, const struct tfl_tensor *o);
/* the same of a tensor of the model; a scalar becomes an immediate */
struct nd nd_side(struct part *p, int tensor, const struct tfl_tensor *o);
/* a and b broadcast to o, in at most 4096 operations */
const char *check_broadcast(const struct part *p, const struct tfl_tensor *a,
			    const struct tfl_tensor *b,
			    const struct tfl_tensor *o);
/* nd_binary() in at most 4096 operations */
void part_binary(struct part *p, enum g_op_kind kind, const struct nd *a, int32_t a_zero,
		 const struct nd *b, int32_t b_zero, const struct nd *out,
		 const struct low_end *end);
/* true for a constant of one element of 8 or 16 bits, which becomes an immediate */
bool is_scalar(const struct tfl_tensor *t);
/*
 * fuse.c: makes the operations that compute a tensor, which nobody else may see,
 * write to ofm instead, through a table or (lut NULL) a clamp.  Returns false if
 * they can't.
 */
bool fuse(struct part *p, int tensor, struct g_operand ofm, struct g_lut *lut,
	  struct g_range clamp);

/* compare.c: two inputs of one of the family's types, and an output of BOOL */
const char *check_truth(const struct part *p, const struct lop *o);
/*
 * eltwise.c: two inputs and an output of one of the family's types, of which one input is
 * computed, and broadcast to the output
 */
const char *check_binary(const struct part *p, const struct lop *o);

/* table.c: functions of one element */
/* one computed input; the output has its type and number of elements */
const char *check_unary(const struct part *p, const struct lop *o);
/* sets the zero points, the clamp and the rounding of one operation that scales the IFM */
void take_rescale(struct lop *o, struct npu_scale s);
/* appends this operation; a caller adds what is special */
struct g_op *part_unary(struct part *p, const struct lop *o, enum g_op_kind kind);
/* 8 bits: sets the table of any operator with one input that is not a single constant */
const char *read_bytes(const struct part *p, struct lop *o);
void lower_bytes(struct part *p, const struct lop *o); /* as its table */
/*
 * Evaluates the operator on vectors of n elements, little-endian like all data of
 * the kernels; in[k] is NULL if input k is a constant.  False: the kernel fails.
 */
bool part_evaluate(const struct part *p, const struct tfl_op *op, void *const *in,
		   void *out, int n);
/* the same of n rows of depth elements */
bool part_evaluate_rows(const struct part *p, const struct tfl_op *op, void *const *in,
			void *out, int n, int depth);
/* appends an operation that looks up its IFM; elementwise, as every NPU can do that */
struct g_op *part_table(struct part *p, struct g_operand ifm,
			struct g_operand ofm, struct g_lut *lut);

/* root.c: RSQRT of 16 bits */
bool read_root(struct lop *o); /* false: the ratio of the scales can't be expressed */
void lower_root(struct part *p, const struct lop *o);
/* pairs of bits above the highest set bit, without the sign bit: 0 to 15 */
struct g_operand word_free_pairs(struct part *p, struct g_operand v);
/*
 * The iteration of fixed_inv_sqrt: from half of its normalised argument, in Q3, to
 * its multiplier before the last shift.
 */
struct g_operand word_inverse_root(struct part *p, struct g_operand half);

/* table.c: looks up words by 8 bits; entry 0 is for the type's least value */
void part_table32(struct part *p, struct g_operand ifm, struct g_operand ofm,
		  const int32_t table[256]);

/*
 * softmax.c: operations on rows along the channels.  check_rows(): IFM and OFM of
 * one shape and of the family's types.
 */
const char *check_rows(const struct part *p, const struct lop *o);
struct g_operand row_maximum(struct part *p, struct g_operand x);
/* looks up a - b, which is at most 0; the table's last entry is for 0 */
void subtract_for_table(struct lower *l, struct g_operand a, struct g_operand b,
			struct g_operand ofm, struct g_lut *table);
struct g_operand row_lookup(struct part *p, struct g_operand x,
			    struct g_operand max, const int32_t table[256]);
struct g_operand row_sum(struct part *p, struct g_operand x);

/* softmaxpair.c: SOFTMAX of 8-bit rows of two elements; false for other rows */
bool lower_softmax_pairs(struct part *p, const struct tfl_op *op,
			 struct g_operand x, struct g_operand ofm);

/* geometry.c: output extent and padding of a window */
struct window {
	struct yx out; /* OFM extent */
	struct g_pad pad;
};
struct window window_of(int padding, struct yx in, struct yx kernel,
			struct yx stride, struct yx dilation);

#endif
