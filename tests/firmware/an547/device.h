/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Ethos-U for a machine that has none: registers in memory, the simulator
 * behind them.  The driver writes and reads the registers as it would those of
 * the device; a timer interrupt looks for a command, executes the stream and
 * raises the NPU's interrupt.
 */
#ifndef DEVICE_H
#define DEVICE_H

/* the register block, 4 KiB: ethosu_init()'s base address */
extern void *const device_registers;

/*
 * Resets the registers, of the accelerator NPU_NAME (a macro of the build:
 * "ethos-u55-128"), and starts timer and interrupt.
 */
void npu_device_init(void);

#endif
