/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of npu-run, by file, in running order. */
#ifndef NPU_RUN_H
#define NPU_RUN_H

#include "inference/inference.h"
#include "ioctl.h"
#include "linux/linux.h"

/* ---- device.c: the device file /dev/accel/accelN, and the ioctls of its driver -- */

struct device {
	int fd; /* -1: not open */
	const char *path;
	struct ethosu_info info;
	const struct accel *accel;
	unsigned timeout_ms; /* time limit of a job */
};
/*
 * Opens the device and reads what it is.  Fails if another driver has the device, or if
 * target.def does not list the accelerator.
 */
bool device_open(struct device *d, const char *path, struct err *e);
void device_close(struct device *d); /* the driver then frees buffers, streams and counters */

struct buffer { /* memory that the NPU and the program share */
	uint32_t handle; /* the driver's number of the buffer; 0: no buffer */
	uint8_t *p;
	size_t bytes;
};
/* Makes a buffer and maps it into the memory of this program. */
bool device_buffer(const struct device *d, size_t bytes, struct buffer *out, struct err *e);
void device_unmap(struct buffer *b);
/* Makes a command-stream object of n words.  Fails if the driver's check refuses them. */
bool device_stream(const struct device *d, const uint32_t *word, size_t n,
		   uint32_t *handle, struct err *e);
/* Submits a job.  counters: the id of a set from device_count(), or 0 for no counters. */
bool device_submit(const struct device *d, const struct ethosu_job *j, uint32_t counters,
		   struct err *e);
/* Waits until the job that writes the buffer has ended.  Fails after d->timeout_ms. */
bool device_wait(const struct device *d, uint32_t handle, struct err *e);
/* makes a set of n performance counters, one for each event */
bool device_count(const struct device *d, const uint16_t *event, unsigned n, uint32_t *id,
		  struct err *e);
/* Reads n + 1 values of a set, of the events and then the cycles, and deletes the set. */
bool device_counted(const struct device *d, uint32_t id, uint64_t *value, struct err *e);

/* ---- job.c: runs ethos-u operators on the device ------------------------------ */

struct counts; /* measure.c */

struct difference { /* the first byte that differs between the device and npu-sim */
	bool found;
	int op, region;
	size_t at; /* offset of the byte in the region */
	uint8_t device, sim;
};

struct runner {
	struct arena *a;
	struct device *device;
	bool compare; /* simulate each job, too, and compare the regions */
	bool measure;
	struct difference first;
	struct counts *counts; /* NULL: no counters */
	struct prepared *jobs; /* of the operators that have run, the newest first */
	int n_npu;	       /* ethos-u operators of the model */
};
/*
 * Fails if a stream of the model is for another accelerator, or breaks a rule of the
 * Linux driver (nputools-linux(7), RULES).  Prints a note that names the operators that
 * run on the CPU.
 */
bool accept_model(void *runner, const struct tfl_model *m, struct err *e);
/* The member run of struct sim_npu: runs one ethos-u operator on the device. */
bool run_job(void *runner, const struct sim_npu_job *job, struct err *e);
void close_jobs(struct runner *r);

/* ---- measure.c: performance counters in the format of npu-perf --measured ------ */

bool counts_open(struct arena *a, const struct device *d, struct counts **out,
		 struct err *e);
uint32_t counts_id(const struct counts *c); /* of the set that the next job uses */
/* Adds the values of the job that has ended.  last: the job is the last of the inference. */
bool counts_add(struct counts *c, bool last, struct err *e);
/* writes the lines of all inferences */
bool counts_write(struct counts *c, const char *path, struct err *e);
void counts_close(struct counts *c);

#endif
