/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the operators for a MicroMutableOpResolver. */
#include "tfl2c.h"

#include <string.h>

/* Add...() of TensorFlow Lite Micro's micro_mutable_op_resolver.h */
static const struct adder {
	int code;
	const char *name;
} adders[] = {
	{ TFL_ABS, "Abs" }, { TFL_ADD, "Add" }, { TFL_ADD_N, "AddN" },
	{ TFL_ARG_MAX, "ArgMax" }, { TFL_ARG_MIN, "ArgMin" },
	{ TFL_ASSIGN_VARIABLE, "AssignVariable" },
	{ TFL_AVERAGE_POOL_2D, "AveragePool2D" },
	{ TFL_BATCH_MATMUL, "BatchMatMul" },
	{ TFL_BATCH_TO_SPACE_ND, "BatchToSpaceNd" },
	{ TFL_BROADCAST_ARGS, "BroadcastArgs" },
	{ TFL_BROADCAST_TO, "BroadcastTo" }, { TFL_CALL_ONCE, "CallOnce" },
	{ TFL_CAST, "Cast" }, { TFL_CEIL, "Ceil" },
	{ TFL_CONCATENATION, "Concatenation" }, { TFL_CONV_2D, "Conv2D" },
	{ TFL_COS, "Cos" }, { TFL_CUMSUM, "CumSum" },
	{ TFL_DEPTH_TO_SPACE, "DepthToSpace" },
	{ TFL_DEPTHWISE_CONV_2D, "DepthwiseConv2D" },
	{ TFL_DEQUANTIZE, "Dequantize" }, { TFL_DIV, "Div" },
	{ TFL_DYNAMIC_UPDATE_SLICE, "DynamicUpdateSlice" },
	{ TFL_ELU, "Elu" }, { TFL_EMBEDDING_LOOKUP, "EmbeddingLookup" },
	{ TFL_EQUAL, "Equal" }, { TFL_EXP, "Exp" },
	{ TFL_EXPAND_DIMS, "ExpandDims" }, { TFL_FILL, "Fill" },
	{ TFL_FLOOR, "Floor" }, { TFL_FLOOR_DIV, "FloorDiv" },
	{ TFL_FLOOR_MOD, "FloorMod" },
	{ TFL_FULLY_CONNECTED, "FullyConnected" }, { TFL_GATHER, "Gather" },
	{ TFL_GATHER_ND, "GatherNd" }, { TFL_GREATER, "Greater" },
	{ TFL_GREATER_EQUAL, "GreaterEqual" },
	{ TFL_HARD_SWISH, "HardSwish" }, { TFL_IF, "If" },
	{ TFL_L2_NORMALIZATION, "L2Normalization" },
	{ TFL_L2_POOL_2D, "L2Pool2D" }, { TFL_LEAKY_RELU, "LeakyRelu" },
	{ TFL_LESS, "Less" }, { TFL_LESS_EQUAL, "LessEqual" },
	{ TFL_LOG, "Log" }, { TFL_LOG_SOFTMAX, "LogSoftmax" },
	{ TFL_LOGICAL_AND, "LogicalAnd" }, { TFL_LOGICAL_NOT, "LogicalNot" },
	{ TFL_LOGICAL_OR, "LogicalOr" }, { TFL_LOGISTIC, "Logistic" },
	{ TFL_MAX_POOL_2D, "MaxPool2D" }, { TFL_MAXIMUM, "Maximum" },
	{ TFL_MEAN, "Mean" }, { TFL_MINIMUM, "Minimum" },
	{ TFL_MIRROR_PAD, "MirrorPad" }, { TFL_MUL, "Mul" },
	{ TFL_NEG, "Neg" }, { TFL_NOT_EQUAL, "NotEqual" },
	{ TFL_PACK, "Pack" }, { TFL_PAD, "Pad" }, { TFL_PADV2, "PadV2" },
	{ TFL_PRELU, "Prelu" }, { TFL_QUANTIZE, "Quantize" },
	{ TFL_READ_VARIABLE, "ReadVariable" },
	{ TFL_REDUCE_MAX, "ReduceMax" }, { TFL_RELU, "Relu" },
	{ TFL_RELU6, "Relu6" }, { TFL_RESHAPE, "Reshape" },
	{ TFL_RESIZE_BILINEAR, "ResizeBilinear" },
	{ TFL_RESIZE_NEAREST_NEIGHBOR, "ResizeNearestNeighbor" },
	{ TFL_ROUND, "Round" }, { TFL_RSQRT, "Rsqrt" },
	{ TFL_SELECT_V2, "SelectV2" }, { TFL_SHAPE, "Shape" },
	{ TFL_SIN, "Sin" }, { TFL_SLICE, "Slice" },
	{ TFL_SOFTMAX, "Softmax" },
	{ TFL_SPACE_TO_BATCH_ND, "SpaceToBatchNd" },
	{ TFL_SPACE_TO_DEPTH, "SpaceToDepth" }, { TFL_SPLIT, "Split" },
	{ TFL_SPLIT_V, "SplitV" }, { TFL_SQRT, "Sqrt" },
	{ TFL_SQUARE, "Square" },
	{ TFL_SQUARED_DIFFERENCE, "SquaredDifference" },
	{ TFL_SQUEEZE, "Squeeze" }, { TFL_STRIDED_SLICE, "StridedSlice" },
	{ TFL_SUB, "Sub" }, { TFL_SUM, "Sum" }, { TFL_SVDF, "Svdf" },
	{ TFL_TANH, "Tanh" }, { TFL_TRANSPOSE, "Transpose" },
	{ TFL_TRANSPOSE_CONV, "TransposeConv" },
	{ TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, "UnidirectionalSequenceLSTM" },
	{ TFL_UNPACK, "Unpack" }, { TFL_VAR_HANDLE, "VarHandle" },
	{ TFL_WHILE, "While" }, { TFL_ZEROS_LIKE, "ZerosLike" },
};

static const char *
adder_of(const struct tfl_op *op)
{
	if (op->code == TFL_CUSTOM && !strcmp(op->custom, "ethos-u"))
		return "EthosU";
	if (op->code == TFL_CUSTOM &&
	    !strcmp(op->custom, "TFLite_Detection_PostProcess"))
		return "DetectionPostprocess";
	for (size_t i = 0; i < ARRAY_LEN(adders); i++)
		if (adders[i].code == op->code)
			return adders[i].name;
	return NULL;
}

static bool
same_kind(const struct tfl_op *a, const struct tfl_op *b)
{
	return a->opcode == b->opcode ||
	       (a->code == b->code &&
		(!a->custom || !strcmp(a->custom, b->custom)));
}

static bool
note_kind(const struct tfl_op *op, struct op_kinds *k)
{
	for (int i = 0; i < k->n; i++)
		if (same_kind(k->op[i], op))
			return true;
	if (k->n == MAX_KINDS)
		return false;
	k->op[k->n++] = op;
	return true;
}

bool
resolver_kinds(const struct tfl_model *m, struct op_kinds *k, struct err *e)
{
	k->n = 0;
	for (int g = 0; g < m->n_subgraphs; g++)
		for (int i = 0; i < m->subgraph[g].n_ops; i++)
			if (!note_kind(&m->subgraph[g].op[i], k))
				return err_set(e, "%s: error: more than %d kinds "
						  "of operators", m->name,
					       MAX_KINDS);
	return true;
}

/* prints calls joined by && and returns their number */
static int
put_calls(struct text *t, const struct op_kinds *k)
{
	int n = 0;
	for (int i = 0; i < k->n; i++) {
		const char *name = adder_of(k->op[i]);
		if (!name)
			continue;
		text_printf(t, "%sresolver.Add%s() == 0",
			    n++ ? " &&\n\t       " : "", name);
	}
	return n;
}

void
resolver_missing(struct text *t, const struct op_kinds *k)
{
	for (int i = 0; i < k->n; i++) {
		if (adder_of(k->op[i]))
			continue;
		text_puts(t, t->n ? ", " : "");
		put_comment_text(t, tfl_op_label(k->op[i]));
	}
}

void
put_resolver(struct text *t, const struct job *j)
{
	struct text calls = { 0 }, missing = { 0 };
	int n = put_calls(&calls, &j->kinds);
	resolver_missing(&missing, &j->kinds);
	text_printf(t, "\n/*\n * The operators of the model:\n"
		       " *   tflite::MicroMutableOpResolver<%s_RESOLVER_OPS> "
		       "resolver;\n"
		       " *   if (!%s_add_operators(resolver)) ...\n",
		    j->prefix, j->o->name);
	if (missing.n)
		text_printf(t, " * TensorFlow Lite Micro has none for these; add "
			       "your own:\n *   %s\n", text_str(&missing));
	text_puts(t, " */\n");
	put_define(t, j, "RESOLVER_OPS", n);
	text_puts(t, "#ifdef __cplusplus\n");
	text_printf(t, "template <typename Resolver> static inline bool\n"
		       "%s_add_operators(Resolver &resolver)\n{\n"
		       "\treturn %s;\n}\n#endif\n",
		    j->o->name, n ? text_str(&calls) : "(void)resolver, true");
	text_free(&calls);
	text_free(&missing);
}
