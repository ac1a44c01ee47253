/* SPDX-License-Identifier: Apache-2.0 */
#include "target/part.h"

#include "base/nearest.h"
#include "base/text.h"
#include "target/ini.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Bytes that a plan needs beside SRAM, constants and command streams: the head of the model
 * and the runtime's records.  Measured with tfl2c for person_detect on alif-e8-he-tcm: 1.5
 * KiB, and 1 KiB more as the front estimates the bytes of command streams.
 */
enum { HEAD_BYTES = 4096 };

enum { NAME_COLUMN = 30 }; /* of a part in the list */

static const struct target_part parts[] = {
#define PART(n, on, a, s, m, arena, arena_kib, constants, constant_kib, cache_kib, linux_kib, core, mhz, src) \
	{ .name = n, .chip = on, .accel = a, .system = s, .mode = m,              \
	  .arena_memory = arena,                                                \
	  .constant_memory = constants, .arena_bytes = INT64_C(1024) * arena_kib, \
	  .constant_bytes = INT64_C(1024) * constant_kib,                       \
	  .cache_bytes = INT64_C(1024) * cache_kib,                             \
	  .linux_bytes = INT64_C(1024) * linux_kib, .cpu = core,                \
	  .cpu_clock = 1e6 * (mhz), .source = src },
#include "part.def"
};

/*
 * Prints the names that contain the word, which may be a maker or a family.  Of more than a line
 * can show, it prints the chips; the name of a chip then gives its parts.  Returns false in this
 * case.
 */
static bool
put_similar(struct text *t, const char *name)
{
	enum { MOST = 8 };
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		n += word_contains(parts[i].name, name);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct target_part *p = &parts[i];
		size_t k = 0; /* the first part of this chip that contains the word */
		while (k < i && !(target_part_same_chip(&parts[k], p) &&
				  word_contains(parts[k].name, name)))
			k++;
		if (word_contains(p->name, name) && (n <= MOST || k == i))
			text_printf(t, "%s%s", t->n ? ", " : "", n > MOST && *p->chip ? p->chip
										      : p->name);
	}
	return n <= MOST;
}

static const struct target_part *
find(const char *name, const char *hint, struct err *e)
{
	struct text t = { 0 };
	const char *all[ARRAY_LEN(parts)];
	for (size_t i = 0; name && i < ARRAY_LEN(parts); i++) {
		all[i] = parts[i].name;
		if (!strcmp(parts[i].name, name))
			return &parts[i];
	}
	if (!name)
		return NULL;
	bool are_names = !*name || put_similar(&t, name);
	if (!t.n) {
		const char *nearest = nearest_word(name, all, ARRAY_LEN(parts));
		text_puts(&t, nearest ? nearest : "");
	}
	if (!are_names)
		(void)err_set(e, "there is no part '%s'; npucc --list-parts lists those of %s%s",
			      name, text_str(&t), hint);
	else if (t.n)
		(void)err_set(e, "there is no part '%s'; did you mean %s?%s", name, text_str(&t), hint);
	else
		(void)err_set(e, "there is no part '%s'; npucc --list-parts lists them%s", name, hint);
	text_free(&t);
	return NULL;
}

const struct target_part *
target_part_find(const char *name, struct err *e)
{
	return find(name, "", e);
}

const struct target_part *
target_part_take(struct arena *a, const char *name, struct err *e)
{
	if (!name || (!strchr(name, '/') && !text_has_suffix(name, ".ini"))) {
		const char *file = name ? arena_printf(a, "%s.ini", name) : NULL;
		return find(name, file && !access(file, R_OK)
				      ? arena_printf(a, "; the file is --part=%s", file)
				      : " (a file NAME.ini describes another chip: nputools(7), PARTS)", e);
	}
	struct target_part *p = anew(a, struct target_part, 1);
	return part_load_ini(a, name, p, e) ? p : NULL;
}

bool
target_part_is_own(const struct target_part *p)
{
	return target_part_find(p->name, &(struct err){ 0 }) != p;
}

bool
target_part_has(const struct target_part *p, const char *accel, const char *file, struct err *e)
{
	if (!accel || !strcmp(p->accel, accel))
		return true;
	struct text t = { 0 };
	target_part_list_fitting(&t, accel, &(struct part_needs){ 0 });
	(void)err_at(e, file, 0, "part %s has an %s, not an %s; parts with an %s: %s", p->name,
		     p->accel, accel, accel, text_str(&t));
	text_free(&t);
	return false;
}

int64_t
target_part_sram(const struct target_part *p, bool for_linux)
{
	return !p->cache_bytes ? p->arena_bytes : for_linux ? p->linux_bytes : p->cache_bytes;
}

const struct target_part *
target_part_with(const struct target_part *p, const char *system, const char *mode)
{
	return p && system && mode && !strcmp(p->system, system) && !strcmp(p->mode, mode) ? p
											   : NULL;
}

const char *
target_part_fast_memory(const struct target_part *p)
{
	return p && !p->cache_bytes ? p->arena_memory : "SRAM";
}

const char *
target_part_memory(const struct target_part *p, const char *mode, enum mem_area area,
		   enum mem_area constants)
{
	static const char *const names[MEM_AREAS] = {
		[MEM_SRAM] = "SRAM", [MEM_DRAM] = "DRAM",
		[MEM_ON_CHIP_FLASH] = "on-chip flash", [MEM_OFF_CHIP_FLASH] = "flash",
	};
	/* what stands for the constants in a mode that has one SRAM (ethosu-memory(7) 18.4) */
	if (!p && area == MEM_ON_CHIP_FLASH && mode && !strcmp(mode, "Sram_Only"))
		return "SRAM";
	/* what the profile calls flash is MRAM on some parts */
	if (p && area == constants)
		return p->constant_memory;
	return p && area == MEM_SRAM ? target_part_fast_memory(p) : names[area];
}

bool
target_part_has_one_memory(const struct target_part *p)
{
	return p && !strcmp(p->arena_memory, p->constant_memory);
}

bool
target_part_same_chip(const struct target_part *a, const struct target_part *b)
{
	return a && b && a->chip && b->chip && *a->chip && !strcmp(a->chip, b->chip);
}

const struct target_part *
target_part_beside(const struct target_part *p, const char *accel)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (target_part_same_chip(p, &parts[i]) && !strcmp(parts[i].accel, accel))
			return &parts[i];
	return NULL;
}

bool
target_part_is_reference(const struct target_part *p)
{
	return !(p->cpu_clock > 0);
}

const struct target_part *
target_part_at(size_t i)
{
	return i < ARRAY_LEN(parts) ? &parts[i] : NULL;
}

void
target_part_list(struct text *t)
{
	text_printf(t, "%-*s %-14s  %-18s  %-18s  %-14s  %s\n", NAME_COLUMN, "part", "NPU",
		    "memory of the arena", "of the constants", "NPU's own SRAM",
		    "system configuration, memory mode");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct target_part *p = &parts[i];
		const char *own = "-";
		char kib[24], constants[48] = "    the same";
		if (p->cache_bytes) {
			(void)snprintf(kib, sizeof(kib), "%lld KiB", (long long)p->cache_bytes / 1024);
			own = kib;
		}
		if (!target_part_has_one_memory(p))
			(void)snprintf(constants, sizeof(constants), "%7lld KiB %s",
				       (long long)p->constant_bytes / 1024, p->constant_memory);
		text_printf(t, "%-*s %-14s  %8lld KiB %-7s  %-18s  %-14s  %s %s%s\n", NAME_COLUMN,
			    p->name, p->accel, (long long)p->arena_bytes / 1024, p->arena_memory,
			    constants, own, p->system, p->mode,
			    target_part_is_reference(p) ? " (reference platform)" : "");
	}
}

size_t
target_part_lacks(const struct target_part *p, const struct part_needs *n,
		  struct part_lack out[PART_MEMORIES])
{
	const bool one = target_part_has_one_memory(p);
	const bool sum = one || n->constants_in_arena;
	const struct part_lack all[PART_MEMORIES] = {
		{ p->arena_memory, n->arena + (sum ? n->constants : 0), p->arena_bytes },
		{ "the NPU's own SRAM", p->cache_bytes ? n->cache : 0, p->cache_bytes },
		{ p->constant_memory, one ? 0 : n->constants, p->constant_bytes },
	};
	size_t lacks = 0;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].needs > all[i].has)
			out[lacks++] = all[i];
	return lacks;
}

bool
target_mode_has_constants_in_arena(const char *mode)
{
	return mode && !strcmp(mode, "Sram_Only");
}

bool
target_part_fits_plan(const struct target_part *p, double sram, double stored, const char *mode)
{
	const struct part_needs n = {
		.arena = p->cache_bytes ? 0 : (int64_t)sram,
		.cache = (int64_t)sram,
		.constants = stored < 0 ? 0 : (int64_t)stored + HEAD_BYTES,
		.constants_in_arena = target_mode_has_constants_in_arena(mode),
	};
	struct part_lack lack[PART_MEMORIES];
	return !target_part_lacks(p, &n, lack);
}

void
target_part_list_fitting(struct text *t, const char *accel, const struct part_needs *n)
{
	struct part_lack lack[PART_MEMORIES];
	enum { SHOWN = 5 };
	int found = 0;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if ((!accel || !strcmp(parts[i].accel, accel)) &&
		    !target_part_lacks(&parts[i], n, lack) && ++found <= SHOWN)
			text_printf(t, "%s%s", found > 1 ? ", " : "", parts[i].name);
	if (found > SHOWN)
		text_printf(t, " and %d more (--list-parts)", found - SHOWN);
	if (!found)
		text_puts(t, "none");
}
