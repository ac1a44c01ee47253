/* SPDX-License-Identifier: Apache-2.0 */
/* Choices for a division of all operations into cascades. */
#ifndef NPU_SCHED_CASCADES_H
#define NPU_SCHED_CASCADES_H

#include "../sched.h"

/* stripes.c: does nobody want t after operation last?  may o be put over t? */
bool dies_with(const struct sched *s, const struct g_tensor *t, int last);
bool may_share_bytes(const struct g_tensor *t, const struct g_tensor *o);

/* slide.c: a result written in pieces over a map that is read up meanwhile,
 * for the layouts that tensors have now */
struct slide {
	struct g_tensor *from, *to;
	int64_t lead;	 /* bytes by which `to` begins before `from` */
	int first, last; /* operations while both are live */
	int64_t saved;	 /* bytes, then */
};
struct slides {
	struct slide *v; /* those that save most come first */
	size_t n, cap;
};
void find_slides(struct sched *s, struct slides *l);
/* must it run whole and in its turn because of one of them? */
bool is_slid(const struct slides *l, const struct sched *s, int op);
/* bytes saved while any of first..last runs */
int64_t slides_save(const struct slides *l, int first, int last);

/* stripes.c: operations first..last run in stripes of `rows` of the last one, or as a
 * chain */
struct cascade {
	int first, last;
	int32_t rows; /* 0: one operation, whole, or a chain of them */
	double cost[2];
	double lower_bound; /* cycles, whatever becomes of the weights */
	struct kernel *kernel;
	size_t n_kernels;
	int32_t *rolling, *stripe; /* of each operation of the cascade */
	struct g_tensor *over;	 /* that the last OFM is written over, or NULL */
	int64_t lead;		 /* bytes by which it begins before that one */
	int64_t inside;		 /* bytes of rolling buffers */
};
enum { MAX_LENGTH = 12 }; /* operations of a cascade */
/* first, last, rows and room for stripes are given: those and what they cost; false:
 * no block fits */
bool cascade_price(struct sched *s, struct cascade *c);
/* rows per stripe of each operation, from the last one upwards; rows 0: all in one */
void cascade_stripes(const struct sched *s, struct cascade *c);
/* needs its stripes: what is kept between them and, if wanted, the kernels in order */
void cascade_run(struct sched *s, struct arena *a, struct cascade *c, bool kernels);

/* kept.c: what it keeps from stripe to stripe; all variants share what was found */
struct kept {
	int32_t *rolling; /* rows of each operation's OFM */
	/* maps from outside that the last OFM may lie over, if they die by then */
	struct ending {
		int op, operand; /* of the cascade's: one that reads it; IFM or IFM2 */
		int64_t lead;	 /* bytes by which that OFM must begin before it */
	} *ending;
	int n_ops, n_endings;
};
/* where a cascade's stands (hash_table_at): NULL until it is found */
void **kept_at(const struct sched *s, const struct cascade *c);
struct kept *copy_kept(const struct sched *s, const struct kept *from);

/* when a tensor is in memory: operations and CPU nodes have a time step each */
struct live_range {
	int lo, hi;
	int64_t bytes;
	int producer; /* operation whose OFM it is, if that may roll; or -1 */
};

/* what fetching one operation's weights costs and saves */
struct saving {
	int64_t bytes;
	double cycles;
};

/* what a division asks of each comes first, as there are many */
struct cascade_choice {
	int64_t bytes;	 /* all feature maps live while it runs */
	int64_t slid;	 /* of them: saved by sliding its result over an operand */
	int64_t weights; /* to have them all in SRAM */
	struct saving *saving; /* of a striped cascade: the best first */
	int n_savings;
	struct cascade cascade;
};

struct cascades {
	struct arena *a;
	struct cascade_choice *v;
	size_t n, cap;
	int *first_of; /* index of the first choice that ends at op i */
	struct live_range *live; /* of each tensor */
	size_t n_live;
	struct slides slides;
	int64_t cpu_bytes; /* live at the fullest CPU node */
	int64_t whole_peak;
	/* cycles of all divisions at least, whatever becomes of the weights; and of
	 * the fastest one with weights in place: those that are left out count, too */
	double lower_bound, in_place;
	int64_t *begun, *ended; /* bytes of lives from before, to before each time step */
};

/* cascades.c: what all operations can be divided into.  To begin with,
 * each of them as a whole; then also cascades in stripes; `drop`: but for those that no
 * division into takes fewer cycles than `below`.  false: no division at all does, and
 * none can be chosen. */
struct cascades *cascades_list(struct sched *s);
bool cascades_add(struct sched *s, struct cascades *c, double below, bool drop);
void cascades_close(struct cascades *c); /* NULL is allowed */

/* divide.c: the division that is fastest with feature maps below limit: choices from the
 * last one to the first in picked, which has room for n_ops; 0: there is none, or
 * nothing to divide.  slide: results may begin a few rows before the operand they
 * consume. */
int cascades_choose(struct sched *s, const struct cascades *c, int64_t limit, bool slide,
		  int *picked);
/* cycles that it takes at least, whatever becomes of the weights */
double division_lower_bound(struct sched *s, const struct cascades *c, const int *picked, int n,
		    enum cut cut);
/* cycles that all divisions take at least, whatever becomes of the weights, or if all
 * of those are read in place; divisions into what was left out count, too */
struct cascades_bound {
	double lower_bound, in_place;
} cascades_bound(const struct cascades *c);
/* its cycles where maps and weights share so many bytes, with weights fetched as far as
 * there is room beside each cascade's maps.  Of the best division; INFINITY: none */
double division_estimate(const struct cascades *c, const int *picked, int n, int64_t limit,
			 bool slide);
double cascades_estimate(struct sched *s, const struct cascades *c, int64_t limit, bool slide);
/* its kernels */
void cascades_take(struct sched *s, struct cascades *c, const int *picked, int n,
		 bool slide, struct plan *out);
/* the smallest limit for which there is a division; INT64_MAX: none.  The one from
 * which on it is always the same. */
int64_t cascades_least(struct sched *s, const struct cascades *c);
int64_t cascades_most(const struct cascades *c);
/* without stripes: the peak */
int64_t cascades_whole_peak(const struct cascades *c);

static inline int
step_of(const struct sched *s, int op)
{
	return op + s->info[op].cpu_before;
}

#endif
