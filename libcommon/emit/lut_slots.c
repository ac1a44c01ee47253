/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the SHRAM holds. */
#include "emit/emit.h"

#include "graph/facts.h"
#include "target/accel.h"

#include <string.h>

int32_t
lut_bytes(const struct g_lut *l)
{
	return l->bits == 8 ? 256 : l->bits == 32 ? 1024 : 2048;
}

void
lut_slots_put(struct lut_slots *s, const struct g_lut *l, int slot)
{
	for (int i = 0; i < lut_bytes(l) / LUT_SLOT_BYTES; i++)
		s->held[slot + i] = l;
}

bool
lut_slots_run(struct lut_slots *s, const struct accel *accel, const struct g_op *op, int *slot)
{
	*slot = 0;
	if (!op_has_table(op)) {
		if (!accel->lut_banks)
			memset(s->held, 0, sizeof(s->held));
		return false;
	}
	const struct g_lut *l = op->lut;
	int size = lut_bytes(l) / LUT_SLOT_BYTES;
	for (int i = 0; i + size <= LUT_SLOTS; i += size)
		if (s->held[i] == l && s->held[i + size - 1] == l) {
			*slot = i;
			return false;
		}
	*slot = s->turn / size * size % LUT_SLOTS;
	s->turn = (*slot + size) % LUT_SLOTS;
	lut_slots_put(s, l, *slot);
	return true;
}
