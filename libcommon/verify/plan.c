/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a model around its streams: the container (rules 48 to 51), the memory
 * bound to the regions, and the bytes of the arena that are written before a stream runs.
 */
#include "base/fixed.h"
#include "base/little_endian.h"
#include "borders/borders.h"
#include "target/accel.h"
#include "tflite/tflite.h"
#include "verify/rules.h"

#include <inttypes.h>
#include <string.h>

/* Inputs of an ethos-u operator (ethosu-commands(7) 13.3). */
enum { IN_STREAM, IN_FLASH, IN_SCRATCH, IN_FAST, N_SPECIAL };

/* Larger memories are not tracked byte by byte. */
#define TRACKED_MAX ((int64_t)1 << 32)

struct plan {
	const struct tfl_model *m;
	struct arena *a;
	struct bytes offsets; /* one int32 per tensor; p NULL: no metadata */
	/* the subgraph's part of the arena, as its streams see it: the scratch tensor */
	int64_t origin, arena_bytes;
	struct written *arena; /* NULL: not tracked (no offsets, or too large) */
	struct border_tensors borders;
	int subgraph, op;      /* position of the next operator that plan_advance() passes */
};

/*
 * Returns the number of words before the offsets of subgraph s
 * (ethosu-commands(7) 13.4).
 */
static size_t
first_offset(const struct plan *p, int s)
{
	size_t n = 3;
	for (int i = 0; i < s; i++)
		n += (size_t)p->m->subgraph[i].n_tensors;
	return n;
}

/*
 * Returns the offset of a tensor in the subgraph's part of the arena; -1: the tensor has no
 * offset.  In front of that part, it is INT32_MAX: beyond any arena.
 */
static int64_t
offset_of(const struct plan *p, int s, int tensor)
{
	size_t word = first_offset(p, s) + (size_t)tensor;
	if (!p->offsets.p || 4 * (word + 1) > p->offsets.n)
		return -1;
	int64_t at = (int32_t)load_le32(p->offsets.p + 4 * word);
	return at < 0 ? at : at < p->origin ? INT32_MAX : at - p->origin;
}

static const struct tfl_op *
operator_of(const struct checker *c, const struct tfl_model *m)
{
	return &m->subgraph[c->s->subgraph].op[c->s->op];
}

static int64_t
bytes_of(const struct tfl_model *m, int s, int tensor)
{
	return tensor < 0 ? 0 : tfl_bytes(&m->subgraph[s].tensor[tensor]);
}

static void
mark_tensor(struct plan *p, int s, int tensor)
{
	int64_t at = tensor < 0 ? -1 : offset_of(p, s, tensor);
	if (p->arena && at >= 0)
		written_mark(p->arena, at, bytes_of(p->m, s, tensor));
}

/* Finds the part of the arena that an operator of the NPU uses. */
static void
find_part(struct plan *p, int s, const struct tfl_op *op)
{
	int scratch = op->n_in > IN_SCRATCH ? op->in[IN_SCRATCH] : -1;
	p->origin = scratch < 0 ? 0 : max_i64(tfl_planned_at(p->m, s, scratch), 0);
	p->arena_bytes = bytes_of(p->m, s, scratch);
}

/*
 * Begins with the memory of a subgraph, and marks its inputs and variables, which have values
 * from the start.
 */
static void
enter_subgraph(struct plan *p, int s)
{
	const struct tfl_subgraph *g = &p->m->subgraph[s];
	p->arena = NULL;
	for (int i = g->n_ops; i-- > 0;)
		if (npu_is_operator(&g->op[i]))
			find_part(p, s, &g->op[i]);
	if (p->offsets.p && p->arena_bytes <= TRACKED_MAX)
		p->arena = written_new(p->a, p->arena_bytes);
	for (int i = 0; i < g->n_in; i++)
		mark_tensor(p, s, g->in[i]);
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_variable)
			mark_tensor(p, s, i);
}

struct plan *
plan_open(struct checker *c, const struct tfl_model *m)
{
	struct plan *p = anew(c->a, struct plan, 1);
	p->m = m;
	p->a = c->a;
	p->offsets = tfl_metadata(m, "OfflineMemoryAllocation");
	/* unreadable metadata is ignored here; programs that need it will report it */
	struct err none = { 0 };
	if (!borders_read(c->a, m, &p->borders, &none))
		p->borders = (struct border_tensors){ .actual = 1 };
	enter_subgraph(p, 0);
	return p;
}

void
plan_advance(struct plan *p, int subgraph, int op)
{
	for (; p->subgraph < subgraph || p->op < op; p->op++) {
		const struct tfl_subgraph *g = &p->m->subgraph[p->subgraph];
		if (p->op >= g->n_ops) {
			p->subgraph++;
			p->op = -1;
			enter_subgraph(p, p->subgraph);
			continue;
		}
		const struct tfl_op *done = &g->op[p->op];
		for (int k = 0; k < done->n_out && !npu_is_operator(done); k++)
			mark_tensor(p, p->subgraph, done->out[k]);
	}
}

static void
bind(struct checker *c, const struct tfl_model *m, int region, int tensor)
{
	const struct tfl_tensor *t = &m->subgraph[c->s->subgraph].tensor[tensor];
	c->memory[region] = (struct memory){ .bound = true,
					     .read_only = t->data.p != NULL,
					     .bytes = tfl_bytes(t) };
}

/* Base pointers as the runtime passes them: inputs from 1 on, then outputs. */
void
plan_bind(struct plan *p, struct checker *c)
{
	const struct tfl_op *op = operator_of(c, p->m);
	int n = 0, s = c->s->subgraph;
	c->has_memory = true;
	memset(c->memory, 0, sizeof(c->memory));
	for (int k = IN_FLASH; k < op->n_in && n < N_REGIONS; k++, n++)
		if (op->in[k] >= 0)
			bind(c, p->m, n, op->in[k]);
	for (int k = 0; k < op->n_out && n < N_REGIONS; k++, n++) {
		int64_t bytes = bytes_of(p->m, s, op->out[k]);
		bind(c, p->m, n, op->out[k]);
		/* an output without an offset in the plan is written through its own base
		 * pointer */
		if (p->offsets.p && offset_of(p, s, op->out[k]) < 0 && bytes <= TRACKED_MAX)
			c->memory[n].written = written_new(p->a, bytes);
	}
	/* Behind the base pointer of a region that contains several outputs, the stream
	 * writes bytes, too.  The region of the inputs (k 0) has values from the start. */
	for (int k = 1; s == 0 && k < stream_io_regions(p->m); k++) {
		int64_t bytes = bytes_of(p->m, 0, stream_io_region(p->m, k));
		if (bytes <= TRACKED_MAX)
			c->memory[N_SPECIAL - IN_FLASH + k].written = written_new(p->a, bytes);
	}
	struct memory *fast = &c->memory[IN_FAST - IN_FLASH];
	if (op->in[IN_FLASH] >= 0)
		c->flash = p->m->subgraph[s].tensor[op->in[IN_FLASH]].data;
	c->memory[IN_SCRATCH - IN_FLASH].written = p->arena;
	if (op->in[IN_FAST] == op->in[IN_SCRATCH])
		fast->written = p->arena;
	else if (fast->bound && fast->bytes <= TRACKED_MAX)
		fast->written = written_new(p->a, fast->bytes);
}

/* Returns the first unwritten byte of the elements of border tensor x; -1: none. */
static int64_t
hole_in_border(const struct written *to, const struct border_tensor *x, int64_t at)
{
	struct border_shape n = border_shape(x);
	int32_t run = x->layout == BORDER_NHWC ? n.c : 1;
	int64_t hole = -1;
	for (int32_t i = 0; i < n.n && hole < 0; i++)
		for (int32_t y = 0; y < n.h && hole < 0; y++)
			for (int32_t w = 0; w < n.w && hole < 0; w++)
				for (int32_t c = 0; c < n.c && hole < 0; c += run)
					hole = written_hole(to,
							    at + border_offset(x, i, y, w, c),
							    run * tfl_type_bytes(x->type));
	return hole;
}

/* Returns the written bytes of the memory that holds output k; *at: the position of output k. */
static const struct written *
written_at(const struct plan *p, const struct checker *c, int k, struct stream_place *at)
{
	const struct tfl_op *op = operator_of(c, p->m);
	int s = c->s->subgraph, region = op->n_in - IN_FLASH + k;
	int64_t offset = op->out[k] < 0 ? -1 : offset_of(p, s, op->out[k]);
	if (s == 0 && stream_io_regions(p->m))
		*at = stream_separate_place(p->m, op->out[k]);
	if (at->region)
		return c->memory[at->region].written;
	if (offset >= 0) {
		at->at = offset;
		return p->arena;
	}
	at->region = region;
	return region < N_REGIONS ? c->memory[region].written : NULL;
}

/* Rule 52 for outputs: the stream must write all bytes of each output. */
void
plan_outputs(struct plan *p, struct checker *c)
{
	const struct tfl_op *op = operator_of(c, p->m);
	const struct tfl_subgraph *g = &p->m->subgraph[0];
	int s = c->s->subgraph;
	for (int k = 0; k < op->n_out; k++) {
		struct stream_place at = { .region = 0 };
		const struct written *to = written_at(p, c, k, &at);
		if (!to)
			continue;
		/* its layout record, if it is an output of the network that has one */
		const struct border_tensor *x = NULL;
		for (int i = 0; !x && s == 0 && i < g->n_out && i < p->borders.n_out; i++)
			if (g->out[i] == op->out[k] && p->borders.out[i].has_record)
				x = &p->borders.out[i];
		int64_t n = bytes_of(p->m, s, op->out[k]);
		int64_t hole = x ? hole_in_border(to, x, at.at) : written_hole(to, at.at, n);
		ERROR_IF(hole >= 0, c, VERIFY_RULE_WRITTEN,
			 "byte 0x%" PRIx64 " of %s belongs to output %d, "
			 "and nothing has written it", (uint64_t)hole,
			 at.region ? "its memory" : "the arena", k);
	}
}

/* ---- the container ------------------------------------------------------ */

/* Rule 51: the offset of a tensor is aligned, and the tensor is inside the arena. */
static void
check_offset(struct checker *c, struct plan *p, int tensor, const char *role)
{
	int s = c->s->subgraph;
	int64_t at = tensor < 0 ? -1 : offset_of(p, s, tensor);
	int64_t n = bytes_of(p->m, s, tensor);
	if (at < 0)
		return;
	bool apart = s == 0 && stream_io_regions(p->m) &&
		     stream_separate_place(p->m, tensor).region;
	ERROR_IF(at % 16, c, 51, "%s '%s' at 0x%" PRIx64
		 " is no multiple of 16", role,
		 p->m->subgraph[s].tensor[tensor].name, (uint64_t)at);
	ERROR_IF(at + n > p->arena_bytes && !apart, c, 51, "%s '%s' ends at 0x%" PRIx64
		 ", beyond the arena of %" PRId64 " bytes", role,
		 p->m->subgraph[s].tensor[tensor].name, (uint64_t)(at + n),
		 p->arena_bytes);
}

void
check_container(struct checker *c, const struct tfl_model *m)
{
	const struct tfl_op *op = operator_of(c, m);
	const struct tfl_subgraph *g = &m->subgraph[c->s->subgraph];
	struct plan p = { .m = m, .offsets = tfl_metadata(
					  m, "OfflineMemoryAllocation") };
	c->command = NULL;

	/* rule 48: the driver payload.  The driver doesn't check the product field, and one
	 * generator writes 6 for all products (ethosu-commands(7) 14.3, 14.4). */
	static const uint32_t head[] = { 0x31504f43, 0x00100001, 0, 0, 5, 5, 5 };
	struct bytes b = g->tensor[op->in[IN_STREAM]].data;
	size_t words = c->s->n_words;
	bool ok = b.n == 32 + 4 * words;
	for (size_t i = 0; ok && i < ARRAY_LEN(head); i++)
		ok = i == 2 || i == 3 || load_le32(b.p + 4 * i) == head[i];
	ERROR_IF(!ok, c, 48, "the driver payload of %zu bytes does not have the "
		 "usual header for %zu words", b.n, words);
	ERROR_IF(c->s->config != c->accel->config_word, c, 48,
		 "configuration 0x%08" PRIx32 " is not that of %s", c->s->config,
		 c->accel->name);
	uint32_t arch = accel_generation(c->accel)->arch;
	ERROR_IF(c->s->id >> 28 != arch, c, 48, "architecture %" PRIu32
		 " in ID 0x%08" PRIx32 " is not that of %s", c->s->id >> 28, c->s->id,
		 c->accel->name);

	/*
	 * Rule 49: the operator.  The runtime passes the first 8 base addresses
	 * (ethosu-commands(7) 13.3).  Further inputs and outputs only matter for the
	 * runtime's memory plan.  A stream that uses another base address breaks rule 29.
	 */
	static const uint8_t options[] = { 1, 4, 1 };
	for (int k = 0; k < N_SPECIAL; k++) {
		const struct tfl_tensor *t =
		    op->in[k] < 0 ? NULL : &g->tensor[op->in[k]];
		ERROR_IF(!t || t->type != TFL_UINT8 || t->rank != 1, c, 49,
			 "input %d of the operator is no uint8 tensor of rank 1", k);
	}
	ERROR_IF(op->custom_options.n != sizeof(options) ||
		 memcmp(op->custom_options.p, options, sizeof(options)), c, 49,
		 "the operator's custom options of %zu bytes are not 01 04 01",
		 op->custom_options.n);

	/* rule 51: the offsets of the memory plan */
	if (op->in[IN_SCRATCH] < 0)
		return;
	find_part(&p, c->s->subgraph, op);
	if (p.offsets.p) {
		size_t n = first_offset(&p, m->n_subgraphs);
		ERROR_IF(p.offsets.n != 4 * n, c, 51,
			 "OfflineMemoryAllocation has %zu bytes, not %zu",
			 p.offsets.n, 4 * n);
	}
	for (int k = N_SPECIAL; k < op->n_in; k++)
		check_offset(c, &p, op->in[k], "input");
	for (int k = 0; k < op->n_out; k++)
		check_offset(c, &p, op->out[k], "output");
}
