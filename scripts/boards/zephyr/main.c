/* SPDX-License-Identifier: Apache-2.0 */
/* Zephyr's driver of the NPU has initialised Arm's core driver. */
#include "run_network.h"

#include <ethosu_driver.h>

int
main(void)
{
	struct ethosu_driver *driver = ethosu_reserve_driver();
	const int status = run_network(driver);
	ethosu_release_driver(driver);
	return status;
}
