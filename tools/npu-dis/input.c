/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the input: compiled models, driver payloads, or words. */
#include "dis.h"

#include "base/cli.h"
#include "base/file.h"
#include "base/little_endian.h"
#include "graph/graph.h"
#include "kernels/kernels.h"
#include "raw/raw.h"
#include "tflite/tflite.h"

#include <ctype.h>

/* True for hexadecimal text: digits, white space, commas, 0x. */
static bool
is_hex(struct bytes b)
{
	size_t digits = 0;
	for (size_t i = 0; i < b.n; i++) {
		uint8_t c = b.p[i];
		if (isxdigit(c))
			digits++;
		else if (!isspace(c) && c != ',' && c != 'x')
			return false;
	}
	return digits > 0;
}

/* Converts words of up to 8 hexadecimal digits to little-endian bytes. */
static bool
parse_hex(struct arena *a, struct bytes in, struct bytes *out, struct err *e)
{
	uint8_t *p = anew(a, uint8_t, 2 * in.n + 4);
	size_t n = 0;
	for (size_t i = 0; i < in.n;) {
		uint32_t v = 0;
		size_t digits = 0;
		if (in.p[i] == '0' && i + 1 < in.n && in.p[i + 1] == 'x')
			i += 2;
		for (; i < in.n && isxdigit(in.p[i]); i++, digits++) {
			uint8_t c = in.p[i];
			v = v << 4 | (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
		}
		if (digits > 8)
			return err_set(e, "word %zu has %zu hexadecimal digits; a word of a "
					  "command stream has at most 8", n / 4 + 1, digits);
		if (digits) {
			store_le32(p + n, v);
			n += 4;
		} else {
			i++;
		}
	}
	*out = (struct bytes){ .p = p, .n = n };
	return true;
}

static bool
read_source(struct arena *a, const struct options *o, struct input *in,
	    struct err *e)
{
	struct bytes text;
	if (!file_read(a, o->source, SIZE_MAX / 4, &text, e))
		return false;
	const char *is = fb_identify(text);
	if (is)
		return err_at(e, file_name(o->source), 0, "not an NPU graph but %s; "
			      "--source wants the graph that the model was made of, as "
			      "npu-wenc writes it (npucc -o FILE.wenc)", is);
	return graph_read(a, text, file_name(o->source), STAGE_WENC, &in->source, e);
}

const char *
source_name(struct arena *a, const struct input *in, int k, size_t word)
{
	const struct map_command *c =
	    in->map ? map_command_at(in->map, k, word) : NULL;
	return c ? map_label(a, c) : NULL;
}

bool
take_input(struct arena *a, const struct options *o, struct bytes file, struct input *in,
	   struct err *e)
{
	*in = (struct input){ .name = file_name(o->input) };
	if (o->raw) {
		struct err inner = { 0 };
		in->stream = anew(a, struct npu_stream, 1);
		in->n = 1;
		return ((!is_hex(file) || parse_hex(a, file, &file, &inner)) &&
			stream_raw(a, file, o->accel, in->stream, &inner)) ||
		       err_at(e, in->name, 0, "%s", inner.text);
	}
	if (!raw_model(a, file, in->name, &file, e) ||
	    !model_read(a, file, in->name, &in->model, e))
		return false;
	if (!stream_find(a, in->model, &in->stream, &in->n, e)) {
		if (o->verify) /* --verify answers "no": the stream breaks rule 48 */
			e->status = EXIT_NO;
		return false;
	}
	if (!stream_some(in->n, in->name, NULL, e))
		return false;
	if (o->only >= in->n)
		return err_at(e, in->name, 0, "no stream %d: the model has %d "
			      "ethos-u operators, counted from 0", o->only,
			      in->n);
	bool stale;
	if (!map_find(a, in->model, in->stream, in->n, &in->map, &stale, e))
		return false;
	if (stale)
		cli_note_to(e, "warning",
			"%s: the source map in the file is for other streams; names are omitted",
			 in->name);
	if (o->source)
		return read_source(a, o, in, e);
	if (!o->verify)
		return true;
	/* the graph and the digest from the file's own map */
	struct npu_map *m;
	if (!map_read(a, in->model, &m, e))
		return false;
	in->carrier = m;
	return !m || source_carried(a, m, in->name, &in->source, e);
}

bool
read_input(struct arena *a, const struct options *o, struct input *in, struct err *e)
{
	struct bytes file;
	return file_read(a, o->input, TFL_MAX_BYTES, &file, e) &&
	       take_input(a, o, file, in, e);
}
