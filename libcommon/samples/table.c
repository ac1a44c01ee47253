/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plain numbers: .npy, raw bytes, text. */
#include "base/little_endian.h"
#include "base/npy.h"
#include "samples/samples.h"
#include "tflite/tflite.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double
integer_at(const uint8_t *p, bool is_signed, int bytes)
{
	uint64_t u = 0;
	for (int i = 0; i < bytes; i++)
		u |= (uint64_t)p[i] << 8 * i;
	if (!is_signed)
		return (double)u;
	unsigned shift = 64 - 8 * (unsigned)bytes;
	return (double)((int64_t)(u << shift) >> shift);
}

static double
float_at(const uint8_t *p, int bytes)
{
	uint64_t u;
	double d;
	if (bytes == 4)
		return (double)load_f32(p);
	u = load_le64(p);
	memcpy(&d, &u, sizeof(d));
	return d;
}

struct element {
	char kind; /* as in NumPy: 'i', 'u', 'f', 'b' */
	int bytes;
};

static struct element
element_of(int type)
{
	switch (type) {
	case TFL_INT8: return (struct element){ 'i', 1 };
	case TFL_UINT8: return (struct element){ 'u', 1 };
	case TFL_INT16: return (struct element){ 'i', 2 };
	case TFL_INT32: return (struct element){ 'i', 4 };
	case TFL_INT64: return (struct element){ 'i', 8 };
	case TFL_BOOL: return (struct element){ 'b', 1 };
	default: return (struct element){ 'f', 4 };
	}
}

static void
fill(struct arena *a, const uint8_t *p, struct element k, size_t n,
     struct data *d)
{
	d->n = n;
	d->v = anew(a, double, n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *at = p + i * (size_t)k.bytes;
		d->v[i] = k.kind == 'f' ? float_at(at, k.bytes)
					: integer_at(at, k.kind == 'i', k.bytes);
	}
}

bool
load_npy(struct arena *a, struct bytes file, const struct tfl_tensor *t,
	 struct data *d, struct err *e)
{
	struct npy n;
	if (!npy_parse(file, d->name, &n, e))
		return false;
	if (n.kind == 'f' && n.item_bytes < 4)
		return err_at(e, d->name, 0, "%d-byte floats are not supported", n.item_bytes);
	struct element own = element_of(t->type);
	d->quantized = n.kind == own.kind && n.item_bytes == own.bytes &&
		       t->type != TFL_FLOAT32;
	d->rank = n.rank;
	for (int i = 0; i < n.rank; i++)
		d->dim[i] = n.dim[i];
	fill(a, n.data.p, (struct element){ n.kind, n.item_bytes },
	     n.data.n / (size_t)n.item_bytes, d);
	return true;
}

bool
load_raw(struct arena *a, struct bytes file, const struct tfl_tensor *t,
	 bool quantized, struct data *d, struct err *e)
{
	struct element k = quantized ? element_of(t->type)
				     : (struct element){ 'f', 4 };
	if (file.n % (size_t)k.bytes)
		return err_at(e, d->name, 0, "%zu bytes are not a whole number of %d-byte "
			      "elements", file.n, k.bytes);
	d->list = true;
	d->rank = 1;
	d->dim[0] = (int64_t)(file.n / (size_t)k.bytes);
	fill(a, file.p, k, file.n / (size_t)k.bytes, d);
	return true;
}

static bool
is_separator(char c)
{
	return isspace((unsigned char)c) || c == ',' || c == ';';
}

/* Parses a number that a separator, '#' or the end follows.  The file ends with a NUL. */
static bool
parse_number(const char **p, const char *name, unsigned line, double *out,
	     struct err *e)
{
	char *end;
	*out = strtod(*p, &end);
	if (end != *p && (!*end || is_separator(*end) || *end == '#')) {
		*p = end;
		return true;
	}
	int n = (int)strcspn(*p, ",; \t\r\n");
	return err_at(e, name, line, "not a number: '%.*s'", n > 40 ? 40 : n,
		      *p);
}

bool
load_csv(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
	/* a number and its separator take at least two characters */
	d->v = anew(a, double, file.n / 2 + 1);
	unsigned line = 1;
	const char *p = (const char *)file.p, *end = p + file.n;
	while (p < end) {
		if (*p == '#') {
			p += strcspn(p, "\n");
		} else if (is_separator(*p)) {
			line += *p++ == '\n';
		} else if (!parse_number(&p, d->name, line, &d->v[d->n], e)) {
			return false;
		} else {
			d->n++;
		}
	}
	d->list = true;
	d->rank = 1;
	d->dim[0] = (int64_t)d->n;
	return true;
}
