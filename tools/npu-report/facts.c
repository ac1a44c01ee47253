/* SPDX-License-Identifier: Apache-2.0 */
/* The facts that a reader wants first: time, memories by name, and what limits the network. */
#include "report.h"

#include <math.h>
#include <string.h>

double
batch_of(const struct report *r)
{
	double batch = json_number(r->root, "batch_size", 1);
	return batch >= 1 ? batch : 1;
}

double
cycles_ms(const struct report *r, double cycles)
{
	return cycles / r->clock * 1e3 / batch_of(r);
}

struct time_ms
inference_ms(const struct report *r)
{
	double cpu = cycles_ms(r, r->cpu_time);
	struct time_ms x = { .ms = cycles_ms(r, r->whole) };
	x.low = cycles_ms(r, json_number(r->root, "calibrated_low", 0)) + cpu / r->cpu_error;
	x.high = cycles_ms(r, json_number(r->root, "calibrated_high", 0)) + cpu * r->cpu_error;
	return x;
}

double
cpu_cycles_of(const struct report *r)
{
	double all = json_number(r->root, "cpu_cycles", 0) / batch_of(r);
	return json_number(r->root, "inference_cpu_cycles", all);
}

bool
arena_is_in_sram(const struct report *r)
{
	return !strcmp(json_string(r->root, "arena_in", "sram"), "sram");
}

double
share_of_time(const struct report *r, double cycles)
{
	return r->whole > 0 ? fmin(cycles / r->whole, 1) : 0;
}

struct shares
limit_shares(const struct report *r)
{
	struct shares s = { .most = LIMIT_COMPUTE };
	double all = 0;
	for (size_t i = 0; i < r->n_layers; i++)
		for (int k = 0; k < LIMITS; k++) {
			s.of[k] += r->layer[i].cycles[k];
			all += r->layer[i].cycles[k];
		}
	s.cpu = r->whole > 0 ? r->cpu_time / r->whole : 0;
	for (int k = 0; k < LIMITS; k++) {
		s.of[k] = all > 0 ? s.of[k] / all * (1 - s.cpu) : 0;
		if (s.of[k] > s.of[s.most])
			s.most = (enum limit)k;
	}
	return s;
}

const char *
range_text(const struct report *r)
{
	struct time_ms x = inference_ms(r);
	if (!r->is_calibrated)
		return NULL;
	const char *range = arena_printf(r->a, "%s to %s", human_ms(r->a, x.low),
					 human_ms(r->a, x.high));
	const char *cpu = r->cpu_time > 0
			      ? arena_printf(r->a, "the CPU's cycles are known to a factor of %.2g",
					     r->cpu_error)
			      : NULL;
	/* the CPU makes the interval if more than half of it is that of the CPU's time */
	double cpu_ms = cycles_ms(r, r->cpu_time) * (r->cpu_error - 1 / r->cpu_error);
	if (2 * cpu_ms > x.high - x.low)
		return arena_printf(r->a, "%s: %s", range, cpu);
	return arena_printf(r->a, "%s with a probability of 80 %% %s%s%s", range,
			    json_true(r->root, "calibrated_extrapolated")
				? "on Arm's simulator of the NPU; no chip with this NPU and "
				  "memory was measured"
				: "by measurements of a chip",
			    cpu ? "; " : "", cpu ? cpu : "");
}

const char *
formulas_text(const struct report *r)
{
	double formulas = json_number(r->root, "timeline_cycles", 0);
	if (!r->is_calibrated || !(formulas > 0) || !(r->cycles > 0) ||
	    (formulas >= json_number(r->root, "calibrated_low", 0) &&
	     formulas <= json_number(r->root, "calibrated_high", 0)))
		return NULL;
	return arena_printf(r->a, "%s%s by Arm's published formulas (the timeline), %.2f times the "
				  "estimate, which %s: npu-perf-accuracy(7) 7",
			    human_ms(r->a, cycles_ms(r, formulas)), r->cpu_time > 0 ? " of the NPU" : "",
			    formulas / r->cycles,
			    json_true(r->root, "calibrated_extrapolated")
				? "is nearer to Arm's simulator"
				: "was fitted to a chip");
}

/* a memory by its key in the report, such as "off_chip_flash"; MEM_AREAS: there is none */
static enum mem_area
area_of(const char *key)
{
	int area = 0;
	while (area < MEM_AREAS && strcmp(key, memory_area_csv((enum mem_area)area)) != 0)
		area++;
	return (enum mem_area)area;
}

static const char *
memory_text(const struct report *r, const char *key)
{
	enum mem_area area = area_of(key);
	const char *mode = json_string(r->root, "memory_mode", NULL);
	if (area == MEM_AREAS)
		return key;
	/* the part, if the memories in use are those that it names; else NULL */
	const struct target_part *part =
		target_part_with(r->part, json_string(r->root, "system_config", NULL), mode);
	return target_part_memory(part, mode, area, area_of(json_string(r->root, "constants_in", "")));
}

const char *
constants_text(const struct report *r)
{
	return memory_text(r, json_string(r->root, "constants_in", "off_chip_flash"));
}

const char *
fast_text(const struct report *r)
{
	return memory_text(r, "sram");
}

const char *
common_fast_text(const struct report *old, const struct report *new)
{
	const char *x = fast_text(old), *y = fast_text(new);
	return strcmp(x, y) != 0 ? "SRAM" : y;
}

const char *
place_text(const struct report *r, const char *place)
{
	return memory_text(r, !strcmp(place, "arena") ? json_string(r->root, "arena_in", "sram")
						      : "sram");
}

bool
has_one_memory(const struct report *r)
{
	return arena_is_in_sram(r) && !strcmp(fast_text(r), constants_text(r));
}

const char *
constants_key(const struct report *r)
{
	bool has_arena = !arena_is_in_sram(r) && json_get(r->root, "dram_bytes") &&
			 !strcmp(place_text(r, "arena"), constants_text(r));
	return has_arena ? "dram_bytes" : "flash_bytes";
}

const char *
driver_text(const struct report *r)
{
	const struct target_part *p = r->part;
	if (!p || !json_get(r->root, "driver") || !p->linux_bytes ||
	    p->linux_bytes >= p->cache_bytes)
		return NULL;
	const char *linux_kib = human_bytes(r->a, (double)p->linux_bytes);
	const char *own_kib = human_bytes(r->a, (double)p->cache_bytes);
	return r->for_linux
		   ? arena_printf(r->a, "compiled for the mainline kernel's ethosu (%s of SRAM); for the "
					"chip maker's driver (%s): without --target=linux",
				  linux_kib, own_kib)
		   : arena_printf(r->a, "compiled for the chip maker's driver (%s of SRAM); for the "
					"mainline kernel's ethosu (%s): --target=linux",
				  own_kib, linux_kib);
}

/* lists the memories of the part that are too small; returns how many */
static size_t
list_lacks(const struct report *r, struct part_lack out[PART_MEMORIES])
{
	const char *arena = arena_is_in_sram(r) ? "sram_bytes" : "arena_bytes";
	const struct part_needs needs = {
		.arena = (int64_t)json_number(r->root, arena, 0), .cache = (int64_t)r->sram,
		.constants = (int64_t)(json_number(r->root, "flash_bytes", 0) +
				       json_number(r->root, "stream_bytes", 0)),
		.constants_in_arena =
			target_mode_has_constants_in_arena(json_string(r->root, "memory_mode", NULL)),
	};
	return r->part ? target_part_lacks(r->part, &needs, out) : 0;
}

bool
overflows(const struct report *r)
{
	struct part_lack lack[PART_MEMORIES];
	return list_lacks(r, lack) > 0;
}

const char *
overflow_text(const struct report *r)
{
	const double kib = 1024;
	struct part_lack x[PART_MEMORIES];
	size_t n = list_lacks(r, x);
	const char *t = n ? arena_printf(r->a, "%s lacks ", r->part->name) : NULL;
	for (size_t i = 0; i < n; i++)
		t = arena_printf(r->a, "%s%s%.0f of the %.0f KiB of %s", t, i ? " and " : "",
				 ceil((double)(x[i].needs - x[i].has) / kib),
				 ceil((double)x[i].needs / kib), x[i].memory);
	return n ? arena_printf(r->a, "%s; the time assumes other memory of the same speed", t) : NULL;
}

bool
has_data_beside_constants(const struct report *r)
{
	return !arena_is_in_sram(r) && !strcmp(json_string(r->root, "arena_in", ""),
					       json_string(r->root, "constants_in", "-"));
}

#define LIMIT_OF_CPU(words, text) const char cpu_limit[] = words;
#include "limits.def"

static const char *const limit_words[LIMITS] = {
#define LIMIT(key, words, text) [LIMIT_##key] = words,
#include "limits.def"
};

const char *
limit_text(const struct report *r, enum limit l)
{
	if (l == LIMIT_CONSTANTS && has_data_beside_constants(r))
		return arena_printf(r->a, "moving data in %s", constants_text(r));
	const char *memory = l == LIMIT_SRAM ? "SRAM" : "MEMORY";
	const char *name = l == LIMIT_SRAM ? fast_text(r) : constants_text(r);
	const char *words = limit_words[l], *at = strstr(words, memory);
	return at ? arena_printf(r->a, "%.*s%s", (int)(at - words), words, name) : words;
}

/*
 * A memory that works nearly all the time of the NPU limits the network even if no kernel waits for
 * it: it moves the bytes of later kernels while others compute.  Its time is compared with that of
 * the NPU alone, as operators on the CPU do not change what the NPU waits for.
 */
struct busy {
	const char *name; /* of the memory, such as "MRAM" */
	double share;	  /* of the NPU's time, 0 to 1, in which it moves data */
	enum limit limit; /* of the kernels that this memory limits */
};
enum { BUSY = 90, MEMORIES = 4 };

static double
share_of_npu(const struct report *r, double cycles)
{
	return r->cycles > 0 ? fmin(cycles / r->cycles, 1) : 0;
}

/* the share of a limit in the NPU's time, 0 to 1 */
static double
npu_share(const struct shares *s, enum limit l)
{
	return s->cpu < 1 ? s->of[l] / (1 - s->cpu) : 0;
}

/* the limit of kernels that wait for the memory of this key */
static enum limit
limit_of(const struct report *r, const char *key)
{
	return strcmp(key, json_string(r->root, "constants_in", "")) ? LIMIT_SRAM : LIMIT_CONSTANTS;
}

/*
 * Lists the memories that work at least this part of the NPU's time; returns how many.  Of one memory on
 * two ports, counts the port that works longest.
 */
static size_t
list_working(const struct report *r, double least, struct busy out[MEMORIES])
{
	const struct json *m = json_get(json_get(r->root, "estimate"), "access_cycles");
	size_t n = 0;
	for (size_t i = 0; m && i < m->n && n < MEMORIES; i++) {
		double share = share_of_npu(r, m->item[i].number);
		const char *name = memory_text(r, m->item[i].key);
		size_t at = 0;
		if (share < least)
			continue;
		while (at < n && strcmp(out[at].name, name) != 0)
			at++;
		if (at == n || out[at].share < share)
			out[at] = (struct busy){ .name = name, .share = share,
						 .limit = limit_of(r, m->item[i].key) };
		n += at == n;
	}
	return n;
}

/* the part of the NPU's time in which kernels compute, whatever else works */
static double
computing(const struct report *r)
{
	double cycles = json_number(json_get(r->root, "estimate"), "npu_cycles", 0);
	return share_of_npu(r, cycles);
}

/*
 * Lists the memories that work nearly all the time, and computing, if the shares by limit hide one
 * of these memories; else none.
 */
static size_t
list_busy(const struct report *r, struct busy out[MEMORIES + 1])
{
	size_t n = list_working(r, BUSY / 100.0, out);
	struct shares s = limit_shares(r);
	bool is_hidden = false;
	for (size_t i = 0; i < n; i++)
		is_hidden |= 100 * npu_share(&s, out[i].limit) < BUSY;
	if (!is_hidden)
		return 0;
	out[n++] = (struct busy){ .name = limit_words[LIMIT_COMPUTE], .share = computing(r) };
	return n;
}

const char *
busy_text(const struct report *r)
{
	struct busy v[MEMORIES + 1];
	size_t n = list_busy(r, v);
	const char *text = "";
	for (size_t i = 0; i < n; i++)
		text = arena_printf(r->a, "%s%s%s %.0f %%%s, ", text,
				    i + 1 < n ? v[i].name : "the NPU's units", i ? "" : " in use",
				    100 * v[i].share,
				    i		      ? ""
				    : r->cpu_time > 0 ? " of the NPU's time"
						      : " of the time");
	return n ? arena_printf(r->a, "%sside by side", text) : NULL;
}

const char *
busiest_text(const struct report *r, double *share)
{
	struct busy v[MEMORIES + 1];
	size_t n = list_busy(r, v), most = 0;
	for (size_t i = 1; i < n; i++)
		most = v[i].share > v[most].share ? i : most;
	*share = n ? v[most].share : 0;
	return n ? v[most].name : NULL;
}

const char *
commands_text(const struct report *r)
{
	const double worth = 0.02; /* of the time */
	const double more = json_number(r->root, "commands_cycles", 0) / r->whole;
	return more < worth ? NULL
			    : arena_printf(r->a, "reading %s of commands from %s can take %.0f %% more "
					   "time, which the range counts, but not the estimate",
					   human_bytes(r->a, json_number(r->root, "stream_bytes", 0)),
					   constants_text(r), 100 * more);
}

const char *
limits_text(const struct report *r)
{
	const double least = 0.005, surprises = 0.05; /* of the time; of that of the NPU */
	struct shares s = limit_shares(r);
	/* kernels compute for longer than the share of computing, beside slower accesses */
	const bool computes = computing(r) > npu_share(&s, LIMIT_COMPUTE) + surprises;
	const char *t = s.cpu < least ? NULL
				      : arena_printf(r->a, "%s %.0f %%", cpu_limit, 100 * s.cpu);
	for (int k = 0; k < LIMITS; k++)
		if (s.of[k] >= least)
			t = arena_printf(r->a, "%s%s%s %.0f %%", t ? t : "", t ? ", " : "",
					 limit_text(r, (enum limit)k), 100 * s.of[k]);
	return t && (computes || busy_text(r))
		   ? arena_printf(r->a, "%s (each moment counts once, for the slowest of what is in use)", t)
		   : t;
}

/*
 * Says what limits the network once the memory of the key has twice the speed, by which it saves
 * this part of the NPU's time: computing or another memory, if that works nearly all of the time
 * that is left.  A saving of much less than half of the memory's share looks like an error, and is explained
 * by all that works for much of the time.  "": no figure tells, or what limits then has the largest
 * share already, and no saving is to be explained.
 */
static const char *
then_text(const struct report *r, const char *faster, double saved)
{
	const double much = 0.5, left = 1 - saved; /* much: of the time that is left */
	const struct shares s = limit_shares(r);
	const bool surprises = 3 * saved < npu_share(&s, limit_of(r, faster));
	struct busy v[MEMORIES + 1];
	size_t n = list_working(r, much * left, v), shown = 0;
	double most = 0;
	const char *text = "";
	if (computing(r) >= much * left)
		v[n++] = (struct busy){ .name = limit_words[LIMIT_COMPUTE], .share = computing(r) };
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(v[i].name, memory_text(r, faster)))
			v[i].share = 0;
		most = fmax(most, 100 * v[i].share);
	}
	const double least = most >= BUSY * left ? BUSY * left : surprises ? 1 : INFINITY;
	/* what has the largest share; "": nothing works in it, as kernels wait for transfers */
	const char *already = s.most == LIMIT_COMPUTE	  ? limit_words[LIMIT_COMPUTE]
			      : s.most == LIMIT_SRAM	  ? fast_text(r)
			      : s.most == LIMIT_CONSTANTS ? constants_text(r)
							  : "";
	bool is_new = surprises;
	for (size_t i = 0; i < n; i++)
		if (100 * v[i].share >= least) {
			text = arena_printf(r->a, shown++ ? "%s and %s" : "%s%s", text, v[i].name);
			is_new |= strcmp(v[i].name, already) != 0;
		}
	return shown && is_new ? arena_printf(r->a, " (then limited by %s)", text) : "";
}

/*
 * Says why a faster memory that the line "limit" has for most of the time saves nothing: other memories
 * work all the time beside it; "": none does, or it has not the largest share.
 */
static const char *
nothing_text(const struct report *r, const char *name, enum limit limit)
{
	struct busy v[MEMORIES];
	const char *others = "";
	size_t n = list_working(r, BUSY / 100.0, v);
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) != 0)
			others = arena_printf(r->a, *others ? "%s and %s" : "%s%s", others, v[i].name);
	return *others && limit_shares(r).most == limit
		   ? arena_printf(r->a, "; %s less than 1 %%, as %s works all the time", name, others)
		   : "";
}

const char *
faster_text(const struct report *r)
{
	const double least = 0.005, worth = 0.05; /* of the NPU's time */
	const struct json *m = json_get(r->root, "twice_as_fast_cycles");
	const struct shares s = limit_shares(r);
	const char *text = NULL, *nothing = "";
	struct busy busy[MEMORIES];
	if (!m || (npu_share(&s, LIMIT_SRAM) + npu_share(&s, LIMIT_CONSTANTS) +
			   npu_share(&s, LIMIT_STALL) < worth &&
		   !list_working(r, BUSY / 100.0, busy)))
		return NULL;
	for (size_t i = 0; i < m->n; i++) {
		double saved = m->item[i].kind == JSON_NUMBER
				   ? 1 - m->item[i].number / r->cycles : 0;
		const char *name = memory_text(r, m->item[i].key);
		/* a memory before that has this name is the same one, on another port */
		bool is_repeated = false;
		for (size_t k = 0; k < i; k++)
			is_repeated |= m->item[k].kind == JSON_NUMBER &&
				       !strcmp(memory_text(r, m->item[k].key), name);
		if (m->item[i].kind == JSON_NUMBER && saved < least && !is_repeated && !*nothing)
			nothing = nothing_text(r, name, limit_of(r, m->item[i].key));
		if (saved < least || is_repeated)
			continue;
		text = text ? arena_printf(r->a, "%s, %s %.0f %%", text, name, 100 * saved)
			    : arena_printf(r->a, "with this plan, %s of twice the speed saves "
					   "%.0f %%%s", name, 100 * saved,
					   r->cpu_time > 0 ? " of the NPU's time" : "");
		text = arena_printf(r->a, "%s%s", text, then_text(r, m->item[i].key, saved));
	}
	if (text)
		return arena_printf(r->a, "%s%s", text, nothing);
	return 100 * computing(r) >= BUSY
		   ? "a memory of twice the speed would save less than 1 %: computing takes nearly as long"
		   : "a memory of twice the speed would save less than 1 %";
}

enum limit
layer_limit(const struct layer *l)
{
	enum limit most = LIMIT_COMPUTE;
	for (int k = 0; k < LIMITS; k++)
		if (l->cycles[k] > l->cycles[most])
			most = (enum limit)k;
	return most;
}

static double
key(const struct layer *l, size_t at)
{
	return *(const double *)(const void *)((const char *)l + at);
}

size_t
largest_layers(const struct report *r, size_t at_key, size_t most, const struct layer **out)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		size_t at = n;
		while (at > 0 && key(out[at - 1], at_key) < key(l, at_key))
			at--;
		if (at == most)
			continue;
		n += n < most;
		for (size_t k = n - 1; k > at; k--)
			out[k] = out[k - 1];
		out[at] = l;
	}
	return n;
}
