/* SPDX-License-Identifier: Apache-2.0 */
/* What the integers of the network cost against the float network, of tfl-quantize --json. */
#include "report.h"

static const char title[] = "Integers beside floats";

bool
read_quantized(struct report *r, struct bytes json, const char *file, struct err *e)
{
	struct json *root = anew(r->a, struct json, 1);
	size_t n;
	if (!json_parse(r->a, json, file, root, e))
		return false;
	if (!json_items(root, "operators", &n) || json_number(root, "samples", 0) < 1)
		return err_at(e, file, 0, "the file has no \"operators\" or no \"samples\": write "
					  "it with tfl-quantize --json");
	r->quantized = root;
	return true;
}

/* a ratio in decibels; null: exact, or not computed */
static struct cell
cell_db(const struct json *v, const char *key)
{
	const struct json *x = json_get(v, key);
	return x && x->kind == JSON_NUMBER ? cell_number(x->number) : cell_text("-");
}

struct table
table_quantized(const struct report *r)
{
	static const char *const columns[] = { "operator", "output", "type", "own noise, dB",
					       "all noise, dB", NULL };
	struct table b = table_of(r->a, title, columns);
	size_t n = 0;
	const struct json *v = r->quantized ? json_items(r->quantized, "operators", &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		table_add(&b, cell_text(json_string(&v[i], "name", "?")));
		table_add(&b, cell_text(json_string(&v[i], "tensor_name", "")));
		table_add(&b, cell_text(json_string(&v[i], "type", "")));
		table_add(&b, cell_db(&v[i], "own_snr_db"));
		table_add(&b, cell_db(&v[i], "snr_db"));
	}
	return b;
}

/* the same in a sentence */
static const char *
ratio_text(const struct report *r, const struct json *v, const char *key)
{
	const struct json *x = json_get(v, key);
	return x && x->kind == JSON_NUMBER ? arena_printf(r->a, "%.1f dB", x->number)
					   : "without limit, or no signal";
}

const char **
list_quantized(const struct report *r, size_t *n_lines)
{
	enum { WORST = 3 }; /* of the operators, as tfl-quantize writes them */
	const struct json *q = r->quantized, *accuracy = json_get(q, "accuracy");
	size_t n = 0, n_outputs = 0, n_worst = 0;
	const struct json *output = json_items(q, "outputs", &n_outputs);
	const struct json *worst = json_items(q, "worst", &n_worst);
	const char **line = anew(r->a, const char *, n_outputs + WORST + 3);
	double samples = json_number(q, "samples", 0);
	if (json_get(q, "held_out"))
		line[n++] = json_true(q, "held_out")
				    ? "Measured on samples that gave no range (--test)"
				    : "Measured on the samples that gave the ranges; tfl-quantize "
				      "--test=PATH measures on others";
	if (accuracy && accuracy->kind == JSON_OBJECT)
		line[n++] = arena_printf(r->a, "Right answers for %.0f labelled samples: %.2f %% by "
					       "the float network, %.2f %% by integers",
					 json_number(q, "labels", 0),
					 100 * json_number(accuracy, "float", 0),
					 100 * json_number(accuracy, "integer", 0));
	if (json_number(q, "equal_answers", -1) >= 0)
		line[n++] = arena_printf(r->a, "Equal answers: %.0f of %.0f",
					 json_number(q, "equal_answers", 0), samples);
	for (size_t i = 0; output && i < n_outputs; i++) {
		line[n++] = arena_printf(r->a, "Output %.0f: signal to noise %s",
					 json_number(&output[i], "output", 0),
					 ratio_text(r, &output[i], "snr_db"));
	}
	for (size_t i = 0; worst && i < n_worst && i < WORST; i++) {
		const char *help = json_string(&worst[i], "help", "");
		line[n++] = arena_printf(r->a, "%s (%s): signal to noise of its own %s%s%s",
					 json_string(&worst[i], "name", "?"),
					 json_string(&worst[i], "tensor_name", ""),
					 ratio_text(r, &worst[i], "own_snr_db"),
					 *help ? "; tfl-quantize " : "", help);
	}
	*n_lines = n;
	return line;
}
