/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-partition(1) for libnputools: a model in, the text of its graph out. */
#include "lib.h"

#include "graph/graph.h"
#include "target/accel.h"
#include "target/target.h"
#include "tfl-partition/part.h"

static bool
partition(struct call *c, struct bytes model, bool report, struct text *out)
{
	const struct options o = {
		.input = c->o.name, .accel = c->o.accelerator,
		.fail_on_cpu = c->o.fail_on_cpu,
		.allow_unequal = c->o.allow_unequal_quantization, .report = report, .json = report,
		.subgraph = c->subgraph,
	};
	const struct accel *accel = o.accel ? accel_named(o.accel, &c->e) : NULL;
	struct part p;
	if (c->e.status || !partition_file(c->a, &o, accel, model, &p, &c->e) ||
	    fails_on_cpu(&p, &o))
		return false;
	if (report)
		return report_all(&p, &o, accel, out);
	graph_print(p.g, out);
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
