/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the extent of transfers as the Linux driver does. */
#include "linux/walk.h"

struct side { /* source or destination of a transfer */
	enum npu_reg region, at;
	enum npu_reg step[2]; /* registers that must be set */
	bool steps; /* use the values of step; false: U65's destination, which has no steps */
};

static bool
has_steps(struct linux_walk *k, const struct side *d, int mode)
{
	static const enum npu_reg size[] = {NPU_DMA0_SIZE0, NPU_DMA0_SIZE1};
	for (int i = 0; i < mode; i++) {
		if (!linux_is_set(k, d->step[i]) || !linux_is_set(k, size[i]))
			return false;
		if (!(linux_value(k, size[i]) & 0xffff))
			return linux_refuse(k, LINUX_DMA_LENGTH,
					    "%s is 0, the driver needs at least 1",
					    npu_registers[size[i]].name);
	}
	return true;
}

static int64_t
step_of(const struct linux_walk *k, const struct side *d, int i)
{
	return d->steps ? npu_stride(&k->regs, d->step[i]) : 0;
}

static uint64_t
count_of(const struct linux_walk *k, int i)
{
	return linux_value(k, i ? NPU_DMA0_SIZE1 : NPU_DMA0_SIZE0) & 0xffff;
}

/*
 * Sets *n to the bytes of a side as the driver computes them: a step is a gap behind each
 * run of bytes, also behind the last run.  Fails if the number exceeds 64 bits.
 */
static bool
driver_bytes(const struct linux_walk *k, const struct side *d, int mode,
	     uint64_t *n)
{
	*n = (uint64_t)npu_address(&k->regs, NPU_DMA0_LEN);
	for (int i = 0; i < mode; i++) {
		int64_t step = step_of(k, d, i);
		if (step < 0 && (uint64_t)-step > *n)
			return false;
		*n += (uint64_t)step;
		if (__builtin_mul_overflow(*n, count_of(k, i), n))
			return false;
	}
	return true;
}

/*
 * The bytes from the begin of a side to the last byte that the NPU accesses.  A step of
 * U85 leads from the begin of a run to the begin of the next run.
 */
static uint64_t
moved_bytes(const struct linux_walk *k, const struct side *d, int mode)
{
	uint64_t n = (uint64_t)npu_address(&k->regs, NPU_DMA0_LEN);
	for (int i = 0; i < mode; i++) {
		int64_t step = step_of(k, d, i);
		uint64_t from_begin = (uint64_t)step + (k->u65 ? n : 0);
		n += (count_of(k, i) - 1) *
		     (step < 0 && !k->u65 ? 0 : from_begin);
	}
	return n;
}

static bool
use_side(struct linux_walk *k, const struct side *d)
{
	const enum npu_reg needed[] = {d->region, d->at, NPU_DMA0_LEN,
				       NPU_REGS};
	if (!linux_are_set(k, needed))
		return false;
	uint32_t region = linux_value(k, d->region);
	int mode = region >> 9 & 3;
	uint64_t n, at = (uint64_t)npu_address(&k->regs, d->at);
	if (!has_steps(k, d, mode))
		return false;
	if (!driver_bytes(k, d, mode, &n) || __builtin_add_overflow(n, at, &n))
		return linux_refuse(k, LINUX_DMA_LENGTH,
				    "the length of the transfer at %s is "
				    "negative or exceeds 64 bits",
				    npu_registers[d->at].name);
	if (region >> 8 & 1) /* the NPU's internal memory */
		return true;
	k->reckoning = DRIVER_ONLY;
	(void)linux_use_bytes(k, region & 7, n);
	k->reckoning = TOUCHED_ONLY;
	bool ok = linux_use_bytes(k, region & 7, at + moved_bytes(k, d, mode));
	k->reckoning = EXACT;
	return ok;
}

bool
linux_check_dma(struct linux_walk *k)
{
	static const enum npu_reg src = NPU_DMA0_SRC_REGION,
				  dst = NPU_DMA0_DST_REGION;
	static const struct side sides[2][2] = {
	    {{src,
	      NPU_DMA0_SRC,
	      {NPU_DMA0_SRC_STRIDE0, NPU_DMA0_SRC_STRIDE1},
	      true},
	     {dst,
	      NPU_DMA0_DST,
	      {NPU_DMA0_DST_STRIDE0, NPU_DMA0_DST_STRIDE1},
	      true}},
	    {{src, NPU_DMA0_SRC, {NPU_DMA0_SKIP0, NPU_DMA0_SKIP1}, true},
	     {dst, NPU_DMA0_DST, {NPU_DMA0_SKIP0, NPU_DMA0_SKIP1}, false}},
	};
	if (!use_side(k, &sides[k->u65][0]) || !use_side(k, &sides[k->u65][1]))
		return false;
	if (!(linux_value(k, dst) >> 8 & 1))
		k->use->written[linux_value(k, dst) & 7] = true;
	return true;
}
