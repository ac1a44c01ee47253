/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses a plan for each of several networks that share memories, and places their arenas.
 * Pure computation: tests/unit/share.c enumerates the same problems.
 */
#ifndef NPU_SHARE_CHOICE_H
#define NPU_SHARE_CHOICE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLACE_STEPS = 20000 }; /* about 50 ms */
enum { MAX_NETS = 12, MAX_ROWS = 256, MAX_CHAINS = 16, MAX_KEPT = 16,
       MAX_CLIQUES = 128 }; /* 81 of 12 networks at most */

/* bytes [at, at + n) of an arena */
struct span {
	int64_t at, n;
};

/* constants that other networks may have, too */
struct segment {
	uint64_t hash;
	int64_t bytes;
};

/* one plan of a network */
struct row {
	int64_t arena;	/* bytes of the arena, a multiple of 16 */
	int64_t fast;	/* bytes of fast memory that only one run uses at a time; 0: none */
	int64_t stream; /* bytes of command streams and other flash that is never shared */
	double cycles, seconds; /* of a run; cycles are those of the NPU */
	const struct segment *segment; /* constants */
	int n_segments;
	/* bytes that keep their values from one run to the next */
	const struct span *kept;
	int n_kept;
	/* inputs and outputs in the arena; NULL: not known yet */
	const struct span *in, *out;
	bool is_measured; /* compiled: all figures are those of the file */
	int64_t sram;  /* the row's memory in the front: the limit with which it compiles */
};

struct net {
	const char *name;
	struct row *row;
	int n_rows;
	double rate;	 /* runs a second, the weight of the time; 0: it breaks ties */
	double deadline; /* seconds; 0: none */
};

/* output `out` of network `from` is input `in` of network `to`, without a copy */
struct chain {
	int from, out, to, in;
};

struct problem {
	struct net net[MAX_NETS];
	int n;
	bool together[MAX_NETS][MAX_NETS]; /* arenas may be live at the same time; symmetric */
	struct chain chain[MAX_CHAINS];
	int n_chains;
	/* find_cliques(): sets of networks of which each two are live together, as bits */
	unsigned clique[MAX_CLIQUES];
	int n_cliques;
	int64_t arena, fast, flash; /* bytes: the budgets; INT64_MAX: none */
	int64_t both; /* bytes of arenas and flash together, in one memory; INT64_MAX: two memories */
};

struct placement {
	int64_t at[MAX_NETS], bytes; /* of each arena, a multiple of 16; of all */
	bool is_proven;	     /* no placement takes fewer bytes */
	int steps;
};

struct choice {
	int row[MAX_NETS];
	struct placement place;
	int64_t fast, flash;
	/* seconds of NPU and CPU for each second, the weighted time; and what breaks ties */
	double time;
	double bound; /* no choice takes less; equal to `time` if `is_exact` */
	bool is_exact;
	uint64_t steps;
};

/*
 * place.c: assigns an address to each arena, for the rows row[].  Arenas that are live
 * together share no byte; kept bytes of a network are shared with no other one; chained
 * tensors have one address.  The search ends at the fewest bytes, or when it takes `enough`,
 * or after most_steps.  False: a chain contradicts that, or nothing was found.
 */
bool place_arenas(const struct problem *p, const int *row, int64_t enough,
		  int most_steps, struct placement *out);
/* the maximal cliques; for the two functions below, and for choose_rows() */
void find_cliques(struct problem *p);
/*
 * A lower bound of the bytes: a clique takes the sum of its arenas, and the kept bytes of all
 * others.  row[i] -1: any row of network i.
 */
int64_t place_bound(const struct problem *p, const int *row);

/*
 * choose.c: the rows with the least weighted time whose placement fits the budgets and which
 * hold all deadlines; among equal times, those that may take the fewest bytes.  False: there are none, or
 * none was found within max_steps; then out->is_exact tells these apart.
 */
bool choose_rows(const struct problem *p, uint64_t max_steps, struct choice *out);
/* flash of a choice: equal constants count once */
int64_t flash_of(const struct problem *p, const int *row);
/* how often network j may run between a request of network `net` and its result */
double runs_before(const struct problem *p, int net, int j);
/* the longest time from a request to the result; networks live together may run before it */
double response_of(const struct problem *p, const int *row, int net);

#endif
