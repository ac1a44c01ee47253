/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Ethos-U for a machine without one: registers in memory, with the simulator
 * behind them.  The driver writes and reads the registers as those of the device.  A
 * timer interrupt looks for a command, executes the stream and raises the NPU's
 * interrupt.
 */
#ifndef DEVICE_H
#define DEVICE_H

/* the register block, 4 KiB: ethosu_init()'s base address */
extern void *const device_registers;

/*
 * Resets the registers of the accelerator NPU_NAME (a macro of the build:
 * "ethos-u55-128"), and starts timer and interrupt.
 */
void npu_device_init(void);

#endif
