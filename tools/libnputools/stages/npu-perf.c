/* SPDX-License-Identifier: Apache-2.0 */
/* npu-perf --json for libnputools. */
#include "lib.h"

#include "npu-perf/report.h"

bool
lib_npu_perf(struct call *c, struct bytes model, struct text *out)
{
	const struct options o = {
		.file = c->o.name, .system = c->o.system_config, .mode = c->o.memory_mode,
		.chip = target_part_find(c->o.part, &c->e), .model = PERF_CALIBRATED, .report = REPORT_JSON,
	};
	struct network net;
	if (!take_network(c->a, &o, model, &net, &c->e) ||
	    !evaluate(c->a, &o, &net, &c->e) || !evaluate_memories(&net, &c->e))
		return false;
	report_json(out, &net);
	return true;
}
