/* SPDX-License-Identifier: Apache-2.0 */
/* tosa-partition(1) for libnputools: a TOSA graph in, the text of the NPU's graph out. */
#include "lib.h"

#include "graph/graph.h"
#include "lower/linux.h"
#include "target/accel.h"
#include "target/target.h"
#include "tosa-partition/part.h"

bool
lib_tosa_partition(struct call *c, struct bytes model, struct text *out)
{
	struct options o = { .input = c->o.name, .accel = c->o.accelerator };
	struct lower l = { .a = c->a, .accel = accel_named(o.accel, &c->e) };
	struct part p = { .a = c->a, .e = &c->e, .l = &l };
	if (!l.accel || !rewrite_off(c->o.no_rewrite, &o.rewrites.off, &c->e) ||
	    !low_set_target(&l, o.target, &c->e) ||
	    !partition_tosa(&p, &o, model))
		return false;
	graph_print(p.g, out);
	return true;
}
