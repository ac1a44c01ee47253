/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides between NPU and CPU, with the rules that hold for every family
 * (nputools-lowering(7) 2).
 */
#include "../part.h"

#include "base/hash_table.h"
#include "base/nearest.h"
#include "kernels/kernels.h"
#include "sim/resources.h"
#include "target/accel.h"

#include <stdio.h>
#include <string.h>

bool
kept_on_cpu(const struct options *o, const struct tfl_op *op, int index)
{
	char number[16];
	(void)snprintf(number, sizeof(number), "%d", index);
	for (size_t i = 0; i < o->n_cpu; i++)
		if (!strcmp(o->cpu[i], tfl_op_label(op)) ||
		    !strcmp(o->cpu[i], number))
			return true;
	return false;
}

/*
 * Refuses --cpu with an index that the model lacks, or with a name that neither
 * TFLite nor the model has.  SOFTMAX in a model without one is accepted, because
 * users pass the same options for many models.
 */
bool
check_asked(const struct part *p, const struct options *o, struct err *e)
{
	size_t n = 0;
	const char **names = anew(p->a, const char *,
				  TFL_BUILTIN_LIMIT + (size_t)p->sg->n_ops);
	for (int i = 0; i < TFL_BUILTIN_LIMIT; i++)
		if (tfl_op_name(i) && *tfl_op_name(i))
			names[n++] = tfl_op_name(i);
	for (int i = 0; i < p->sg->n_ops; i++)
		names[n++] = tfl_op_label(&p->sg->op[i]);
	for (size_t k = 0; k < o->n_cpu; k++) {
		const char *meant = nearest_word(o->cpu[k], names, n);
		const struct options one = { .cpu = o->cpu + k, .n_cpu = 1 };
		bool kept = meant && !strcmp(meant, o->cpu[k]);
		for (int i = 0; i < p->sg->n_ops; i++)
			kept = kept || kept_on_cpu(&one, &p->sg->op[i], i);
		if (kept)
			continue;
		return err_at(e, p->m->name, 0, "--cpu=%s: no operator has this name or "
			      "index%s%s%s", o->cpu[k], meant ? "; did you mean " : "",
			      meant ? meant : "", meant ? "?" : "");
	}
	return true;
}

const char *
decide_op(const struct part *p, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	if (p->op[i].left_out)
		return NULL;
	if (p->op[i].asked)
		return "kept on the CPU by --cpu";
	if (p->op[i].as == AS_CONSTANT)
		return NULL;
	if (p->limit && p->limit[i])
		return p->limit[i];
	if (p->op[i].border)
		return "conversion of a FLOAT32 input or output of the model; "
		       "--integer-io leaves it out";
	if (op->code == TFL_CUSTOM)
		return !op->custom || !strcmp(op->custom, "TFLite_Detection_PostProcess")
			       ? "custom operator"
			       : "custom operator, for which the application must register a kernel";
	if (op->code == TFL_IF || op->code == TFL_WHILE)
		return "it calls subgraphs, each of which is a network of its own";
	const struct family *f = family_of(op->code);
	if (!f->read && !strcmp(tfl_op_name(op->code), "UNKNOWN"))
		return arena_printf(p->a, "builtin code %d is no operator of TensorFlow Lite, and "
				    "TensorFlow Lite Micro can't run it either", op->code);
	struct err e = { 0 };
	if (!f->read && !p->l->for_linux && !kernel_is_in_micro(p->sg, op, &e))
		return arena_printf(p->a, "no lowering for this operator, and %s: replace it "
				    "(nputools-ops(7), REPLACEMENTS)", e.text);
	if (!f->read)
		return "no lowering for this operator";
	const char *why = check_arity(p, op) ?: f->read(p, &p->op[i].lop);
	if (why)
		return why;
	/*
	 * tfl-quantcheck refuses a model with such zero points, because TensorFlow Lite
	 * Micro takes them for 0
	 */
	const struct accel *a = p->l->accel;
	bool wide = a && accel_lacks(a, LACK_WIDE_ZEROS) && f->subtracts_zeros;
	for (int k = 0; wide && k < op->n_in + op->n_out; k++) {
		bool in = k < op->n_in;
		const struct tfl_tensor *t = in ? part_in(p, op, k)
						: part_out(p, op, k - op->n_in);
		if (t && t->type == TFL_INT16 && t->quant.n_zero && t->quant.zero[0])
			return arena_printf(p->a, "%s is INT16 with zero point %lld, but %s "
					   "assumes 0", in ? "an input" : "the output",
					(long long)t->quant.zero[0], a->name);
	}
	/* the application may replace an input of the model, even one with constant data */
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_tensor *t = part_in(p, op, k);
		if (t && !t->is_variable && p->is_model_input[op->in[k]] && t->data.p)
			return arena_printf(p->a, "input %d is both an input of the model and "
					   "constant", k);
	}
	/*
	 * If the reference kernel can't run it, there would be no result to equal.  Variable
	 * accesses were checked with their variable, and only copy.
	 */
	if (sim_is_resource_op(op) || kernel_check(p->sg, op, &e))
		return NULL;
	const char *rule = strstr(e.text, "): ");
	return arena_printf(p->a, "the reference kernel can't run it: %s",
			   rule ? rule + 3 : e.text);
}

bool
check_cpu_kernels(const struct part *p)
{
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		struct err why = { 0 };
		if (p->op[i].npu || p->op[i].left_out)
			continue;
		/* other runtimes, as on Linux, resize tensors */
		if (!p->l->for_linux && !kernel_file_shapes_agree(p->sg, op, &why))
			return err_at(p->e, p->m->name, 0, "%s", why.text);
		if (kernel_takes_quantization(p->sg, op, &why))
			continue;
		return err_at(p->e, p->m->name, 0, "operator %d (%s), tensor %d (%s) can't run "
			      "on the CPU: %s", i, tfl_op_label(op), op->out[0],
			      p->sg->tensor[op->out[0]].name, why.text);
	}
	return true;
}

/*
 * RELU6 clamps in the input's scale and does not rescale.  TensorFlow Lite Micro has outputs of
 * such models, so only tfl-quantcheck refuses them.
 */
bool
check_equal_quantization(const struct part *p)
{
	int tensor;
	struct hash_table variables = { .a = p->a };
	for (int s = 0; s < p->m->n_subgraphs; s++)
		for (int i = 0; i < p->m->subgraph[s].n_ops; i++) {
			const struct tfl_subgraph *g = &p->m->subgraph[s];
			const struct tfl_op *op = &g->op[i];
			struct err why = { 0 };
			if (op->code == TFL_RELU6 ||
			    kernel_equal_quantization(p->m, s, op, &variables, &tensor, &why) ||
			    kernel_computes_declared(g, op))
				continue;
			const char *in = s ? arena_printf(p->a, "subgraph %d, ", s) : "";
			/* IF, WHILE and accesses to variables have no kernel of their own */
			bool copies = !kernel_exists(op->code) ||
				      kernel_check(g, op, &(struct err){ 0 });
			const char *allow = copies ? ", or --allow=unequal-quantization copies the "
						     "integers" : "";
			return err_at(p->e, p->m->name, 0, "%soperator %d (%s), tensor %d (%s): "
				      "unequal-quantization: %s, but the kernel does not rescale; "
				      "quantize the model with equal scales there%s", in, i,
				      tfl_op_label(op), tensor, g->tensor[tensor].name, why.text,
				      allow);
		}
	return true;
}
