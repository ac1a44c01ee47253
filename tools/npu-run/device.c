/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the ioctls of the Linux driver ethosu: nputools-linux(7), IOCTLS. */
#include "npu-run.h"

#include "target/accel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- functions of Linux, and their replacements elsewhere -------------------- */

#ifdef __linux__

#include <sys/ioctl.h>
#include <sys/mman.h>

#ifdef __GLIBC__
typedef unsigned long request;
#else
typedef int request;
#endif

static int
control(int fd, unsigned long number, void *argument)
{
	return ioctl(fd, (request)number, argument);
}

/* the error codes of the driver for a job that has not ended in time */
static bool
is_late(int error)
{
	return error == ETIME || error == ETIMEDOUT || error == EBUSY;
}

static uint8_t *
map_file(int fd, uint64_t at, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	return p == MAP_FAILED ? NULL : p;
}

static void
unmap_file(uint8_t *p, size_t bytes)
{
	(void)munmap(p, bytes);
}

#else

static int
control(int fd, unsigned long number, void *argument)
{
	(void)fd, (void)number, (void)argument;
	errno = ENOSYS;
	return -1;
}

static bool
is_late(int error)
{
	return error == ETIMEDOUT;
}

static uint8_t *
map_file(int fd, uint64_t at, size_t bytes)
{
	(void)fd, (void)at, (void)bytes;
	errno = ENOSYS;
	return NULL;
}

static void
unmap_file(uint8_t *p, size_t bytes)
{
	(void)p, (void)bytes;
}

#endif

/* ---- the device ------------------------------------------------------------- */

/* in ms, of a clock that nobody sets */
static int64_t
now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Repeats a call that a signal interrupted, or for which the driver asks to try again, within
 * the time limit of a job.
 */
static int
call(const struct device *d, unsigned long number, void *argument)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int64_t begin = -1;
	for (;;) {
		int status = control(d->fd, number, argument);
		int reason = errno;
		if (status >= 0 || (reason != EINTR && reason != EAGAIN))
			return status;
		if (begin < 0)
			begin = now_ms();
		else if (reason == EAGAIN)
			(void)nanosleep(&pause, NULL);
		bool late = now_ms() - begin > (int64_t)d->timeout_ms;
		errno = reason;
		if (late)
			return status;
	}
}

/* Reports errno, and a next step where there is one. */
static bool
failed(const struct device *d, const char *what, struct err *e)
{
	const char *help = "";
	if (errno == ENODEV)
		help = ": the device is gone";
	else if (errno == ENOMEM)
		help = ": the kernel has no contiguous memory left: raise cma= on the kernel's command "
		       "line";
	return err_at(e, d->path, 0, "%s: %s%s", what, strerror(errno), help);
}

bool
device_open(struct device *d, const char *path, struct err *e)
{
	d->path = path;
	d->fd = open(path, O_RDWR | O_CLOEXEC);
	if (d->fd < 0) {
		const char *help = "";
		if (errno == ENOENT)
			help = ": the kernel's ethosu driver creates this file (nputools-linux(7))";
		else if (errno == EACCES)
			help = ": join the group of this file, which is usually render or video";
		return err_at(e, path, 0, "%s%s", strerror(errno), help);
	}
	char name[32] = "";
	struct any_version v = { .name = name, .name_bytes = sizeof(name) - 1 };
	if (call(d, ANY_VERSION, &v) < 0)
		return err_at(e, d->path, 0, "%s: the file is not a device of a DRM driver",
			      strerror(errno));
	if (strcmp(name, "ethosu") != 0)
		return err_at(e, d->path, 0, "the driver is %s, not ethosu: try another --device",
			      name);
	struct ethosu_query q = { .size = sizeof(d->info), .data = (uintptr_t)&d->info };
	if (call(d, ETHOSU_QUERY, &q) < 0)
		return failed(d, "reading what the NPU is", e);
	d->accel = accel_of_config(d->info.config);
	return d->accel || err_at(e, d->path, 0, "the NPU's CONFIG register, 0x%08x, names no "
				  "known accelerator", d->info.config);
}

void
device_close(struct device *d)
{
	if (d->fd >= 0)
		(void)close(d->fd);
	d->fd = -1;
}

bool
device_buffer(const struct device *d, size_t bytes, struct buffer *out, struct err *e)
{
	struct ethosu_bo bo = { .size = bytes };
	*out = (struct buffer){ .bytes = bytes };
	if (call(d, ETHOSU_BO, &bo) < 0) {
		char what[64];
		(void)snprintf(what, sizeof(what), "making a buffer of %zu bytes", bytes);
		return failed(d, what, e);
	}
	out->handle = bo.handle;
	struct ethosu_map m = { .handle = out->handle };
	if (call(d, ETHOSU_MAP, &m) < 0)
		return failed(d, "reading the offset of a buffer", e);
	out->p = map_file(d->fd, m.offset, out->bytes);
	return out->p || failed(d, "mapping a buffer", e);
}

void
device_unmap(struct buffer *b)
{
	if (b->p)
		unmap_file(b->p, b->bytes);
	b->p = NULL;
}

bool
device_stream(const struct device *d, const uint32_t *word, size_t n, uint32_t *handle,
	      struct err *e)
{
	struct ethosu_stream s = { .size = (uint32_t)(4 * n), .data = (uintptr_t)word };
	if (call(d, ETHOSU_STREAM, &s) < 0)
		return failed(d, "the driver's check of the command stream", e);
	*handle = s.handle;
	return true;
}

bool
device_submit(const struct device *d, const struct ethosu_job *j, uint32_t counters,
	      struct err *e)
{
	struct ethosu_submit s = { .jobs = (uintptr_t)j, .n_jobs = 1,
				   .counters = counters };
	return call(d, ETHOSU_SUBMIT, &s) >= 0 || failed(d, "submitting a job", e);
}

bool
device_wait(const struct device *d, uint32_t handle, struct err *e)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	struct ethosu_wait w = { .handle = handle };
	w.until = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
		  (int64_t)d->timeout_ms * 1000000;
	if (call(d, ETHOSU_WAIT, &w) >= 0)
		return true;
	if (is_late(errno))
		return err_at(e, d->path, 0, "a job has not ended after %u ms: read the "
			      "kernel's log, or wait longer with --timeout", d->timeout_ms);
	return failed(d, "waiting for a job", e);
}

bool
device_count(const struct device *d, const uint16_t *event, unsigned n, uint32_t *id,
	     struct err *e)
{
	struct ethosu_count c = { .n = n };
	memcpy(c.event, event, n * sizeof(*event));
	if (call(d, ETHOSU_COUNT, &c) < 0)
		return failed(d, "making a set of performance counters", e);
	*id = c.id;
	return true;
}

bool
device_counted(const struct device *d, uint32_t id, uint64_t *value, struct err *e)
{
	struct ethosu_counted c = { .id = id, .values = (uintptr_t)value };
	struct ethosu_uncount u = { .id = id };
	bool ok = call(d, ETHOSU_COUNTED, &c) >= 0 || failed(d, "reading performance counters", e);
	return call(d, ETHOSU_UNCOUNT, &u) >= 0 && ok;
}
