/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-run's statement of the driver's interface: numbers and sizes worked out by hand
 * from the published header, and that header itself where this system has one.
 */
#include "../../tools/npu-run/ioctl.h"

#include <stddef.h>
#include <stdio.h>

#ifdef __has_include
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
	equal("close", ANY_CLOSE, DRM_IOCTL_GEM_CLOSE);
	equal("version", ANY_VERSION, DRM_IOCTL_VERSION);
	equal("a job", sizeof(struct ethosu_job), sizeof(struct drm_ethosu_job));
	equal("a job's regions", offsetof(struct ethosu_job, region),
	      offsetof(struct drm_ethosu_job, region_bo_handles));
	equal("sram", offsetof(struct ethosu_info, sram_bytes),
	      offsetof(struct drm_ethosu_npu_info, sram_size));
	equal("a buffer's handle", offsetof(struct ethosu_bo, handle),
	      offsetof(struct drm_ethosu_bo_create, handle));
	equal("a map's offset", offsetof(struct ethosu_map, offset),
	      offsetof(struct drm_ethosu_bo_mmap_offset, offset));
	equal("regions", ETHOSU_REGIONS, ETHOSU_MAX_REGIONS);
}
#endif

int
main(void)
{
	by_hand();
#ifdef PUBLISHED
	by_header();
	puts("by the published header, too");
#endif
	return bad;
}
