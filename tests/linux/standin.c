/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the Linux driver ethosu, loaded before libc (LD_PRELOAD).  A program that
 * opens /dev/accel/accel0 finds an Ethos-U there.  driver.c checks the streams.  This file
 * checks jobs as the driver does, and runs them with tests/programs/npu-engine.  The
 * environment sets:
 *
 *   STANDIN_ENGINE=FILE      path of npu-engine
 *   STANDIN_CONFIG=WORD      the NPU's CONFIG register (default: ethos-u65-256)
 *   STANDIN_SRAM=BYTES       size of the SRAM (default 393216)
 *   STANDIN_COUNTERS=N       number of performance counters (default 4); 0: an older driver
 *   STANDIN_LOG=FILE         file that gets a line for each call
 *   STANDIN_FAULT=submit     jobs are refused (EINVAL)
 *                =timeout    jobs do not end
 *                =gone       the device is gone from the first job on
 *                =eintr      a signal interrupts each call once
 *                =nomem      there is no memory for buffers
 *                =wrong      one bit is wrong in each byte that a job may write
 *                =other      the device belongs to another driver
 */
#include "driver.h"

#include "../../tools/npu-run/ioctl.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OBJECTS = 1024, PAGE = 4096 };

struct object { /* a buffer or stream; its handle is its index plus 1 */
	int fd;
	uint64_t bytes;
	bool is_stream;
	size_t n_words;
	struct driver_use use;
};

static struct {
	int fd; /* of the open device; 0: not open */
	struct object object[OBJECTS];
	uint32_t n;
	uint16_t event[ETHOSU_COUNTERS];
	uint32_t n_events;
	uint64_t words; /* length of the last job's stream */
	bool gone, interrupted;
} dev;

static bool
has_fault(const char *kind)
{
	const char *f = getenv("STANDIN_FAULT");
	return f && !strcmp(f, kind);
}

static uint32_t
number(const char *name, uint32_t otherwise)
{
	const char *v = getenv(name);
	return v ? (uint32_t)strtoul(v, NULL, 0) : otherwise;
}

static uint32_t
config(void)
{
	return number("STANDIN_CONFIG", 0x10003008);
}

static uint32_t
sram_bytes(void)
{
	return number("STANDIN_SRAM", 393216);
}

static void
note(const char *call)
{
	const char *log = getenv("STANDIN_LOG");
	FILE *f = log ? fopen(log, "a") : NULL;
	if (!f)
		return;
	(void)fprintf(f, "%s\n", call);
	(void)fclose(f);
}

static struct object *
object(uint32_t handle)
{
	return handle && handle <= dev.n ? &dev.object[handle - 1] : NULL;
}

/* ---- the ioctls; each returns 0 or an errno ------------------------------------ */

static int
do_version(struct any_version *v)
{
	const char *name = has_fault("other") ? "rocket" : "ethosu";
	(void)snprintf(v->name, v->name_bytes + 1, "%s", name);
	v->name_bytes = strlen(name);
	return 0;
}

static int
do_query(struct ethosu_query *q)
{
	struct ethosu_info info = { .config = config(), .sram_bytes = sram_bytes(),
				    .counters = number("STANDIN_COUNTERS", 4) };
	bool u65 = info.config >> 28 == 1;
	size_t have = info.counters ? sizeof(info) : offsetof(struct ethosu_info, counters);
	info.id = u65 ? 0x10061000 : 0x20000000;
	if (q->type || (q->data && q->size < offsetof(struct ethosu_info, counters)))
		return EINVAL;
	if (!q->data) {
		q->size = (uint32_t)have;
		return 0;
	}
	memset((void *)(uintptr_t)q->data, 0, q->size);
	memcpy((void *)(uintptr_t)q->data, &info, q->size < have ? q->size : have);
	return 0;
}

static int
add_object(uint64_t bytes, uint32_t *handle)
{
	if (dev.n == OBJECTS || bytes > UINT64_C(1) << 30)
		return ENOMEM;
	struct object *o = &dev.object[dev.n];
	*o = (struct object){ .bytes = (bytes + PAGE - 1) / PAGE * PAGE };
	o->fd = memfd_create("ethosu", 0);
	if (o->fd < 0 || ftruncate(o->fd, (off_t)o->bytes))
		return ENOMEM;
	*handle = ++dev.n;
	return 0;
}

static int
do_bo(struct ethosu_bo *b)
{
	if (!b->size || b->flags & ~1U)
		return EINVAL;
	if (has_fault("nomem"))
		return ENOMEM;
	int bad = add_object(b->size, &b->handle);
	if (!bad)
		b->size = object(b->handle)->bytes;
	return bad;
}

static int
do_map(struct ethosu_map *m)
{
	struct object *o = object(m->handle);
	if (m->reserved)
		return EINVAL;
	if (!o)
		return ENOENT;
	m->offset = (uint64_t)m->handle << 32;
	return 0;
}

static int
do_stream(struct ethosu_stream *s)
{
	struct driver_use use;
	const uint32_t *word = (const uint32_t *)(uintptr_t)s->data;
	if (!s->size || !s->data || s->reserved || s->flags)
		return EINVAL;
	int bad = driver_check(config() >> 28 == 1, word, s->size / 4, &use);
	if (bad || (bad = add_object(s->size, &s->handle)))
		return bad;
	struct object *o = object(s->handle);
	o->is_stream = true;
	o->n_words = s->size / 4;
	o->use = use;
	return pwrite(o->fd, word, s->size, 0) == (ssize_t)s->size ? 0 : EIO;
}

/* true if the region has a buffer of the size that the stream needs */
static int
check_region(const struct ethosu_job *j, const struct driver_use *use, unsigned i)
{
	struct object *o = object(j->region[i]);
	if (!j->region[i] && !use->bytes[i])
		return 0;
	if (!j->region[i] && i == ETHOSU_SRAM)
		return use->bytes[i] <= sram_bytes() ? 0 : EINVAL;
	if (j->region[i] && !use->bytes[i])
		return EINVAL;
	if (!o)
		return ENOENT;
	if (o->is_stream)
		return EINVAL;
	return use->bytes[i] > o->bytes ? EOVERFLOW : 0;
}

static int
check_job(const struct ethosu_job *j)
{
	struct object *s = object(j->stream);
	if ((j->region[ETHOSU_SRAM] && j->sram_bytes) || j->sram_bytes > sram_bytes())
		return EINVAL;
	if (!s)
		return ENOENT;
	if (!s->is_stream)
		return EINVAL;
	for (unsigned i = 0; i < ETHOSU_REGIONS; i++) {
		int bad = check_region(j, &s->use, i);
		if (bad)
			return bad;
		for (unsigned k = 0; k < i; k++) /* the kernel locks each buffer once */
			if (j->region[i] && j->region[i] == j->region[k])
				return EALREADY;
	}
	return 0;
}

enum { ARGS = 3 + ETHOSU_REGIONS, ARG_BYTES = 64 };

/* Locks the device, because it runs one job at a time for all processes. */
static int
spawn_engine(char *const *argv)
{
	char *const no_environment[] = { NULL };
	int lock = open(argv[0], O_RDONLY | O_CLOEXEC), status = -1;
	pid_t child;
	if (lock < 0 || flock(lock, LOCK_EX))
		return EIO;
	if (posix_spawn(&child, argv[0], NULL, NULL, argv, no_environment) ||
	    waitpid(child, &status, 0) < 0)
		status = -1;
	(void)close(lock);
	return status ? EIO : 0;
}

static int
run_engine(const struct ethosu_job *j)
{
	char text[ARGS][ARG_BYTES], *argv[ARGS + 1] = { getenv("STANDIN_ENGINE") };
	const struct object *s = object(j->stream);
	int n = 1, sram = memfd_create("sram", 0);
	(void)snprintf(text[n++], ARG_BYTES, "0x%x", config());
	(void)snprintf(text[n++], ARG_BYTES, "%d:%zu", s->fd, s->n_words);
	for (unsigned i = 0; i < ETHOSU_REGIONS; i++) {
		const struct object *o = object(j->region[i]);
		if (o)
			(void)snprintf(text[n++], ARG_BYTES, "%u:%d:%llu", i, o->fd,
				       (unsigned long long)o->bytes);
	}
	if (j->sram_bytes && !ftruncate(sram, sram_bytes()))
		(void)snprintf(text[n++], ARG_BYTES, "%d:%d:%u", ETHOSU_SRAM, sram,
			       sram_bytes());
	for (int i = 1; i < n; i++)
		argv[i] = text[i];
	int bad = argv[0] ? spawn_engine(argv) : EIO;
	(void)close(sram);
	return bad;
}

/* Flips a bit in each byte that the job may have written. */
static void
spoil(const struct ethosu_job *j)
{
	const struct object *s = object(j->stream);
	for (unsigned i = 0; i < ETHOSU_REGIONS; i++) {
		const struct object *o = object(j->region[i]);
		uint8_t b = 0;
		for (off_t at = 0; o && s->use.written[i] && pread(o->fd, &b, 1, at) == 1; at++) {
			b ^= 1;
			(void)!pwrite(o->fd, &b, 1, at);
		}
	}
}

static int
do_submit(const struct ethosu_submit *s)
{
	const struct ethosu_job *j = (const struct ethosu_job *)(uintptr_t)s->jobs;
	if (s->counters && !number("STANDIN_COUNTERS", 4))
		return EINVAL; /* the member is reserved in an older driver */
	if (has_fault("gone")) {
		dev.gone = true;
		return ENODEV;
	}
	for (uint32_t i = 0; i < s->n_jobs; i++) {
		int bad = has_fault("submit") ? EINVAL : check_job(&j[i]);
		if (!bad && !has_fault("timeout"))
			bad = run_engine(&j[i]);
		if (bad)
			return bad;
		if (has_fault("wrong"))
			spoil(&j[i]);
		dev.words = object(j[i].stream)->n_words;
	}
	return 0;
}

static int
do_wait(const struct ethosu_wait *w)
{
	struct timespec until = { .tv_sec = (time_t)(w->until / 1000000000),
				  .tv_nsec = (long)(w->until % 1000000000) };
	if (w->reserved)
		return EINVAL;
	if (!object(w->handle))
		return EINVAL;
	if (!has_fault("timeout"))
		return 0;
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return ETIME;
}

static int
do_count(struct ethosu_count *c)
{
	if (c->n > number("STANDIN_COUNTERS", 4))
		return EINVAL;
	memcpy(dev.event, c->event, sizeof(dev.event));
	dev.n_events = c->n;
	c->id = 1;
	return 0;
}

/* Each event counts its own number; a word of the stream takes four cycles. */
static int
do_counted(const struct ethosu_counted *c)
{
	uint64_t *v = (uint64_t *)(uintptr_t)c->values;
	if (c->id != 1 || c->reserved)
		return EINVAL;
	for (uint32_t i = 0; i < dev.n_events; i++)
		v[i] = dev.event[i];
	v[dev.n_events] = 4 * dev.words;
	return 0;
}

static const char *
name_of(unsigned long number)
{
	static const struct {
		unsigned long number;
		const char *name;
	} names[] = {
		{ ANY_VERSION, "version" }, { ETHOSU_QUERY, "query" }, { ETHOSU_BO, "bo" },
		{ ETHOSU_WAIT, "wait" }, { ETHOSU_MAP, "map" }, { ETHOSU_STREAM, "stream" },
		{ ETHOSU_SUBMIT, "submit" }, { ETHOSU_COUNT, "count" },
		{ ETHOSU_UNCOUNT, "uncount" }, { ETHOSU_COUNTED, "counted" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

static int
dispatch(unsigned long request, void *p)
{
	switch (request) {
	case ANY_VERSION: return do_version(p);
	case ETHOSU_QUERY: return do_query(p);
	case ETHOSU_BO: return do_bo(p);
	case ETHOSU_WAIT: return do_wait(p);
	case ETHOSU_MAP: return do_map(p);
	case ETHOSU_STREAM: return do_stream(p);
	case ETHOSU_SUBMIT: return do_submit(p);
	case ETHOSU_COUNT: return do_count(p);
	case ETHOSU_COUNTED: return do_counted(p);
	case ETHOSU_UNCOUNT: return 0;
	default: return ENOTTY;
	}
}

/* ---- replaced functions of libc ------------------------------------------------------- */

typedef int (*open_fn)(const char *, int, ...);
typedef int (*ioctl_fn)(int, unsigned long, ...);
typedef void *(*mmap_fn)(void *, size_t, int, int, int, off_t);

static void *
next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* The names that glibc uses for functions with offsets of 64 bits on 32-bit machines. */
#ifdef __USE_FILE_OFFSET64
#define OPEN "open64"
#define MMAP "mmap64"
#else
#define OPEN "open"
#define MMAP "mmap"
#endif

int
open(const char *path, int flags, ...)
{
	open_fn f;
	void *symbol = next(OPEN);
	va_list ap;
	va_start(ap, flags);
	mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	memcpy(&f, &symbol, sizeof(f));
	if (strcmp(path, "/dev/accel/accel0") != 0)
		return f(path, flags, mode);
	dev.fd = memfd_create("accel0", MFD_CLOEXEC);
	return dev.fd;
}

/* glibc declares the request as unsigned long; other libraries declare an int */
int ioctl(int fd, unsigned long request, ...);

/* Fails with EINTR the first time of each call. */
static bool
interrupts(void)
{
	dev.interrupted = !dev.interrupted && has_fault("eintr");
	return dev.interrupted;
}

int
ioctl(int fd, unsigned long request, ...)
{
	ioctl_fn f;
	void *symbol = next("ioctl"), *p;
	va_list ap;
	va_start(ap, request);
	p = va_arg(ap, void *);
	va_end(ap);
	memcpy(&f, &symbol, sizeof(f));
	if (!dev.fd || fd != dev.fd)
		return f(fd, request, p);
	if (name_of(request) && has_fault("eagain")) {
		errno = EAGAIN;
	} else if (name_of(request) && !interrupts()) {
		note(name_of(request));
		errno = dev.gone ? ENODEV : dispatch(request, p);
	} else {
		errno = name_of(request) ? EINTR : ENOTTY;
	}
	return errno ? -1 : 0;
}

void *
mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	mmap_fn f;
	void *symbol = next(MMAP);
	memcpy(&f, &symbol, sizeof(f));
	if (!dev.fd || fd != dev.fd)
		return f(at, bytes, protection, flags, fd, offset);
	const struct object *o = object((uint32_t)(offset >> 32));
	errno = EINVAL;
	if (!o || o->is_stream || bytes > o->bytes)
		return MAP_FAILED;
	return f(at, bytes, protection, flags, o->fd, 0);
}
