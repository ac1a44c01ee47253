/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the kinds of the members that this program reads.  A member of another kind would
 * read as an absent one, and its number as a default.
 */
#include "report.h"

#include <string.h>

static const char *const kind_names[] = {
	[JSON_NULL] = "null", [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
	[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
};

/* Each name has one kind in all objects of the reports; null stands for an unknown value. */
static const struct members {
	enum json_kind kind;
	const char *const names[64];
} members[] = {
	{ JSON_NUMBER, { "address", "arena_bytes", "at", "batch_size", "bound_cycles", "bytes",
			 "calibrated_cycles", "calibrated_high", "calibrated_low",
			 "contention_cycles", "core_clock", "cpu_clock", "cpu_cycles",
			 "cpu_error", "cpu_operators", "cpu_operators_without_cycles", "cycles",
			 "cycles_per_inference", "end_cycle", "flash_bytes",
			 "inference_cpu_cycles", "inference_ms", "inference_npu_cycles",
			 "inference_seconds", "inference_seconds_high",
			 "inference_seconds_low", "layer", "macs", "macs_per_cycle",
			 "npu_cycle", "npu_cycles", "npu_layers", "npu_operators", "original_bytes",
			 "scale_bytes", "seconds", "sram", "sram_bytes", "stall_cycles",
			 "start_cycle", "stream_bytes", "timeline_cycles", "top",
			 "total_cycles", "weight_bytes", "weights_at",
			 "yield_added_cycles", "yield_added_stream_bytes", "yield_every_cycles",
			 "yield_kept_bytes", "yield_longest_cycles", NULL } },
	{ JSON_STRING, { "accelerator", "arena_in", "change", "constants_in", "cpu", "kind",
			 "label",
			 "limited_by", "memory_mode", "model", "name", "network", "note",
			 "part", "place", "reason", "rule", "shape", "source_graph",
			 "system_config", "text", NULL } },
	{ JSON_ARRAY, { "block", "constants", "cpu_operator_names", "front", "ifm", "ifm_at",
			"layers", "ofm", "ofm_at", "on_cpu", "operations", "parts", "peaks", "reads",
			"rewrites", "tensors", NULL } },
	{ JSON_OBJECT, { "bytes_per_cycle", "estimate", "read_bytes", "twice_as_fast_cycles",
			 "write_bytes", NULL } },
	{ JSON_BOOL, { "calibrated_extrapolated", "npu", NULL } },
};

static bool
check_member(const struct json *v, const char *file, struct err *e)
{
	for (size_t i = 0; v->key && v->kind != JSON_NULL && i < ARRAY_LEN(members); i++)
		for (const char *const *name = members[i].names; *name; name++)
			if (!strcmp(v->key, *name) && v->kind != members[i].kind)
				return err_at(e, file, 0, "\"%s\" is %s, not %s", v->key,
					      kind_names[v->kind],
					      kind_names[members[i].kind]);
	return true;
}

bool
check_kinds(const struct json *v, const char *file, struct err *e)
{
	if (!check_member(v, file, e))
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (!check_kinds(&v->item[i], file, e))
			return false;
	return true;
}
