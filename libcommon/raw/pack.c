/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads ExecuTorch's packed stream.  A block is a name of 16 bytes, the
 * length, a flag for data outside the file, 11 zero bytes, and the data, padded to a
 * multiple of 16.
 */
#include "raw/raw.h"

#include "base/little_endian.h"

#include <string.h>

enum { HEADER = 32, NAME = 16, EXTERNAL = 20, IO_BYTES = 4 * (RAW_RANK + 3), ALIGN = 16 };

static const char first_block[] = "vela_bin_stream", last_block[] = "vela_end_stream";

/* ---- writing ------------------------------------------------------------------------- */

static void
put_block(struct text *t, const char *name, const void *p, size_t n)
{
	static const uint8_t zero[HEADER];
	uint8_t h[HEADER] = { 0 };
	memcpy(h, name, strlen(name));
	store_le32(h + NAME, (uint32_t)n);
	text_put(t, h, sizeof(h));
	if (n)
		text_put(t, p, n);
	text_put(t, zero, (ALIGN - n % ALIGN) % ALIGN);
}

static void
put_io_list(struct text *t, const char *name, const struct raw_io *v, int n)
{
	struct text x = { 0 };
	text_put_le32(&x, (uint32_t)n);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < RAW_RANK; k++)
			text_put_le32(&x, (uint32_t)v[i].dim[k]);
		text_put_le32(&x, (uint32_t)v[i].elem_bytes);
		text_put_le32(&x, (uint32_t)v[i].offset);
		text_put_le32(&x, 1);
	}
	put_block(t, name, x.p, x.n);
	text_free(&x);
}

struct bytes
raw_as_string(struct bytes b)
{
	static const uint8_t none[1];
	return b.n ? b : (struct bytes){ .p = none, .n = 1 };
}

struct bytes
raw_of_string(struct bytes b)
{
	return b.n == 1 && !*b.p ? (struct bytes){ .p = b.p } : b;
}

void
raw_print_packed(const struct raw *r, struct text *t)
{
	uint8_t scratch[4];
	store_le32(scratch, (uint32_t)r->scratch);
	put_block(t, first_block, NULL, 0);
	put_block(t, "cmd_data", r->cmd.p, r->cmd.n);
	struct bytes weights = raw_as_string(r->weights);
	put_block(t, "weight_data", weights.p, weights.n);
	put_block(t, "scratch_size", scratch, sizeof(scratch));
	put_io_list(t, "inputs", r->in, r->n_in);
	put_io_list(t, "outputs", r->out, r->n_out);
	put_block(t, last_block, NULL, 0);
}

/* ---- reading ------------------------------------------------------------------------- */

struct load {
	struct arena *a;
	const char *name;
	struct err *e;
	struct reader in;
};

#define BAD(l, ...) err_at((l)->e, (l)->name, 0, __VA_ARGS__)

bool
raw_is_packed(struct bytes file)
{
	return file.n >= NAME && !memcmp(file.p, first_block, sizeof(first_block));
}

static bool
take_block(struct load *l, const char **name, struct bytes *data)
{
	const uint8_t *h = reader_take(&l->in, HEADER);
	if (!h || h[NAME - 1])
		return BAD(l, "a block's header is cut off or malformed");
	*name = text_plain(l->a, arena_strndup(l->a, (const char *)h, NAME));
	data->n = load_le32(h + NAME);
	if (h[EXTERNAL])
		return BAD(l, "block %s has its data outside of the file", *name);
	data->p = reader_take(&l->in, data->n);
	if (!data->p || !reader_take(&l->in, (ALIGN - data->n % ALIGN) % ALIGN))
		return BAD(l, "block %s ends beyond the end of the file", *name);
	return true;
}

static bool
load_io_list(struct load *l, const char *name, struct bytes b, struct raw_io **out, int *n)
{
	int64_t count = b.n >= 4 ? (int32_t)load_le32(b.p) : -1;
	if (count < 0 || (int64_t)b.n != 4 + count * IO_BYTES)
		return BAD(l, "block %s has %zu bytes for %lld of them", name, b.n,
			   (long long)count);
	*out = anew(l->a, struct raw_io, (size_t)count);
	*n = (int)count;
	for (int64_t i = 0; i < count; i++) {
		struct raw_io *d = &(*out)[i];
		const uint8_t *p = b.p + 4 + i * IO_BYTES;
		for (int k = 0; k < RAW_RANK; k++) {
			int32_t dim = (int32_t)load_le32(p + 4 * k);
			d->dim[k] = dim > 0 ? dim : 0;
		}
		int32_t bytes = (int32_t)load_le32(p + 4 * RAW_RANK);
		d->elem_bytes = bytes > 0 && bytes <= 8 ? bytes : 0;
		d->offset = (int32_t)load_le32(p + 4 * RAW_RANK + 4);
		if (load_le32(p + 4 * RAW_RANK + 8) != 1)
			return BAD(l, "block %s: %lld is not in region 1", name,
				   (long long)i);
	}
	return true;
}

bool
raw_read_packed(struct arena *a, struct bytes file, const char *name, struct raw *out,
		struct err *e)
{
	struct load l = { .a = a, .name = name, .e = e,
			  .in = reader_init(file.p, file.n) };
	*out = (struct raw){ .fast = -1 };
	for (bool first = true;; first = false) {
		const char *block = "";
		struct bytes data = { 0 };
		if (!take_block(&l, &block, &data))
			return false;
		if (!strcmp(block, last_block))
			break;
		if (first && !strcmp(block, first_block))
			continue;
		if (!strcmp(block, "cmd_data")) {
			out->cmd = data;
		} else if (!strcmp(block, "weight_data")) {
			out->weights = raw_of_string(data);
		} else if (!strcmp(block, "scratch_size")) {
			if (data.n != 4)
				return BAD(&l, "scratch_size has %zu bytes, not 4", data.n);
			out->scratch = load_le32(data.p);
		} else if (!strcmp(block, "inputs")) {
			if (!load_io_list(&l, block, data, &out->in, &out->n_in))
				return false;
		} else if (!strcmp(block, "outputs")) {
			if (!load_io_list(&l, block, data, &out->out, &out->n_out))
				return false;
		} else {
			return BAD(&l, "block %s is unknown", block);
		}
	}
	return l.in.at == file.n || BAD(&l, "bytes after the last block");
}
