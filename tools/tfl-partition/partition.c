/* SPDX-License-Identifier: Apache-2.0 */
/* The passes from the bytes of a model to its graph, which npu-sched then schedules. */
#include "part.h"

#include "base/file.h"
#include "graph/graph.h"
#include "kernels/kernels.h"
#include "lower/linux.h"

#include <inttypes.h>
#include <stdio.h>

bool
fails_on_cpu(const struct part *p, const struct options *o)
{
	if (!o->fail_on_cpu)
		return false;
	int n = 0, first = 0;
	for (int i = p->sg->n_ops; i-- > 0;)
		if (!p->op[i].npu) {
			first = i;
			n++;
		}
	if (!n)
		return false;
	(void)err_no(p->e, p->m->name, 0, "%d operator%s on the CPU; the first is %d (%s): %s", n,
		     n == 1 ? " stays" : "s stay", first, tfl_op_label(&p->sg->op[first]),
		     p->op[first].why);
	return true;
}

/* makes a graph of the model; *again: some operators turned out to need the CPU */
static bool
partition(struct part *p, const struct options *o, bool *again)
{
	p->sg = &p->m->subgraph[0];
	p->g = graph_new(p->a, p->m->name);
	p->g->stage = STAGE_PART;
	p->l->g = p->g;
	p->op = anew(p->a, struct placement, (size_t)p->sg->n_ops);
	struct g_model *m = graph_add_g_model(p->g);
	G_PUT(m, MODEL, name, file_base(o->input));
	if (*p->m->description)
		G_PUT(m, MODEL, description, p->m->description);
	graph_add_blob(p->g, "model", p->m->file)->path = o->name;
	low_put_target(p->l, m);
	p->n_original = p->sg->n_tensors;
	find_border(p);
	if (o->integer_io)
		leave_out_float_borders(p, o);
	take_state(p, o);
	p->value = anew(p->a, struct g_operand, (size_t)p->sg->n_tensors);
	p->uses = anew(p->a, int, (size_t)p->sg->n_tensors);
	p->operands = anew(p->a, int, (size_t)p->sg->n_tensors);
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		for (int k = 0; k < op->n_in; k++)
			if (op->in[k] >= 0)
				p->operands[op->in[k]]++;
		for (int k = 0; k < op->n_out; k++)
			p->operands[op->out[k]]++;
	}
	p->crosses = anew(p->a, bool, (size_t)p->sg->n_tensors);
	p->channels = anew(p->a, struct channels, (size_t)p->sg->n_tensors);
	p->is_model_input = anew(p->a, bool, (size_t)p->sg->n_tensors);
	for (int i = 0; i < p->sg->n_in; i++)
		p->is_model_input[p->sg->in[i]] = true;
	decide_all(p, o);
	if (!check_rewritten(p) || (!o->report && !(check_copyable(p) && check_cpu_kernels(p))))
		return false;
	make_nodes(p);
	order_channels(p);
	*again = !lower_all(p);
	return *again || (take_layouts(p, o) && separate_borders(p, o) &&
			  rewrite_exact(p->l, &o->rewrites, p->e) && graph_check(p->g, p->e));
}

bool
partition_file(struct arena *a, const struct options *o, const struct accel *accel,
	       struct bytes file, struct part *out, struct err *e)
{
	struct part p = { .a = a, .e = e };
	const struct part_cut *cut;
	if (!model_read(a, file, file_name(o->input), &p.m, e) || !tfl_check_plain(p.m, e) ||
	    !take_subgraph(a, o, &p.m, e) || !take_cut(a, o, &p.m, &cut, e))
		return false;
	p.sg = &p.m->subgraph[0];
	/*
	 * each dimension of a tensor seen as height, width, depth is an int32, and a memory
	 * of 2 GB, the largest that npu-sched plans, can contain the tensor
	 */
	for (int i = 0; i < p.sg->n_tensors; i++) {
		const struct tfl_tensor *t = &p.sg->tensor[i];
		int64_t depth = t->rank ? t->dim[t->rank - 1] : 1;
		int64_t rows = depth > 0 ? tfl_elements(t) / depth : 0;
		if (rows > INT32_MAX)
			return err_at(e, p.m->name, 0, "subgraph 0: tensor %d (%s): "
				      "%" PRId64 " lines of %" PRId64 " elements, more "
				      "than %d", i, t->name, rows, depth, INT32_MAX);
		if (tfl_bytes(t) > INT32_MAX)
			return err_at(e, p.m->name, 0, "subgraph 0: tensor %d (%s) takes "
				      "%" PRId64 " bytes, more than the %d of the largest "
				      "memory", i, t->name, tfl_bytes(t), INT32_MAX);
	}
	if (!check_asked(&p, o, e) ||
	    (!o->report && !o->allow_unequal && !check_equal_quantization(&p)))
		return false;
	if (o->list_operators) {
		struct text t = { 0 };
		print_operators(&p, &t);
		text_show(&t, stderr);
	}
	const char **limit = anew(a, const char *, (size_t)p.sg->n_ops);
	struct tfl_model *m = p.m;
	struct lower *l = anew(a, struct lower, 1);
	for (bool again = true; again;) {
		*l = (struct lower){ .a = a, .accel = accel };
		if (!low_set_target(l, o->target, e))
			return false;
		p = (struct part){ .a = a, .m = m, .l = l, .e = e, .limit = limit,
				    .cut = cut, .core = cpu_core_of(target_part_take(a, o->part, e)) };
		if (!partition(&p, o, &again) ||
		    /* lowering changed the model in memory: read it afresh */
		    (again && !tfl_read(a, m->file, m->name, &m, e)))
			return false;
	}
	if (!o->report) {
		warn_of_cpu(&p, o);
		note_open_batch(&p);
		if (!o->subgraph)
			note_subgraphs(&p);
	}
	*out = p;
	return true;
}
