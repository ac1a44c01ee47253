/* SPDX-License-Identifier: Apache-2.0 */
/* npu-cmdgen(1) for libnputools: the text of an encoded graph in, a compiled model out. */
#include "lib.h"

#include "npu-cmdgen/cmdgen.h"

bool
lib_npu_cmdgen(struct call *c, struct text *in, struct text *out)
{
	struct cmdgen g = { .a = c->a, .e = &c->e, .no_map = c->o.no_map };
	struct bytes file;
	(void)text_str(in); /* a NUL follows the text of a file, too */
	if (!emit_text(&g, (uint8_t *)in->p, in->n, call_file(c, "wenc")))
		return false;
	for (int i = 1; i < c->n_bodies; i++)
		if (c->body[i].n && !take_body(&g, i, c->body[i], c->o.name))
			return false;
	if (!build_model(&g, &file) || !verify_model(&g, file, c->o.jobs))
		return false;
	text_put(out, file.p, file.n);
	return true;
}
