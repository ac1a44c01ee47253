/* SPDX-License-Identifier: Apache-2.0 */
/* npu-wenc(1) for libnputools: the text of a scheduled graph in, an encoded one out. */
#include "lib.h"

#include "graph/graph.h"
#include "npu-wenc/wenc.h"
#include "target/memory.h"

bool
lib_npu_wenc(struct call *c, struct text *in, struct text *out)
{
	const struct options o = { .jobs = c->o.jobs };
	struct wenc w = { .a = c->a, .e = &c->e };
	struct memory_system m;
	(void)text_str(in); /* a NUL follows the text of a file, too */
	if (!graph_read(c->a, (struct bytes){ .p = (uint8_t *)in->p, .n = in->n },
			call_file(c, "sched"), STAGE_SCHED, &w.g, &c->e) ||
	    !graph_target(w.g, &w.accel, &m, &c->e) || !encode_graph(&w, &o))
		return false;
	graph_print(w.g, out);
	return true;
}
