/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that computes nothing: it checks its arguments by the core driver's own
 * rules (ethosu-commands(7) 14.4), and fills the scratch memory with a pattern that
 * the caller can check.
 */
#include "ethosu_driver.h"

#include <string.h>

static struct ethosu_driver the_driver;

struct ethosu_driver *
ethosu_reserve_driver(void)
{
	if (the_driver.reserved)
		return NULL;
	the_driver.reserved = true;
	return &the_driver;
}

void
ethosu_release_driver(struct ethosu_driver *drv)
{
	drv->reserved = false;
}

int
ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr,
		 const int custom_data_size, uint64_t *const base_addr,
		 const size_t *base_addr_size, const int num_base_addr,
		 void *user_arg)
{
	(void)user_arg;
	if (drv != &the_driver || !drv->reserved)
		return -1;
	if ((uintptr_t)custom_data_ptr % 16 || custom_data_size % 4 ||
	    custom_data_size < 36 || memcmp(custom_data_ptr, "COP1", 4))
		return -2;
	if (num_base_addr < 2 || num_base_addr > 8)
		return -3;
	for (int i = 0; i < num_base_addr; i++)
		if (base_addr[i] % 16)
			return -4;
	uint8_t *scratch = (uint8_t *)(uintptr_t)base_addr[1];
	memset(scratch, 0x5a, base_addr_size[1]);
	return 0;
}
