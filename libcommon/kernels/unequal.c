/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that take the integers of one tensor as those of another: a difference between
 * the quantizations of both changes the meaning of the integers (nputools-lowering(7) 3.12).
 */
#include "base/hash.h"
#include "base/hash_table.h"
#include "kernels/kernels.h"
#include "tflite/calls.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <math.h>
#include <string.h>

/* kernels that copy or compare integers: nputools-lowering(7) 3.4 */
static bool
moves_raw_values(int code)
{
	switch (code) {
	case TFL_RESHAPE: case TFL_SQUEEZE: case TFL_EXPAND_DIMS:
	case TFL_TRANSPOSE: case TFL_SPLIT: case TFL_SPLIT_V: case TFL_PACK:
	case TFL_UNPACK: case TFL_SLICE: case TFL_STRIDED_SLICE:
	case TFL_MAX_POOL_2D: case TFL_AVERAGE_POOL_2D: case TFL_PAD:
	case TFL_PADV2: case TFL_MIRROR_PAD: case TFL_GATHER: case TFL_GATHER_ND:
	case TFL_SCATTER_ND: case TFL_TILE: case TFL_BROADCAST_TO:
	case TFL_DYNAMIC_UPDATE_SLICE: case TFL_SELECT: case TFL_SELECT_V2:
	case TFL_RESIZE_BILINEAR: case TFL_RESIZE_NEAREST_NEIGHBOR:
	case TFL_CONCATENATION: case TFL_MAXIMUM: case TFL_MINIMUM:
	case TFL_REDUCE_MAX: case TFL_REDUCE_MIN: case TFL_DEPTH_TO_SPACE:
	case TFL_SPACE_TO_DEPTH: case TFL_BATCH_TO_SPACE_ND:
	case TFL_SPACE_TO_BATCH_ND: case TFL_REVERSE_V2: case TFL_RELU6:
	case TFL_NEG:
		return true;
	default:
		return false;
	}
}

static bool
is_affine(const struct tfl_tensor *t)
{
	return (t->type == TFL_INT4 || t->type == TFL_INT8 || t->type == TFL_UINT8 ||
		t->type == TFL_INT16) && t->quant.n_scale == 1 && t->quant.n_zero == 1;
}

/*
 * Has an integer one meaning in both tensors?  1e-6: three float32 numbers and a product
 * formed in float32 are rounded.
 */
static bool
agree(const struct tfl_op *op, const struct tfl_tensor *from, const struct tfl_tensor *to,
      struct err *e)
{
	if (from->type != to->type || !is_affine(from) || !is_affine(to))
		return true;
	/* the kernel of a uint8 concatenation rescales its inputs */
	if (op->code == TFL_CONCATENATION && from->type == TFL_UINT8)
		return true;
	double s = (double)from->quant.scale[0], so = (double)to->quant.scale[0];
	int64_t zero = from->quant.zero[0], zo = to->quant.zero[0];
	return (fabs(s - so) <= 1e-6 * so && (zero == zo || op->code == TFL_NEG)) ||
	       err_set(e, "scale %.9g zero point %lld in, %.9g and %lld out", s,
		       (long long)zero, so, (long long)zo);
}

/* Compares the inputs of IF (after its condition) or WHILE with those of a subgraph. */
static bool
inputs_agree(const struct tfl_subgraph *g, const struct tfl_op *op, const struct tfl_subgraph *b,
	     int *tensor, struct err *e)
{
	int skip = op->code == TFL_IF;
	for (int k = 0; k < b->n_in && k + skip < op->n_in; k++) {
		*tensor = op->in[k + skip];
		if (*tensor >= 0 && !agree(op, &g->tensor[*tensor], &b->tensor[b->in[k]], e))
			return false;
	}
	return true;
}

/*
 * Compares the outputs of a subgraph with those of IF or WHILE.  The outputs of a loop's body
 * are also its inputs in the next turn.
 */
static bool
outputs_agree(const struct tfl_subgraph *g, const struct tfl_op *op, const struct tfl_subgraph *b,
	      int *tensor, struct err *e)
{
	for (int k = 0; k < b->n_out && k < op->n_out; k++) {
		const struct tfl_tensor *t = &b->tensor[b->out[k]];
		*tensor = op->out[k];
		if (!agree(op, t, &g->tensor[*tensor], e) ||
		    (op->code == TFL_WHILE && k < b->n_in &&
		     !agree(op, t, &b->tensor[b->in[k]], e)))
			return false;
	}
	return true;
}

static bool
bodies_agree(const struct tfl_model *m, const struct tfl_subgraph *g, const struct tfl_op *op,
	     int *tensor, struct err *e)
{
	int64_t to[TFL_CALLEES];
	for (int c = 0; tfl_callees(op, to) && c < TFL_CALLEES; c++) {
		const struct tfl_subgraph *b = &m->subgraph[to[c]];
		bool is_condition = op->code == TFL_WHILE && !c;
		if (!inputs_agree(g, op, b, tensor, e) ||
		    (!is_condition && !outputs_agree(g, op, b, tensor, e)))
			return false;
	}
	return true;
}

/* the variable that a READ_VARIABLE or ASSIGN_VARIABLE names by its handle; 0: none */
static uint64_t
variable_of(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	int by = op->n_in && op->in[0] >= 0 ? g->tensor[op->in[0]].producer : -1;
	if (by < 0 || g->op[by].code != TFL_VAR_HANDLE)
		return 0;
	struct fb_ref o = tfl_options(&g->op[by], &fb_VarHandleOptions);
	const char *name = fb_string(o, FB_VarHandleOptions_shared_name, NULL);
	const char *container = fb_string(o, FB_VarHandleOptions_container, NULL);
	return hash_xxh3(name, strlen(name)) + 3 * hash_xxh3(container, strlen(container));
}

/* Compares a value that is read from or assigned to a variable with its first one. */
static bool
variable_agrees(const struct tfl_subgraph *g, const struct tfl_op *op,
		struct hash_table *variables, int *tensor, struct err *e)
{
	bool reads = op->code == TFL_READ_VARIABLE;
	uint64_t variable = reads || op->code == TFL_ASSIGN_VARIABLE ? variable_of(g, op) : 0;
	*tensor = reads ? (op->n_out ? op->out[0] : -1) : op->n_in > 1 ? op->in[1] : -1;
	if (!variable || *tensor < 0)
		return true;
	const struct tfl_tensor *t = &g->tensor[*tensor], *first;
	void **at = hash_table_at(variables, variable);
	if (!*at)
		*at = (void *)(uintptr_t)t;
	first = *at;
	return agree(op, reads ? first : t, reads ? t : first, e);
}

bool
kernel_copies_integers(int code)
{
	return moves_raw_values(code) || code == TFL_IF || code == TFL_WHILE;
}

bool
kernel_equal_quantization(const struct tfl_model *m, int subgraph, const struct tfl_op *op,
			  struct hash_table *variables, int *tensor, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[subgraph];
	for (int k = 0; moves_raw_values(op->code) && k < op->n_in; k++)
		for (int i = 0; op->in[k] >= 0 && i < op->n_out; i++)
			if (!agree(op, &g->tensor[op->in[k]], &g->tensor[op->out[i]], e)) {
				*tensor = op->in[k];
				return false;
			}
	return bodies_agree(m, g, op, tensor, e) &&
	       variable_agrees(g, op, variables, tensor, e);
}
