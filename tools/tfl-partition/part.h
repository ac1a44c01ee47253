/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-partition: which operators run on the NPU, and their lowering to NPU
 * primitives.  The functions stand under the name of their file, in running
 * order.
 *
 * Folders: model/ holds its tensors, and what changes before anything is decided;
 * decide/ what runs where; join/ operators that are one for the NPU; place/ regions,
 * and where results lie.  Families of lowerings: products/ of weights, or of two maps;
 * windows/ over an image; elements/ one by one; rows/ that are summed or compared;
 * moves/ of what stays as it is.
 *
 * A family is a row of the table in families.c: what it takes to run an
 * operator on the NPU (check: NULL, or the reason why not in one line) and
 * how (lower).  check sees the model only; lower may not fail for a reason
 * that check could have seen.
 */
#ifndef TFL_PARTITION_PART_H
#define TFL_PARTITION_PART_H

#include "base/diag.h"
#include "base/ends.h"
#include "graph/graph.h"
#include "lower/nd.h"

struct placement {
	bool npu;
	const char *why; /* reason for the CPU */
	bool asked;	 /* it is the user's: --cpu */
	bool border;	 /* between a float end of the model and integers */
	int level;	 /* nputools-lowering(7) 7.2 */
	bool folded;	 /* done by its consumer: a PAD */
	bool constant;	 /* its result is known already: fold.c */
	bool kept;	 /* ... but somebody needs it from the CPU */
	const char *left_out; /* the compiled model has no need for it: why */
	const char *was;      /* ... and what it made */
	bool rewritten;	      /* it reads what the original does not read */
	int part_of;	 /* compose.c: 1 + the operator that does it, too; 0: none */
	const uint8_t *table; /* what it does so, of all values of ... */
	int root;	      /* ... this tensor */
	int word_root; /* wordquant.c: 1 + the integers that it quantizes; 0: none */
	bool picked;  /* channels.c: its results are parts of a map */
	const struct ratio *ratio; /* ratio.c: the quotient that it quantizes */
	struct g_node *node;
};

/* channels.c: where the channels of a tensor lie */
struct channels {
	const int32_t *at; /* which one is first, second, ...; NULL: as they are counted */
	int part_of;	   /* 1 + the tensor that has them from `first` on; 0: its own */
	int32_t first;
};

struct initial {
	int tensor, type;
	const uint8_t *value;
};

struct part {
	struct arena *a;
	struct tfl_model *m;
	const struct tfl_subgraph *sg; /* subgraph 0 */
	struct graph *g;
	struct placement *op;
	struct g_operand *value; /* where each tensor lives; t NULL: nowhere */
	bool *given;		 /* an input of the model, constant or not */
	int *uses;		 /* consumers of each tensor, outputs included */
	int *operands;		 /* inputs and outputs of operators that it is */
	bool *crosses;		 /* the CPU or the application sees it */
	struct channels *channels; /* of each tensor */
	struct lower *l;	 /* what is being filled */
	int n_original;		 /* tensors of the model; state.c adds more */
	const char **limit; /* of each operator: why a stage behind this one can't; NULL */
	struct initial *initial; /* of variables that begin with other bytes ... */
	size_t n_initial, cap_initial;
	int begun; /* ... 1 + the tensor that says that they have begun; 0: none */
	struct err *e;
};

/* --input-layout, --output-layout */
enum { LAYOUT_PLANES = LAYOUT_NHCWB16 + 1 };
extern const char *const end_names[]; /* layout.c; as enum g_layout, then planes */

struct options {
	const char *input, *output;
	const char *accel;
	const char **cpu; /* operators that the user keeps on the CPU */
	size_t n_cpu;
	bool report, fail_on_cpu, by_name;
	const char *name; /* of the file that the graph refers to; NULL: it has it all */
	bool list_operators; /* --verbose-operators */
	bool integer_io;
	bool separate_io; /* --separate-io-regions */
	int target; /* of low_targets */
	struct end_layouts in, out;
};

/* families.c */
struct family {
	int code;
	const char *(*check)(const struct part *p, const struct tfl_op *op);
	bool (*lower)(struct part *p, const struct tfl_op *op);
	bool alias;  /* moves nothing: the result is another name of the input */
	bool direct; /* writes to part_ofm() as it is, whatever view that is */
	/* gives inputs that nobody has made yet a place in its result */
	void (*bind)(struct part *p, const struct tfl_op *op);
};
const struct family *family_find(int code);

/*
 * ends.c: QUANTIZE and DEQUANTIZE at the model's float ends are left out.
 * Leaves: inputs and outputs of the subgraph and of the graph's model record.
 */
void take_float_ends(struct part *p, const struct options *o);
/* marks operators that stand there, left out or not */
void find_border(struct part *p);

/* state.c: variables that the model keeps by name become tensors */
void take_state(struct part *p, const struct options *o);

/* decide.c: NPU or CPU for every operator */
void decide(struct part *p, const struct options *o);
bool check_asked(const struct part *p, const struct options *o, struct err *e);
/* does the user keep this operator on the CPU? */
bool kept_on_cpu(const struct options *o, const struct tfl_op *op, int index);

/* fold.c: the same, with the results of operators on constants known */
void decide_all(struct part *p, const struct options *o);
/* one line where the batch of a shape that is taken for constant is open */
void note_open_batch(const struct part *p);
/* those among its results that are the model's outputs */
void lower_constant(struct part *p, const struct tfl_op *op);

/*
 * compose.c.  Needs: p->uses.  Leaves: part_of, table and root of operators, and
 * npu of those that only such a table can be for the NPU
 */
void compose_all(struct part *p);
void lower_composed(struct part *p, int op);

/* wordquant.c: CAST or DEQUANTIZE, and QUANTIZE, as one.  Needs: p->uses */
void pair_casts(struct part *p);
bool lower_cast_pair(struct part *p, int op);

/*
 * ratio.c: DEQUANTIZE of two tensors of bytes, DIV and QUANTIZE, as one.  Needs:
 * p->uses.  Leaves: ratio and part_of.  Then, levels: the same of all of them
 */
void join_ratios(struct part *p);
void raise_ratios(struct part *p);
void lower_ratio(struct part *p, int op);

/* nodes.c: levels, crossing tensors, regions in order of execution */
void make_nodes(struct part *p);

/*
 * channels.c.  Needs: crossing tensors.  Leaves: p->channels, and which operators have
 * nothing to do
 */
void order_channels(struct part *p);
/* the results of an operator that was picked are parts of their map */
void lower_picked(struct part *p, const struct tfl_op *op);

/* layout.c.  Needs: operations.  Leaves: layouts of inputs and outputs as asked for */
bool take_layouts(struct part *p, const struct options *o);

/* separate.c.  Needs: layouts.  Leaves: areas of inputs and outputs as asked for */
bool separate_ends(struct part *p, const struct options *o);

/* lower.c: every NPU operator into its node */
bool lower_all(struct part *p);
/* a tensor that nobody has made yet is to be made at place, if its producer can */
void bind_place(struct part *p, int tensor, struct g_operand place);

/*
 * limits.c.  Needs: operations.  Leaves: p->limit of operators whose operations the
 * accelerator can't run; true where there are new ones
 */
bool find_limits(struct part *p);

/* report.c */
void print_report(const struct part *p, struct text *t);
/* an operator is called as its first result, for people to read */
const char *part_name(const struct part *p, const struct tfl_op *op);
/*
 * Which stay on the CPU although nobody asked for it, on standard error; file is
 * the model's, NULL: it came through a pipe.
 */
void warn_of_cpu(const struct part *p, const char *file);
/* a line where the model has subgraphs that stay as they are */
void note_subgraphs(const struct part *p);

/* listing.c */
void print_operators(const struct part *p, struct text *t);

/* ---- changes of the model in memory, before anything is decided ------------ */

/* rewrite.c.  The operator reads and writes nothing any more: why, for reports */
void part_leave_out(struct part *p, int op, const char *why);
/* an operator that the NPU is to run reads another tensor */
void part_set_input(struct part *p, int op, int k, int tensor);
/* ... or others altogether */
void part_set_inputs(struct part *p, int op, const int *v, int n);
void part_set_outputs(struct part *p, int op, const int *v, int n);
/* after decisions: does the NPU run all that was changed so? */
bool check_rewritten(const struct part *p);
bool check_copyable(const struct part *p); /* operators that the CPU keeps */

/* ---- for families -------------------------------------------------------- */

/* decide.c: rules shared by many checks; NULL or the reason */
const char *part_say(const struct part *p, const char *fmt, ...) PRINTF(2, 3);
const struct tfl_tensor *part_in(const struct part *p, const struct tfl_op *op,
				 int k); /* NULL when absent */
const struct tfl_tensor *part_out(const struct part *p, const struct tfl_op *op,
				  int k);
const char *check_arity(const struct part *p, const struct tfl_op *op,
			int min_in, int max_in, int n_out);
/* types of feature maps: a set of TYPE_ bits */
enum { TYPE_I8 = 1, TYPE_U8 = 2, TYPE_I16 = 4, TYPE_I32 = 8,
       TYPE_BOOL = 16, /* a byte, 0 or 1: operands of the NPU are INT8 then */
       TYPE_8 = TYPE_I8 | TYPE_U8, TYPE_MAPS = TYPE_8 | TYPE_I16 };
const char *check_map(const struct part *p, const struct tfl_tensor *t,
		      const char *role, int types);
/* a known shape, dense, no variable */
const char *check_fixed(const struct part *p, const struct tfl_tensor *t,
			const char *role);
const char *check_maps(const struct part *p, const struct tfl_op *op, int types);
const char *check_same_quant(const struct part *p, const struct tfl_op *op);
/* input k is a variable of this operator alone: nobody else asks when it changes */
const char *check_own_state(const struct part *p, const struct tfl_op *op, int k,
			    const char *role);
const char *check_activation(const struct part *p, const struct tfl_op *op,
			     int activation);
const char *check_options(const struct part *p, const struct tfl_op *op,
			  const struct fb_table *t);

/* quant.c: scales, zero points, clamps */
double quant_scale(const struct tfl_tensor *t);	  /* of a per-tensor one */
float quant_scale_f32(const struct tfl_tensor *t);
float quant_channel_scale(const struct tfl_tensor *t, int c);
/*
 * 0 of INT32, and without a scale, whatever the file says: the reference computes
 * with plain integers then
 */
int32_t quant_zero(const struct tfl_tensor *t);
bool quant_equal(const struct tfl_tensor *a, const struct tfl_tensor *b);
/* clamp of a fused activation in the quantization of t; nputools-lowering(7) 3.1 */
struct g_range quant_clamp(const struct tfl_tensor *t, int activation);

/* values.c: tensors of the graph */
struct hwc tfl_hwc(const struct tfl_tensor *t);
struct g_operand part_ifm(struct part *p, int tensor); /* value or constant */
struct g_operand part_ofm(struct part *p, int tensor); /* value, made if none */
/* where a constant's bytes are: in the model, or made here */
struct g_source part_source(struct part *p, const struct tfl_tensor *t);
/* constant integers of an operator's parameter tensor (INT32 or INT64) */
bool part_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n);
/* element i of a constant of 8, 16 or 32 bits */
int32_t tensor_int(const struct tfl_tensor *t, int64_t i);

/* has the accelerator that the graph is for something? */
static inline bool
part_has(const struct part *p, enum accel_lack what)
{
	return low_has(p->l, what);
}

/* quotient.c: INT32 divided by constants, and by others where a unit divides */
const char *check_quotient(const struct part *p, const struct tfl_op *op);
bool lower_quotient(struct part *p, const struct tfl_op *op);

/* broadcast.c: operations on two tensors */
struct side { /* an operand: elements, and the TFLite shape they have */
	const struct tfl_tensor *shape;
	struct g_operand value;
	int32_t zero;
};
/* of a tensor of the model; without a value where it is an immediate */
struct side side_of(struct part *p, int tensor);
/* in as many dimensions as o has */
struct nd side_operand(struct part *p, const struct side *s, const struct tfl_tensor *o);
const char *check_broadcast(const struct part *p, const struct tfl_tensor *a,
			    const struct tfl_tensor *b,
			    const struct tfl_tensor *o);
/*
 * a kind b, which o gives the shape of, in ofm's type; `made` completes each operation
 * that it takes: scale, the OFM's zero point, clamp
 */
void part_binary(struct part *p, enum g_op_kind kind, const struct side *a,
		 const struct side *b, const struct tfl_tensor *o,
		 struct g_operand ofm, nd_made *made, void *ctx);
/* ... with no zero point, and factors of 1 where it has some; ctx is NULL */
nd_made binary_plain;
/* one constant element of 8 or 16 bits: an immediate */
bool is_scalar(const struct tfl_tensor *t);
/*
 * fuse.c: the operations that make a tensor that nobody else sees write to ofm
 * instead, through a table (or, lut NULL, a clamp); false where they can't
 */
bool fuse(struct part *p, int tensor, struct g_operand ofm, struct g_lut *lut,
	  struct g_range clamp);

/* table.c: functions of one element */
const char *check_unary(const struct part *p, const struct tfl_op *op, int types);
/* 8 bits: any operator with one input that is not a single constant */
const char *check_bytes(const struct part *p, const struct tfl_op *op);
bool lower_bytes(struct part *p, const struct tfl_op *op);
/* the operator on vectors of n elements, little-endian as all that kernels get;
 * in: NULL where an input is a constant */
bool part_evaluate(const struct part *p, const struct tfl_op *op, void *const *in,
		   void *out, int n);
/* a table in the operation that makes a tensor, or in one of its own */
void lower_to_table(struct part *p, int tensor, struct g_operand ofm,
		    struct g_lut *lut);
/* an operation that looks up what it reads; elementwise: for every NPU */
struct g_op *part_table(struct part *p, struct g_operand ifm,
			struct g_operand ofm, struct g_lut *lut);

/* root.c: RSQRT of 16 bits */
const char *check_root(const struct part *p, const struct tfl_op *op);
bool lower_root(struct part *p, const struct tfl_op *op);
/* pairs of bits above the highest that is set, the sign's not counted: 0 to 15 */
struct g_operand word_free_pairs(struct part *p, struct g_operand v);
/*
 * The iteration of fixed_inv_sqrt, from half of what it normalises, in Q3, to its
 * multiplier before the last shift
 */
struct g_operand word_inverse_root(struct part *p, struct g_operand half);

/* table.c: 8 bits to 32; entry 0 is the type's least value */
void part_table32(struct part *p, struct g_operand ifm, struct g_operand ofm,
		  const int32_t table[256]);

/* softmax.c: rows along the channels */
const char *check_rows(const struct part *p, const struct tfl_op *op, int in,
		       int out);
struct g_operand row_maximum(struct part *p, struct g_operand x);
struct g_operand row_lookup(struct part *p, struct g_operand x,
			    struct g_operand max, const int32_t table[256]);
struct g_operand row_sum(struct part *p, struct g_operand x);

/* softmaxpair.c: rows of two; false where that needs more than tables of bytes */
bool lower_softmax_pairs(struct part *p, const struct tfl_op *op,
			 struct g_operand x, struct g_operand ofm);

/* geometry.c */
struct window {
	struct yx out; /* OFM extent */
	struct g_pad pad;
};
struct window window_of(int padding, struct yx in, struct yx kernel,
			struct yx stride, struct yx dilation);

/* one file per family of operators */
extern const struct family conv_families[], pool_families[], eltwise_families[],
    move_families[], slice_families[], permute_families[], concat_families[],
    transconv_families[], matmul_families[], resize_families[],
    lstm_families[], state_families[], gather_families[], cast_families[],
    quotient_families[], svdf_families[],
    pad_families[], reduce_families[], extreme_families[], table_families[],
    relu_families[],
    softmax_families[], arg_families[], square_families[],
    log_softmax_families[], divide_families[], batch_families[],
    compare_families[], select_families[], scatter_families[],
    normalize_families[];

#endif
