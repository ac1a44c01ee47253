/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the core driver's header of this name: the declarations that we use, so
 * that the compiler checks the types of the calls.
 */
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ethosu_job { /* our members; the core driver's structure has others, too */
	const void *custom_data_ptr;
	int custom_data_size;
	const uint64_t *base_addr;
	const size_t *base_addr_size;
	int num_base_addr;
	int state; /* 0 idle, 1 running, 2 done */
};

struct ethosu_driver {
	uint64_t fast_memory;
	size_t fast_memory_size;
	struct ethosu_job job;
	bool reserved;
};

/* 0, or -1 if the base address has no NPU that the driver supports */
int ethosu_init(struct ethosu_driver *drv, void *const base_address,
		const void *fast_memory, const size_t fast_memory_size,
		uint32_t secure_enable, uint32_t privilege_enable);
void ethosu_irq_handler(struct ethosu_driver *drv);

struct ethosu_driver *ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver *drv);
/* 0, or -1 with a line on standard error */
int ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr,
		     const int custom_data_size, uint64_t *const base_addr,
		     const size_t *base_addr_size, const int num_base_addr,
		     void *user_arg);
int ethosu_invoke_async(struct ethosu_driver *drv, const void *custom_data_ptr,
			const int custom_data_size, uint64_t *const base_addr,
			const size_t *base_addr_size, const int num_base_addr,
			void *user_arg);
/* 0: done; 1: still running, without block; -1: failed; -2: no job */
int ethosu_wait(struct ethosu_driver *drv, bool block);

#ifdef __cplusplus
}
#endif

#endif
