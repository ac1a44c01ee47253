/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the networks in random order on one memory, as the firmware does, and compares every
 * output with that of the plain model.  Before a network runs, and before its outputs are
 * read, networks that may be live at the same time run, too.
 */
#include "share.h"

#include "base/cli.h"
#include "base/fixed.h"
#include "sim/sim.h"

#include <string.h>

struct runner {
	struct share *s;
	uint8_t *arena, *fast;
	struct sim *plain[MAX_NETS], *compiled[MAX_NETS]; /* compiled: NULL if alone */
	bool fresh[MAX_CHAINS]; /* the chained tensor has a value that nobody has used */
	uint64_t random;
};

static uint64_t
draw(struct runner *r, uint64_t n)
{
	r->random = r->random * 6364136223846793005u + 1442695040888963407u;
	return (r->random >> 33) % n;
}

static uint8_t *
arena_of(const struct runner *r, int net)
{
	return r->arena + r->s->choice.place.at[net];
}

/* Writes random inputs, the same into the plain model; a chained input is there already. */
static void
write_inputs(struct runner *r, int net)
{
	struct sim *plain = r->plain[net];
	const struct tfl_subgraph *g = &r->s->net[net].original->subgraph[0];
	const int64_t *indices = sim_indices(r->s->a, g);
	for (int k = 0; k < g->n_in; k++) {
		const struct tfl_tensor *t = &g->tensor[g->in[k]];
		const struct span *at = &chosen(r->s, net)->in[k];
		uint8_t *to = sim_tensor(plain, g->in[k]);
		bool is_chained = false;
		for (int c = 0; c < r->s->p.n_chains; c++)
			is_chained |= r->s->p.chain[c].to == net && r->s->p.chain[c].in == k;
		if (is_chained) {
			memcpy(to, arena_of(r, net) + at->at, (size_t)at->n);
			continue;
		}
		if (indices[g->in[k]] && (t->type == TFL_INT32 || t->type == TFL_INT64))
			sim_make_indices(SIM_RANDOM, &r->random, t, indices[g->in[k]], to);
		else
			sim_random(&r->random, t, to);
		memcpy(arena_of(r, net) + at->at, to, (size_t)at->n);
	}
}

static bool
run_network(struct runner *r, int net)
{
	struct share *s = r->s;
	if (!sim_invoke(r->plain[net], NULL, s->e))
		return false;
	bool ok = true;
	if (r->compiled[net]) {
		ok = sim_invoke(r->compiled[net], NULL, s->e);
	} else {
		const struct row *row = chosen(s, net);
		struct sim_npu_job job = { .name = s->net[net].path, .payload = s->payload[net] };
		job.region[0] = (struct sim_region){ .rd = s->constants.p + s->base_at[net],
						     .bytes = s->constants.n - (size_t)s->base_at[net] };
		job.region[1] = (struct sim_region){ .rd = arena_of(r, net), .wr = arena_of(r, net),
						     .bytes = (size_t)row->arena };
		uint8_t *fast = row->fast ? r->fast : arena_of(r, net);
		job.region[2] = (struct sim_region){ .rd = fast, .wr = fast,
						     .bytes = (size_t)(row->fast ? row->fast
										 : row->arena) };
		ok = sim_npu_run(&job, s->e);
	}
	for (int k = 0; k < s->p.n_chains; k++) {
		if (s->p.chain[k].from == net)
			r->fresh[k] = true;
		if (s->p.chain[k].to == net)
			r->fresh[k] = false;
	}
	s->runs++;
	return ok;
}

static bool turn(struct runner *r, int net, int depth);

/* Another network that may be live at the same time runs now. */
static bool
interrupt(struct runner *r, int net, int depth)
{
	int other[MAX_NETS], n = 0;
	for (int i = 0; i < r->s->p.n; i++) {
		bool is_fed = true; /* chained inputs have values */
		for (int k = 0; k < r->s->p.n_chains; k++)
			is_fed &= r->s->p.chain[k].to != i || r->fresh[k];
		if (r->s->p.together[net][i] && is_fed)
			other[n++] = i;
	}
	if (!n || depth || draw(r, 2))
		return true;
	return turn(r, other[draw(r, (uint64_t)n)], depth + 1);
}

/* One run of a network; networks of depth above 0 run in the middle of another one's turn. */
static bool
turn(struct runner *r, int net, int depth)
{
	struct share *s = r->s;
	const struct tfl_subgraph *g = &s->net[net].original->subgraph[0];
	if (depth > 2 * MAX_NETS)
		return err_set(s->e, "--chain makes a circle");
	/* chained inputs need a value: the networks before this one run first */
	for (int k = 0; k < s->p.n_chains; k++)
		if (s->p.chain[k].to == net && !r->fresh[k] &&
		    !turn(r, s->p.chain[k].from, depth + 1))
			return false;
	write_inputs(r, net);
	if (!interrupt(r, net, depth) || !run_network(r, net) || !interrupt(r, net, depth))
		return false;
	for (int k = 0; k < g->n_out; k++) {
		const struct span *at = &chosen(s, net)->out[k];
		const uint8_t *want = sim_tensor(r->plain[net], g->out[k]);
		if (memcmp(want, arena_of(r, net) + at->at, (size_t)at->n) != 0)
			return err_no(s->e, s->net[net].name, 0, "output %d differs from the "
				      "original model's in run %d on the shared memory", k,
				      s->runs);
	}
	return true;
}

bool
prove(struct share *s)
{
	struct runner r = { .s = s, .random = 1 };
	int64_t bytes = s->choice.place.bytes;
	r.arena = arena_alloc(s->a, (size_t)bytes + 16, 16);
	r.fast = arena_alloc(s->a, (size_t)s->choice.fast + 16, 16);
	/* bytes that no network has written are no zeros on a device */
	for (int64_t i = 0; i < bytes; i++)
		r.arena[i] = (uint8_t)draw(&r, 256);
	for (int i = 0; i < s->p.n; i++) {
		if (!sim_open_to_compare(s->a, s->net[i].original, &r.plain[i], s->e))
			return false;
		const struct compiled *c = chosen_file(s, i);
		if (!c->alone) {
			if (!sim_open_to_compare(s->a, c->m, &r.compiled[i], s->e))
				return false;
			sim_place(r.compiled[i], arena_of(&r, i));
			continue;
		}
		const struct tfl_subgraph *g = &c->m->subgraph[0];
		for (int k = 0; k < g->n_tensors; k++) {
			const struct tfl_tensor *t = &g->tensor[k];
			if (!t->is_variable)
				continue;
			int fill = t->type == TFL_INT8 && t->quant.n_zero
				       ? (int)(t->quant.zero[0] & 0xff) : 0;
			memset(arena_of(&r, i) + tfl_planned_at(c->m, 0, k), fill, (size_t)tfl_bytes(t));
		}
	}
	for (int64_t i = 0; i < s->o->runs; i++)
		if (!turn(&r, (int)draw(&r, (uint64_t)s->p.n), 0))
			return false;
	return true;
}
