/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the models, and what the options say about each by its name. */
#include "share.h"

#include "base/cli.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/identifier.h"
#include "base/nearest.h"
#include "base/program.h"
#include "kernels/kernels.h"
#include "target/part.h"
#include "tflite/calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool
has_float_border(const struct tfl_model *m)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	bool found = false;
	for (int i = 0; i < g->n_in; i++)
		found |= g->tensor[g->in[i]].type == TFL_FLOAT32;
	for (int i = 0; i < g->n_out; i++)
		found |= g->tensor[g->out[i]].type == TFL_FLOAT32;
	return found;
}

/* NAME of "NAME=FILE", or the file's name with '_' for what is no letter or digit */
static bool
take_model(struct share *s, const char *word)
{
	struct network *n = &s->net[s->p.n];
	const char *equal = strchr(word, '=');
	char *name;
	if (equal && identifier_is_valid(word, (size_t)(equal - word))) {
		name = arena_strndup(s->a, word, (size_t)(equal - word));
		n->path = equal + 1;
	} else {
		n->path = word;
		const char *base = text_cut(s->a, file_base(word), ".tflite");
		bool bad = !identifier_is_valid(base, strlen(base)) &&
			   (isdigit((unsigned char)*base) || !*base);
		name = arena_printf(s->a, "%s%s", bad ? "model_" : "", base);
		for (char *c = name; *c; c++)
			*c = isalnum((unsigned char)*c) && (unsigned char)*c < 0x80 ? *c : '_';
		if (!identifier_is_valid(name, strlen(name)))
			name = arena_printf(s->a, "model_%s", name);
	}
	n->name = name;
	for (int i = 0; i < s->p.n; i++)
		if (!strcmp(s->net[i].name, name))
			return err_set(s->e, "two networks have the name %s: write NAME=FILE "
				       "for one of them", name);
	struct bytes file;
	if (!file_read(s->a, n->path, TFL_MAX_BYTES, &file, s->e) ||
	    !model_read(s->a, file, file_name(n->path), &n->original, s->e) ||
	    !tfl_check_plain(n->original, s->e))
		return false;
	if (s->o->integer_io && has_float_border(n->original)) {
		/* the network between the integer tensors takes the model's place */
		struct job j = { .path = NULL };
		add_word(&j, "tfl-partition");
		add_word(&j, "--integer-io");
		add_word(&j, "--cut-only");
		add_word(&j, "--");
		add_word(&j, n->path);
		if (!program_find(s->a, "tfl-partition", &j.path, s->e) || !run_jobs(s, &j, 1))
			return false;
		file = n->integer = j.out;
		if (!model_read(s->a, file, file_name(n->path), &n->original, s->e))
			return false;
	}
	const struct tfl_subgraph *g = &n->original->subgraph[0];
	int64_t to[TFL_CALLEES];
	for (int i = 0; i < g->n_ops; i++)
		if (!s->o->tflm && tfl_callees(&g->op[i], to))
			return err_at(s->e, n->path, 0, "operator %d (%s) calls subgraphs, which the "
				      "functions of npu-share do not run; use --tflm, or cut the model "
				      "there: npucc --cut-outputs", i, tfl_op_label(&g->op[i]));
	n->hash = hash_xxh3(file.p, file.n);
	s->p.net[s->p.n++] = (struct net){ .name = name, .rate = 1 };
	return true;
}

/* The network of the n letters at word; -1: none, with an error. */
static int
find_net(struct share *s, const char *option, const char *word, size_t n)
{
	const char *names[MAX_NETS], *wanted = arena_strndup(s->a, word, n);
	for (int i = 0; i < s->p.n; i++) {
		names[i] = s->net[i].name;
		if (!strcmp(names[i], wanted))
			return i;
	}
	const char *near = nearest_word(wanted, names, (size_t)s->p.n);
	(void)err_set(s->e, "%s: no network is called '%s'%s%s%s", option,
		      text_plain(s->a, wanted), near ? "; did you mean " : "", near ? near : "",
		      near ? "?" : "");
	return -1;
}

/* "NAME=NUMBER" */
static bool
take_number(struct share *s, const char *option, const char *word, int *net, double *out)
{
	const char *equal = strchr(word, '=');
	char *end = NULL;
	*out = equal ? strtod(equal + 1, &end) : 0;
	if (!equal || end == equal + 1 || *end || !(*out >= 0) || *out > 1e9)
		return err_set(s->e, "%s needs NAME=NUMBER, with a number from 0 to 1e9, not "
			       "'%s'", option, text_plain(s->a, word));
	*net = find_net(s, option, word, (size_t)(equal - word));
	return *net >= 0;
}

int64_t
limit_bytes(const char *word)
{
	const int64_t most = 1000000000;
	const char *equal = strchr(word, '=');
	return cli_bytes("--arena-cache-size=NAME", equal ? equal + 1 : "", 1, most);
}

/* "NAME=BYTES" of --arena-cache-size */
static bool
take_limit(struct share *s, const char *word)
{
	const int net = find_net(s, "--arena-cache-size", word, strcspn(word, "="));
	if (net < 0)
		return false;
	s->net[net].limit = limit_bytes(word);
	return true;
}

/* "NAME" or "NAME.K" */
static bool
take_end(struct share *s, const char *word, size_t n, int *net, int *k)
{
	const char *dot = memchr(word, '.', n);
	size_t name = dot ? (size_t)(dot - word) : n;
	*k = 0;
	for (const char *p = dot ? dot + 1 : word + n; p < word + n; p++) {
		if (!isdigit((unsigned char)*p) || *k > 9999)
			return err_set(s->e, "--chain needs NAME[.K],NAME[.K]");
		*k = 10 * *k + (*p - '0');
	}
	*net = find_net(s, "--chain", word, name);
	return *net >= 0;
}

static bool
take_chain(struct share *s, const char *word)
{
	const char *comma = strchr(word, ',');
	struct chain c;
	if (!comma || s->p.n_chains == MAX_CHAINS)
		return err_set(s->e, "--chain needs NAME[.K],NAME[.K], at most %d times",
			       MAX_CHAINS);
	if (!take_end(s, word, (size_t)(comma - word), &c.from, &c.out) ||
	    !take_end(s, comma + 1, strlen(comma + 1), &c.to, &c.in))
		return false;
	const struct tfl_subgraph *x = &s->net[c.from].original->subgraph[0];
	const struct tfl_subgraph *y = &s->net[c.to].original->subgraph[0];
	const char *from = s->net[c.from].name, *to = s->net[c.to].name;
	if (c.out >= x->n_out || c.in >= y->n_in)
		return err_set(s->e, "--chain: %s has %d outputs and %s has %d inputs", from,
			       x->n_out, to, y->n_in);
	const struct tfl_tensor *a = &x->tensor[x->out[c.out]], *b = &y->tensor[y->in[c.in]];
	if (a->type != b->type || tfl_bytes(a) != tfl_bytes(b))
		return err_set(s->e, "--chain: output %d of %s has %lld bytes of %s, input %d "
			       "of %s has %lld of %s", c.out, from, (long long)tfl_bytes(a),
			       tfl_type_name(a->type), c.in, to, (long long)tfl_bytes(b),
			       tfl_type_name(b->type));
	if (s->p.together[c.from][c.to] || c.from == c.to)
		return err_set(s->e, "--chain: %s and %s are live together, so that they share "
			       "no byte", from, to);
	s->p.chain[s->p.n_chains++] = c;
	return true;
}

bool
read_request(struct share *s)
{
	const struct options *o = s->o;
	for (int i = 0; i < o->models.n; i++)
		if (!take_model(s, o->models.v[i]))
			return false;
	if (!o->part && !(o->accel && o->system && o->mode))
		return err_set(s->e, "no target: use --part=NAME, or --accelerator-config, "
			       "--system-config and --memory-mode");
	bool rated[MAX_NETS] = { false };
	int net;
	double v;
	for (int i = 0; i < o->rates.n; i++) {
		if (!take_number(s, "--rate", o->rates.v[i], &net, &v))
			return false;
		s->p.net[net].rate = v;
		rated[net] = true;
	}
	for (int i = 0; i < o->deadlines.n; i++) {
		if (!take_number(s, "--deadline", o->deadlines.v[i], &net, &v))
			return false;
		s->p.net[net].deadline = v / 1000;
		if (!rated[net])
			s->p.net[net].rate = 0;
	}
	for (int i = 0; i < o->limits.n; i++) {
		if (!take_limit(s, o->limits.v[i]))
			return false;
	}
	/* "NAME,NAME,...": each two may have live arenas at the same time */
	for (int k = 0; k < o->together.n; k++) {
		int group[64], n = 0;
		for (const char *p = o->together.v[k]; *p;) {
			size_t length = strcspn(p, ",");
			net = find_net(s, "--together", p, length);
			if (net < 0)
				return false;
			if (n < (int)ARRAY_LEN(group))
				group[n++] = net;
			p += length + (p[length] == ',');
		}
		if (n < 2)
			return err_set(s->e, "--together needs two names or more");
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				if (group[i] != group[j])
					s->p.together[group[i]][group[j]] = true;
	}
	for (int i = 0; i < o->chains.n; i++)
		if (!take_chain(s, o->chains.v[i]))
			return false;
	find_cliques(&s->p);

	/*
	 * The budgets: those of the options, or the memories of the part.  One memory of arenas
	 * and constants is a budget of both together.
	 */
	const struct target_part *part = target_part_take(s->a, o->part, s->e);
	if (o->part && !part)
		return false;
	s->spilling = part ? part->cache_bytes > 0
			   : o->mode && !strncmp(o->mode, "Dedicated", 9);
	if (s->spilling && o->within >= 0)
		return err_set(s->e, "--within saves SRAM of the arenas, and those of this NPU are in "
			       "DRAM; leave it out");
	s->arenas_in = part ? part->arena_memory : s->spilling ? "DRAM" : "SRAM";
	s->constants_in = part ? part->constant_memory : s->spilling ? "DRAM" : "flash";
	bool one = target_part_has_one_memory(part), two = part && !one;
	int64_t arena = two ? part->arena_bytes : 0, cache = part ? part->cache_bytes : 0;
	int64_t sram = o->sram ? o->sram : s->spilling ? cache : arena;
	int64_t dram = o->dram ? o->dram : arena;
	int64_t flash = o->flash ? o->flash : two ? part->constant_bytes : 0;
	int64_t place = s->spilling ? dram : sram;
	s->p.arena = place ? place : INT64_MAX;
	s->p.fast = s->spilling && sram ? sram : INT64_MAX;
	s->p.flash = flash ? flash : INT64_MAX;
	s->p.both = one ? part->arena_bytes : INT64_MAX;
	return true;
}
