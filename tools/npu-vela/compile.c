/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs npucc.  Its standard error has messages of the stages, which go to standard error,
 * and listings, which Vela prints on standard output.
 */
#include "vela.h"

#include "base/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void
add(struct vela *v, const char *program, const char *option)
{
	words_add(v->a, &v->listings, "-X");
	words_add(v->a, &v->listings, arena_printf(v->a, "%s:%s", program, option));
}

static void
add_listing(struct vela *v, const char *what)
{
	if (!strcmp(what, "all")) {
		words_add(v->a, &v->listings, "--verbose-all");
		add(v, "npu-wenc", "--stats");
		v->layers = v->cpu_names = true;
	} else if (!strcmp(what, "config")) {
		add(v, "npu-sched", "--verbose-config");
	} else if (!strcmp(what, "graph") || !strcmp(what, "schedule")) {
		add(v, "npu-sched", "--verbose-graph");
	} else if (!strcmp(what, "allocation")) {
		add(v, "npu-sched", "--verbose-allocation");
		add(v, "npu-wenc", "--verbose-allocation");
		add(v, "npu-cmdgen", "--verbose-allocation");
	} else if (!strcmp(what, "operators") && v->tosa) {
		cli_note("--verbose-operators does nothing", "use tosa-partition --report for a "
			 "TOSA graph");
	} else if (!strcmp(what, "operators")) {
		add(v, "tfl-partition", "--verbose-operators");
	} else if (!strcmp(what, "weights")) {
		add(v, "npu-wenc", "--stats");
	} else if (!strcmp(what, "performance")) {
		v->layers = true;
	} else if (strcmp(what, "cycle-estimate") != 0) { /* which is always printed */
		add(v, "npu-cmdgen", arena_printf(v->a, "--verbose-%s", what));
	}
}

static void
add_named(struct vela *v, struct words *w, const char *option, const char *value)
{
	if (value)
		words_add(v->a, w, arena_printf(v->a, "--%s=%s", option, value));
}

static void
add_words(struct vela *v, struct words *w, const struct words *more)
{
	for (size_t i = 0; i < more->n; i++)
		words_add(v->a, w, more->v[i]);
}

/* true for a line "PROGRAM: ..." */
static bool
is_message(const char *line, size_t n)
{
	static const char *const programs[] = {
		"npucc", "tfl-quantcheck", "tfl-partition", "tosa-partition", "npu-sched",
		"npu-wenc", "npu-cmdgen",
	};
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		size_t k = strlen(programs[i]);
		if (n > k + 1 && !memcmp(line, programs[i], k) && line[k] == ':' &&
		    line[k + 1] == ' ')
			return true;
	}
	return false;
}

bool
compile(struct vela *v)
{
	const struct options *o = v->o;
	struct run r = { 0 };
	struct words *w = &r.words;
	v->cpu_names = o->cpu_names;
	for (size_t i = 0; i < o->verbose.n; i++)
		add_listing(v, o->verbose.v[i]);
	if (o->separate && (v->tosa || o->raw))
		return err_set(v->e, "--separate-io-regions is not supported %s",
			       v->tosa ? "for TOSA graphs" : "with --output-format=raw");
	words_add(v->a, w, "npucc");
	add_named(v, w, "accelerator-config", o->accel);
	if (o->any)
		words_add(v->a, w, "--any-accelerator");
	add_words(v, w, &v->memory);
	/* a TOSA graph has no operators on the CPU */
	if (v->tosa && o->cpu.n)
		cli_note("--ignore-ops does nothing",
			 "operators of a TOSA graph cannot run on the CPU");
	for (size_t i = 0; !v->tosa && i < o->cpu.n; i++)
		add_named(v, w, "cpu", o->cpu.v[i]);
	/* Vela runs operators that are not integer on the CPU */
	if (!v->tosa)
		words_add(v->a, w, "--allow=float-operator,interface-float");
	if (o->separate)
		words_add(v->a, w, "--separate-io-regions");
	add_words(v, w, &v->listings);
	add_named(v, w, "optimise", o->optimise);
	add_named(v, w, "arena-cache-size", o->arena);
	if (o->raw) {
		words_add(v->a, w, "-X");
		words_add(v->a, w, "npu-cmdgen:--emit=npz");
	}
	words_add(v->a, w, "-o");
	words_add(v->a, w, "-");
	words_add(v->a, w, "--");
	words_add(v->a, w, o->network);
	if (!run_program(v, &r))
		return false;
	/* messages to standard error, listings to standard output */
	for (size_t at = 0; at < r.said.n;) {
		const char *line = (const char *)r.said.p + at;
		const char *end = memchr(line, '\n', r.said.n - at);
		size_t n = end ? (size_t)(end - line) + 1 : r.said.n - at;
		if (is_message(line, n))
			(void)fwrite(line, 1, n, stderr);
		else
			text_put(&v->log, line, n);
		at += n;
	}
	v->status = WIFSIGNALED(r.status) ? EXIT_TROUBLE : WEXITSTATUS(r.status);
	if (WIFSIGNALED(r.status))
		return err_set(v->e, "npucc was ended by signal %d", WTERMSIG(r.status));
	v->compiled = r.out;
	return !v->status;
}
