/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip (RFC 1952) without time and name in the header, so that equal input gives equal
 * bytes.
 */
#include "npucc.h"

#include "base/deflate.h"
#include "base/little_endian.h"

static uint32_t
crc32_of(struct bytes in)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < in.n; i++) {
		crc ^= in.p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

void
gzip(struct arena *a, struct text *t, struct bytes in)
{
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	uint8_t tail[8];
	text_put(t, head, sizeof(head));
	deflate_bytes(a, t, in);
	store_le32(tail, crc32_of(in));
	store_le32(tail + 4, (uint32_t)in.n);
	text_put(t, tail, sizeof(tail));
}
