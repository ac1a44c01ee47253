/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a command stream by the rules of the Linux driver ethosu, and computes how many
 * bytes of each region the stream uses: nputools-linux(7), RULES.
 */
#ifndef LINUX_LINUX_H
#define LINUX_LINUX_H

#include "stream/stream.h"

enum { LINUX_REGIONS = 8, LINUX_SRAM_REGION = 2 };

/* The rules; findings name them, for example "register-set". */
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
/* What a user can do about a model that breaks the rule, to append to a message; may be empty. */
const char *linux_remedy(enum linux_rule rule);

/* The use of the regions by a stream that the driver accepts. */
struct linux_use {
	/* bytes from the begin of the region, as the driver computes them; 0: not used */
	uint64_t bytes[LINUX_REGIONS];
	/* bytes up to the last one that the NPU accesses; may be more or less than bytes */
	uint64_t touched[LINUX_REGIONS];
	bool written[LINUX_REGIONS]; /* the stream writes to the region */
};

/* The first rule that the stream breaks: the driver stops at this rule, too. */
struct linux_finding {
	enum linux_rule rule;
	size_t at_bytes;     /* position of the command in the stream */
	const char *command; /* NULL: the finding is about the whole stream */
	char text[200];
};

/*
 * Returns true if the driver accepts stream s, and if all accesses of the stream are
 * inside the memory of their regions.  Otherwise f gets the first finding.  memory has
 * the bytes of each region; NULL: unknown, taken as 2^40 bytes each.
 */
bool linux_check(const struct npu_stream *s, const uint64_t *memory,
		 struct linux_use *use, struct linux_finding *f);

/* Sets memory[] to the bytes of each region of stream s, from its operator in model m. */
void linux_memory(const struct tfl_model *m, const struct npu_stream *s,
		  uint64_t memory[LINUX_REGIONS]);

#endif
