/* SPDX-License-Identifier: Apache-2.0 */
/* Reports where each operator runs, why, and its cost on the CPU. */
#include "part.h"

#include "base/cli.h"
#include "perf/cpu.h"
#include "tflite/calls.h"

#include <stdlib.h>
#include <string.h>

const char *
part_name(const struct part *p, const struct tfl_op *op)
{
	return op->n_out ? text_plain(p->a, p->sg->tensor[op->out[0]].name) : "";
}

static int
count_npu(const struct part *p)
{
	int n = 0;
	for (int i = 0; i < p->sg->n_ops; i++)
		n += p->op[i].npu && !p->op[i].left_out;
	return n;
}

static int
count_left_out(const struct part *p)
{
	int n = 0;
	for (int i = 0; i < p->sg->n_ops; i++)
		n += p->op[i].left_out != NULL;
	return n;
}

/* appends the cycles to a reason, or nothing if no cost was estimated */
static void
print_price(const struct part *p, struct text *t, double cycles)
{
	if (cycles > 0) {
		text_puts(t, "; ");
		cpu_cycles_text(t, cycles, &p->core);
	}
}

void
print_report(const struct part *p, struct text *t)
{
	int npu = count_npu(p), out = count_left_out(p), regions = 0;
	double cycles = 0; /* of all operators on the CPU */
	for (size_t i = 0; i < p->g->n_nodes; i++)
		regions += p->g->nodes[i]->kind == NODE_NPU;
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		const struct placement *x = &p->op[i];
		text_printf(t, "%4d  %-4s %-24s %s", i,
			    x->left_out ? "-"
			    : x->npu	? "NPU"
					: "CPU",
			    tfl_op_label(op), x->was ? x->was : part_name(p, op));
		if (x->left_out)
			text_printf(t, "  (%s)", x->left_out);
		if (x->as == AS_PADDING)
			text_puts(t, "  (padding of the next operator)");
		if (x->as == AS_PART)
			text_printf(t, "  (in the %s operator %d)",
				    p->op[x->within].as == AS_TABLE ? "table of"
								    : "arithmetic of",
				    x->within);
		if (!x->npu)
			text_printf(t, "  because: %s", x->why);
		if (!x->npu && !x->left_out) {
			double price = cpu_cost(&p->core, p->sg, op).cycles;
			print_price(p, t, price);
			cycles += price;
		}
		text_putc(t, '\n');
	}
	rewrite_print(p->g, t);
	/* "the CPU's part: about 12,000 cycles of a Cortex-M55, roughly" */
	if (cycles > 0) {
		text_puts(t, "the CPU's part: ");
		cpu_cycles_text(t, cycles, &p->core);
		text_puts(t, " (a rough estimate)\n");
	}
	text_printf(t, "%d of %d operators on the NPU in %d region%s, %d on the "
		       "CPU",
		    npu, p->sg->n_ops - out, regions, regions == 1 ? "" : "s",
		    p->sg->n_ops - out - npu);
	if (out)
		text_printf(t, ", %d left out", out);
	text_putc(t, '\n');
	print_cut(p, t);
}

bool
report_all(const struct part *p, const struct options *o, const struct accel *accel,
	   struct text *t)
{
	/* after a cut, the bodies are those of the network between the tensors */
	const bool *is_body = o->subgraph ? NULL : tfl_bodies(p->a, p->m);
	struct part *body = anew(p->a, struct part, (size_t)p->m->n_subgraphs);
	size_t n = 0;
	for (int i = 1; is_body && i < p->m->n_subgraphs; i++) {
		if (!is_body[i])
			continue;
		/* all options that are not about the model's inputs, outputs and operators */
		struct options x = { .input = o->input, .accel = o->accel, .part = o->part,
				     .cpu = anew(p->a, const char *, o->n_cpu + 1), .report = true,
				     .allow_unequal = o->allow_unequal, .subgraph = i,
				     .target = o->target, .rewrites = o->rewrites };
		for (size_t k = 0; k < o->n_cpu; k++)
			if (strspn(o->cpu[k], "0123456789") < strlen(o->cpu[k]))
				x.cpu[x.n_cpu++] = o->cpu[k];
		if (!partition_file(p->a, &x, accel, p->m->file, &body[n], p->e))
			return false;
		body[n++].body = i;
	}
	if (o->json) {
		print_report_json(p, body, n, t);
		return true;
	}
	print_report(p, t);
	for (size_t i = 0; i < n; i++) {
		text_printf(t, "\nsubgraph %d, a body of IF or WHILE: %s\n", body[i].body,
			    text_plain(p->a, body[i].sg->name));
		print_report(&body[i], t);
	}
	return true;
}

/* ---- operators that stay on the CPU ------------------------------------------- */

struct fallback {
	int op;
	const char *label, *why;
	double cycles;
};

static int
compare_kinds(const struct fallback *a, const struct fallback *b)
{
	int d = strcmp(a->label, b->label);
	return d ? d : strcmp(a->why, b->why);
}

/* by label and reason, then by index */
static int
compare_fallbacks(const void *pa, const void *pb)
{
	const struct fallback *a = pa, *b = pb;
	int d = compare_kinds(a, b);
	return d ? d : a->op - b->op;
}

/* only one function of a model with several is compiled; bodies have a graph of their own */
void
note_subgraphs(const struct part *p)
{
	const bool *body = tfl_bodies(p->a, p->m);
	bool unneeded = false;
	int n = p->m->n_subgraphs - 1;
	for (int i = 0; i < p->m->n_subgraphs; i++)
		n -= body[i];
	for (int i = 0; i < p->sg->n_ops; i++)
		unneeded |= p->op[i].left_out && p->sg->op[i].code == TFL_CALL_ONCE;
	if (n > 0 && !unneeded)
		cli_note_to(p->e, "note", "%s: subgraph 0 is compiled, the other %d stay%s as "
			 "%s", p->m->name, n, n == 1 ? "s" : "",
			 n == 1 ? "it is" : "they are");
}

void
warn_of_cpu(const struct part *p, const struct options *o)
{
	enum { SHOWN = 8 };
	/* NULL: the model came through a pipe, and then its name may be unknown */
	const char *file = o->subgraph ? p->m->name : o->input, *name = file ? file : o->name;
	const char *of = name ? arena_printf(p->a, "%s: ", name) : "";
	struct fallback *f = anew(p->a, struct fallback, (size_t)p->sg->n_ops);
	size_t n = 0;
	for (int i = 0; i < p->sg->n_ops; i++)
		/* tfl-quantcheck in the pipe has already warned of border operators */
		if (!p->op[i].npu && !p->op[i].asked && (file || !p->op[i].border))
			f[n++] = (struct fallback){
				.op = i,
				.label = tfl_op_label(&p->sg->op[i]),
				.why = p->op[i].why,
				.cycles = cpu_cost(&p->core, p->sg, &p->sg->op[i]).cycles,
			};
	if (n)
		qsort(f, n, sizeof(*f), compare_fallbacks);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_kinds(&f[i], &f[end]); end++)
			;
		/* one warning of the operators i to end - 1, which have one label and reason */
		struct text t = { 0 }, price = { 0 };
		double cycles = 0;
		for (size_t k = i; k < end && k < i + SHOWN; k++)
			text_printf(&t, "%s%d", k > i ? ", " : "", f[k].op);
		if (end - i > SHOWN)
			text_printf(&t, " and %zu more", end - i - SHOWN);
		for (size_t k = i; k < end; k++)
			cycles += f[k].cycles;
		print_price(p, &price, cycles);
		const char *numbers = text_str(&t), *tail = text_str(&price);
		bool one = end == i + 1;
		cli_note_to(p->e, "warning", "%soperator%s %s (%s) stay%s on the CPU: %s%s", of,
			    one ? "" : "s", numbers, f[i].label, one ? "s" : "", f[i].why,
			    tail);
		text_free(&t);
		text_free(&price);
	}
	if (p->sg->n_ops > count_left_out(p) && !count_npu(p))
		cli_note_to(p->e, "warning", "%snothing runs on the NPU", of);
}
