/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands where the core driver's header of this name is in a firmware: the
 * declarations that we use, so that the call is held to their types.
 */
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct ethosu_driver;

struct ethosu_driver *ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver *drv);
int ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr,
		     const int custom_data_size, uint64_t *const base_addr,
		     const size_t *base_addr_size, const int num_base_addr,
		     void *user_arg);

#endif
