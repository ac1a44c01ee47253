/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_NETWORK_H
#define RUN_NETWORK_H

struct ethosu_driver;

#ifdef __cplusplus
extern "C" {
#endif
/*
 * Runs the network once on its test input, and compares the outputs with those of the PC.  Prints
 * the result.  Returns 0 if all bytes are equal.  The driver is initialised.
 */
int run_network(struct ethosu_driver *driver);
#ifdef __cplusplus
}
#endif

#endif
