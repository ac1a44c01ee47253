/* SPDX-License-Identifier: Apache-2.0 */
/* Corstone-300: initialises Arm's core driver, and runs the network once. */
#include "RTE_Components.h"
#include CMSIS_device_header

#include "ethosu_driver.h"
#include "run_network.h"

#ifndef NPU_BASE
#define NPU_BASE 0x48102000 /* of the NPU's registers */
#endif

static struct ethosu_driver driver;

void ETHOS_U55_Handler(void);

void
ETHOS_U55_Handler(void)
{
	ethosu_irq_handler(&driver);
}

int
main(void)
{
	/* no fast memory of the NPU's own, secure, privileged */
	if (ethosu_init(&driver, (void *)NPU_BASE, NULL, 0, 1, 1))
		return 2;
	NVIC_EnableIRQ(ETHOS_U55_IRQn);
	return run_network(&driver);
}
