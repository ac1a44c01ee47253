/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts streams from compiled models and driver payloads (ethosu-commands(7) 13, 14). */
#include "stream/stream.h"

#include "base/little_endian.h"
#include "target/accel.h"
#include "tflite/tflite.h"

#include <string.h>

enum {
	FOURCC_COP1 = 0x31504f43,
	ACTION_CONFIG = 1,
	ACTION_STREAM = 2,
	ACTION_NOP = 5,
	HEADER_WORDS = 8,
};

bool
npu_is_operator(const struct tfl_op *op)
{
	return op->custom && !strcmp(op->custom, "ethos-u");
}

static const uint32_t *
copy_words(struct arena *a, struct bytes b)
{
	size_t n = b.n / 4;
	uint32_t *w = anew(a, uint32_t, n);
	for (size_t i = 0; i < n; i++)
		w[i] = load_le32(b.p + 4 * i);
	return w;
}

/* Reads the actions in order, as the driver does (ethosu-commands(7) 14.2). */
static bool
read_actions(struct npu_stream *out, const uint32_t *w, size_t n,
	     struct err *e)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t action = w[i] & 0xff;
		if (action == ACTION_CONFIG) {
			if (n - i < 3)
				return err_set(e, "driver payload ends inside "
						  "its configuration");
			out->config = w[i + 1];
			out->id = w[i + 2];
			i += 2;
		} else if (action == ACTION_STREAM) {
			size_t len = (w[i] >> 8 & 0xff) << 16 | w[i] >> 16;
			if (len != n - i - 1)
				return err_set(e, "command stream of %zu words in a "
						  "payload that holds only %zu",
						  len, n - i - 1);
			if ((i + 1) % 4)
				return err_set(e, "command stream starts at "
						  "word %zu of the payload, "
						  "not a multiple of 16 bytes",
					       i + 1);
			out->word = w + i + 1;
			out->n_words = len;
			return true;
		} else if (action != ACTION_NOP) {
			return err_set(e, "driver payload has unknown action "
					  "%u at word %zu", action, i);
		}
	}
	return err_set(e, "driver payload has no command stream");
}

bool
stream_payload(struct arena *a, struct bytes payload, struct npu_stream *out,
	       struct err *e)
{
	if (payload.n < 4 * HEADER_WORDS || payload.n % 4 ||
	    load_le32(payload.p) != FOURCC_COP1)
		return err_set(e, "not a driver payload: %zu bytes without "
				  "\"COP1\" header", payload.n);
	if (!read_actions(out, copy_words(a, payload), payload.n / 4, e))
		return false;
	out->accel = accel_of_config(out->config);
	return out->accel ||
	       err_set(e, "payload's configuration word 0x%08x does not match any "
			  "accelerator", out->config);
}

bool
stream_raw(struct arena *a, struct bytes words, const struct accel *accel,
	   struct npu_stream *out, struct err *e)
{
	*out = (struct npu_stream){ .subgraph = -1, .op = -1, .name = "raw" };
	if (words.n >= 4 && load_le32(words.p) == FOURCC_COP1)
		return stream_payload(a, words, out, e);
	if (words.n % 4)
		return err_set(e, "command stream of %zu bytes, not a multiple "
				  "of 4", words.n);
	if (!accel)
		return err_set(e, "bare words don't name their accelerator; name it with "
				  "--accelerator-config");
	out->accel = accel;
	out->word = copy_words(a, words);
	out->n_words = words.n / 4;
	return true;
}

bool
stream_some(int n, const char *file, const struct accel *accel, struct err *e)
{
	return n || err_at(e, file, 0, "no ethos-u operator: the model is not compiled (npucc%s%s "
				       "compiles it), or nothing of it runs on the NPU",
			   accel ? " -a " : "", accel ? accel->name : "");
}

bool
npu_is_guard(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	enum { BYTES = 4 * (HEADER_WORDS + 1) };
	if (!npu_is_operator(op) || op->n_out || op->n_in < 1 || op->in[0] < 0)
		return false;
	struct bytes payload = g->tensor[op->in[0]].data;
	return payload.n == BYTES &&
	       (load_le32(payload.p + BYTES - 4) & 0xffff) == NPU_OP_STOP;
}

bool
stream_find(struct arena *a, const struct tfl_model *m,
	    struct npu_stream **out, int *n, struct err *e)
{
	size_t count = 0;
	for (int s = 0; s < m->n_subgraphs; s++)
		for (int o = 0; o < m->subgraph[s].n_ops; o++)
			count += npu_is_operator(&m->subgraph[s].op[o]);
	*out = anew(a, struct npu_stream, count);
	*n = 0;
	for (int s = 0; s < m->n_subgraphs; s++)
		for (int o = 0; o < m->subgraph[s].n_ops; o++) {
			const struct tfl_op *op = &m->subgraph[s].op[o];
			struct npu_stream *x = &(*out)[*n];
			if (!npu_is_operator(op))
				continue;
			*x = (struct npu_stream){ .subgraph = s, .op = o };
			if (op->n_in < 4 || op->in[0] < 0)
				return err_at(e, m->name, 0, "subgraph %d, operator %d: an "
					      "ethos-u operator needs 4 inputs, not %d", s, o,
					      op->n_in);
			const struct tfl_tensor *t = &m->subgraph[s].tensor[op->in[0]];
			x->name = t->name;
			struct err inner = { 0 };
			if (!t->data.p)
				return err_at(e, m->name, 0, "subgraph %d, operator %d: command "
					      "stream tensor '%s' is not a constant", s, o,
					      t->name);
			if (!stream_payload(a, t->data, x, &inner))
				return err_at(e, m->name, 0, "subgraph %d, operator %d (%s): %s",
					      s, o, t->name, inner.text);
			*n += !npu_is_guard(&m->subgraph[s], op);
		}
	return true;
}
