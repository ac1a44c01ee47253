/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares every golden of the shared data byte for byte: single operators, whole
 * models, and all intermediate tensors.  usage: golden [DIR...]; the default is
 * everything below $NPUTOOLS_SHARED/golden.
 */
#include "base/file.h"
#include "base/npy.h"
#include "sim/sim.h"
#include "tflite/tflite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int n_cases, n_tensors, n_failed;

static bool
exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

/* the elements of a .npy file, which must match tensor t */
static bool
load(struct arena *a, const char *path, const struct tfl_tensor *t,
     struct bytes *out, struct err *e)
{
	struct bytes file;
	struct npy n;
	if (!file_read(a, path, SIM_MAX_BYTES, &file, e) ||
	    !npy_parse(file, path, &n, e))
		return false;
	*out = n.data;
	return n.data.n == (size_t)tfl_bytes(t) ||
	       err_set(e, "%s: %zu bytes for tensor %s", path, n.data.n,
		       t->name);
}

static bool
check(struct arena *a, const char *path, struct sim *s, int index,
      struct err *e)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	const uint8_t *got = sim_tensor(s, index);
	struct bytes want;
	if (!load(a, path, t, &want, e))
		return false;
	n_tensors++;
	for (size_t i = 0; i < want.n; i++)
		if (got[i] != want.p[i])
			return err_set(
			    e,
			    "%s: tensor %d (%s) differs in byte %zu: "
			    "%u, want %u",
			    path, index, t->name, i, got[i], want.p[i]);
	return true;
}

struct dump {
	struct arena *a;
	const char *dir; /* with tensor_INDEX.npy, or NULL */
};

static bool
check_tensors(void *ctx, struct sim *s, int op_index, struct err *e)
{
	const struct dump *d = ctx;
	const struct tfl_op *op = &sim_model(s)->subgraph[0].op[op_index];
	for (int k = 0; d->dir && k < op->n_out; k++) {
		const char *path =
		    arena_printf(d->a, "%s/tensor_%d.npy", d->dir, op->out[k]);
		if (!exists(path))
			return err_set(e, "%s: no such golden", path);
		if (!check(d->a, path, s, op->out[k], e))
			return false;
	}
	return true;
}

static bool
run_case(struct arena *a, const char *model, const char *dir, const char *inner,
	 struct err *e)
{
	struct tfl_model *m;
	struct sim *s;
	if (!tfl_read_file(a, model, &m, e) || !sim_open(a, m, &s, e))
		return false;
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int k = 0; k < g->n_in; k++) {
		struct bytes v;
		if (!load(a, arena_printf(a, "%s/input_%d.npy", dir, k),
			  &g->tensor[g->in[k]], &v, e))
			return false;
		memcpy(sim_tensor(s, g->in[k]), v.p, v.n);
	}
	struct dump d = { .a = a, .dir = inner };
	struct sim_hooks hooks = { .ctx = &d, .op_done = check_tensors };
	if (!sim_invoke(s, &hooks, e))
		return false;
	for (int k = 0; k < g->n_out; k++)
		if (!check(a, arena_printf(a, "%s/output_%d.npy", dir, k), s,
			   g->out[k], e))
			return false;
	return true;
}

/* dir has inputs and outputs; the model is beside them or in shared/models */
static void
judge(const char *shared, const char *group, const char *dir)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	const char *model = arena_printf(a, "%s/model.tflite", dir);
	const char *inner = NULL;
	size_t n = strlen(dir);
	if (!exists(model))
		model = arena_printf(a, "%s/models/%s.tflite", shared, group);
	if (n > 2 && !strcmp(dir + n - 2, "/0"))
		inner =
		    arena_printf(a, "%.*s/intermediate_0", (int)(n - 2), dir);
	n_cases++;
	if (!run_case(a, model, dir, inner && exists(inner) ? inner : NULL,
		      &e)) {
		n_failed++;
		printf("%s\n", e.text);
	}
	arena_close(a);
}

/* every directory below dir that has an input_0.npy */
static void
walk(const char *shared, const char *group, const char *dir)
{
	struct arena *a = arena_open();
	struct dirent **entry;
	if (exists(arena_printf(a, "%s/input_0.npy", dir)))
		judge(shared, group, dir);
	int n = scandir(dir, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		const char *path = arena_printf(a, "%s/%s", dir, name);
		struct stat st;
		if (name[0] != '.' && !stat(path, &st) && S_ISDIR(st.st_mode))
			walk(shared, group ? group : name, path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	arena_close(a);
}

int
main(int argc, char **argv)
{
	const char *shared = getenv("NPUTOOLS_SHARED");
	struct arena *a = arena_open();
	if (!shared || !*shared)
		shared = "../shared";
	const char *golden = arena_printf(a, "%s/golden", shared);
	if (argc == 1 && !exists(golden)) {
		printf("no goldens (NPUTOOLS_SHARED)\n");
		arena_close(a);
		return 77;
	}
	for (int i = 1; i < argc; i++)
		walk(shared, NULL, argv[i]);
	if (argc == 1)
		walk(shared, NULL, golden);
	arena_close(a);
	printf("%d cases, %d tensors, %d cases failed\n", n_cases, n_tensors,
	       n_failed);
	return n_failed || !n_cases;
}
