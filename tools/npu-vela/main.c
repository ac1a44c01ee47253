/* SPDX-License-Identifier: Apache-2.0 */
/* npu-vela: compiles with Vela's options, and writes Vela's files. */
#include "vela.h"

#include "base/child.h"
#include "base/cli.h"
#include "base/file.h"

#include <string.h>
#include <unistd.h>

enum { NETWORK_MAX = INT32_MAX };

static bool
add_file(struct vela *v, struct file_set *f, const char *suffix, const char *content)
{
	struct bytes b = { .p = (const uint8_t *)content, .n = content ? strlen(content) : 0 };
	const char *path = arena_printf(v->a, "%s/%s%s", v->o->dir, v->name, suffix);
	return !content || file_set_lend(f, path, b, false, v->e);
}

static bool
write_files(struct vela *v)
{
	struct file_set *f = file_set_open(v->a);
	const char *network = arena_printf(v->a, "%s/%s_vela.%s", v->o->dir, v->name,
					   v->o->raw ? "npz" : "tflite");
	const char *summary = arena_printf(v->a, "_summary_%s.csv", v->named);
	file_set_directory(f, v->o->dir);
	bool ok = file_check_output(network, v->o->network, v->e) &&
		  file_set_lend(f, network, v->compiled, true, v->e) &&
		  add_file(v, f, summary, v->summary) &&
		  add_file(v, f, "_per-layer.csv", v->table);
	return file_set_end(f, ok, v->e);
}

static bool
vela(struct vela *v)
{
	if (v->o->list)
		return memory_list(v);
	/* tells a TOSA graph from a model, and names the network */
	struct bytes file;
	const char *base = file_base(v->o->network), *dot = strrchr(base, '.');
	struct arena *scratch = arena_open();
	bool ok = file_read(scratch, v->o->network, NETWORK_MAX, &file, v->e);
	v->tosa = ok && file.n >= 8 && !memcmp(file.p + 4, "TOSA", 4);
	arena_close(scratch);
	v->name = dot && dot > base ? arena_strndup(v->a, base, (size_t)(dot - base)) : base;
	return ok && memory_choose(v) && compile(v) && estimate(v) && write_files(v) &&
	       file_write_text(NULL, &v->log, v->e);
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	struct arena *a = arena_open();
	struct options o = { .a = a, .dir = "output" };
	options_parse(&o, argc, argv);
	struct vela v = { .a = a, .o = &o, .e = &e };
	(void)vela(&v);
	if (v.temporary)
		(void)unlink(v.temporary);
	text_free(&v.log);
	arena_close(a);
	if (children_signal())
		children_raise();
	int status = cli_finish(&e);
	return status ? status : v.status;
}
