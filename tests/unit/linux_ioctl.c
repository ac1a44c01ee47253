/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares tools/npu-run/ioctl.h, which restates the interface of the Linux driver ethosu,
 * with numbers and sizes that were computed by hand from the published header.  Where the
 * published header is at hand, the test compares with the header itself: the file that
 * ETHOSU_HEADER names when this file is compiled, else the one of the system.
 */
#include "../../tools/npu-run/ioctl.h"

#include <stddef.h>
#include <stdio.h>

#ifdef ETHOSU_HEADER
#include ETHOSU_HEADER
#define PUBLISHED
#elif defined(__has_include)
#if __has_include(<drm/ethosu_accel.h>)
#include <drm/ethosu_accel.h>
#define PUBLISHED
#endif
#endif

static int bad;

static void
equal(const char *what, unsigned long have, unsigned long want)
{
	if (have == want)
		return;
	printf("%s is 0x%lx, not 0x%lx\n", what, have, want);
	bad = 1;
}

static void
by_hand(void)
{
	equal("query", ETHOSU_QUERY, 0xc0106440);
	equal("bo", ETHOSU_BO, 0xc0106441);
	equal("wait", ETHOSU_WAIT, 0xc0106442);
	equal("map", ETHOSU_MAP, 0xc0106443);
	equal("stream", ETHOSU_STREAM, 0xc0186444);
	equal("submit", ETHOSU_SUBMIT, 0xc0106445);
	equal("count", ETHOSU_COUNT, 0xc0186446);
	equal("uncount", ETHOSU_UNCOUNT, 0xc0086447);
	equal("counted", ETHOSU_COUNTED, 0xc0106448);
	equal("a job", sizeof(struct ethosu_job), 40);
	equal("what the device is", sizeof(struct ethosu_info), 16);
	equal("the wait's end", offsetof(struct ethosu_wait, until), 8);
	equal("the stream's data", offsetof(struct ethosu_stream, data), 8);
	equal("the stream's handle", offsetof(struct ethosu_stream, handle), 16);
}

#ifdef PUBLISHED
static void
by_header(void)
{
	equal("query", ETHOSU_QUERY, DRM_IOCTL_ETHOSU_DEV_QUERY);
	equal("bo", ETHOSU_BO, DRM_IOCTL_ETHOSU_BO_CREATE);
	equal("wait", ETHOSU_WAIT, DRM_IOCTL_ETHOSU_BO_WAIT);
	equal("map", ETHOSU_MAP, DRM_IOCTL_ETHOSU_BO_MMAP_OFFSET);
	equal("stream", ETHOSU_STREAM, DRM_IOCTL_ETHOSU_CMDSTREAM_BO_CREATE);
	equal("submit", ETHOSU_SUBMIT, DRM_IOCTL_ETHOSU_SUBMIT);
	equal("a job", sizeof(struct ethosu_job), sizeof(struct drm_ethosu_job));
	equal("an answer", offsetof(struct ethosu_query, data),
	      offsetof(struct drm_ethosu_dev_query, pointer));
	equal("the wait's end", offsetof(struct ethosu_wait, until),
	      offsetof(struct drm_ethosu_bo_wait, timeout_ns));
	equal("the stream's data", offsetof(struct ethosu_stream, data),
	      offsetof(struct drm_ethosu_cmdstream_bo_create, data));
	equal("the stream's handle", offsetof(struct ethosu_stream, handle),
	      offsetof(struct drm_ethosu_cmdstream_bo_create, handle));
	equal("the number of jobs", offsetof(struct ethosu_submit, n_jobs),
	      offsetof(struct drm_ethosu_submit, job_count));
	equal("a job's SRAM", offsetof(struct ethosu_job, sram_bytes),
	      offsetof(struct drm_ethosu_job, sram_size));
	equal("a job's regions", offsetof(struct ethosu_job, region),
	      offsetof(struct drm_ethosu_job, region_bo_handles));
	equal("sram", offsetof(struct ethosu_info, sram_bytes),
	      offsetof(struct drm_ethosu_npu_info, sram_size));
	equal("a buffer's handle", offsetof(struct ethosu_bo, handle),
	      offsetof(struct drm_ethosu_bo_create, handle));
	equal("a map's offset", offsetof(struct ethosu_map, offset),
	      offsetof(struct drm_ethosu_bo_mmap_offset, offset));
	equal("regions", ETHOSU_REGIONS, ETHOSU_MAX_REGIONS);
	equal("close", ANY_CLOSE, DRM_IOCTL_GEM_CLOSE);
	equal("version", ANY_VERSION, DRM_IOCTL_VERSION);
}

#ifdef DRM_ETHOSU_MAX_PERF_EVENT_COUNTERS
/*
 * The headers disagree about the structure that ends a set of counters: some have 4 bytes
 * behind the id, some have none.  DRM finds a call by its number alone, and takes the
 * bytes that both sides have.
 */
static void
counters_by_header(void)
{
	enum { NUMBER = 0xff };
	equal("count", ETHOSU_COUNT, DRM_IOCTL_ETHOSU_PERFMON_CREATE);
	equal("uncount", ETHOSU_UNCOUNT & NUMBER, DRM_IOCTL_ETHOSU_PERFMON_DESTROY & NUMBER);
	equal("counted", ETHOSU_COUNTED, DRM_IOCTL_ETHOSU_PERFMON_GET_VALUES);
	equal("counters", ETHOSU_COUNTERS, DRM_ETHOSU_MAX_PERF_EVENT_COUNTERS);
	equal("what the device is", sizeof(struct ethosu_info),
	      sizeof(struct drm_ethosu_npu_info));
	equal("the device's counters", offsetof(struct ethosu_info, counters),
	      offsetof(struct drm_ethosu_npu_info, pmu_counters));
	equal("a job's counters", offsetof(struct ethosu_submit, counters),
	      offsetof(struct drm_ethosu_submit, perfmon_id));
	equal("the number of events", offsetof(struct ethosu_count, n),
	      offsetof(struct drm_ethosu_perfmon_create, ncounters));
	equal("the events", offsetof(struct ethosu_count, event),
	      offsetof(struct drm_ethosu_perfmon_create, counters));
	equal("the set that ends", offsetof(struct ethosu_uncount, id),
	      offsetof(struct drm_ethosu_perfmon_destroy, id));
	equal("the values", offsetof(struct ethosu_counted, values),
	      offsetof(struct drm_ethosu_perfmon_get_values, values_ptr));
}
#endif
#endif

int
main(void)
{
	by_hand();
#ifdef PUBLISHED
	by_header();
	puts("calls 0 to 5 compared with the published header");
#ifdef DRM_ETHOSU_MAX_PERF_EVENT_COUNTERS
	counters_by_header();
	puts("calls 6 to 8 compared with the published header");
#endif
#endif
	return bad;
}
