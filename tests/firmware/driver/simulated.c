/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core driver on the host, with the simulator for an NPU: takes what the
 * firmware hands over, checks it by the driver's rules, and executes it.
 */
#include "ethosu_driver.h"

#include "sim/sim.h"

#include <stdio.h>

struct ethosu_driver {
	int reserved;
};

static struct ethosu_driver the_driver;

struct ethosu_driver *
ethosu_reserve_driver(void)
{
	return the_driver.reserved++ ? NULL : &the_driver;
}

void
ethosu_release_driver(struct ethosu_driver *drv)
{
	drv->reserved--;
}

/* region 0 is read only: in a firmware it lies in flash */
static bool
bind_regions(struct sim_npu_job *job, const uint64_t *base, const size_t *size,
	     int n)
{
	if (n < 1 || n > SIM_N_REGIONS)
		return false;
	for (int i = 0; i < n; i++) {
		uint8_t *p = (uint8_t *)(uintptr_t)base[i];
		if (base[i] % 16)
			return false;
		job->region[i] = (struct sim_region){
			.rd = p, .wr = i ? p : NULL, .bytes = size[i],
		};
	}
	return true;
}

int
ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr,
		 const int custom_data_size, uint64_t *const base_addr,
		 const size_t *base_addr_size, const int num_base_addr,
		 void *user_arg)
{
	struct err e = { 0 };
	struct sim_npu_job job = {
		.name = "payload",
		.payload = { .p = custom_data_ptr,
			     .n = (size_t)custom_data_size },
	};
	(void)user_arg;
	if (!drv->reserved || (uintptr_t)custom_data_ptr % 16 ||
	    !bind_regions(&job, base_addr, base_addr_size, num_base_addr))
		return -1;
	if (sim_npu_run(&job, &e))
		return 0;
	(void)fprintf(stderr, "%s\n", e.text);
	return -1;
}
