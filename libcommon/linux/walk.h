/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of linux_check(): private to linux*.c. */
#ifndef LINUX_WALK_H
#define LINUX_WALK_H

#include "linux/linux.h"

enum linux_reckoning { EXACT, DRIVER_ONLY, TOUCHED_ONLY };

struct linux_walk {
	const struct npu_stream *s;
	const uint64_t *memory; /* of each region; NULL: not known */
	struct linux_use *use;
	enum linux_reckoning reckoning; /* which numbers the next map is for */
	struct linux_finding *f;
	struct npu_registers regs; /* 0 until they are written */
	const struct npu_command *c;
	bool u65;
};

/* linux.c: what all of them need */
bool linux_refuse(struct linux_walk *k, enum linux_rule rule, const char *fmt,
		  ...) PRINTF(3, 4);
/* of a cmd0 register */
uint32_t linux_value(const struct linux_walk *k, enum npu_reg r);
bool linux_is_set(struct linux_walk *k, enum npu_reg r);
/* of a list that NPU_REGS ends */
bool linux_are_set(struct linux_walk *k, const enum npu_reg *r);
/* a region is used up to end; false: its memory is less */
bool linux_use_bytes(struct linux_walk *k, uint32_t region, uint64_t end);

/* maps.c: feature maps, and windows over the IFM */
/* registers of a feature map; IFM2's depth is none of its own */
struct linux_map {
	enum npu_reg region, precision, w0, h0, h1, base, stride_x, stride_y,
	    stride_c;
	int size_bit; /* of the precision: log2 of an element's bytes */
	enum npu_reg shape[4]; /* have to be set as well; NPU_REGS ends them */
};

extern const struct linux_map linux_ifm, linux_ifm2, linux_ofm;
/* (y, x, c): the last element that the driver takes the operation to touch */
bool linux_use_map(struct linux_walk *k, const struct linux_map *m, uint32_t x,
		   uint32_t y, uint32_t c);
bool linux_use_ofm(struct linux_walk *k);
bool linux_use_window(struct linux_walk *k);

/* dma.c: DMA_START */
bool linux_check_dma(struct linux_walk *k);

#endif
