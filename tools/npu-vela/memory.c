/* SPDX-License-Identifier: Apache-2.0 */
/* The memory system: options for npucc and npu-perf, and the list of a file's profiles. */
#include "vela.h"

#include "base/cli.h"
#include "base/file.h"
#include "target/memory.h"
#include "target/part.h"
#include "target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_MAX = 1 << 24 };

/* True for the built-in file: Vela names its own files by folder and file. */
static bool
is_built_in(const char *file)
{
	return !strcmp(file, "Arm/vela.ini");
}

/* ---- --list-configs ------------------------------------------------------------------ */

/* lists the sections [PREFIX.name] */
static void
list_sections(struct text *t, const char *ini, const char *prefix)
{
	size_t n = strlen(prefix);
	for (const char *line = ini, *next; *line; line = next) {
		size_t size = strcspn(line, "\n");
		const char *p = line + strspn(line, " \t");
		const char *end = memchr(line, ']', size);
		next = line + size + (line[size] == '\n');
		if (*p != '[' || !end || strncmp(p + 1, prefix, n) != 0 || p[n + 1] != '.')
			continue;
		text_puts(t, "  ");
		text_put(t, p + n + 2, (size_t)(end - p) - n - 2);
		text_putc(t, '\n');
	}
}

bool
memory_list(struct vela *v)
{
	struct text t = { 0 };
	struct bytes file;
	if (is_built_in(v->o->list)) {
		memory_list_profiles(&t);
		return file_write_text(NULL, &t, v->e);
	}
	if (!file_read(v->a, v->o->list, CONFIG_MAX, &file, v->e))
		return false;
	text_puts(&t, "System configurations:\n");
	list_sections(&t, (const char *)file.p, "System_Config");
	text_puts(&t, "Memory modes:\n");
	list_sections(&t, (const char *)file.p, "Memory_Mode");
	return file_write_text(NULL, &t, v->e);
}

/* ---- the memory system ------------------------------------------------------------------ */

static const struct defaults {
	const char *accelerators, *system, *mode;
} vela_defaults[] = { /* the first row is also for unknown accelerators, which npucc refuses */
	{ "ethos-u55-", "Ethos_U55_High_End_Embedded", "Shared_Sram" },
	{ "ethos-u65-", "Ethos_U65_Client_Server", "Dedicated_Sram" },
	{ "ethos-u85-", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB" },
};

/* Returns the name to use; *named: the user has named a profile. */
static const char *
choose(const char *option, const char *name, const char *other, bool *named)
{
	*named = name && strcmp(name, "internal-default") != 0;
	if (!*named)
		cli_note("warning", "no --%s; using Vela's default, %s", option, other);
	return *named ? name : other;
}

static bool
add_config(struct vela *v)
{
	struct words files = { 0 };
	for (size_t i = 0; i < v->o->config.n; i++)
		if (!is_built_in(v->o->config.v[i]))
			words_add(v->a, &files, v->o->config.v[i]);
	if (!files.n)
		return true;
	const char *name = files.v[0];
	if (files.n > 1) {
		/* join the files in a temporary file, which main() removes */
		const char *dir = getenv("TMPDIR");
		char *joined = arena_printf(v->a, "%s/nputools-XXXXXX", dir && *dir ? dir : "/tmp");
		int fd = mkstemp(joined);
		bool ok = fd >= 0;
		v->temporary = ok ? joined : NULL;
		for (size_t i = 0; ok && i < files.n; i++) {
			struct bytes b;
			if (!file_read(v->a, files.v[i], CONFIG_MAX, &b, v->e))
				break;
			ok = file_put(fd, b.p, b.n) && file_put(fd, "\n", 1);
		}
		ok = fd >= 0 && !close(fd) && ok;
		if (!ok)
			return err_at(v->e, joined, 0, "%s", strerror(errno));
		if (v->e->status)
			return false;
		name = joined;
	}
	words_add(v->a, &v->memory, arena_printf(v->a, "--config=%s", name));
	return true;
}

bool
memory_choose(struct vela *v)
{
	const struct options *o = v->o;
	if (o->part) {
		const struct target_part *p = target_part_take(v->a, o->part, v->e);
		if (!p || !target_part_has(p, o->accel, NULL, v->e))
			return false;
		v->named = o->system ? o->system : p->system;
		words_add(v->a, &v->memory, arena_printf(v->a, "--part=%s", o->part));
		if (o->system)
			words_add(v->a, &v->memory, arena_printf(v->a, "--system-config=%s", o->system));
		if (o->mode)
			words_add(v->a, &v->memory, arena_printf(v->a, "--memory-mode=%s", o->mode));
		return add_config(v);
	}
	const struct defaults *d = vela_defaults;
	for (size_t i = 0; i < ARRAY_LEN(vela_defaults); i++)
		if (!strncmp(o->accel, vela_defaults[i].accelerators,
			     strlen(vela_defaults[i].accelerators)))
			d = &vela_defaults[i];
	bool named, mode_named;
	const char *system = choose("system-config", o->system, d->system, &named);
	const char *mode = choose("memory-mode", o->mode, d->mode, &mode_named);
	v->named = named ? system : "internal-default";
	words_add(v->a, &v->memory, arena_printf(v->a, "--system-config=%s", system));
	words_add(v->a, &v->memory, arena_printf(v->a, "--memory-mode=%s", mode));
	return add_config(v);
}
