/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ioctls of the Linux driver ethosu, restated from its published interface, and two
 * ioctls of all DRM drivers: nputools-linux(7), IOCTLS.  tests/unit/linux_ioctl.c compares
 * numbers and sizes with the published header where the header is at hand.  Reserved
 * members are 0.
 */
#ifndef IOCTL_H
#define IOCTL_H

#include <stdint.h>

enum { ETHOSU_REGIONS = 8, ETHOSU_SRAM = 2, ETHOSU_COUNTERS = 8 };

/* what the device is; an older driver leaves counters at 0 */
struct ethosu_info {
	uint32_t id, config; /* the NPU's registers of these names */
	uint32_t sram_bytes;
	uint32_t counters;
};

struct ethosu_query {
	uint32_t type; /* 0: struct ethosu_info */
	uint32_t size; /* bytes at data */
	uint64_t data; /* address for the answer; 0: the driver only sets size */
};

struct ethosu_bo {
	uint64_t size; /* the driver rounds it up to pages */
	uint32_t flags; /* 1: the program never maps the buffer */
	uint32_t handle; /* set by the driver, not 0 */
};

struct ethosu_wait {
	uint32_t handle, reserved;
	int64_t until; /* time limit, in nanoseconds of CLOCK_MONOTONIC */
};

struct ethosu_map {
	uint32_t handle, reserved;
	uint64_t offset; /* set by the driver, for mmap */
};

struct ethosu_stream {
	uint32_t size, flags;
	uint64_t data; /* address of the words, without a payload's header */
	uint32_t handle; /* set by the driver */
	uint32_t reserved;
};

struct ethosu_job {
	uint32_t stream; /* handle of the command stream */
	uint32_t sram_bytes;
	uint32_t region[ETHOSU_REGIONS]; /* handles of buffers; 0: not used, or the SRAM */
};

struct ethosu_submit {
	uint64_t jobs; /* address of an array of struct ethosu_job */
	uint32_t n_jobs;
	uint32_t counters; /* id of a set of counters; 0: none */
};

struct ethosu_count { /* makes a set of counters */
	uint32_t id; /* set by the driver */
	uint32_t n; /* number of events */
	uint16_t event[ETHOSU_COUNTERS];
};

struct ethosu_uncount { /* deletes a set */
	uint32_t id, reserved;
};

struct ethosu_counted { /* reads the values of a set */
	uint32_t id, reserved;
	uint64_t values; /* address for n + 1 numbers of 64 bits: the events, then the cycles */
};

/* ---- of all DRM drivers ---------------------------------------------------- */

struct any_close {
	uint32_t handle, reserved;
};

struct any_version { /* texts with their sizes, which the driver replaces by lengths */
	int major, minor, patch;
	unsigned long name_bytes;
	char *name;
	unsigned long date_bytes;
	char *date;
	unsigned long about_bytes;
	char *about;
};

/* an ioctl's number: direction, bytes of the structure, DRM's letter, the call */
#define IOCTL_NUMBER(direction, number, type)                                    \
	((unsigned long)(direction) << 30 | (unsigned long)sizeof(type) << 16 | \
	 (unsigned long)'d' << 8 | (number))
enum { CALL_IN = 1, CALL_IN_OUT = 3, CALL_OWN = 0x40 };
#define ANY_VERSION IOCTL_NUMBER(CALL_IN_OUT, 0x00, struct any_version)
#define ANY_CLOSE IOCTL_NUMBER(CALL_IN, 0x09, struct any_close)
#define ETHOSU_NUMBER(number, type) IOCTL_NUMBER(CALL_IN_OUT, CALL_OWN + (number), type)
#define ETHOSU_QUERY ETHOSU_NUMBER(0, struct ethosu_query)
#define ETHOSU_BO ETHOSU_NUMBER(1, struct ethosu_bo)
#define ETHOSU_WAIT ETHOSU_NUMBER(2, struct ethosu_wait)
#define ETHOSU_MAP ETHOSU_NUMBER(3, struct ethosu_map)
#define ETHOSU_STREAM ETHOSU_NUMBER(4, struct ethosu_stream)
#define ETHOSU_SUBMIT ETHOSU_NUMBER(5, struct ethosu_submit)
#define ETHOSU_COUNT ETHOSU_NUMBER(6, struct ethosu_count)
#define ETHOSU_UNCOUNT ETHOSU_NUMBER(7, struct ethosu_uncount)
#define ETHOSU_COUNTED ETHOSU_NUMBER(8, struct ethosu_counted)

#endif
