/* SPDX-License-Identifier: Apache-2.0 */
/* npu-perf: estimates how long a compiled network takes, and what limits it. */
#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "report.h"
#include "target/part.h"
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

/* Checks the reports, and one network or the networks of --fit with their logs. */
static void
check_options(void *options)
{
	struct options *o = options;
	int reports = 0;
	for (size_t i = 0; i < ARRAY_LEN(o->asked); i++)
		reports += o->asked[i];
	if (reports > 1)
		cli_error("--csv, --summary-csv, --json, --yaml and --trace exclude each other");
	if (o->fit) {
		if (!o->n_operands)
			cli_error("--fit needs at least one operand MODEL=LOG");
		if (!*o->fit || strpbrk(o->fit, "[]\n"))
			cli_error("--fit: '%s' is not a valid name of a profile", o->fit);
		return;
	}
	const struct target_names names = { .system = o->system, .mode = o->mode,
					    .has_config = o->config != NULL };
	target_check_names(&names, cli_refuse);
	if (o->n_operands == 2 && !o->measured)
		o->measured = o->operand[1];
	else if (o->n_operands > 1)
		cli_error("more than one network");
	o->file = o->n_operands ? o->operand[0] : NULL;
}

static void
take_part(void *options, const char *name)
{
	struct options *o = options;
	struct err e = { 0 };
	const struct target_part *before = o->chip;
	const struct target_part *p = o->chip = target_part_take(o->a, name, &e);
	if (p && before && strcmp(before->name, p->name) != 0)
		cli_error("--part is given twice, as %s and as %s; name one chip", before->name,
			  p->name);
	if (!p)
		cli_refuse(&e);
	else if (!o->system)
		o->system = p->system;
	if (p && !o->mode)
		o->mode = p->mode;
	if (p && !o->config && o->system == p->system)
		o->config = p->config;
}

static void
take_model(void *options, const char *arg)
{
	struct options *o = options;
	if (!perf_model_find(arg, &o->model))
		cli_error("--model knows %s, not '%s'", perf_model_names(), arg);
}

static void
take_operand(void *options, const char *arg)
{
	struct options *o = options;
	o->operand[o->n_operands++] = arg;
}

static const struct cli_option option_list[] = {
	{ CLI_HEADING("Memory system:"), .group = 1 },
	MEMORY_OPTIONS,
	{ SHARED_TAKE(PART, take_part),
	  .doc = "use the system configuration and memory mode of this chip" },
	{ SHARED_LIST(LIST_PARTS, target_part_list) },
	{ SHARED_LIST(LIST_PROFILES, memory_list_profiles) },
	{ CLI_HEADING("Report:"), .group = 2 },
	{ CLI_TAKE("model", "NAME", take_model,
		   "estimator of cycles and bandwidths: calibrated (default), timeline, "
		   "vela-2.1, vela-3.12 or regor") },
	{ CLI_FLAG("verbose-performance", layers,
		   "add a table of all kernels and transfers to the summary") },
	{ CLI_FLAG("show-cpu-operations", cpu_names,
		   "name the operators that run on the CPU") },
	{ CLI_NUMBER("units", "3|4", units, 3, 4,
		     "meaning of MB and GB in the summary: 3 as in Vela 3 (decimal, default), 4 "
		     "as in Vela 4 (powers of 1024)") },
	{ CLI_TEXT("called", "NAME", called,
		   "name of the network in the report (default: that of the file)") },
	{ CLI_TEXT("measured", "FILE", measured,
		   "compare the estimate with a log of a device: counters of its NPU, times of "
		   "operators, or a histogram of QREAD; a second operand means the same") },
	{ CLI_TEXT("fit", "NAME", fit,
		   "fit a memory profile NAME to measured networks and their logs, and write "
		   "it in vela.ini's syntax") },
#define REPORT(name, id, doc)                                                     \
	{ CLI_VALUE(name, report, REPORT_##id, doc), .seen = CLI_SEEN(asked[REPORT_##id]) }
	REPORT("csv", CSV, "print a row for every kernel and transfer, as CSV"),
	REPORT("summary-csv", SUMMARY_CSV,
	       "print the summary as CSV with the 52 columns of Vela"),
	REPORT("json", JSON, "print all results as JSON"),
	REPORT("yaml", YAML, "print the start and end cycle of every layer, as YAML"),
	REPORT("trace", TRACE, "print the timeline for Chrome's tracing view or Perfetto"),
#undef REPORT
	{ 0 }
};

static const struct argp argp = {
	.args_doc = "[FILE [LOG]]\n--fit=NAME MODEL=LOG...",
	.doc = "Estimate cycles, bandwidths and memory of a network compiled for an "
	       "Ethos-U, from its command streams.\v"
	       "Every number is an estimate; npu-perf-accuracy(7) compares estimates "
	       "with measurements.",
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	sandbox_read(s, o->config);
	sandbox_read(s, o->measured);
	for (size_t i = 0; o->fit && i < o->n_operands; i++)
		fit_allow(s, o->operand[i]);
}

static void
print_report(struct text *t, const struct options *o, const struct network *net)
{
	switch (o->report) {
	case REPORT_CSV: report_csv(t, net); break;
	case REPORT_SUMMARY_CSV: report_summary_csv(t, o, net); break;
	case REPORT_JSON: report_json(t, net); break;
	case REPORT_YAML: report_yaml(t, net); break;
	case REPORT_TRACE: report_trace(t, net); break;
	default:
		report_summary(t, o, net);
		if (o->layers)
			report_layers(t, net);
	}
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct options o = { .a = a, .operand = calloc((size_t)argc, sizeof(char *)),
			     .model = PERF_CALIBRATED };
	struct err e = { 0 };
	if (!o.operand)
		out_of_memory();
	struct network net;
	struct text t = { 0 };
	struct cli_common common = {
		.options = option_list,
		.operand = take_operand,
		.check = check_options,
		.output = &o.output,
		.output_group = 2,
		.confined = true,
		.allow = allow,
		.names_files = true,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	if (o.fit)
		(void)fit_profile(a, &o, &t, &e);
	else if (read_network(a, &o, &net, &e) && evaluate(a, &o, &net, &e) &&
		 (o.report != REPORT_JSON || evaluate_memories(&net, &e)))
		print_report(&t, &o, &net);
	if (!e.status)
		(void)file_write(o.output, t.p, t.n, false, &e);
	text_free(&t);
	free(o.operand);
	arena_close(a);
	return cli_finish(&e);
}
