/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the values of 0x200 short and 0x100 long registers, and computes the last byte of
 * each access at each operation.  The last byte of a feature map is always below 2^60,
 * because a stride has 40 bits and a coordinate has 18.
 */
#include "driver.h"

#include <errno.h>
#include <string.h>

struct state {
	bool u65;
	struct driver_use *use;
	uint16_t code, param;
	uint16_t v0[0x200];
	uint64_t v1[0x100];  /* 32 bits of the payload, and 8 bits of the parameter above them */
	bool set0[0x200], set1[0x100];
};

/* a feature map: its first short register and its first long register */
struct place {
	unsigned at0, at1;
	bool ofm;
};
static const struct place ifm = { .at0 = 0x100, .at1 = 0x00 };
static const struct place ofm = { .at0 = 0x110, .at1 = 0x10, .ofm = true };
static const struct place ifm2 = { .at0 = 0x180, .at1 = 0x80 };

static unsigned
precision(const struct place *p)
{
	return p->at0 + (p->ofm ? 4 : 5);
}

static bool
all_set(const struct state *s, const unsigned *list)
{
	for (; *list; list++)
		if (*list & 0x4000 ? !s->set1[*list & 0xff] : !s->set0[*list])
			return false;
	return true;
}

#define NEED(s, ...) all_set(s, (const unsigned[]){ __VA_ARGS__, 0 })
#define LONG(r) (0x4000U | (r))

static void
reach(struct state *s, unsigned region, uint64_t end)
{
	if (end > s->use->bytes[region & 7])
		s->use->bytes[region & 7] = end;
}

/* Records the end of element (y, x, c).  Returns false if the base of its tile is not set. */
static bool
touch(struct state *s, const struct place *p, uint32_t x, uint32_t y, uint32_t c)
{
	unsigned mode = s->u65 ? 0 : s->v0[precision(p)] >> 14, tile = 0;
	uint32_t w0 = s->v0[p->at0 + 10], h0 = s->v0[p->at0 + 11], h1 = s->v0[p->at0 + 12];
	if (mode == 0 && x > w0) {
		x -= w0 + 1;
		tile = 1;
	}
	uint32_t h = tile ? h1 : h0;
	if (mode == 0 && y > h) {
		y -= h + 1;
		tile |= 2;
	} else if (mode == 1 && y > h1) {
		y -= h1 + 1;
		tile = 2;
	} else if (mode == 1 && y > h0) {
		y -= h0 + 1;
		tile = 1;
	}
	if (!s->set1[p->at1 + tile])
		return false;
	uint64_t size = UINT64_C(1) << (s->v0[precision(p)] >> (p->ofm ? 1 : 2) & 3);
	uint64_t end = s->v1[p->at1 + tile] + (uint64_t)y * s->v1[p->at1 + 5] + size;
	if (s->v0[precision(p)] & 0xc0)
		end += (uint64_t)(c >> 4) * s->v1[p->at1 + 6] +
		       (((uint64_t)x << 4) | (c & 15)) * size;
	else
		end += (uint64_t)x * s->v1[p->at1 + 4] + c * size;
	reach(s, s->v0[p->at0 + 15], end);
	return true;
}

static bool
is_chained(const struct state *s, const struct place *p)
{
	return !s->u65 && s->v0[precision(p)] >> 14 == 2;
}

static bool
has_registers(const struct state *s, const struct place *p)
{
	unsigned b = p->at0;
	if (!NEED(s, b + 15, precision(p)))
		return false;
	if (p->ofm && !NEED(s, b + 1, b + 2, b + 3))
		return false;
	if (p == &ifm && !NEED(s, b + 4))
		return false;
	return is_chained(s, p) ||
	       NEED(s, b + 10, b + 11, b + 12, LONG(p->at1 + 5),
		    LONG(p->at1 + (s->v0[precision(p)] & 0xc0 ? 6 : 4)));
}

static bool
access_map(struct state *s, const struct place *p, uint32_t x, uint32_t y, uint32_t c)
{
	if (!has_registers(s, p))
		return false;
	unsigned mode = s->u65 ? 0 : s->v0[precision(p)] >> 14;
	uint32_t h0 = s->v0[p->at0 + 11], h1 = s->v0[p->at0 + 12];
	switch (mode) {
	case 0:
		return touch(s, p, x, y, c) && touch(s, p, x, 0, c) &&
		       touch(s, p, 0, y, c) && touch(s, p, 0, 0, c);
	case 1:
		return touch(s, p, x, y, c) && touch(s, p, x, 0, c) &&
		       (h1 > y || h0 >= h1 || touch(s, p, x, h1, c)) &&
		       (h1 >= y || touch(s, p, x, h1 + 1, c));
	case 2:
		return true;
	default:
		return false;
	}
}

static bool
access_ofm(struct state *s)
{
	if (!access_map(s, &ofm, s->v0[0x111], s->v0[0x112], s->v0[0x113]))
		return false;
	if (!is_chained(s, &ofm))
		s->use->written[s->v0[0x11f] & 7] = true;
	return true;
}

static bool
access_window(struct state *s)
{
	if (!NEED(s, 0x120, 0x121, 0x122, 0x100, 0x101, 0x102, 0x103))
		return false;
	unsigned k = s->v0[0x122];
	int sx = k & 1 ? 2 : 1, sy = k & 2 ? 2 : 1;
	sx += k & 0x40 ? 2 : 0;
	sy += k & 0x200 ? 2 : 0;
	int x = s->v0[0x111] * sx + s->v0[0x120] * (k & 8 ? 2 : 1) -
		(s->v0[0x101] & 0x7f) - (s->v0[0x102] & 0xff);
	int y = s->v0[0x112] * sy + s->v0[0x121] * (k & 16 ? 2 : 1) -
		(s->v0[0x100] & 0x7f) - (s->v0[0x103] & 0xff);
	return x >= 0 && y >= 0 &&
	       access_map(s, &ifm, (uint32_t)x, (uint32_t)y, s->v0[0x104]);
}

/* weights or scales: a long register has the base, and the next one the length */
static bool
access_range(struct state *s, unsigned region, unsigned at, bool may_lack)
{
	if (may_lack && !s->set1[at] && !s->set1[at + 1])
		return true;
	if (!NEED(s, region, LONG(at), LONG(at + 1)))
		return false;
	reach(s, s->v0[region], s->v1[at] + (uint32_t)s->v1[at + 1]);
	return true;
}

static bool
access_scales(struct state *s)
{
	return s->v0[0x114] & 0x100 ||
	       (access_range(s, 0x129, 0x22, false) &&
		(!s->u65 || access_range(s, 0x129, 0x92, true)));
}

static bool
access_weights(struct state *s)
{
	return access_range(s, 0x128, 0x20, false) && access_range(s, 0x128, 0x90, true) &&
	       access_range(s, 0x128, 0x94, true) &&
	       (s->u65 || access_range(s, 0x128, 0x92, true));
}

static bool
do_conv(struct state *s)
{
	if (s->param > (s->u65 ? 0 : 1) || !s->set0[0x114] || !access_window(s))
		return false;
	if (!(s->param ? access_map(s, &ifm2, s->v0[0x104], 0, s->v0[0x113])
		       : access_weights(s)))
		return false;
	return access_scales(s) && access_ofm(s);
}

static bool
do_depthwise(struct state *s)
{
	return s->set0[0x114] && access_window(s) && access_weights(s) &&
	       access_scales(s) && access_ofm(s);
}

static bool
do_pool(struct state *s)
{
	return s->set0[0x114] && (s->param == 4 || access_window(s)) && access_scales(s) &&
	       access_ofm(s);
}

static bool
access_operand(struct state *s, const struct place *p)
{
	unsigned b = s->v0[p->at0 + (p == &ifm ? 8 : 0)];
	return access_map(s, p, b & 2 ? 0 : s->v0[0x111], b & 1 ? 0 : s->v0[0x112],
			  b & 4 ? 0 : s->v0[0x113]);
}

static bool
do_elementwise(struct state *s)
{
	bool two = !(s->param == 5 || s->param == 6 || s->param == 7 || s->param == 0x24);
	if ((!s->u65 && !s->set0[0x108]) || (two && !s->set0[0x180]))
		return false;
	if (two && (s->u65 ? s->v0[0x180] & 0x80 : s->v0[0x180] == 8))
		two = false;
	return (s->v0[0x108] == 8 || access_operand(s, &ifm)) &&
	       (!two || access_operand(s, &ifm2)) && access_ofm(s);
}

/* a signed number of 40 bits */
static int64_t
step(const struct state *s, unsigned reg)
{
	return (int64_t)(s->v1[reg] << 24) >> 24;
}

/* dst is 1 for the destination, for which the driver has strides that no U65 command sets */
static bool
access_transfer(struct state *s, unsigned dst)
{
	unsigned mode = s->v0[0x130 + dst] >> 9 & 3, at = dst && !s->u65 ? 0x35 : 0x33;
	if (!NEED(s, 0x130 + dst, LONG(0x30 + dst), LONG(0x32)))
		return false;
	/* if a step was not set, the driver checks nothing more and does not refuse */
	bool lacks = (mode >= 1 && !s->set1[at]) || (mode == 2 && !s->set1[at + 1]);
	uint64_t n = s->v1[0x32];
	for (unsigned i = 0; i < mode; i++) {
		int64_t by = step(s, (dst ? 0x35 : 0x33) + i);
		if (!lacks && (!s->set0[0x132 + i] || !s->v0[0x132 + i]))
			return false;
		if (by < 0 && n < (uint64_t)-by)
			return false;
		n += (uint64_t)by;
		if (s->v0[0x132 + i] && n > UINT64_MAX / s->v0[0x132 + i])
			return false;
		n *= s->v0[0x132 + i];
	}
	if (s->v0[0x130 + dst] & 0x100)
		return true;
	if (n > UINT64_MAX - s->v1[0x30 + dst])
		return false;
	reach(s, s->v0[0x130 + dst], n + s->v1[0x30 + dst]);
	return true;
}

static bool
do_dma(struct state *s)
{
	if (!access_transfer(s, 0) || !access_transfer(s, 1))
		return false;
	if (!(s->v0[0x131] & 0x100))
		s->use->written[s->v0[0x131] & 7] = true;
	return true;
}

static bool
known_value(const struct state *s)
{
	switch (s->code) {
	case 0x114:
		if (!s->u65 && s->param & 0x3800)
			return false;
		return !(s->param & 0x80);
	case 0x105:
	case 0x185:
		return !(s->param & 0x80);
	case 0x130:
	case 0x131:
		return !(s->param & 0x800) && (s->param & 0x600) != 0x600;
	default:
		return !(s->code & 0xbc00);
	}
}

static bool
take(struct state *s, uint32_t payload)
{
	bool has_payload = s->code & 0x4000;
	unsigned reg = s->code & 0xbfffU;
	if (has_payload && reg < 0x100) {
		s->set1[reg] = true;
		s->v1[reg] = (uint64_t)(s->param & 0xff) << 32 | payload;
	} else if (!has_payload && reg < 0x200) {
		s->set0[reg] = true;
		s->v0[reg] = s->param;
	}
	switch (s->code) {
	case 0x02:
		return do_conv(s);
	case 0x03:
		return do_depthwise(s);
	case 0x05:
		return do_pool(s);
	case 0x06:
		return do_elementwise(s);
	case 0x10:
		return do_dma(s);
	case 0x01:
	case 0x07:
	case 0x4100:
		return false;
	default:
		return known_value(s);
	}
}

int
driver_check(bool u65, const uint32_t *word, size_t n, struct driver_use *use)
{
	static const struct state none;
	struct state s = none;
	s.u65 = u65;
	s.use = use;
	memset(use, 0, sizeof(*use));
	for (size_t i = 0; i < n; i++) {
		s.code = (uint16_t)word[i];
		s.param = (uint16_t)(word[i] >> 16);
		bool has_payload = s.code & 0x4000;
		if (has_payload && ++i >= n)
			return EINVAL;
		if (!take(&s, has_payload ? word[i] : 0))
			return EINVAL;
		if (!s.code)
			return i == n - 1 ? 0 : EINVAL;
	}
	return EINVAL;
}
