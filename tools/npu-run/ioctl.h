/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ioctls of Linux's ethosu driver, restated from the facts of its published
 * interface, and the three of all DRM drivers that npu-run needs: nputools-linux(7),
 * IOCTLS.  tests/unit/linux_ioctl.c holds numbers and sizes against the published header
 * where there is one.  Reserved members are 0.
 */
#ifndef IOCTL_H
#define IOCTL_H

#include <stdint.h>

enum { ETHOSU_REGIONS = 8, ETHOSU_SRAM = 2, ETHOSU_COUNTERS = 8 };

/* what the device is; counters since the driver has them */
struct ethosu_info {
	uint32_t id, config; /* the NPU's registers of these names */
	uint32_t sram_bytes;
	uint32_t counters;
};

struct ethosu_query {
	uint32_t type; /* 0: struct ethosu_info */
	uint32_t size; /* of what data points to */
	uint64_t data; /* 0: the driver writes size */
};

struct ethosu_bo {
	uint64_t size; /* the driver rounds up to pages */
	uint32_t flags; /* 1: never mapped */
	uint32_t handle; /* from the driver, not 0 */
};

struct ethosu_wait {
	uint32_t handle, reserved;
	int64_t until; /* nanoseconds of CLOCK_MONOTONIC */
};

struct ethosu_map {
	uint32_t handle, reserved;
	uint64_t offset; /* from the driver, for mmap */
};

struct ethosu_stream {
	uint32_t size, flags;
	uint64_t data; /* the words, without a payload's header */
	uint32_t handle; /* from the driver */
	uint32_t reserved;
};

struct ethosu_job {
	uint32_t stream; /* handle */
	uint32_t sram_bytes;
	uint32_t region[ETHOSU_REGIONS]; /* handles; 0: not used, or the SRAM */
};

struct ethosu_submit {
	uint64_t jobs; /* their addresses */
	uint32_t n_jobs;
	uint32_t counters; /* id of a set of them; 0: none */
};

struct ethosu_count { /* a set of counters */
	uint32_t id; /* from the driver */
	uint32_t n;
	uint16_t event[ETHOSU_COUNTERS];
};

struct ethosu_uncount {
	uint32_t id, reserved;
};

struct ethosu_counted {
	uint32_t id, reserved;
	uint64_t values; /* of each event, 64 bits, and behind them the cycles */
};

/* ---- of all DRM drivers ---------------------------------------------------- */

struct any_close {
	uint32_t handle, reserved;
};

struct any_version { /* texts: room in, length out */
	int major, minor, patch;
	unsigned long name_bytes;
	char *name;
	unsigned long date_bytes;
	char *date;
	unsigned long about_bytes;
	char *about;
};

/* read and written by the driver, a structure, DRM's letter, a number */
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
