/* SPDX-License-Identifier: Apache-2.0 */
/* nputools_quantize(): a float model and samples in memory in, an integer model out. */
#include "lib.h"

/* the arguments of the caller */
struct request {
	struct bytes model;
	struct samples samples;
	const struct nputools_quantization *how;
};

/* bytes of the struct up to a member and with it */
#define END(member) (offsetof(struct nputools_quantization, member) + \
		     sizeof(((struct nputools_quantization *)NULL)->member))

static bool
quantize(struct call *c, void *ctx)
{
	static const size_t sizes[] = {
		END(size), END(ranges), END(wide), END(float_interface), END(no_fold),
		END(equalize), END(bias_correction), END(per_channel_fc), END(frames), END(allow),
		END(keep_wide), END(accuracy),
	};
	enum { MAX_FRAMES = 1 << 20 };
	const struct request *r = ctx;
	struct nputools_quantization how = { 0 };
	call_stage(c, 1, NPUTOOLS_ERROR_DOES_NOT_FIT, NPUTOOLS_ERROR_INPUT);
	if (!call_check_model(c, r->model))
		return false;
	const struct samples *s = &r->samples;
	if (!s->buffer && s->n)
		return err_set(&c->e, "samples is NULL, but n_samples is %zu", s->n);
	for (size_t i = 0; i < s->n; i++)
		if (!s->buffer[i].data && s->buffer[i].size)
			return err_set(&c->e, "buffer %zu of the samples: data is NULL", i);
	if (!s->n)
		return err_set(&c->e, "there are no samples to measure the ranges with: pass "
			       "real inputs of the model");
	const double most = 100;
	if ((r->how && !call_copy(c, "quantization", sizes, ARRAY_LEN(sizes), &how, sizeof(how),
				  r->how)) ||
	    !call_check_number(c, "quantization: ranges", how.ranges, NPUTOOLS_RANGES_ENTROPY) ||
	    !call_check_number(c, "quantization: frames", how.frames, MAX_FRAMES))
		return false;
	if (how.wide && (how.keep_wide || how.accuracy != 0))
		return err_set(&c->e, "quantization: wide excludes keep_wide and accuracy");
	if (!(how.accuracy <= most))
		return err_set(&c->e, "quantization: accuracy is %g, not up to %g", how.accuracy, most);
	return lib_tfl_quantize(c, r->model, s, &how, &c->out);
}

int
nputools_quantize(const struct nputools_options *options,
		  const struct nputools_quantization *how, const void *model, size_t size,
		  const struct nputools_buffer *samples, size_t n_samples,
		  struct nputools_output *out)
{
	struct request r = {
		.model = { .p = model, .n = size }, .samples = { samples, n_samples }, .how = how,
	};
	return call_whole(options, quantize, &r, out);
}
