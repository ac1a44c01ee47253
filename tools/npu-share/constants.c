/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the constants of all networks in one array, equal parts once, and writes the new
 * addresses into the streams.  A register of an address is rewritten if operations use it
 * with region 0.
 */
#include "share.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "stream/op.h"
#include "stream/stream.h"

#include <string.h>

enum { ALIGN = 16, OTHER_REGION = 1, CONSTANTS = 2 };

struct piece {
	uint64_t hash;
	const uint8_t *p;
	int64_t at, n; /* place in the array */
};

struct join {
	struct share *s;
	struct piece *piece;
	size_t n, cap;
	int64_t bytes;
};

/* the place of bytes in the array, which gets them if it lacks them */
static int64_t
place_piece(struct join *j, const uint8_t *p, int64_t n)
{
	uint64_t hash = hash_xxh3(p, (size_t)n);
	for (size_t i = 0; i < j->n; i++)
		if (j->piece[i].hash == hash && j->piece[i].n == n &&
		    !memcmp(j->piece[i].p, p, (size_t)n))
			return j->piece[i].at;
	agrow(j->s->a, j->piece, j->n, &j->cap);
	j->piece[j->n++] = (struct piece){ hash, p, j->bytes, n };
	j->bytes += round_up_i64(n, ALIGN);
	return j->piece[j->n - 1].at;
}

/* ---- addresses in a stream ------------------------------------------------------------ */

struct patch {
	uint8_t *use;	     /* of each word: CONSTANTS, OTHER_REGION, or both */
	size_t last[NPU_REGS]; /* word of the last write of a register */
	bool written[NPU_REGS];
};

static void
note_use(struct patch *x, enum npu_reg reg, int region)
{
	if (x->written[reg])
		x->use[x->last[reg]] |= region ? OTHER_REGION : CONSTANTS;
}

static void
note_fm(struct patch *x, const struct npu_fm *f, enum npu_reg base)
{
	if (!npu_fm_stored(f))
		return;
	struct npu_range tile[4];
	(void)npu_fm_extent(f, npu_fm_box(f), tile);
	for (int i = 0; i < 4; i++)
		if (tile[i].n > 0)
			note_use(x, (enum npu_reg)((int)base + i), f->region);
}

static void
note_op(struct patch *x, const struct npu_op *op)
{
	static const enum npu_reg weights[NPU_MAX_STREAMS] = {
		NPU_WEIGHT_BASE, NPU_WEIGHT1_BASE, NPU_WEIGHT2_BASE, NPU_WEIGHT3_BASE };
	static const enum npu_reg scales[2] = { NPU_SCALE_BASE, NPU_SCALE1_BASE };
	if (op->kind == NPU_DMA) {
		if (!op->src_internal)
			note_use(x, NPU_DMA0_SRC, op->src.region);
		if (!op->dst_internal)
			note_use(x, NPU_DMA0_DST, op->dst.region);
		if (op->src_indexed || op->dst_indexed)
			note_use(x, NPU_DMA0_IDX, op->rows.region);
	}
	if (!npu_is_kernel(op))
		return;
	if (!op->ifm_scalar)
		note_fm(x, &op->ifm, NPU_IFM_BASE0);
	if (op->has_ifm2 && !op->ifm2_scalar)
		note_fm(x, &op->ifm2, NPU_IFM2_BASE0);
	note_fm(x, &op->ofm, NPU_OFM_BASE0);
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		if (op->weights[i].n > 0)
			note_use(x, weights[i], op->weights[i].region);
	for (int i = 0; i < 2; i++)
		if (op->scales[i].n > 0)
			note_use(x, scales[i], op->scales[i].region);
}

/*
 * Rewrites the words of a payload.  *is_moved: false if an address is used for constants and for
 * another region, so that the stream can't be rewritten.
 */
static bool
patch_payload(struct share *s, int net, const int64_t *to, bool *is_moved)
{
	const struct compiled *c = chosen_file(s, net);
	struct npu_stream stream = { 0 };
	if (!stream_payload(s->a, c->payload, &stream, s->e))
		return false;
	uint8_t *p = arena_alloc(s->a, c->payload.n, ALIGN);
	memcpy(p, c->payload.p, c->payload.n);
	/* the words are in the payload behind the driver's header */
	size_t at = 0, n = 4 * stream.n_words;
	while (at + n <= c->payload.n && load_le32(p + at) != stream.word[0])
		at += 4;
	while (at + n <= c->payload.n) {
		size_t k = 0;
		while (k < stream.n_words && load_le32(p + at + 4 * k) == stream.word[k])
			k++;
		if (k == stream.n_words)
			break;
		at += 4;
	}
	if (at + n > c->payload.n)
		return err_at(s->e, s->net[net].name, 0, "no stream in the payload");
	s->payload[net] = (struct bytes){ .p = p, .n = c->payload.n };

	/* mark the writes of addresses, by the region that operations use them with */
	struct patch x = { .use = anew(s->a, uint8_t, stream.n_words + 1) };
	struct npu_registers regs = { 0 };
	struct npu_command cmd;
	struct err bad = { 0 };
	for (size_t k = 0; stream_next(&stream, &k, &cmd, &bad);) {
		if (cmd.is_op) {
			struct npu_op op;
			npu_op_decode(&regs, stream.accel, &cmd, &op);
			note_op(&x, &op);
			continue;
		}
		npu_write(&regs, &cmd);
		x.last[cmd.reg] = cmd.at;
		x.written[cmd.reg] = true;
	}
	if (bad.status)
		return err_at(s->e, s->net[net].name, 0, "%s", bad.text);

	uint8_t *words = p + at;
	*is_moved = true;
	for (size_t k = 0; *is_moved && stream_next(&stream, &k, &cmd, &bad);) {
		if (cmd.is_op || !(x.use[cmd.at] & CONSTANTS))
			continue;
		int64_t old = (int64_t)(cmd.param & 0xff) << 32 | cmd.payload, new = -1;
		for (int i = 0; i < c->n_ranges && new < 0; i++)
			if (old >= c->range[i].at && old < c->range[i].at + c->range[i].n)
				new = to[i] + old - c->range[i].at;
		*is_moved = !(x.use[cmd.at] & OTHER_REGION) && new >= 0 && new <= UINT32_MAX;
		if (*is_moved) {
			store_le32(words + 4 * cmd.at, stream.word[cmd.at] & 0xff00ffff);
			store_le32(words + 4 * cmd.at + 4, (uint32_t)new);
		}
	}
	return true;
}

/*
 * Adds the constants of a network.  If its stream can't be rewritten, the network keeps its
 * constants in one block, at an address of its own.
 */
static bool
take_constants(struct join *j, int net)
{
	struct share *s = j->s;
	const struct compiled *c = chosen_file(s, net);
	struct join before = *j;
	int64_t *to = anew(s->a, int64_t, (size_t)c->n_ranges + 1);
	bool is_moved;
	for (int k = 0; k < c->n_ranges; k++)
		to[k] = place_piece(j, c->flash.p + c->range[k].at, c->range[k].n);
	if (!patch_payload(s, net, to, &is_moved))
		return false;
	if (is_moved)
		return true;
	j->n = before.n;
	j->bytes = before.bytes;
	s->base_at[net] = place_piece(j, c->flash.p, (int64_t)c->flash.n);
	s->payload[net] = c->payload;
	return true;
}

bool
join_constants(struct share *s)
{
	struct join j = { .s = s };
	s->separate_flash = 0;
	for (int i = 0; i < s->p.n; i++) {
		const struct compiled *c = chosen_file(s, i);
		const struct row *r = chosen(s, i);
		s->separate_flash += r->stream;
		for (int k = 0; k < r->n_segments; k++)
			s->separate_flash += r->segment[k].bytes;
		if (c->alone && !take_constants(&j, i))
			return false;
	}
	uint8_t *p = arena_alloc(s->a, (size_t)j.bytes + 1, ALIGN);
	for (size_t i = 0; i < j.n; i++)
		memcpy(p + j.piece[i].at, j.piece[i].p, (size_t)j.piece[i].n);
	s->constants = (struct bytes){ .p = p, .n = (size_t)j.bytes };
	return true;
}
