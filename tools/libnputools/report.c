/* SPDX-License-Identifier: Apache-2.0 */
/* nputools_verify() and nputools_estimate(): reports about a compiled model. */
#include "lib.h"

static bool
verify(struct call *c, void *model)
{
	return call_check_model(c, *(struct bytes *)model) &&
	       lib_npu_dis(c, *(struct bytes *)model, &c->out);
}

static bool
estimate(struct call *c, void *model)
{
	return call_check_model(c, *(struct bytes *)model) &&
	       lib_npu_perf(c, *(struct bytes *)model, &c->out);
}

int
nputools_verify(const struct nputools_options *options, const void *model, size_t size,
		struct nputools_output *out)
{
	struct bytes b = { .p = model, .n = size };
	return call_whole(options, verify, &b, out);
}

int
nputools_estimate(const struct nputools_options *options, const void *model, size_t size,
		  struct nputools_output *out)
{
	struct bytes b = { .p = model, .n = size };
	return call_whole(options, estimate, &b, out);
}
