/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of schema/target.def, and their lookup by name or configuration. */
#include "target/target.h"

#include "base/nearest.h"
#include "base/text.h"
#include "target/accel.h"

#include <string.h>

const struct accel accels[ACCEL_COUNT] = {
#define ACCEL(i, gen, nm, rep, mac, co, str, axi, bits, dma, cw)             \
	[ACCEL_##i].id = ACCEL_##i, [ACCEL_##i].generation = GEN_##gen,      \
	[ACCEL_##i].name = nm, [ACCEL_##i].report_name = rep,                \
	[ACCEL_##i].macs = mac, [ACCEL_##i].cores = co,                      \
	[ACCEL_##i].streams = str, [ACCEL_##i].axi_bytes = axi,              \
	[ACCEL_##i].address_bits = bits, [ACCEL_##i].max_dma = dma,          \
	[ACCEL_##i].config_word = cw,
#define UBLOCKS(i, n, ...)                                                   \
	[ACCEL_##i].n_ublocks = n, [ACCEL_##i].ublocks = { __VA_ARGS__ },
#define SHRAM(i, bk, lut)                                                    \
	[ACCEL_##i].banks = bk, [ACCEL_##i].lut_banks = lut,
#define BUFFERS(i, ib, ab, ob, cb)                                           \
	[ACCEL_##i].ifm_buffer = ib, [ACCEL_##i].acc_buffer = ab,            \
	[ACCEL_##i].out_buffer = ob, [ACCEL_##i].chain_buffer = cb,
#define GRANULES(i, ifm, ifm32, acc32, acc40)                                \
	[ACCEL_##i].granule_ifm = ifm, [ACCEL_##i].granule_ifm32 = ifm32,    \
	[ACCEL_##i].granule_acc32 = acc32, [ACCEL_##i].granule_acc40 = acc40,
#define READS85(i, copy, stream, weights, fast, ifm, scales)                 \
	[ACCEL_##i].read_words = { copy, stream, weights, fast, ifm, scales },
#define CYCLES85(i, o0, o1, o2, o3, o4, o5, a0, a1)                          \
	[ACCEL_##i].out85_cycles = { o0, o1, o2, o3, o4, o5 },               \
	[ACCEL_##i].act85_cycles = { a0, a1 },
#define CYCLES(i, o0, o1, o2, o3, o4, o5, o6, o7, a0, a1, a2, d32, d40)      \
	[ACCEL_##i].out_cycles = { o0, o1, o2, o3, o4, o5, o6, o7 },         \
	[ACCEL_##i].act_cycles = { a0, a1, a2 },                             \
	[ACCEL_##i].delay32 = d32, [ACCEL_##i].delay40 = d40,
#include "target.def"
};

const struct npu_generation generations[GENERATIONS] = {
#define EVERYTHING ((1u << DOINGS) - 1)
#define CAN(what) (1u << DO_##what)
#define LACKS(what) (1u << LACK_##what)
#define GENERATION(i, number, architecture, height, width, depth, dep, not, can) \
	[GEN_##i] = { .product = number, .arch = architecture,               \
		      .max_block = { .h = height, .w = width, .c = depth },  \
		      .max_blockdep = dep, .lacks = not, .does = can },
#include "generations.def"
};

bool
accel_does(const struct accel *a, enum accel_action what, struct err *e)
{
	static const char *const names[DOINGS] = {
		[DO_SIMULATE] = "simulated", [DO_VERIFY] = "verified",
		[DO_COMPILE] = "compiled for", [DO_ESTIMATE] = "estimated",
	};
	return accel_generation(a)->does >> what & 1 ||
	       err_set(e, "%s is not %s yet", a->name, names[what]);
}

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

/*
 * The accelerator that was probably meant.  A generation in the name, such as 85, stays.  Of
 * the names that contain the word, as for u85, 85-256 or ethos_u85, that of 256 MACs is taken,
 * which every generation has.
 */
static const char *
accel_nearest(const char *name)
{
	static const char *const families[] = { "55", "65", "85" };
	const char *all[ACCEL_COUNT], *generation = "", *part = NULL;
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (strstr(name, families[i]))
			generation = families[i];
	for (int i = 0; i < ACCEL_COUNT; i++) {
		const char *is = accels[i].name;
		if (!strstr(is, generation))
			continue;
		all[n++] = is;
		if (*generation && word_contains(is, name) && (!part || text_has_suffix(is, "-256")))
			part = is;
	}
	return part ? part : nearest_word(name, all, n);
}

const char *
accel_names(void)
{
	static const char names[] =
#define ACCEL(id, gen, name, ...) ", " name
#include "target.def"
	    ;
	return names + 2;
}

const struct accel *
accel_named(const char *name, struct err *e)
{
	const struct accel *a = accel_find(name);
	const char *meant = a ? NULL : accel_nearest(name);
	if (!a)
		(void)err_set(e, "there is no accelerator '%s'; there are %s%s%s%s", name,
			      accel_names(), meant ? "; did you mean " : "", meant ? meant : "",
			      meant ? "?" : "");
	return a;
}
