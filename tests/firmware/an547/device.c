/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The register block: ethosu-commands(7) 4 and 14.4, the words that the core driver
 * uses.  SysTick does the work that hardware would do between two instructions; its
 * priority is below the NPU's.
 */
#include "device.h"

#include "ethosu_driver.h"
#include "sim/sim.h"
#include "target/accel.h"

#include <stdio.h>
#include <string.h>

enum reg { /* words of the block */
	ID = 0x00 / 4, STATUS = 0x04 / 4, CMD = 0x08 / 4, QBASE = 0x10 / 4,
	QREAD = 0x18 / 4, QSIZE = 0x20 / 4, PROT = 0x24 / 4, CONFIG = 0x28 / 4,
	BASEP = 0x80 / 4, WORDS = 0x1000 / 4,
};

enum { /* STATUS, CMD */
	IRQ_RAISED = 1 << 1, BUS_STATUS = 1 << 2, CMD_END_REACHED = 1 << 5,
	RUN = 1 << 0, CLEAR_IRQ = 1 << 1,
};

enum { PRIVILEGED = 1, SECURE = 0 }; /* PROT: CPL bit 0, CSL (0: secure) bit 1 */
enum { ID_U55 = 0x10104201, ID_U65 = 0x10066001 }; /* architecture 1.1.0, 1.0.6 */
enum { NPU_IRQ = 56, TICK_CLOCKS = 25000, LOW_PRIORITY = 0xff };

#define SYST_CSR ((volatile uint32_t *)0xe000e010)
#define SYST_RVR ((volatile uint32_t *)0xe000e014)
#define SYST_CVR ((volatile uint32_t *)0xe000e018)
#define SYSTICK_PRIORITY ((volatile uint8_t *)0xe000ed23)
#define NVIC_ISER ((volatile uint32_t *)0xe000e100)
#define NVIC_ISPR ((volatile uint32_t *)0xe000e200)

static volatile uint32_t reg[WORDS];
void *const device_registers = (void *)(uintptr_t)reg;

static const struct accel *the_accel;
static size_t region_bytes[SIM_N_REGIONS];

void SysTick_Handler(void);

void
npu_device_init(void)
{
	the_accel = accel_find(NPU_NAME);
	reg[ID] = accel_is_u65(the_accel) ? ID_U65 : ID_U55;
	reg[CONFIG] = the_accel->config_word;
	reg[PROT] = PRIVILEGED | SECURE << 1;
	NVIC_ISER[NPU_IRQ / 32] = 1u << NPU_IRQ % 32;
	*SYSTICK_PRIORITY = LOW_PRIORITY;
	*SYST_RVR = TICK_CLOCKS;
	*SYST_CVR = 0;
	*SYST_CSR = 7; /* clock of the core, interrupt, on */
}

/*
 * The driver's hook before a job, which has the sizes of the regions; the device
 * itself sees only addresses.  The hook is the same in releases 22.05 to 24.11 (0.16)
 * and in 1.0 of the driver, in contrast to the hook that cleans the data cache.
 */
void
ethosu_inference_begin(struct ethosu_driver *driver, void *argument)
{
	const struct ethosu_job *job = &driver->job;
	(void)argument;
	memset(region_bytes, 0, sizeof(region_bytes));
	for (int i = 0; i < job->num_base_addr && i < SIM_N_REGIONS; i++)
		region_bytes[i] = job->base_addr_size[i];
}

static uint8_t *
address(int at)
{
	return (uint8_t *)(uintptr_t)reg[at];
}

/* region 0 is read only: in a firmware it is in flash */
static bool
execute(struct err *e)
{
	struct sim_npu_job job = {
		.name = "command stream", .accel = the_accel,
		.payload = { .p = address(QBASE), .n = reg[QSIZE] },
	};
	for (int i = 0; i < SIM_N_REGIONS; i++)
		if (region_bytes[i])
			job.region[i] = (struct sim_region){
				.rd = address(BASEP + 2 * i),
				.wr = i ? address(BASEP + 2 * i) : NULL,
				.bytes = region_bytes[i],
			};
	return sim_npu_run(&job, e);
}

/* CMD is the last word that the driver writes; a tick executes the command */
void
SysTick_Handler(void)
{
	struct err e = { 0 };
	uint32_t cmd = reg[CMD];
	if (cmd & CLEAR_IRQ)
		reg[STATUS] &= ~(uint32_t)IRQ_RAISED;
	reg[CMD] = cmd & ~(uint32_t)(RUN | CLEAR_IRQ);
	if (!(cmd & RUN))
		return;
	reg[STATUS] = IRQ_RAISED;
	if (execute(&e)) {
		reg[STATUS] |= CMD_END_REACHED;
		reg[QREAD] = reg[QSIZE];
	} else {
		reg[STATUS] |= BUS_STATUS;
		(void)fprintf(stderr, "%s\n", e.text);
	}
	NVIC_ISPR[NPU_IRQ / 32] = 1u << NPU_IRQ % 32;
}
