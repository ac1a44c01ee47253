/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that every tensor and buffer with an address is inside its area, whose size is
 * in the area record.
 */
#include "graph/check.h"

#include "graph/facts.h"
#include "target/memory.h"

#include <inttypes.h>
#include <string.h>

struct areas {
	struct check *c;
	int64_t used[PLACES];
	bool spilling;
};

static bool
check_extent(const struct areas *v, const struct g_rec *rec, char letter, int place,
	  int64_t at, int64_t bytes)
{
	/* without spilling, the cache is the arena: ethosu-memory(7) 9.1 */
	int64_t used = v->used[place == PLACE_CACHE && !v->spilling ? PLACE_ARENA : place];
	if (place == PLACE_FLASH) /* also the default of a record without area= */
		return err_at(v->c->e, v->c->g->file, rec->line,
		    "%c%d is not a constant, so it can't be in flash", letter, rec->id);
	if (at <= used && bytes <= used - at)
		return true;
	return err_at(v->c->e, v->c->g->file, rec->line,
	    "%c%d at 0x%" PRIx64 " with %" PRId64 " bytes exceeds the %s, which has %"
	    PRId64 " bytes", letter, rec->id, (uint64_t)at, bytes,
		      place_names[place], used);
}

bool
check_areas(struct check *c)
{
	const struct graph *g = c->g;
	struct areas v = { .c = c };
	const struct accel *accel;
	struct memory_system m;
	if (g->stage < STAGE_SCHED)
		return true;
	if (!graph_target(g, &accel, &m, c->e))
		return false;
	v.spilling = m.spilling;
	for (size_t i = 0; i < g->n_areas; i++)
		for (int k = 0; k < PLACES; k++)
			if (!strcmp(g->areas[i]->rec.word, place_names[k]))
				v.used[k] = g->areas[i]->used;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (G_HAS(t, G_TENSOR_at) && !tensor_is_const(t) &&
		    !check_extent(&v, &t->rec, 't', t->area, t->at, tensor_bytes(t)))
			return false;
	}
	for (size_t i = 0; i < g->n_buffers; i++) {
		const struct g_buffer *b = g->buffers[i];
		if (!check_extent(&v, &b->rec, 'b', b->area, b->at, b->bytes))
			return false;
	}
	return true;
}
