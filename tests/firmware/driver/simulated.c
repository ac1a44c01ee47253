/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core driver's interface on the simulator, for the host and for a board without
 * an NPU.  It checks the firmware's arguments by the driver's rules
 * (ethosu-commands(7) 14.4) and executes the job in ethosu_wait().  There is one
 * driver, which is reserved also without ethosu_init().
 */
#include "ethosu_driver.h"

#include "base/diag.h"
#include "sim/sim.h"

#include <stdio.h>

enum { IDLE, RUNNING, DONE };
enum { FAST = 2 }; /* the region in the driver's fast memory */

static struct ethosu_driver the_driver;
static struct ethosu_driver *registered = &the_driver;

int
ethosu_init(struct ethosu_driver *drv, void *const base_address,
	    const void *fast_memory, const size_t fast_memory_size,
	    uint32_t secure_enable, uint32_t privilege_enable)
{
	(void)base_address;
	(void)secure_enable;
	(void)privilege_enable;
	*drv = (struct ethosu_driver){ .fast_memory = (uintptr_t)fast_memory,
				       .fast_memory_size = fast_memory_size };
	registered = drv;
	return 0;
}

void
ethosu_irq_handler(struct ethosu_driver *drv)
{
	drv->job.state = DONE;
}

struct ethosu_driver *
ethosu_reserve_driver(void)
{
	if (registered->reserved)
		return NULL;
	registered->reserved = true;
	return registered;
}

void
ethosu_release_driver(struct ethosu_driver *drv)
{
	drv->reserved = false;
}

/* region 0 is read only: in a firmware it is in flash */
static bool
bind_regions(struct sim_npu_job *job, const struct ethosu_job *j)
{
	if (j->num_base_addr < 1)
		return false;
	for (int i = 0; i < j->num_base_addr && i < SIM_N_REGIONS; i++) {
		uint8_t *p = (uint8_t *)(uintptr_t)j->base_addr[i];
		if (j->base_addr[i] % 16)
			return false;
		job->region[i] = (struct sim_region){
			.rd = p, .wr = i ? p : NULL,
			.bytes = j->base_addr_size[i],
		};
	}
	return true;
}

static int
execute(const struct ethosu_job *j)
{
	struct err e = { 0 };
	struct sim_npu_job job = {
		.name = "payload",
		.payload = { .p = j->custom_data_ptr,
			     .n = (size_t)j->custom_data_size },
	};
	if ((uintptr_t)j->custom_data_ptr % 16 || !bind_regions(&job, j))
		return -1;
	if (sim_npu_run(&job, &e))
		return 0;
	(void)fprintf(stderr, "%s\n", e.text);
	return -1;
}

int
ethosu_invoke_async(struct ethosu_driver *drv, const void *custom_data_ptr,
		    const int custom_data_size, uint64_t *const base_addr,
		    const size_t *base_addr_size, const int num_base_addr,
		    void *user_arg)
{
	(void)user_arg;
	if (drv->job.state != IDLE)
		return -1;
	if (drv->fast_memory && num_base_addr > FAST) {
		if (base_addr_size[FAST] > drv->fast_memory_size)
			return -1;
		base_addr[FAST] = drv->fast_memory;
	}
	drv->job = (struct ethosu_job){
		.custom_data_ptr = custom_data_ptr,
		.custom_data_size = custom_data_size,
		.base_addr = base_addr, .base_addr_size = base_addr_size,
		.num_base_addr = num_base_addr, .state = RUNNING,
	};
	return 0;
}

/* a call without block finds the job running once, so that both cases are tested */
int
ethosu_wait(struct ethosu_driver *drv, bool block)
{
	int status = 0;
	if (drv->job.state == IDLE)
		return -2;
	if (drv->job.state == RUNNING) {
		status = execute(&drv->job);
		ethosu_irq_handler(drv);
		if (!block && !status)
			return 1;
	}
	drv->job.state = IDLE;
	return status;
}

int
ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr,
		 const int custom_data_size, uint64_t *const base_addr,
		 const size_t *base_addr_size, const int num_base_addr,
		 void *user_arg)
{
	if (ethosu_invoke_async(drv, custom_data_ptr, custom_data_size, base_addr,
				base_addr_size, num_base_addr, user_arg))
		return -1;
	return ethosu_wait(drv, true);
}
