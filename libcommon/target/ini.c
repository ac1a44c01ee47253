/* SPDX-License-Identifier: Apache-2.0 */
/* Reads vela.ini, and parts: ethosu-memory(7) 18.2 and 18.3, nputools(7), PARTS. */
#include "base/file.h"
#include "base/human.h"
#include "base/nearest.h"
#include "base/text.h"
#include "target/accel.h"
#include "target/ini.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INI_BYTES = 1 << 20, MAX_INHERIT = 16 };

struct entry {
	const char *section, *key, *value; /* key in lower case; NULL: marks the section */
	const char *spelled;		   /* the key as written in the file */
	unsigned line;
};

struct ini {
	struct arena *a;
	const char *path;
	struct entry *entry;
	size_t n, cap;
	const char **system_key; /* all keys of a system section; NULL: not listed yet */
	struct err *e;
};

static char *
trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	char *end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* appends an entry; a NULL key marks that the section exists */
static void
add(struct ini *f, const char *section, const char *key, const char *value,
    unsigned line)
{
	agrow(f->a, f->entry, f->n, &f->cap);
	f->entry[f->n] = (struct entry){ .section = section, .value = value, .line = line };
	if (key) {
		char *lower = arena_strdup(f->a, key);
		for (char *p = lower; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		f->entry[f->n].key = lower;
		f->entry[f->n].spelled = key;
	}
	f->n++;
}

static bool
parse_line(struct ini *f, char *s, const char **section, unsigned line)
{
	s = trim(s);
	if (!*s || *s == ';' || *s == '#')
		return true;
	if (*s == '[') {
		char *end = strchr(s, ']');
		if (!end)
			return err_at(f->e, f->path, line, "section without ]");
		*end = '\0';
		*section = s + 1;
		add(f, *section, NULL, NULL, line);
		return true;
	}
	char *eq = strpbrk(s, "=:");
	if (!eq || !*section)
		return err_at(f->e, f->path, line,
			      "neither [section] nor key = value inside one");
	*eq = '\0';
	const char *key = trim(s);
	add(f, *section, key, trim(eq + 1), line);
	return true;
}

static bool
parse(struct ini *f)
{
	struct bytes b;
	if (!file_read(f->a, f->path, MAX_INI_BYTES, &b, f->e))
		return false;
	char *text = arena_strndup(f->a, (const char *)b.p, b.n), *next;
	const char *section = NULL;
	unsigned line = 1;
	for (char *s = text; s; s = next, line++) {
		next = strchr(s, '\n');
		if (next)
			*next++ = '\0';
		if (!parse_line(f, s, &section, line))
			return false;
	}
	return true;
}

/* ---- keys --------------------------------------------------------------------- */

static const char system_prefix[] = "System_Config.", mode_prefix[] = "Memory_Mode.",
			 part_prefix[] = "Part.";

static const char *const system_keys[] = { "core_clock", "axi0_port", "axi1_port",
	"inherit", "fit_measurements", "fit_operation_cycles", "fit_low", "fit_high",
	"fit_accelerator" };
static const char *const mode_keys[] = { "const_mem_area", "arena_mem_area",
	"cache_mem_area", "arena_cache_size", "inherit" };
static const char *const part_keys[] = { "accelerator", "system_config", "memory_mode",
	"arena_memory", "constant_memory", "cpu", "arena_bytes", "constant_bytes",
	"npu_sram_bytes", "cpu_clock" };
/* suffixes; the prefix is the name of each area */
static const char *const area_keys[] = { "clock_scale", "burst_length", "read_latency",
	"write_latency", "ports_used", "max_reads", "max_writes" };

enum { SYSTEM_KEYS = ARRAY_LEN(system_keys) + MEM_AREAS * ARRAY_LEN(area_keys) };

/* Returns the keys that a section may have; NULL if we do not read such sections. */
static const char *const *
allowed_keys(struct ini *f, const char *section, size_t *n)
{
	if (!strncmp(section, mode_prefix, sizeof(mode_prefix) - 1)) {
		*n = ARRAY_LEN(mode_keys);
		return mode_keys;
	}
	if (!strncmp(section, part_prefix, sizeof(part_prefix) - 1)) {
		*n = ARRAY_LEN(part_keys);
		return part_keys;
	}
	if (strncmp(section, system_prefix, sizeof(system_prefix) - 1) != 0)
		return NULL;
	*n = SYSTEM_KEYS;
	if (f->system_key)
		return f->system_key;
	size_t k = 0;
	f->system_key = anew(f->a, const char *, SYSTEM_KEYS);
	for (size_t i = 0; i < ARRAY_LEN(system_keys); i++)
		f->system_key[k++] = system_keys[i];
	for (int area = 0; area < MEM_AREAS; area++)
		for (size_t i = 0; i < ARRAY_LEN(area_keys); i++)
			f->system_key[k++] =
			    arena_printf(f->a, "%s_%s",
					 memory_area_name((enum mem_area)area),
					 area_keys[i]);
	return f->system_key;
}

static bool
is_allowed_key(const char *key, const char *const *allowed, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(key, allowed[i]))
			return true;
	return false;
}

/* a comment behind a value, as in "4096 ; 4 KiB"; "OSPI #1" has none */
static bool
has_comment(const char *value)
{
	for (const char *c = value + strcspn(value, " \t"); *c; c++)
		if (isspace((unsigned char)c[0]) &&
		    (c[1] == ';' || (c[1] == '#' && isspace((unsigned char)c[2]))))
			return true;
	return false;
}

/*
 * Rejects what are mistakes in any section: keys that nobody reads, a second value of a key, and a
 * comment behind a value.
 */
static bool
check_keys(struct ini *f)
{
	const char *const *allowed = NULL;
	const char *section = NULL;
	size_t n = 0, first = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct entry *x = &f->entry[i];
		if (x->section != section) {
			allowed = allowed_keys(f, section = x->section, &n);
			first = i;
		}
		if (!x->key || !allowed)
			continue;
		/* at most one of each allowed key precedes x */
		for (size_t k = first; k < i; k++)
			if (f->entry[k].key && !strcmp(f->entry[k].key, x->key))
				return err_at(f->e, f->path, x->line, "'%s' has a value in line %u already",
					      x->spelled, f->entry[k].line);
		if (has_comment(x->value))
			return err_at(f->e, f->path, x->line, "a comment needs a line of its own: '%s'",
				      x->value);
		if (is_allowed_key(x->key, allowed, n))
			continue;
		const char *meant = nearest_word(x->spelled, allowed, n);
		return err_at(f->e, f->path, x->line, "unknown key '%s'%s%s%s",
			      x->spelled, meant ? "; did you mean " : "",
			      meant ? meant : "", meant ? "?" : "");
	}
	return true;
}

static const struct entry *
find(const struct ini *f, const char *section, const char *key)
{
	for (size_t i = f->n; i-- > 0;) {
		const struct entry *x = &f->entry[i];
		if (!strcmp(x->section, section) &&
		    (key ? x->key && !strcmp(x->key, key) : !x->key))
			return x;
	}
	return NULL;
}

/*
 * Finds a key in a section, or in those that it inherits from; *out is NULL if there is
 * none.  Returns false if the file is malformed.
 */
static bool
look_up(struct ini *f, const char *section, const char *key,
	const struct entry **out)
{
	for (int depth = 0;; depth++) {
		*out = find(f, section, key);
		const struct entry *parent = find(f, section, "inherit");
		if (*out || !parent)
			return true;
		if (depth == MAX_INHERIT)
			return err_at(f->e, f->path, parent->line,
				      "[%s] inherits in a circle", section);
		section = parent->value;
		if (!find(f, section, NULL))
			return err_at(f->e, f->path, parent->line,
				      "there is no section [%s]", section);
	}
}

static bool
need_key(struct ini *f, const char *section, const char *key, const char *why)
{
	const struct entry *x;
	char *lower = arena_strdup(f->a, key);
	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return look_up(f, section, lower, &x) &&
	       (x || err_at(f->e, f->path, find(f, section, NULL)->line, "[%s] has no %s%s",
			    section, key, why));
}

static bool
get_number(struct ini *f, const char *section, const char *key, double min,
	   double max, double *out)
{
	const struct entry *x;
	if (!look_up(f, section, key, &x))
		return false;
	if (!x)
		return true;
	char *end;
	errno = 0;
	double v = strtod(x->value, &end);
	if (end == x->value || *trim(end) || errno || !(v >= min && v <= max))
		return err_at(f->e, f->path, x->line,
			      "%s = %s is not a number from %.*g to %.*g", x->spelled,
			      x->value, DBL_DIG, min, DBL_DIG, max);
	*out = v;
	return true;
}

/* a size of a part's memory: 65536, 64K or 1M */
static bool
get_bytes(struct ini *f, const char *section, const char *key, int64_t *out)
{
	const double most = 0x1p40;
	const struct entry *x = find(f, section, key);
	char *end;
	if (!x)
		return true;
	errno = 0;
	double v = strtod(x->value, &end);
	int shift = end == x->value ? 0 : bytes_suffix_shift(end);
	v *= (double)(1 << shift);
	if (end == x->value || (*end && !shift) || errno || !(v >= 1 && v <= most))
		return err_at(f->e, f->path, x->line, "%s = %s is not a number of bytes from 1 to "
			      "%.0f, such as 65536, 64K or 1M", x->spelled, x->value, most);
	*out = (int64_t)v;
	return true;
}

static bool
get_int(struct ini *f, const char *section, const char *key, double max, int *out)
{
	double v = *out;
	if (!get_number(f, section, key, 0, max, &v))
		return false;
	*out = (int)v;
	return true;
}

static bool
get_area(struct ini *f, const char *section, const char *key, enum mem_area *out)
{
	const struct entry *x;
	if (!look_up(f, section, key, &x))
		return false;
	return !x || memory_area_find(x->value, out) ||
	       err_at(f->e, f->path, x->line,
		      "%s = %s is not Sram, Dram, OnChipFlash or OffChipFlash",
		      x->spelled, x->value);
}

static bool
get_port(struct ini *f, const char *section, const char *key,
	 const struct memory_system *m, enum mem_area *out)
{
	const struct entry *x;
	if (!look_up(f, section, key, &x))
		return false;
	*out = m->axi[0];
	if (!x || !strcasecmp(x->value, "Axi0"))
		return true;
	*out = m->axi[1];
	return !strcasecmp(x->value, "Axi1") ||
	       err_at(f->e, f->path, x->line, "%s = %s is not Axi0 or Axi1", x->spelled,
		      x->value);
}

static bool
get_memory(struct ini *f, const char *section, enum mem_area area,
	   struct mem_props *p)
{
	enum { MAX_LATENCY = 1000000, MAX_BURST = 65536, MAX_PORTS = 64,
	       MAX_OUTSTANDING = 1 << 16 };
	char *prefix = arena_strdup(f->a, memory_area_name(area));
	for (char *c = prefix; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	*p = (struct mem_props){ 1.0, 1, 0, 0, 1, 0, 0 };
#define KEY(name) arena_printf(f->a, "%s_" name, prefix)
	return get_number(f, section, KEY("clock_scale"), 1e-9, 1e3, &p->clock_scale) &&
	       get_int(f, section, KEY("burst_length"), MAX_BURST, &p->burst_bytes) &&
	       get_int(f, section, KEY("read_latency"), MAX_LATENCY, &p->read_latency) &&
	       get_int(f, section, KEY("write_latency"), MAX_LATENCY, &p->write_latency) &&
	       get_int(f, section, KEY("ports_used"), MAX_PORTS, &p->ports) &&
	       get_int(f, section, KEY("max_reads"), MAX_OUTSTANDING, &p->max_reads) &&
	       get_int(f, section, KEY("max_writes"), MAX_OUTSTANDING, &p->max_writes) &&
	       (p->burst_bytes > 0 && p->ports > 0
		    ? true
		    : err_at(f->e, f->path, 0, "[%s]: %s burst length and ports "
					       "must be at least 1", section,
			     memory_area_name(area)));
#undef KEY
}

/* our own keys, which npu-perf --fit writes; other readers ignore them */
static bool
get_calibration(struct ini *f, const char *section, struct memory_system *m)
{
	enum { MAX_OPERATION = 1000000, MAX_MEASURED = 1000000 };
	struct calibration *c = &m->fit;
	const struct entry *x;
	*c = (struct calibration){ .low = 1, .high = 1 };
	if (!get_int(f, section, "fit_measurements", MAX_MEASURED, &c->measured) ||
	    !get_number(f, section, "fit_operation_cycles", 0, MAX_OPERATION,
			&c->operation_cycles) ||
	    !get_number(f, section, "fit_low", 0, 1, &c->low) ||
	    !get_number(f, section, "fit_high", 1, 1e3, &c->high) ||
	    !look_up(f, section, "fit_accelerator", &x))
		return false;
	if (x)
		m->fitted_for = arena_strdup(f->a, x->value);
	if (!c->measured)
		*c = (struct calibration){ .measured = 0 };
	return true;
}

static bool
require(struct ini *f, const char *section)
{
	if (find(f, section, NULL))
		return true;
	struct text t = { 0 };
	const char *dot = strchr(section, '.');
	size_t prefix = dot ? (size_t)(dot - section) + 1 : 0;
	const char **names = anew(f->a, const char *, f->n);
	size_t n = 0;
	for (size_t i = 0; i < f->n; i++) {
		if (f->entry[i].key || strncmp(f->entry[i].section, section, prefix) != 0)
			continue;
		text_printf(&t, "%s %s", n ? "" : "; there are:", f->entry[i].section + prefix);
		names[n++] = f->entry[i].section + prefix;
	}
	const char *meant = nearest_word(section + prefix, names, n);
	(void)err_at(f->e, f->path, 0, "there is no section [%s]%s%s%s%s",
		     section, text_str(&t), meant ? "; did you mean " : "",
		     meant ? meant : "", meant ? "?" : "");
	text_free(&t);
	return false;
}

/* Requires the clock, the ports of the three memories, and what is on these ports. */
static bool
need_system(struct ini *f, const char *sys, const char *mode)
{
	static const char *const ports[] = { "Axi0", "Axi1" };
	if (!need_key(f, sys, "core_clock", ""))
		return false;
	for (int k = 0; k < 3; k++)
		if (!need_key(f, mode, mode_keys[k], ""))
			return false;
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 3; k++) {
			const struct entry *x;
			if (look_up(f, mode, mode_keys[k], &x) && x &&
			    !strcasecmp(x->value, ports[i]) &&
			    !need_key(f, sys, i ? "axi1_port" : "axi0_port",
				      ", which the memory mode uses"))
				return false;
		}
	return true;
}

bool
memory_load_ini(struct arena *a, const char *path, const char *system,
		const char *mode, struct memory_system *out, struct err *e)
{
	struct ini f = { .a = a, .path = path, .e = e };
	const char *sys = arena_printf(a, "%s%s", system_prefix, system);
	const char *mem = arena_printf(a, "%s%s", mode_prefix, mode);
	if (!parse(&f) || !check_keys(&f) || !require(&f, sys) || !require(&f, mem) ||
	    !need_system(&f, sys, mem))
		return false;
	*out = (struct memory_system){
		.system = arena_strdup(a, system), .mode = arena_strdup(a, mode),
		.source = arena_strdup(a, path), .clock = 1,
	};
	if (!get_number(&f, sys, "core_clock", 1, 1e11, &out->clock) ||
	    !get_area(&f, sys, "axi0_port", &out->axi[0]) ||
	    !get_area(&f, sys, "axi1_port", &out->axi[1]))
		return false;
	if (!get_calibration(&f, sys, out))
		return false;
	for (int i = 0; i < MEM_AREAS; i++)
		if (!get_memory(&f, sys, (enum mem_area)i, &out->mem[i]))
			return false;
	double cache = 0;
	if (!get_port(&f, mem, "const_mem_area", out, &out->const_area) ||
	    !get_port(&f, mem, "arena_mem_area", out, &out->arena_area) ||
	    !get_port(&f, mem, "cache_mem_area", out, &out->cache_area))
		return false;
	/* the speed of every memory that the mode uses */
	const enum mem_area used[] = { out->const_area, out->arena_area, out->cache_area };
	for (size_t i = 0; i < ARRAY_LEN(used); i++)
		if (!need_key(&f, sys, arena_printf(a, "%s_clock_scale", memory_area_name(used[i])),
			      ", whose memory the memory mode uses"))
			return false;
	if (!get_number(&f, mem, "arena_cache_size", 0, 1.1e12, &cache))
		return false;
	out->cache_bytes = (int64_t)cache;
	return true;
}

/* Returns the only section that describes a part; NULL after an error. */
static const char *
part_section(struct ini *f)
{
	const char *found = NULL;
	for (size_t i = 0; i < f->n; i++) {
		const struct entry *x = &f->entry[i];
		if (x->key || strncmp(x->section, part_prefix, sizeof(part_prefix) - 1) != 0)
			continue;
		if (found) {
			(void)err_at(f->e, f->path, x->line, "more than one section [Part.NAME]");
			return NULL;
		}
		found = x->section;
	}
	if (!found)
		(void)err_at(f->e, f->path, 0, "there is no section [Part.NAME], as in nputools(7), "
					       "PARTS");
	return found;
}

static bool
check_cpu(struct ini *f, const char *section, const char *name)
{
	static const char *const cores[] = {
#define CPU_CLASS(...)
#define CPU_CORE(name, ...) name,
#include "cpu.def"
	};
	struct text t = { 0 };
	bool found = false;
	for (size_t i = 0; i < ARRAY_LEN(cores); i++) {
		text_printf(&t, "%s%s", i ? ", " : "", cores[i]);
		found |= !strcmp(cores[i], name);
	}
	if (!found)
		(void)err_at(f->e, f->path, find(f, section, "cpu")->line,
			     "cpu = %s is none of %s", name, text_str(&t));
	text_free(&t);
	return found;
}

/* an error about the value of a key; inner has no place, as it is about an option as well */
static bool
bad_value(struct ini *f, const char *section, const char *key, const struct err *inner)
{
	return err_at(f->e, f->path, find(f, section, key)->line, "%s", inner->text);
}

/* The NPU of a part exists, and its profiles are in the file or, if none is there, built in. */
static bool
check_target(struct ini *f, const char *section, struct target_part *p)
{
	struct err e = { 0 };
	const struct accel *accel = accel_named(p->accel, &e);
	const char *system = arena_printf(f->a, "%s%s", system_prefix, p->system);
	if (!accel)
		return bad_value(f, section, "accelerator", &e);
	if (find(f, system, NULL)) {
		p->config = f->path;
		return require(f, arena_printf(f->a, "%s%s", mode_prefix, p->mode));
	}
	if (!memory_check_system(p->system, accel, &e))
		return bad_value(f, section, "system_config", &e);
	return memory_check_mode(p->mode, &e) || bad_value(f, section, "memory_mode", &e);
}

/* The memories of a part are those that its memory mode needs. */
static bool
check_memories(struct ini *f, const char *section, const struct target_part *p)
{
	struct memory_system m;
	if (!memory_load(f->a, p->config, p->system, p->mode, accel_find(p->accel), &m, f->e))
		return false;
	if (m.spilling) /* constants and arena are in one memory */
		return need_key(f, section, "npu_sram_bytes",
				arena_printf(f->a, ": memory mode %s has SRAM of the NPU's own", p->mode));
	if (p->cache_bytes)
		return err_at(f->e, f->path, find(f, section, "npu_sram_bytes")->line,
			      "npu_sram_bytes: memory mode %s has no SRAM of the NPU's own", p->mode);
	return !target_part_has_one_memory(p) || m.const_area == m.arena_area || memory_has_one_sram(&m) ||
	       err_at(f->e, f->path, find(f, section, "constant_memory")->line,
		      "constant_memory = %s is the memory of the arena, but in memory mode %s the "
		      "constants are in %s and the arena is in %s", p->constant_memory, p->mode,
		      memory_area_name(m.const_area), memory_area_name(m.arena_area));
}

bool
part_load_ini(struct arena *a, const char *path, struct target_part *out, struct err *e)
{
	struct ini f = { .a = a, .path = path, .e = e };
	const char *s = parse(&f) && check_keys(&f) ? part_section(&f) : NULL;
	if (!s)
		return false;
	*out = (struct target_part){ .name = s + sizeof(part_prefix) - 1, .source = path,
				     .cpu = "Cortex-M55" };
	const char **to[] = { &out->accel, &out->system, &out->mode, &out->arena_memory,
			      &out->constant_memory, &out->cpu };
	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		const struct entry *x = find(&f, s, part_keys[i]);
		if (x)
			*to[i] = x->value;
		else if (!*to[i] && !need_key(&f, s, part_keys[i], ""))
			return false;
	}
	if (!*out->name)
		return err_at(e, path, find(&f, s, NULL)->line, "[%s] has no name", s);
	if (!check_target(&f, s, out) || !check_cpu(&f, s, out->cpu))
		return false;
	if (!need_key(&f, s, "arena_bytes", "") || !need_key(&f, s, "constant_bytes", "") ||
	    !get_bytes(&f, s, "arena_bytes", &out->arena_bytes) ||
	    !get_bytes(&f, s, "constant_bytes", &out->constant_bytes) ||
	    !get_bytes(&f, s, "npu_sram_bytes", &out->cache_bytes) ||
	    !get_number(&f, s, "cpu_clock", 1, 1e11, &out->cpu_clock))
		return false;
	out->linux_bytes = out->cache_bytes;
	return check_memories(&f, s, out);
}
