/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the performance counters of each inference, and prints them as lines of the ML
 * evaluation kit, which npu-perf --measured and --fit read.
 */
#include "npu-run.h"

#include "target/accel.h"

#include <inttypes.h>

struct event {
	uint16_t number; /* of the event, as in the NPU's manual */
	const char *line;
};

/* four, because Ethos-U65 has four counters; idle cycles are all cycles less the active ones */
static const struct event u65_events[] = {
	{ 35, "NPU ACTIVE cycles" },
	{ 130, "NPU AXI0_RD_DATA_BEAT_RECEIVED beats" },
	{ 135, "NPU AXI0_WR_DATA_BEAT_WRITTEN beats" },
	{ 386, "NPU AXI1_RD_DATA_BEAT_RECEIVED beats" },
};
static const struct event u85_events[] = {
	{ 35, "NPU ACTIVE cycles" },
	{ 130, "NPU ETHOSU_PMU_SRAM_RD_DATA_BEAT_RECEIVED beats" },
	{ 135, "NPU ETHOSU_PMU_SRAM_WR_DATA_BEAT_WRITTEN beats" },
	{ 386, "NPU ETHOSU_PMU_EXT_RD_DATA_BEAT_RECEIVED beats" },
};
enum { EVENTS = ARRAY_LEN(u65_events) };

struct counts {
	const struct device *d;
	const struct event *event;
	uint32_t id;		    /* of the set that the next job uses */
	uint64_t sum[EVENTS + 1];   /* of the current inference; the last: all cycles */
	struct text lines;
};

static bool
begin_set(struct counts *c, struct err *e)
{
	uint16_t event[EVENTS];
	for (int i = 0; i < EVENTS; i++)
		event[i] = c->event[i].number;
	return device_count(c->d, event, EVENTS, &c->id, e);
}

bool
counts_open(struct arena *a, const struct device *d, struct counts **out, struct err *e)
{
	struct counts *c = *out = anew(a, struct counts, 1);
	c->d = d;
	c->event = accel_is_u65(d->accel) ? u65_events : u85_events;
	if (d->info.counters < EVENTS)
		return err_at(e, d->path, 0,
			      "the driver has %" PRIu32 " performance counters, but --measure "
			      "needs %d: use a newer kernel",
			      d->info.counters, EVENTS);
	return begin_set(c, e);
}

uint32_t
counts_id(const struct counts *c)
{
	return c->id;
}

bool
counts_add(struct counts *c, bool last, struct err *e)
{
	uint64_t value[EVENTS + 1];
	if (!device_counted(c->d, c->id, value, e))
		return false;
	for (int i = 0; i <= EVENTS; i++)
		c->sum[i] += value[i];
	if (last) {
		text_puts(&c->lines, "Profile for Inference:\n");
		for (int i = 0; i < EVENTS; i++)
			text_printf(&c->lines, "%s: %" PRIu64 "\n", c->event[i].line, c->sum[i]);
		text_printf(&c->lines,
			    "NPU IDLE cycles: %" PRIu64 "\nNPU TOTAL cycles: %" PRIu64 "\n",
			    c->sum[EVENTS] - c->sum[0], c->sum[EVENTS]);
		for (int i = 0; i <= EVENTS; i++)
			c->sum[i] = 0;
	}
	return begin_set(c, e);
}

bool
counts_write(struct counts *c, const char *path, struct err *e)
{
	return file_write(path, c->lines.p, c->lines.n, false, e);
}

void
counts_close(struct counts *c)
{
	text_free(&c->lines);
}
