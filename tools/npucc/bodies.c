/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles each body of IF and WHILE as a network of its own.  npu-cmdgen then puts the results
 * into the model.
 */
#include "npucc.h"

#include "tflite/calls.h"
#include "tflite/tflite.h"

#include <stdlib.h>
#include <string.h>

/* options that are for the model's inputs and outputs, or for its plan */
static const char *const of_model[] = { "--input-layout=", "--output-layout=", "--integer-io",
					"--separate-io-regions", "--plan=", "--keep-plan=",
					"--batch=", "--require-batch" };

static bool
is_of_model(const char *word)
{
	static const char cpu[] = "--cpu=";
	for (size_t i = 0; i < ARRAY_LEN(of_model); i++)
		if (!strncmp(word, of_model[i], strlen(of_model[i])))
			return true;
	/* an index of an operator of the first subgraph */
	return !strncmp(word, cpu, strlen(cpu)) &&
	       strspn(word + strlen(cpu), "0123456789") == strlen(word + strlen(cpu));
}

/* the name of a stage's file of body n for --keep: base.body2.part, base.body2_npu.tflite */
static const char *
body_file(const struct npucc *c, int n, enum program p)
{
	return arena_printf(c->a, "%s.body%d%s%s", c->base, n, p == CMDGEN ? "_npu" : "",
			    stage_suffix(p));
}

/* Compiles body n into the file to; with --keep one stage after the other, with a file each. */
static bool
compile_body(struct npucc *c, int n, const char *to)
{
	struct options o = *c->o;
	struct npucc aside = *c;
	struct job job[N_STAGES];
	size_t k = 0;
	for (int p = PARTITION; p <= CMDGEN; p++) {
		const struct words *from = &c->o->to[p];
		struct words w = { .v = anew(c->a, const char *, from->n + 1) };
		for (size_t i = 0; i < from->n; i++)
			if (!is_of_model(from->v[i]))
				w.v[w.n++] = from->v[i];
		o.to[p] = w;
		job[k++] = (struct job){ .program = (enum program)p, .unseen = true,
					 .repeats = p > PARTITION };
	}
	job[0].option[0] = arena_printf(c->a, "--subgraph=%d", n);
	job[0].input = c->model;
	job[0].fed = c->model ? (struct bytes){ 0 } : c->piped;
	job[k - 1].output = to;
	aside.o = &o;
	aside.bodies = (struct words){ 0 };
	bool ok = c->in_keep || run_jobs(&aside, job, k);
	for (size_t i = 0; c->in_keep && ok && i < k; i++) {
		const char *name = body_file(c, n, job[i].program);
		job[i].output = arena_printf(c->a, "%s/%s", c->in_keep, name);
		if (i)
			job[i].input = job[i - 1].output;
		ok = run_jobs(&aside, &job[i], 1);
		agrow(c->a, c->kept_bodies.v, c->kept_bodies.n, &c->kept_bodies.cap);
		c->kept_bodies.v[c->kept_bodies.n++] = name;
	}
	c->status = aside.status;
	c->too_large = aside.too_large;
	return ok;
}

bool
compile_bodies(struct npucc *c)
{
	struct tfl_model *m;
	struct bytes file = c->piped;
	struct err none = { 0 };
	/* the stages report a model that can't be read */
	bool ok = true, is_read = !c->tosa && c->o->last >= CMDGEN &&
				  (!c->model || file_read(c->a, c->model, TFL_MAX_BYTES, &file, &none)) &&
				  tfl_read(c->a, file, "", &m, &none);
	const bool *body = is_read ? tfl_bodies(c->a, m) : NULL;
	for (int i = 1, n = 0; ok && is_read && i < m->n_subgraphs; i++) {
		if (!body[i])
			continue;
		if (!n++) {
			/* if tfl-quantcheck refuses the model, the stages say why, without bodies */
			struct npucc aside = *c;
			const struct job job = { .program = QUANTCHECK, .option = { "--quiet" },
						 .input = c->model, .silent = true, .mute = true,
						 .fed = c->model ? (struct bytes){ 0 } : c->piped };
			aside.e = &none;
			if (!run_jobs(&aside, &job, 1))
				break;
		}
		const char *dir = place_spare(c);
		if (!dir)
			return false;
		const char *to = c->in_keep ? arena_printf(c->a, "%s/%s", c->in_keep,
							   body_file(c, i, CMDGEN))
					    : arena_printf(c->a, "%s/body%d.tflite", dir, i);
		ok = compile_body(c, i, to);
		agrow(c->a, c->bodies.v, c->bodies.n, &c->bodies.cap);
		c->bodies.v[c->bodies.n++] = arena_printf(c->a, "--body=%d=%s", i, to);
	}
	return ok;
}
