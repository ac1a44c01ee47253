/* SPDX-License-Identifier: Apache-2.0 */
/* nputools_verify() and nputools_estimate(): reports about a compiled model. */
#include "lib.h"

typedef bool report(struct call *c, struct bytes model, struct text *out);

static int
call_report(report *run, const struct nputools_options *options, const void *model,
	    size_t size, struct nputools_output *out)
{
	struct call c;
	if (call_begin(&c, options))
		(void)run(&c, (struct bytes){ .p = model, .n = size }, &c.out);
	return call_end(&c, out);
}

int
nputools_verify(const struct nputools_options *options, const void *model, size_t size,
		struct nputools_output *out)
{
	return call_report(lib_npu_dis, options, model, size, out);
}

int
nputools_estimate(const struct nputools_options *options, const void *model, size_t size,
		  struct nputools_output *out)
{
	return call_report(lib_npu_perf, options, model, size, out);
}
