/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as a value: the kernels in order, the weight slices that they use, the transfers between
 * them, and a rectangle of memory and time for every tensor and buffer.
 */
#ifndef NPU_SCHED_PLAN_H
#define NPU_SCHED_PLAN_H

#include "../sched.h"

/* The part of a weight slice that is in fast memory: none, all, or its scales alone. */
enum held { IN_PLACE, FETCHED, SCALES_FETCHED, HELDS };

enum { AXI_PORTS = 2 }; /* each with a memory: struct memory_system, axi */

/* One kernel of the NPU: an operation, a stripe of its rows or a slice of its channels.  Or
 * one copy of rows by the DMA engine, which runs beside the kernels. */
struct kernel {
	int op;
	int links; /* number of operations behind `op` that are chained to it and run with it */
	enum block_objective objective; /* of the operation's block */
	struct g_range rows, depth;
	int slice;	/* the weight slice that the kernel uses; -1: no weights */
	double cost[HELDS]; /* cycles; INFINITY: fetching the scales alone is no option */
	double busy[HELDS][AXI_PORTS]; /* cycles for which the memory of each port is busy */
	int awaits;	   /* the last copy, as an index, for which the kernel waits; -1: none */
	double table_load; /* cycles to load a table before the kernel; 0: none is loaded */
	int table_slot;	   /* of that table */
	double transfer; /* of a copy: cycles of the DMA engine (cost is 0); else 0 */
};

/* One slice of a weights record. */
struct weight_slice {
	struct g_weights *w;
	int op;	   /* the first operation that uses the slice */
	int index; /* among the slices of the record, from 0 */
	struct g_range depth;
	int64_t stream_bytes, scale_bytes; /* sums over all cores */
	int first, last; /* the first and the last kernel that use the slice */
	/* of all kernels that use the slice: cycles; cycles for which the memory of constants is busy */
	double cost[HELDS], busy[HELDS];
	enum held held;
	int start; /* the buffer is live from before this kernel */
	double arrival; /* cycles, on the clock of the walk: the last byte is in the buffer */
	int64_t at; /* address of the buffer, if the walk assigned addresses */
};

struct fetch {
	int slice, before; /* the transfer starts before kernel `before` */
	int64_t lo, hi;	  /* range of bytes of the slice */
};

/* A rectangle of bytes and time steps: a feature map or a weight buffer while it is live.
 * Rectangles of a group keep their distances in memory. */
struct rect {
	struct g_tensor *t; /* the feature map; NULL: a weight buffer */
	int slice;	    /* the weight slice in the buffer; -1: a feature map */
	int place;	    /* memory area, enum g_place */
	int64_t bytes, lo, hi, at;	/* bytes 0: no address; lo, hi: time steps, inclusive */
	int group;	/* index of the rectangle that represents its group */
	int next;	/* the next rectangle of the group; -1: none */
	int64_t offset; /* bytes from the group's first byte */
	struct g_tensor *over; /* the tensor whose bytes the feature map overwrites, or NULL */
	bool fixed; /* the address is that of the graph */
};

/* How transfers stay below a limit: by the sum of live bytes (the peak can be higher), or
 * with addresses for their buffers between the feature maps, which do not move. */
enum fit { SUMMED, BETWEEN, FITS };

/* Work spent on packing: many plans are compared, few are, or one plan shall have the least
 * peak that packing can reach. */
enum care { QUICK, TRY, LAST };

enum { FETCH_BYTES = 50 }; /* of a command stream, on average, for a transfer of weights */

/* What a plan decides about memory. */
struct memory_decision {
	int64_t limit; /* bytes of feature maps and buffers together */
	double ahead; /* weights are fetched at most so many cycles before their use; 0: any */
	enum fit buffers;
	enum care packing;
	enum care outside; /* of the feature maps outside of the limited area, TRY or LAST */
};

/* Size of weight slices: uncut, or about 12 or 4 KB wherever weights can be cut. */
enum cut { UNCUT, CUT_COARSE, CUT_FINE, CUTS, ANY_CUT = CUTS };

/* What a plan decides about an operation. */
struct decision {
	int32_t joins; /* 1: in one cascade or chain with the operation before it; else 0 */
	enum cut cut; /* of its weights */
	/* the same for all operations of a cascade: */
	enum block_objective objective; /* of its blocks */
	int32_t rows; /* per stripe of the last OFM; 0: one whole operation, or a chain */
};

/*
 * A plan is its decisions: the same network with the same order, layouts and areas gives the same
 * plan.
 */
struct decisions {
	struct decision *op; /* of each operation, in running order */
	int n_ops;
	bool slide; /* results may slide over operands: fewer bytes, but harder to pack */
	bool *in_place; /* of each weight slice; NULL: as leave_useless() decides */
	size_t n_slices;
	struct memory_decision memory;
};

struct plan {
	struct arena *a; /* of everything in the plan */
	struct decisions decided; /* all else follows from these */
	struct kernel *kernel;
	size_t n_kernels;
	struct weight_slice *slice;
	size_t n_slices, cap_slices;
	int effort; /* step of --effort, from 0, by which it is packed */
	struct fetch *fetch;
	size_t n_fetches, cap_fetches;
	int32_t *rolling; /* of each operation: rows of its OFM that are kept; 0: all */
	int32_t *stripe;	  /* of each operation: rows at a time; 0: all */
	struct g_tensor **over; /* of each operation: tensor that its OFM overwrites, or NULL */
	int64_t *lead;		/* bytes by which the OFM begins before the tensor of `over` */
	struct g_list *cut_points; /* of each operation: bounds of its slices; n 0: one */
	struct rect *rect;
	size_t n_rects, n_maps; /* in rect, feature maps come before buffers */
	int64_t commands; /* bytes of the command streams without transfers, roughly */
	int64_t stored; /* these, and the bytes of weights */
	int64_t *map_bytes;	/* of all feature maps in the limited area, at each kernel */
	/* of feature maps packed without buffers: rank of the group in the order; address */
	int *map_rank;
	int64_t *map_at;
	struct touches *touches; /* cache of clock.c: bytes that each kernel touches */
	double cycles;
	bool beside_placed; /* addresses outside of the limited area are assigned */
	enum care beside;   /* with this care */
	double used_ahead; /* down to this value, a smaller `ahead` changes no transfer */
	double least_cycles; /* lower bound, of the present transfers; 0: none are decided */
	int64_t need; /* bytes live at the fullest kernel: a sum, without addresses */
	int64_t asked; /* bytes: with this limit or a higher one, transfers are the same */
	int64_t peak[PLACES], bound[PLACES]; /* bytes of each area: peak, its lower bound */
};

/* plan.c: a plan without kernels and decisions.  The caller closes it. */
struct plan *plan_new(struct sched *s);
void plan_close(struct plan *p); /* NULL is allowed */
/* A copy with lists of its own. */
struct decisions decisions_copy(struct arena *a, const struct decisions *d);

static inline int64_t
slice_bytes(const struct weight_slice *u)
{
	return u->stream_bytes + u->scale_bytes;
}

/* The bytes of a slice that are fetched.  Scales come before weights. */
static inline int64_t
held_bytes(const struct weight_slice *u, enum held held)
{
	return held == IN_PLACE ? 0 : held == FETCHED ? slice_bytes(u) : u->scale_bytes;
}

/* Decides about a slice.  The present transfers become invalid. */
static inline void
decide_slice(struct plan *p, size_t slice, bool in_place)
{
	p->decided.in_place[slice] = in_place;
	p->least_cycles = 0;
}

/* Decides about memory.  The present transfers stay valid if they are the same. */
static inline void
decide_memory(struct plan *p, struct memory_decision m)
{
	const struct memory_decision *was = &p->decided.memory;
	if (m.buffers != SUMMED || was->buffers != SUMMED || m.limit != was->limit ||
	    m.ahead != was->ahead)
		p->least_cycles = 0;
	p->decided.memory = m;
}

/* The part of a kernel's weights in fast memory; IN_PLACE for a kernel without weights. */
static inline enum held
held_of(const struct plan *p, const struct kernel *k)
{
	return k->slice >= 0 ? p->slice[k->slice].held : IN_PLACE;
}

#endif
