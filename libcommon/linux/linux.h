/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which Linux's ethosu driver accepts a command stream, and the
 * bytes that it takes the stream to use of each region: nputools-linux(7),
 * RULES.
 */
#ifndef LINUX_LINUX_H
#define LINUX_LINUX_H

#include "stream/stream.h"

enum { LINUX_REGIONS = 8, LINUX_SRAM_REGION = 2 };

/* by name in findings: "register-set" */
enum linux_rule {
	LINUX_DEVICE,
	LINUX_COMMAND,
	LINUX_STOP,
	LINUX_REGISTER_SET,
	LINUX_FORMAT,
	LINUX_STORAGE,
	LINUX_TRANSPOSE,
	LINUX_PADDING,
	LINUX_EXTENT,
	LINUX_DMA_LENGTH,
	LINUX_DMA_MODE,
	LINUX_DMA_INDEX,
	LINUX_RULES
};
const char *linux_rule_name(enum linux_rule rule);

/* what the driver computes of a stream that it accepts */
struct linux_use {
	uint64_t
	    bytes[LINUX_REGIONS]; /* from the region's begin; 0: not used */
	uint64_t touched[LINUX_REGIONS]; /* the same as the NPU does, which may be more */
	bool written[LINUX_REGIONS];
};

/* the first rule that is broken: the driver looks no further */
struct linux_finding {
	enum linux_rule rule;
	size_t at_bytes;     /* of the command in the stream */
	const char *command; /* NULL: about the whole stream */
	char text[200];
};

/*
 * true if the driver makes a command-stream object of s, and what it touches of
 * each region is in that region's memory; else f says why not.  memory: bytes
 * of LINUX_REGIONS; NULL: not known, 2^40 each.
 */
bool linux_check(const struct npu_stream *s, const uint64_t *memory,
		 struct linux_use *use, struct linux_finding *f);

/* the memory of each region of a stream that is of a model's operator */
void linux_memory(const struct tfl_model *m, const struct npu_stream *s,
		  uint64_t memory[LINUX_REGIONS]);

#endif
