/* SPDX-License-Identifier: Apache-2.0 */
/* A driver payload or bare words are listed, and walked operation by operation. */
#include "fuzz.h"

#include "base/bytes.h"
#include "base/text.h"
#include "stream/op.h"
#include "stream/stream.h"
#include "target/accel.h"

static void
walk(const struct npu_stream *s)
{
	struct npu_walk w;
	struct npu_op op;
	struct err e = { 0 };
	struct text t = { 0 };
	walk_init(&w, s);
	while (walk_next(&w, &op, &e))
		stream_print_op(&t, &op);
	text_free(&t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct npu_stream s;
	struct text t = { 0 };
	struct bytes in = { .p = data, .n = size };
	const struct accel *accel = accel_find("ethos-u65-512");
	if (stream_raw(a, in, accel, &s, &e)) {
		(void)stream_print(&t, &s, true, &e);
		walk(&s);
	}
	text_free(&t);
	arena_close(a);
	return 0;
}
