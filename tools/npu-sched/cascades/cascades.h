/* SPDX-License-Identifier: Apache-2.0 */
/* Choices for dividing all operations into cascades. */
#ifndef NPU_SCHED_CASCADES_H
#define NPU_SCHED_CASCADES_H

#include "../weights/slices.h"

/* kept.c.  Result: s->kept, empty.  All variants share this cache. */
void begin_kept(struct sched *s);
/* Sets what keys of cascades take from each operation, for the present layouts. */
void find_kept_keys(struct sched *s);

/* Memory areas of feature maps: the limited one, which is the NPU's own SRAM if there is one; the
 * arena beside that SRAM. */
enum { LIMITED, BESIDE, AREAS };
/* cascades.c: the area of a tensor; AREAS if it is in none.  The runtime has memory of its own for
 * variables that only it touches, the application for separate tensors. */
int area_of(const struct sched *s, const struct g_tensor *t);

/* stripes.c: is t dead after operation `last`?  May o be written over t? */
bool dies_with(const struct sched *s, const struct g_tensor *t, int last);
bool may_share_bytes(const struct g_tensor *t, const struct g_tensor *o);

/* slide.c: a result that is written piece by piece over a feature map that the same operations
 * read for the last time.  For the present layouts of tensors. */
struct slide {
	struct g_tensor *from, *to;
	int64_t lead;	 /* bytes by which `to` begins before `from` */
	int first, last; /* operations during which both are live */
	int64_t saved;	 /* bytes saved during these */
};
struct slides {
	struct slide *v; /* sorted: largest `saved` first */
	size_t n, cap;
};
void find_slides(struct sched *s, struct slides *l);
/* Must an operation run whole and in the graph's order because of a slide? */
bool is_slid(const struct slides *l, const struct sched *s, int op);
/* Bytes of an area saved by slides that are live during any of operations first..last. */
int64_t slides_save(const struct sched *s, const struct slides *l, int area, int first, int last);

/* A kernel of a cascade: an operation, and rows of its OFM. */
struct stripe {
	int op;
	int32_t lo, hi;
};

/* stripes.c: operations first..last, run in stripes of `rows` rows of the last OFM or as a
 * chain. */
struct cascade {
	int first, last;
	int32_t rows; /* 0: one whole operation, or a chain of whole operations */
	enum block_objective objective;
	double cost[2];
	double lower_bound; /* cycles, wherever its weights are */
	struct stripe *kernel; /* in order; of a chain one, which begins with its operation */
	size_t n_kernels;
	int32_t *rolling, *stripe; /* rows, of each operation of the cascade */
	struct g_tensor *over;	 /* tensor over which the last OFM is written, or NULL */
	int64_t lead;		 /* bytes by which that OFM begins before `over` */
};
enum { MAX_LENGTH = 12 }; /* largest number of operations */
/* Sets stripe, cost and lower_bound.  Needs: first, last, rows, and memory for stripe.  False:
 * no block fits, or a chain is no gain. */
bool cascade_price(struct sched *s, struct cascade *c);
/* Sets rolling, over and lead and, if wanted, the kernels in order.  Needs: stripe. */
void cascade_run(struct sched *s, struct arena *a, struct cascade *c, bool kernels);

/* kept.c: the rows that a cascade keeps between stripes, cached for all variants. */
struct kept {
	int32_t *rolling; /* rows kept of each operation's OFM */
	/* input feature maps over which the last OFM may be written if they die in the
	 * cascade */
	struct ending {
		/* operation that reads it, from the cascade's first; 0: IFM, 1: IFM2 */
		int op, operand;
		int64_t lead;	 /* bytes by which the last OFM must begin before it */
	} *ending;
	int n_ops, n_endings;
};
/* The cache entry of a cascade (hash_table_at); NULL in it: not found yet. */
void **kept_at(const struct sched *s, const struct cascade *c);
struct kept *copy_kept(const struct sched *s, const struct kept *from);

/* Lifetime of a tensor.  Operations and CPU nodes have a time step each. */
struct live_range {
	int lo, hi;
	int64_t bytes[AREAS];
	int producer; /* operation whose OFM it is, if that may be a rolling buffer; -1: none */
};

/* Bytes that one operation's weights take when fetched, and cycles that fetching saves. */
struct saving {
	int64_t bytes;
	double cycles;
};

/* One choice: a cascade and its price.  Choices are many, so a cascade's stripes and kernels are
 * made only when a plan takes it. */
struct cascade_choice {
	/* cycles with weights in place [0] and fetched before [1], with the time of the front end
	 * (paced_cost); and a lower bound wherever weights are, without */
	double cost[2], lower_bound;
	int first, last; /* its operations */
	int32_t rows; /* as in struct cascade */
	enum block_objective objective;
	int64_t bytes[AREAS]; /* of all feature maps live while it runs */
	int64_t slid[AREAS];  /* of these, saved by sliding its result over an operand */
	int64_t weights; /* of all its weights */
	int n_savings;
	struct saving *saving; /* of a striped cascade: sorted, most cycles per byte first */
};

struct cascades {
	struct arena *a;
	struct cascade_choice *v;
	size_t n;
	size_t n_all; /* with the choices that is_worse_than_alone() has left out */
	int *first_of; /* index of the first choice whose last operation is i */
	struct live_range *live; /* lifetime of each tensor */
	size_t n_live;
	struct slides slides;
	struct hash_table made; /* cascades with kernels that plans have taken */
	int64_t whole_peak;	/* peak of whole feature maps */
	double lower_bound; /* cycles of all divisions, wherever weights are */
	struct live_sums {
		/* bytes of lifetimes that begin, or end, before each time step */
		int64_t *begun, *ended;
		int64_t at_cpu; /* largest sum of live bytes at a CPU node */
	} sums[AREAS];
};

/* cascades.c: cascades_open() lists no choices, which is enough to take decisions.
 * cascades_list() lists whole operations and chains; called once more, cascades in stripes, too. */
struct cascades *cascades_open(struct sched *s);
void cascades_list(struct sched *s, struct cascades *c, bool stripes);
void cascades_close(struct cascades *c); /* NULL is allowed */

/* A division of all operations into cascades. */
struct division {
	int *picked, n; /* choices, from the last to the first; n 0: none, or no operations */
	bool slide; /* some result slides over an operand: fewer bytes, but harder to pack */
	/* The most bytes of feature maps that are live in an area at a time.  The plan needs as many;
	 * up to 9 % fewer if a cascade has so few stripes that not all of its feature maps are live
	 * at once (115 of 60,000 divisions of 26 networks). */
	int64_t bytes[AREAS];
};
/* divide.c: finds the fastest division with feature maps below a limit.  slide: results may begin a
 * few rows before the operand that they consume.  in_place: all weights stay in place; else they
 * are fetched as far as they fit. */
struct division cascades_choose(struct sched *s, struct arena *list, const struct cascades *c,
				int64_t limit, bool slide, bool in_place);
/* Lower bound of a division's cycles, wherever its weights are. */
double division_lower_bound(struct sched *s, const struct cascades *c, const struct division *d,
			    enum cut cut);
/* cascades.c: why operations first..last cannot run in stripes of `rows` rows, or as a chain if rows
 * is 0; NULL: they can. */
const char *cascade_obstacle(struct sched *s, const struct cascades *c, int first, int last,
			     struct decision d);
/* divide.c: the decisions of a division about each operation, with one cut for all. */
void division_decide(const struct cascades *c, const struct division *d, enum cut cut,
		     struct decision *out);
/* A plan with decisions about all operations, their kernels and weight slices of estimated sizes, but
 * no rectangles. */
struct plan *cascades_take(struct sched *s, struct cascades *all, const struct decision *d,
			   bool slide);
/* The smallest limit with a division; INT64_MAX: none.  The limit from which on the division no
 * longer changes. */
int64_t cascades_least(struct sched *s, const struct cascades *c);
int64_t cascades_most(const struct cascades *c);

static inline int
step_of(const struct sched *s, int op)
{
	return op + s->info[op].cpu_before;
}

#endif
