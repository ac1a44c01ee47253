/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-partition(1) for libnputools: a model in, the text of its graph out. */
#include "lib.h"

#include "graph/graph.h"
#include "kernels/kernels.h"
#include "target/accel.h"
#include "target/target.h"
#include "tfl-partition/part.h"
#include "tflite/tflite.h"

#include <string.h>

/* Splits the list of operators.  Indices are those of the model, and not of a body. */
static void
take_cpu(struct call *c, struct options *o)
{
	const char *list = c->o.cpu ? c->o.cpu : "";
	o->cpu = anew(c->a, const char *, strlen(list) / 2 + 1);
	for (const char *p = list; *p; p += *p == ',') {
		const size_t n = strcspn(p, ",");
		if (n && !(c->subgraph && strspn(p, "0123456789") == n))
			o->cpu[o->n_cpu++] = arena_printf(c->a, "%.*s", (int)n, p);
		p += n;
	}
}

static bool
partition(struct call *c, struct bytes model, bool report, struct text *out)
{
	struct options o = {
		.input = c->o.name, .accel = c->o.accelerator,
		.fail_on_cpu = c->o.fail_on_cpu,
		.allow_unequal = c->o.allow_unequal_quantization ||
				 (c->o.allow && strstr(c->o.allow, "unequal-quantization")),
		.report = report, .json = report,
		.subgraph = c->subgraph, .integer_io = c->o.integer_io && !c->subgraph,
		.cut_inputs = c->o.cut_inputs, .cut_outputs = c->o.cut_outputs,
	};
	take_cpu(c, &o);
	const struct accel *accel = o.accel ? accel_named(o.accel, &c->e) : NULL;
	struct part p;
	if (c->e.status || !rewrite_off(c->o.no_rewrite, &o.rewrites.off, &c->e) ||
	    !partition_file(c->a, &o, accel, model, &p, &c->e) ||
	    fails_on_cpu(&p, &o))
		return false;
	if (report)
		return report_all(&p, &o, accel, out);
	graph_print(p.g, out);
	return true;
}

bool
lib_tfl_partition_cut(struct call *c, struct bytes *model)
{
	const struct options o = { .input = c->o.name, .cut_inputs = c->o.cut_inputs,
				   .cut_outputs = c->o.cut_outputs };
	const struct part_cut *cut;
	struct tfl_model *m;
	if (!model_read(c->a, *model, o.input, &m, &c->e) || !tfl_check_plain(m, &c->e) ||
	    !take_cut(c->a, &o, &m, &cut, &c->e))
		return false;
	*model = m->file;
	return true;
}

bool
lib_tfl_partition(struct call *c, struct bytes model, struct text *out)
{
	return partition(c, model, false, out);
}

bool
lib_tfl_partition_report(struct call *c, struct bytes model, struct text *out)
{
	return partition(c, model, true, out);
}
