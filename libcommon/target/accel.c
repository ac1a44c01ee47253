/* SPDX-License-Identifier: Apache-2.0 */
#include "target/target.h"

#include <string.h>

const struct accel accels[ACCEL_COUNT] = {
#define ACCEL(i, nm, rep, mac, co, uh, uw, ud, bk, lut, un, axi, bits, dma, cw)  \
	[ACCEL_##i].id = ACCEL_##i, [ACCEL_##i].name = nm,                   \
	[ACCEL_##i].report_name = rep,[ACCEL_##i].macs = mac,                  \
	[ACCEL_##i].cores = co,                                              \
	[ACCEL_##i].ublock = { .h = uh, .w = uw, .c = ud },                  \
	[ACCEL_##i].banks = bk,[ACCEL_##i].lut_banks = lut,                   \
	[ACCEL_##i].units = un,[ACCEL_##i].axi_bytes = axi,                    \
	[ACCEL_##i].address_bits = bits, [ACCEL_##i].max_dma = dma,          \
	[ACCEL_##i].config_word = cw,
#define GRANULES(i, ifm, ifm32, acc32, acc40)                                \
	[ACCEL_##i].granule_ifm = ifm, [ACCEL_##i].granule_ifm32 = ifm32,    \
	[ACCEL_##i].granule_acc32 = acc32, [ACCEL_##i].granule_acc40 = acc40,
#define CYCLES(i, o0, o1, o2, o3, o4, o5, o6, o7, a0, a1, a2, d32, d40)      \
	[ACCEL_##i].out_cycles = { o0, o1, o2, o3, o4, o5, o6, o7 },         \
	[ACCEL_##i].act_cycles = { a0, a1, a2 },                             \
	[ACCEL_##i].delay32 = d32, [ACCEL_##i].delay40 = d40,
#include "target.def"
};

const struct accel *
accel_find(const char *name)
{
	for (int i = 0; i < ACCEL_COUNT; i++)
		if (!strcmp(accels[i].name, name))
			return &accels[i];
	return NULL;
}

const struct accel *
accel_of_config(uint32_t config_word)
{
	for (int i = 0; i < ACCEL_COUNT; i++)
		if (accels[i].config_word == config_word)
			return &accels[i];
	return NULL;
}

const char *
accel_names(void)
{
	return "ethos-u55-32, ethos-u55-64, ethos-u55-128, ethos-u55-256, "
	       "ethos-u65-256, ethos-u65-512";
}
