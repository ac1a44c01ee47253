/* SPDX-License-Identifier: Apache-2.0 */
/* Memory systems: the built-in profiles, and the checks of every system. */
#include "target/ini.h"

#include "base/nearest.h"
#include "base/text.h"
#include "target/accel.h"

#include <string.h>

static const struct area_names {
	const char *ini, *report, *csv;
} area_names[MEM_AREAS] = {
	[MEM_SRAM] = { "Sram", "SRAM", "sram" },
	[MEM_DRAM] = { "Dram", "DRAM", "dram" },
	[MEM_ON_CHIP_FLASH] = { "OnChipFlash", "On-chip Flash", "on_chip_flash" },
	[MEM_OFF_CHIP_FLASH] = { "OffChipFlash", "Off-chip Flash", "off_chip_flash" },
};

static const struct system_profile {
	const char *name;
	double clock;
	struct mem_props sram;
	enum mem_area area;
	struct mem_props second;
	const char *accel, *source;
	struct calibration fit;
} systems[] = {
#define SYSTEM(n, c, s0, b0, r0, w0, m, s1, b1, r1, w1, a, src)              \
	{ .name = #n, .clock = c,                                            \
	  .sram = { s0, b0, r0, w0, 1, 0, 0 }, .area = MEM_##m,                    \
	  .second = { s1, b1, r1, w1, 1, 0, 0 }, .accel = a, .source = src },
#define FITTED(n, c, s0, b0, r0, w0, m, s1, b1, r1, w1, a, src, k, op, lo, hi) \
	{ .name = #n, .clock = c,                                            \
	  .sram = { s0, b0, r0, w0, 1, 0, 0 }, .area = MEM_##m,                    \
	  .second = { s1, b1, r1, w1, 1, 0, 0 }, .accel = a, .source = src,        \
	  .fit = { k, op, lo, hi } },
#define LIMITED(n, c, s0, b0, r0, w0, m, s1, b1, r1, w1, a, src, p0, mr0, mw0, \
		p1, mr1, mw1)                                                \
	{ .name = #n, .clock = c,                                            \
	  .sram = { s0, b0, r0, w0, p0, mr0, mw0 }, .area = MEM_##m,         \
	  .second = { s1, b1, r1, w1, p1, mr1, mw1 }, .accel = a,            \
	  .source = src },
#include "memory.def"
};

static const struct mode_profile {
	const char *name;
	int const_port, arena_port, cache_port;
	int64_t cache_bytes;
	const char *source;
} modes[] = {
#define MODE(n, c, a, k, bytes, src)                                         \
	{ .name = #n, .const_port = c, .arena_port = a, .cache_port = k,     \
	  .cache_bytes = bytes, .source = src },
#include "memory.def"
};

const char *
memory_area_name(enum mem_area area)
{
	return area_names[area].ini;
}

const char *
memory_area_report(enum mem_area area)
{
	return area_names[area].report;
}

const char *
memory_area_csv(enum mem_area area)
{
	return area_names[area].csv;
}

bool
memory_area_find(const char *ini_name, enum mem_area *out)
{
	for (int i = 0; i < MEM_AREAS; i++)
		if (!strcmp(area_names[i].ini, ini_name)) {
			*out = (enum mem_area)i;
			return true;
		}
	return false;
}

bool
memory_has_one_sram(const struct memory_system *m)
{
	const struct mem_props *x = &m->mem[MEM_SRAM], *y = &m->mem[MEM_ON_CHIP_FLASH];
	return m->const_area == MEM_ON_CHIP_FLASH && !(x->clock_scale < y->clock_scale) &&
	       !(x->clock_scale > y->clock_scale) && x->burst_bytes == y->burst_bytes &&
	       x->read_latency == y->read_latency && x->write_latency == y->write_latency;
}

double
memory_bytes_per_cycle(const struct memory_system *m, const struct accel *a,
		       enum mem_area area)
{
	return a->axi_bytes * m->mem[area].clock_scale * m->mem[area].ports;
}

void
memory_list_profiles(struct text *t)
{
	text_puts(t, "published: the numbers that the source has in its settings for Vela, without "
		     "saying\nhow they were found; fitted: numbers that make estimates agree with a "
		     "board's cycles\n");
	text_puts(t, "system configurations (clock; Sram and second memory as "
		     "scale/burst/read/write):\n");
	for (size_t i = 0; i < ARRAY_LEN(systems); i++) {
		const struct system_profile *s = &systems[i];
		text_printf(t, "  %-28s %4.0f MHz  Sram %g/%d/%d/%d  %s %g/%d/%d/%d"
			       "  %s%s(%s)",
			    s->name, s->clock / 1e6, s->sram.clock_scale,
			    s->sram.burst_bytes, s->sram.read_latency,
			    s->sram.write_latency, area_names[s->area].ini,
			    s->second.clock_scale, s->second.burst_bytes,
			    s->second.read_latency, s->second.write_latency,
			    s->accel, *s->accel ? " " : "", s->source);
		if (s->fit.measured)
			text_printf(t, "  fitted on %d measurements\n",
				    s->fit.measured);
		else
			text_puts(t, "  published\n");
	}
	text_puts(t, "memory modes (port of constants, arena, cache; cache "
		     "bytes):\n");
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		text_printf(t, "  %-28s Axi%d Axi%d Axi%d %lld\n", modes[i].name,
			    modes[i].const_port, modes[i].arena_port,
			    modes[i].cache_port, (long long)modes[i].cache_bytes);
}

bool
memory_check_accel(const struct memory_system *m, const struct accel *accel, struct err *e)
{
	const char *meant = m->meant_for;
	return !meant || !*meant || !strcmp(meant, accel->name) ||
	       err_set(e, "system configuration %s is made for %s, not for %s; use "
		       "--any-accelerator to accept it", m->system, meant, accel->name);
}

/* the letters of "ethos-u55", which begin the names of a generation's accelerators */
enum { GENERATION_LETTERS = 9 };

/*
 * True if a system is made for the generation of the accelerator: its row names an
 * accelerator, or else its own name begins as Ethos_U55.
 */
static bool
is_for(const struct system_profile *s, const struct accel *accel)
{
	const char *of = *s->accel ? s->accel : s->name;
	for (int i = 0; accel && i < GENERATION_LETTERS; i++) {
		char c = of[i] == '_' ? '-' : of[i] >= 'A' && of[i] <= 'Z' ? (char)(of[i] + 32)
									    : of[i];
		if (c != accel->name[i])
			return false;
	}
	return true;
}

static bool
unknown(const char *name, bool of_modes, const struct accel *accel, struct err *e)
{
	struct text t = { 0 };
	const char *all[ARRAY_LEN(systems) + ARRAY_LEN(modes)];
	size_t n = of_modes ? ARRAY_LEN(modes) : ARRAY_LEN(systems);
	for (size_t i = 0; i < n; i++) {
		all[i] = of_modes ? modes[i].name : systems[i].name;
		if (of_modes || is_for(&systems[i], accel))
			text_printf(&t, "%s%s", t.n ? ", " : "", all[i]);
	}
	const char *meant = name ? nearest_word(name, all, n) : NULL;
	if (meant)
		text_printf(&t, "; did you mean %s?", meant);
	if (name)
		(void)err_set(e, "there is no built-in %s '%s'; there are %s",
			      of_modes ? "memory mode" : "system configuration", name,
			      text_str(&t));
	else if (of_modes)
		(void)err_set(e, "--part or --memory-mode is required: there is no default; choose "
			      "one of: %s", text_str(&t));
	else
		(void)err_set(e, "--part or --system-config is required: there is no default; "
			      "--list-parts and --list-profiles list the choices");
	text_free(&t);
	return false;
}

static const struct system_profile *
find_system(const char *name, const struct accel *accel, struct err *e)
{
	for (size_t i = 0; name && i < ARRAY_LEN(systems); i++)
		if (!strcmp(systems[i].name, name))
			return &systems[i];
	(void)unknown(name, false, accel, e);
	return NULL;
}

static const struct mode_profile *
find_mode(const char *name, struct err *e)
{
	for (size_t i = 0; name && i < ARRAY_LEN(modes); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	(void)unknown(name, true, NULL, e);
	return NULL;
}

bool
memory_check_system(const char *name, const struct accel *accel, struct err *e)
{
	return find_system(name, accel, e) != NULL;
}

bool
memory_check_mode(const char *name, struct err *e)
{
	return find_mode(name, e) != NULL;
}

static bool
load_builtin(const char *system, const char *mode, const struct accel *accel,
	     struct memory_system *out, struct err *e)
{
	const struct system_profile *s = find_system(system, accel, e);
	const struct mode_profile *m = s ? find_mode(mode, e) : NULL;
	if (!m)
		return false;
	*out = (struct memory_system){
		.system = s->name, .mode = m->name, .source = s->source,
		.meant_for = s->accel,
		.clock = s->clock, .axi = { MEM_SRAM, s->area },
		.cache_bytes = m->cache_bytes, .fit = s->fit,
		.fitted_for = s->fit.measured ? s->accel : NULL,
	};
	for (int i = 0; i < MEM_AREAS; i++)
		out->mem[i] = (struct mem_props){ 1.0, 1, 0, 0, 1, 0, 0 };
	out->mem[MEM_SRAM] = s->sram;
	out->mem[s->area] = s->second;
	out->const_area = out->axi[m->const_port];
	out->arena_area = out->axi[m->arena_port];
	out->cache_area = out->axi[m->cache_port];
	return true;
}

/* checks and adjustments of ethosu-memory(7) 18.4 */
static bool
check_and_adjust(struct memory_system *m, const struct accel *accel, struct err *e)
{
	/* if everything is in one SRAM, constants move to the other port, as flash */
	if (m->const_area == MEM_SRAM && m->arena_area == MEM_SRAM &&
	    m->cache_area == MEM_SRAM) {
		m->const_area = MEM_ON_CHIP_FLASH;
		m->mem[MEM_ON_CHIP_FLASH] = m->mem[MEM_SRAM];
		m->axi[m->axi[0] == MEM_SRAM ? 1 : 0] = MEM_ON_CHIP_FLASH;
	}
	int64_t space = (int64_t)1 << accel->address_bits;
	if (m->const_area == MEM_SRAM)
		return err_set(e, "memory mode %s: constants must be in Dram, OnChipFlash or "
			       "OffChipFlash", m->mode);
	if (m->arena_area != MEM_SRAM && m->arena_area != MEM_DRAM)
		return err_set(e, "memory mode %s: the arena must be in Sram or Dram", m->mode);
	if (m->cache_area != MEM_SRAM)
		return err_set(e, "memory mode %s: the cache must be in Sram", m->mode);
	if (m->cache_bytes < 0 || m->cache_bytes > space)
		return err_set(e, "arena cache size %lld is not between 0 and 2^%d",
			       (long long)m->cache_bytes, accel->address_bits);
	m->spilling = m->arena_area != m->cache_area;
	return true;
}

bool
memory_load(struct arena *a, const char *path, const char *system,
	    const char *mode, const struct accel *accel,
	    struct memory_system *out, struct err *e)
{
	if (path && (!system || !mode))
		return err_set(e, "--config %s needs --system-config and --memory-mode", path);
	bool ok = path ? memory_load_ini(a, path, system, mode, out, e)
		       : load_builtin(system, mode, accel, out, e);
	return ok && check_and_adjust(out, accel, e);
}
