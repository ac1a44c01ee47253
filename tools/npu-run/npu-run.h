/* SPDX-License-Identifier: Apache-2.0 */
/* npu-run's parts, in running order. */
#ifndef NPU_RUN_H
#define NPU_RUN_H

#include "inference/inference.h"
#include "ioctl.h"
#include "linux/linux.h"

/* ---- device.c: an open /dev/accel/accelN, and the driver's calls ------------- */

struct device {
	int fd; /* -1: not open */
	const char *path;
	struct ethosu_info info;
	const struct accel *accel;
	unsigned timeout_ms; /* of one job */
};
/* asks what it is; refuses another driver's, and an NPU that nobody knows */
bool device_open(struct device *d, const char *path, struct err *e);
void device_close(struct device *d); /* and frees what it was asked for */

struct buffer { /* memory that the NPU and the program see */
	uint32_t handle; /* 0: there is none */
	uint8_t *p;
	size_t bytes;
};
bool device_buffer(const struct device *d, size_t bytes, struct buffer *out, struct err *e);
void device_unmap(struct buffer *b);
/* an object of the words that the driver has checked */
bool device_stream(const struct device *d, const uint32_t *word, size_t n,
		   uint32_t *handle, struct err *e);
/* counters: id of device_count(), or 0 */
bool device_submit(const struct device *d, const struct ethosu_job *j, uint32_t counters,
		   struct err *e);
/* until the job that writes the buffer is done, or too late */
bool device_wait(const struct device *d, uint32_t handle, struct err *e);
/* a set of counters of events, and their values and the cycles behind a job */
bool device_count(const struct device *d, const uint16_t *event, unsigned n, uint32_t *id,
		  struct err *e);
bool device_counted(const struct device *d, uint32_t id, uint64_t *value, struct err *e);

/* ---- job.c: ethos-u operators on the device ---------------------------------- */

struct counts; /* measure.c */

struct difference { /* the first between the device and npu-sim */
	bool found;
	int op, region;
	size_t at;
	uint8_t device, sim;
};

struct runner {
	struct arena *a;
	struct device *device;
	bool compare; /* each job is simulated as well */
	bool measure;
	struct difference first;
	struct counts *counts; /* NULL: nothing is measured */
	struct prepared *jobs; /* of each operator that has run */
	int n_npu;	       /* ethos-u operators of the model */
};
/* does the device take all streams of the model?  Notes operators of the CPU. */
bool accept_model(void *runner, const struct tfl_model *m, struct err *e);
/* a struct sim_npu's run */
bool run_job(void *runner, const struct sim_npu_job *job, struct err *e);
void close_jobs(struct runner *r);

/* ---- measure.c: performance counters, as npu-perf --measured reads them ------- */

bool counts_open(struct arena *a, const struct device *d, struct counts **out,
		 struct err *e);
uint32_t counts_id(const struct counts *c);
/* behind each job; last: of the inference, whose lines are made */
bool counts_add(struct counts *c, bool last, struct err *e);
bool counts_write(struct counts *c, const char *path, struct err *e);
void counts_close(struct counts *c);

#endif
