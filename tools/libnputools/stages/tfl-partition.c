/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-partition(1) for libnputools: a model in, the text of its graph out. */
#include "lib.h"

#include "graph/graph.h"
#include "target/target.h"
#include "tfl-partition/part.h"

bool
lib_tfl_partition(struct call *c, struct bytes model, struct text *out)
{
	const struct options o = {
		.input = c->o.name, .accel = c->o.accelerator,
		.fail_on_cpu = c->o.fail_on_cpu,
	};
	const struct accel *accel = accel_named(o.accel, &c->e);
	struct part p;
	if (!accel || !partition_file(c->a, &o, accel, model, &p, &c->e) ||
	    fails_on_cpu(&p, &o))
		return false;
	graph_print(p.g, out);
	return true;
}
