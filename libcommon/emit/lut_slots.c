/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the SHRAM holds. */
#include "emit/emit.h"

#include <string.h>

int32_t
lut_bytes(const struct g_lut *l)
{
	return l->bits == 8 ? 256 : l->bits == 32 ? 1024 : 2048;
}

int
lut_slots_find(struct lut_slots *s, const struct g_lut *l, bool *missing)
{
	int size = lut_bytes(l) / LUT_SLOT_BYTES;
	*missing = false;
	for (int i = 0; i + size <= LUT_SLOTS; i += size)
		if (s->held[i] == l && s->held[i + size - 1] == l)
			return i;
	int slot = s->turn / size * size % LUT_SLOTS;
	s->turn = (slot + size) % LUT_SLOTS;
	*missing = true;
	return slot;
}

void
lut_slots_put(struct lut_slots *s, const struct g_lut *l, int slot)
{
	for (int i = 0; i < lut_bytes(l) / LUT_SLOT_BYTES; i++)
		s->held[slot + i] = l;
}

void
lut_slots_after(struct lut_slots *s, const struct accel *accel,
		const struct g_op *op)
{
	if (!accel->lut_banks && !op_has_table(op))
		memset(s->held, 0, sizeof(s->held));
}
