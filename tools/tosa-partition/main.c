/* SPDX-License-Identifier: Apache-2.0 */
/* tosa-partition: a TOSA graph in, NPU primitives as a graph out. */
#include "part.h"

#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "graph/graph.h"
#include "lower/linux.h"
#include "target/accel.h"
#include "target/part.h"
#include "tflite/tflite.h"

static void
take_layout(void *layouts, const char *arg)
{
	(void)io_layout_add(layouts, arg, io_layout_names, NULL);
}

static const struct cli_option option_list[] = {
	LOW_OPTIONS,
	{ CLI_TAKE_INTO("input-layout", "[K=]LAYOUT", in, take_layout,
		   "nhwc: the application stores input K, or all inputs, with channels last, so "
		   "leave out the TRANSPOSE; nchw: keep the shape of the graph (default)") },
	{ SHARED_TEXT(PART, part), .doc = "the chip to compile for: sets the accelerator" },
	{ CLI_TAKE_INTO("output-layout", "[K=]LAYOUT", out, take_layout,
		   "layout of output K, or of all outputs, as for --input-layout") },
	REWRITE_OPTIONS,
	{ CLI_FLAG("report", report,
		   "print one line per operator instead of the graph: NPU, or why the NPU can't "
		   "run it") },
	{ 0 },
};

static const struct argp argp = {
	.doc = "Lower a TOSA graph to NPU primitives, and write the NPU graph.\v"
	       "Exit status: 0 done, 1 the NPU can't run an operator, 2 error.  See "
	       "tosa-partition(1).",
};

/* reports the first operator that the NPU can't run */
static bool
refuse(struct part *p)
{
	for (int i = 0; i < p->t->n_ops; i++) {
		const struct tosa_op *op = &p->t->op[i];
		if (!p->why[i])
			continue;
		return err_no(p->e, p->t->name, 0, "operator %d (%s, %s) from %s to %s can't "
			      "run on the NPU: %s%s", op->number, op->name,
			      tosa_out(p->t, op)->name, tosa_text(p->a, tosa_in(p->t, op, 0)),
			      tosa_text(p->a, tosa_out(p->t, op)), p->why[i],
			      p->refused > 1 ? arena_printf(p->a, "; %d more operators can't", p->refused - 1) : "");
	}
	return true;
}

/* Lists all operators of the file, which the source map of the compiled model numbers alike. */
static void
list_layers(struct part *p)
{
	int n = 0;
	for (int i = 0; i < p->t->n_ops; i++)
		n = p->t->op[i].number < n ? n : p->t->op[i].number + 1;
	for (int i = 0; i < n; i++) {
		struct g_layer *l = graph_add_g_layer(p->g);
		G_PUT(l, LAYER, kind, "CONST"); /* p->t lists all others */
	}
	for (int i = 0; i < p->t->n_ops; i++) {
		struct g_layer *l = p->g->layers[p->t->op[i].number];
		G_PUT(l, LAYER, kind, p->t->op[i].name);
		G_PUT(l, LAYER, name, tosa_out(p->t, &p->t->op[i])->name);
	}
}

bool
partition_tosa(struct part *p, const struct options *o, struct bytes file)
{
	if (!tosa_read(p->a, file, file_name(o->input), &p->t, p->e))
		return false;
	unroll_loops(p);
	split_sums(p->a, p->t);
	p->g = graph_new(p->a, p->t->name);
	p->g->stage = STAGE_PART;
	p->l->g = p->g;
	part_alloc_tables(p);
	struct g_model *m = graph_add_g_model(p->g);
	G_PUT(m, MODEL, name, file_base(o->input));
	low_put_target(p->l, m);
	list_layers(p);
	fold_constants(p);
	struct g_node *n = p->l->node = graph_add_g_node(p->g);
	G_PUT(n, NODE, kind, NODE_NPU);
	G_SET(n, G_NODE_tfl);
	n->tfl.v = anew(p->a, struct g_tfl, (size_t)p->t->n_ops + 1);
	for (int i = 0; i < p->t->n_ops; i++)
		n->tfl.v[n->tfl.n++].index = p->t->op[i].number;
	if (!take_layouts(p, o))
		return false;
	make_border(p);
	lower_all(p);
	list_loop_values(p);
	if (!p->refused && !rewrite_exact(p->l, &o->rewrites, p->e))
		return false;
	return o->report || (refuse(p) && graph_check(p->g, p->e));
}

static bool
run(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	struct lower l = { .a = a };
	struct part p = { .a = a, .e = e, .l = &l };
	struct bytes file;
	const struct target_part *chip = target_part_take(a, o->part, e);
	const char *name = o->accel || !chip ? o->accel : chip->accel;
	if (e->status || (chip && !target_part_has(chip, o->accel, NULL, e)))
		return false;
	l.accel = name ? accel_named(name, e) : NULL;
	if ((name && !l.accel) || !low_set_target(&l, o->target, e) ||
	    !file_read(a, o->input, TFL_MAX_BYTES, &file, e) || !partition_tosa(&p, o, file))
		return false;
	if (o->report) {
		struct text t = { 0 };
		print_report(&p, &t);
		return file_write_text(o->output, &t, e) && refuse(&p);
	}
	return graph_write(p.g, o->output, e);
}

/* The file of --part is read with the sandbox around. */
static void
allow(const struct sandbox *s, void *options)
{
	sandbox_read(s, ((const struct options *)options)->part);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct cli_common common = {
		.options = option_list,
		.file = &o.input, .what = "graph",
		.output = &o.output,
		.confined = true,
		.allow = allow,
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
