/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a target, the memory of its arena, and the plans of its front that fit. */
#include "sweep.h"

#include "target/accel.h"
#include "target/memory.h"
#include "target/part.h"

#include <string.h>

const struct record *
record_of(const struct plan *p, const struct target *t, enum goal goal)
{
	return t->job[goal] ? p->job[t->job[goal] - 1].record : NULL;
}

static bool
is_ok(const struct record *r)
{
	return r && r->status == OK;
}

const struct record *
record_of_end(const struct plan *p, const struct target *t)
{
	const struct record *fast = record_of(p, t, PERFORMANCE), *size = record_of(p, t, SIZE);
	return is_ok(fast) ? fast : is_ok(size) ? size : NULL;
}

struct arena_memory
target_arena(struct arena *a, const struct target *t)
{
	struct err ignored = { 0 };
	const char *config = *t->setup->config ? t->setup->config : NULL;
	struct memory_system m;
	const struct target_part *part =
		target_is_part(t) ? target_part_take(a, t->system, &ignored) : NULL;
	if (part)
		return (struct arena_memory){ .name = text_plain(a, part->arena_memory),
					      .is_not_sram = part->cache_bytes > 0,
					      .has_model = !part->cache_bytes &&
							   (target_part_has_one_memory(part) ||
							    target_mode_has_constants_in_arena(part->mode)) };
	if (target_is_part(t) || !memory_load(a, config, t->system, t->setup->mode,
					      accel_find(t->accel), &m, &ignored))
		return (struct arena_memory){ 0 };
	return (struct arena_memory){ .name = memory_area_report(m.arena_area),
				      .is_not_sram = m.spilling,
				      .has_model = !m.spilling && target_mode_has_constants_in_arena(
									  t->setup->mode) };
}

const char *
message_text(struct arena *a, const struct target *t, const char *message)
{
	const char *at = message ? strstr(message, MODEL_MARK) : NULL;
	if (!at)
		return message;
	return arena_printf(a, "%.*s%s%s", (int)(at - message), message,
			    text_plain(a, arena_strdup(a, t->model->path)),
			    message_text(a, t, at + strlen(MODEL_MARK)));
}

const char *
target_message(const struct plan *p, const struct target *t)
{
	static const enum goal order[] = { SIZE, PERFORMANCE, FRONT };
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		const struct record *r = record_of(p, t, order[i]);
		if (r && r->status != OK)
			return message_text(p->a, t, r->message);
	}
	return NULL;
}

const char *
reason_text(struct arena *a, const char *message)
{
	static const char mark[] = ": error: ", option[] = "; --allow-overflow";
	const char *at = strstr(message, mark);
	at = at ? at + strlen(mark) : message;
	const char *end = strstr(at, option);
	return arena_strndup(a, at, end ? (size_t)(end - at) : strlen(at));
}

/*
 * The plan of Size needs the least memory: if a part refuses it, no plan fits.  Otherwise each
 * plan is judged by its own size.
 */
struct record
front_candidates(const struct plan *p, const struct target *t)
{
	struct record none = { 0 };
	const struct record *front = record_of(p, t, FRONT), *size = record_of(p, t, SIZE);
	if (!is_ok(front) || (size && size->status == REFUSED))
		return none;
	const struct target_part *part =
		target_is_part(t) ? target_part_take(p->a, t->system, &(struct err){ 0 }) : NULL;
	struct record of = *front;
	if (!part)
		return of;
	of.point = anew(p->a, struct point, front->n_points);
	of.n_points = 0;
	for (size_t i = 0; i < front->n_points; i++) {
		const struct point *v = &front->point[i];
		bool has_sizes = v->flash >= 0 && v->streams >= 0; /* a plan of unknown size fits */
		if (target_part_fits_plan(part, v->sram, has_sizes ? v->flash + v->streams : -1,
					  NULL))
			of.point[of.n_points++] = *v;
	}
	return of;
}
