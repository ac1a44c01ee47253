/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of linux_check(): private to libcommon/linux. */
#ifndef STREAM_LINUX_WALK_H
#define STREAM_LINUX_WALK_H

#include "linux/linux.h"

/*
 * Which members of struct linux_use the next access changes: both, only bytes (the driver's
 * count), or only touched (the accesses of the NPU).
 */
enum linux_reckoning { EXACT, DRIVER_ONLY, TOUCHED_ONLY };

struct linux_walk {
	const struct npu_stream *s;
	const uint64_t *memory; /* bytes of each region; NULL: unknown */
	struct linux_use *use;
	enum linux_reckoning reckoning;
	struct linux_finding *f;
	struct npu_registers regs; /* a register is 0 until the stream writes it */
	const struct npu_command *c; /* the current command; NULL: at the end of the stream */
	bool u65; /* the accelerator is of generation U65, otherwise of U85 */
};

/* linux.c: functions that all parts need. */
/* Records a finding, and returns false. */
bool linux_refuse(struct linux_walk *k, enum linux_rule rule, const char *fmt,
		  ...) PRINTF(3, 4);
/* Appends to the text of the finding, and returns false. */
bool linux_add_reason(struct linux_walk *k, const char *fmt, ...) PRINTF(2, 3);
/* Returns the value of a cmd0 register. */
uint32_t linux_value(const struct linux_walk *k, enum npu_reg r);
/* Refuses a stream that has not written register r. */
bool linux_is_set(struct linux_walk *k, enum npu_reg r);
/* The same for each register of a list that ends with NPU_REGS. */
bool linux_are_set(struct linux_walk *k, const enum npu_reg *r);
/* Records that the stream uses a region up to byte end.  Refuses an end beyond its memory. */
bool linux_use_bytes(struct linux_walk *k, uint32_t region, uint64_t end);

/* fm.c: feature maps, and windows over the IFM */
/* The registers of a feature map. */
struct linux_fm {
	enum npu_reg region, precision, w0, h0, h1, base, stride_x, stride_y,
	    stride_c;
	int size_bit; /* of the precision: log2 of an element's bytes */
	/* other registers that must be set, up to NPU_REGS; IFM2 has no depth of its own */
	enum npu_reg shape[4];
};

extern const struct linux_fm linux_ifm, linux_ifm2, linux_ofm;
/* Records the use of a feature map whose last element is (y, x, c). */
bool linux_use_fm(struct linux_walk *k, const struct linux_fm *m, uint32_t x,
		   uint32_t y, uint32_t c);
bool linux_use_ofm(struct linux_walk *k);
bool linux_use_window(struct linux_walk *k);

/* dma.c: checks a transfer at DMA_START. */
bool linux_check_dma(struct linux_walk *k);

#endif
