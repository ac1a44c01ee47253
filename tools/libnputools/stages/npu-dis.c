/* SPDX-License-Identifier: Apache-2.0 */
/* npu-dis --verify --json for libnputools. */
#include "lib.h"

#include "npu-dis/dis.h"

bool
lib_npu_dis(struct call *c, struct bytes model, struct text *out)
{
	const struct options o = { .input = c->o.name, .only = -1, .verify = true,
				   .warnings = true, .view = VIEW_JSON };
	struct input in;
	return take_input(c->a, &o, model, &in, &c->e) &&
	       verify(c->a, out, &in, &o, &c->e);
}
