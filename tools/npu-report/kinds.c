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

#define KIND_TEXT JSON_STRING
#define KIND_BOOL JSON_BOOL
#define KIND_COUNT JSON_NUMBER
#define KIND_CYCLES JSON_NUMBER
#define KIND_NUMBER JSON_NUMBER
#define KIND_FRACTION JSON_NUMBER
#define KIND_MS JSON_NUMBER
#define KIND_SECONDS JSON_NUMBER
#define KIND_MEMORIES JSON_OBJECT

/* Each name has one kind in all objects of the reports; null stands for an unknown value. */
static const struct members {
	enum json_kind kind;
	const char *names[24]; /* the last one is NULL */
} members[] = {
#define FIGURE(key, kind, value, text) { KIND_##kind, { #key } },
#include "figures.def"
	/* members of objects in the report, and of fronts */
	{ JSON_NUMBER, { "address", "at", "bytes", "cycles", "end_cycle", "layer", "macs",
			 "npu_cycle", "objective", "original_bytes", "scale_bytes", "seconds", "sram",
			 "stall_cycles", "start_cycle", "start_cycles", "top", "total_cycles", "weight_bytes",
			 "weights_at" } },
	{ JSON_STRING, { "change", "kind", "label", "limited_by", "model", "name", "place",
			 "reason", "rule", "shape", "source_graph", "text" } },
	{ JSON_ARRAY, { "block", "constants", "cpu_operator_names", "front", "ifm", "ifm_at",
			"layers", "ofm", "ofm_at", "on_cpu", "operations", "parts", "peaks", "reads",
			"rewrites", "tensors" } },
	{ JSON_OBJECT, { "estimate", "read_bytes", "write_bytes" } },
	{ JSON_BOOL, { "npu" } },
};

bool
check_kinds(const struct json *v, const char *file, struct err *e)
{
	for (size_t i = 0; v->key && v->kind != JSON_NULL && i < ARRAY_LEN(members); i++)
		for (const char *const *name = members[i].names; *name; name++)
			if (!strcmp(v->key, *name) && v->kind != members[i].kind)
				return err_at(e, file, 0, "\"%s\" is %s, not %s", v->key,
					      kind_names[v->kind],
					      kind_names[members[i].kind]);
	/* the members of "measured" are counters, objects with the names of figures */
	bool counters = v->key && !strcmp(v->key, "measured");
	for (size_t i = 0; i < v->n; i++)
		if (!(counters && v->item[i].kind == JSON_OBJECT) && !check_kinds(&v->item[i], file, e))
			return false;
	return true;
}
