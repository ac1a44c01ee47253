/* SPDX-License-Identifier: Apache-2.0 */
#include "base/npy.h"

#include "base/little_endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = "\x93NUMPY";

bool
npy_is(struct bytes file)
{
	return file.n >= sizeof(magic) && !memcmp(file.p, magic, sizeof(magic));
}

/* Returns the text of the value of 'key' in the header's dictionary, or NULL. */
static const char *
find_value(const char *header, const char *key)
{
	const char *p = strstr(header, key);
	if (!p)
		return NULL;
	p += strlen(key);
	while (*p == ' ' || *p == ':')
		p++;
	return p;
}

static bool
parse_descr(const char *p, struct npy *n)
{
	if (!p || *p++ != '\'')
		return false;
	char order = *p++;
	n->kind = *p++;
	if (n->kind == '\0' || !strchr("iufb", n->kind))
		return false;
	n->item_bytes = p[0] >= '1' && p[0] <= '8' && p[1] == '\'' ? *p - '0' : 0;
	if (n->item_bytes != 1 && n->item_bytes != 2 && n->item_bytes != 4 &&
	    n->item_bytes != 8)
		return false;
	return order == '<' || order == '|' ||
	       (order == '=' && n->item_bytes == 1);
}

static bool
parse_shape(const char *p, struct npy *n)
{
	if (!p || *p++ != '(')
		return false;
	for (;;) {
		while (*p == ' ' || *p == ',')
			p++;
		if (*p == ')')
			return true;
		char *end;
		long long d = strtoll(p, &end, 10);
		if (end == p || d < 0 || n->rank == NPY_MAX_RANK)
			return false;
		n->dim[n->rank++] = d;
		p = end;
	}
}

bool
npy_parse_head(struct bytes file, uint64_t file_bytes, const char *name,
	       struct npy *out, uint64_t *at, struct err *e)
{
	*out = (struct npy){ 0 };
	struct reader r = reader_init(file.p, file.n);
	if (!npy_is(file))
		return err_at(e, name, 0, "not a .npy file");
	(void)reader_take(&r, sizeof(magic));
	unsigned major = reader_u16(&r) & 0xff;
	size_t len = major == 1 ? reader_u16(&r) : reader_u32(&r);
	const uint8_t *text = reader_take(&r, len);
	char header[1024];
	if (!text && (len < sizeof(header) || file.n == file_bytes))
		return err_at(e, name, 0, ".npy header is cut short");
	if (major < 1 || major > 3 || len >= sizeof(header))
		return err_at(e, name, 0, ".npy version %u with a header of %zu bytes is not "
			      "supported", major, len);
	memcpy(header, text, len);
	header[len] = '\0';
	if (!parse_descr(find_value(header, "'descr'"), out))
		return err_at(e, name, 0, ".npy type is not a little-endian integer or float");
	const char *fortran = find_value(header, "'fortran_order'");
	if (!fortran || *fortran != 'F')
		return err_at(e, name, 0, ".npy data is not in C order");
	if (!parse_shape(find_value(header, "'shape'"), out))
		return err_at(e, name, 0, ".npy shape is malformed or has more than %d "
			      "dimensions", NPY_MAX_RANK);
	uint64_t bytes = (uint64_t)out->item_bytes, data_bytes = file_bytes - r.at;
	bool fits = true;
	for (int i = 0; i < out->rank; i++)
		fits = fits && !__builtin_mul_overflow(bytes, (uint64_t)out->dim[i], &bytes);
	if (!fits || bytes != data_bytes)
		return err_at(e, name, 0, ".npy data has %llu bytes, not what its shape says",
			      (unsigned long long)data_bytes);
	out->data.n = (size_t)data_bytes;
	*at = r.at;
	return true;
}

bool
npy_parse(struct bytes file, const char *name, struct npy *out, struct err *e)
{
	uint64_t at;
	if (!npy_parse_head(file, file.n, name, out, &at, e))
		return false;
	out->data.p = file.p + at;
	return true;
}

void
npy_print_head(struct text *t, const struct npy *n)
{
	struct text h = { 0 };
	text_printf(&h, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
		    n->item_bytes == 1 ? '|' : '<', n->kind, n->item_bytes);
	for (int i = 0; i < n->rank; i++) {
		text_i64(&h, n->dim[i]);
		text_puts(&h, n->rank == 1 ? "," : i + 1 < n->rank ? ", " : "");
	}
	text_puts(&h, "), }");
	while ((sizeof(magic) + 4 + h.n + 1) % 64)
		text_putc(&h, ' ');
	text_putc(&h, '\n');

	uint8_t lead[4] = { 1, 0, 0, 0 };
	store_le16(lead + 2, (uint16_t)h.n);
	text_put(t, magic, sizeof(magic));
	text_put(t, lead, sizeof(lead));
	text_put(t, h.p, h.n);
	text_free(&h);
}

void
npy_print(struct text *t, const struct npy *n)
{
	npy_print_head(t, n);
	text_put(t, n->data.p, n->data.n);
}

double
npy_number(const struct npy *n, size_t i)
{
	const uint8_t *p = n->data.p + i * (size_t)n->item_bytes;
	if (n->kind == 'f') {
		if (n->item_bytes == 4)
			return (double)load_f32(p);
		uint64_t bits = load_le64(p);
		double v;
		memcpy(&v, &bits, sizeof(v));
		return v;
	}
	bool is_signed = n->kind == 'i';
	switch (n->item_bytes) {
	case 1:
		return is_signed ? (int8_t)*p : *p;
	case 2:
		return is_signed ? (int16_t)load_le16(p) : load_le16(p);
	case 4:
		return is_signed ? (double)(int32_t)load_le32(p) : (double)load_le32(p);
	default:
		return is_signed ? (double)(int64_t)load_le64(p) : (double)load_le64(p);
	}
}
