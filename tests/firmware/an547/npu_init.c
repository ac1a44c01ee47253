/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver and its NPU: Arm's core driver with simulated registers, or with
 * OWN_DRIVER the simulator behind the driver's interface.
 */
#include "device.h"
#include "run.h"

#include "ethosu_driver.h"

static struct ethosu_driver driver;

void NPU_Handler(void);

void
NPU_Handler(void)
{
	ethosu_irq_handler(&driver);
}

int
npu_init(void *fast, unsigned fast_bytes)
{
#ifdef OWN_DRIVER
	void *const registers = NULL;
#else
	void *const registers = device_registers;
	npu_device_init();
#endif
	return ethosu_init(&driver, registers, fast, fast_bytes, 1, 1);
}
