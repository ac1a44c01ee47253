/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of CMSIS that the core driver uses: waiting for an event, and sending
 * one. */
#ifndef CMSIS_COMPILER_H
#define CMSIS_COMPILER_H

#define __WFE() __asm__ volatile("wfe" ::: "memory")
#define __SEV() __asm__ volatile("sev" ::: "memory")

#endif
