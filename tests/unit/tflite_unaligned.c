/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector at any byte offset is read as if it were aligned, and no byte behind the
 * file is read: published models have such vectors.
 */
#include "base/file.h"
#include "base/little_endian.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"
#include "tflite/wire.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MORE = 64, TENSOR = 0 };

/* the model with a copy of a tensor's zero points `shift` bytes behind its end */
static struct bytes
moved(struct arena *a, const struct tfl_model *m, size_t shift, bool cut)
{
	struct fb_ref q = fb_child(m->subgraph[0].tensor[TENSOR].ref,
				   FB_Tensor_quantization);
	size_t field = fb_field_pos(q, FB_QuantizationParameters_zero_point);
	size_t from = field + load_le32(m->file.p + field), to = m->file.n + shift;
	uint8_t *p = anew(a, uint8_t, m->file.n + MORE);
	memcpy(p, m->file.p, m->file.n);
	memcpy(p + to, m->file.p + from, 4 + 8);
	store_le32(p + field, (uint32_t)(to - field));
	return (struct bytes){ .p = p, .n = to + 4 + 8 - cut };
}

int
main(void)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m, *n;
	if (!tfl_read_file(a, "tests/models/digits.tflite", &m, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	int64_t zero = m->subgraph[0].tensor[TENSOR].quant.zero[0];
	for (size_t shift = 0; shift < 9; shift++) {
		assert(tfl_read(a, moved(a, m, shift, false), "moved", &n, &e));
		assert(n->subgraph[0].tensor[TENSOR].quant.n_zero == 1);
		assert(n->subgraph[0].tensor[TENSOR].quant.zero[0] == zero);
		assert(!tfl_read(a, moved(a, m, shift, true), "moved", &n, &e));
		assert(strstr(e.text, "more elements than the file bytes"));
		e = (struct err){ 0 };
	}
	arena_close(a);
	return 0;
}
