/* SPDX-License-Identifier: Apache-2.0 */
/* npu-perf: estimates how long a compiled network takes, and what limits it. */
#include "base/cli.h"
#include "base/file.h"
#include "report.h"
#include "target/part.h"
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_CONFIG = 256, OPT_SYSTEM, OPT_MODE, OPT_MODEL, OPT_CSV,
       OPT_SUMMARY_CSV, OPT_JSON, OPT_YAML, OPT_LAYERS, OPT_CPU, OPT_UNITS,
       OPT_MEASURED, OPT_PROFILES, OPT_TRACE, OPT_FIT, OPT_PART, OPT_PARTS,
       OPT_CALLED };

static const struct argp_option option_list[] = {
	{ NULL, 0, NULL, 0, "Memory system:", 1 },
	{ "config", OPT_CONFIG, "FILE", 0,
	  "read --system-config and --memory-mode from FILE, in the syntax of "
	  "vela.ini", 0 },
	{ "system-config", OPT_SYSTEM, "NAME", 0,
	  "profile of the clock and the memory speeds", 0 },
	{ "memory-mode", OPT_MODE, "NAME", 0,
	  "which memory holds constants, arena and cache", 0 },
	{ "part", OPT_PART, "NAME", 0,
	  "use the system configuration and memory mode of this chip", 0 },
	{ "list-parts", OPT_PARTS, NULL, 0, "list the chips for --part, and exit", 0 },
	{ "list-profiles", OPT_PROFILES, NULL, 0,
	  "list the built-in profiles for --system-config and --memory-mode, and "
	  "exit", 0 },
	{ NULL, 0, NULL, 0, "Report:", 2 },
	{ "model", OPT_MODEL, "NAME", 0,
	  "estimator of cycles and bandwidths: calibrated (default), timeline, "
	  "vela-2.1, vela-3.12 or regor", 0 },
	{ "verbose-performance", OPT_LAYERS, NULL, 0,
	  "add a table of all kernels and transfers to the summary", 0 },
	{ "show-cpu-operations", OPT_CPU, NULL, 0,
	  "name the operators that run on the CPU", 0 },
	{ "units", OPT_UNITS, "3|4", 0,
	  "meaning of MB and GB in the summary: 3 as in Vela 3 (decimal, default), 4 "
	  "as in Vela 4 (powers of 1024)", 0 },
	{ "called", OPT_CALLED, "NAME", 0,
	  "name of the network in the report (default: that of the file)", 0 },
	{ "measured", OPT_MEASURED, "FILE", 0,
	  "compare the estimate with the cycle counters in the log of a device", 0 },
	{ "fit", OPT_FIT, "NAME", 0,
	  "fit a memory profile NAME to measured networks and their logs, and write it "
	  "in vela.ini's syntax", 0 },
	{ "csv", OPT_CSV, NULL, 0,
	  "print a row for every kernel and transfer, as CSV", 0 },
	{ "summary-csv", OPT_SUMMARY_CSV, NULL, 0,
	  "print the summary as CSV with the 52 columns of Vela", 0 },
	{ "json", OPT_JSON, NULL, 0, "print all results as JSON", 0 },
	{ "yaml", OPT_YAML, NULL, 0,
	  "print the start and end cycle of every layer, as YAML", 0 },
	{ "trace", OPT_TRACE, NULL, 0,
	  "print the timeline for Chrome's tracing view or Perfetto", 0 },
	{ 0 }
};

static void
set_report(struct options *o, enum report r)
{
	if (o->report != REPORT_SUMMARY && o->report != r)
		cli_error("--csv, --summary-csv, --json, --yaml "
			  "and --trace exclude each other");
	o->report = r;
}

/* Checks for one network, or for the networks of --fit with their logs. */
static void
check_operands(struct options *o)
{
	if (o->fit) {
		if (!o->n_operands)
			cli_error("--fit needs at least one operand MODEL=LOG");
		if (!*o->fit || strpbrk(o->fit, "[]\n"))
			cli_error("--fit: '%s' is not a valid name of a profile", o->fit);
		return;
	}
	const struct target_names names = { .system = o->system, .mode = o->mode,
					    .has_config = o->config != NULL };
	target_check_names(&names, cli_error);
	if (o->n_operands > 1)
		cli_error("more than one network");
	o->file = o->n_operands ? o->operand[0] : NULL;
}

static void
take_part(struct options *o, const char *name)
{
	struct err e = { 0 };
	const struct target_part *p = target_part_find(name, &e);
	if (!p)
		cli_error("%s", e.text);
	else if (!o->system)
		o->system = p->system;
	o->part = name;
	if (p && !o->mode)
		o->mode = p->mode;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case OPT_CONFIG: o->config = arg; break;
	case OPT_SYSTEM: o->system = arg; break;
	case OPT_MODE: o->mode = arg; break;
	case OPT_PART: take_part(o, arg); break;
	case OPT_PARTS: cli_show(target_part_list);
	case OPT_PROFILES: o->list_profiles = true; break;
	case OPT_MODEL:
		if (!perf_model_find(arg, &o->model))
			cli_error("--model knows %s, not '%s'",
				  perf_model_names(), arg);
		break;
	case OPT_LAYERS: o->layers = true; break;
	case OPT_CPU: o->cpu_names = true; break;
	case OPT_UNITS:
		o->units =
		    cli_number("--units", arg, 3, 4) == 4 ? UNITS_4 : UNITS_3;
		break;
	case OPT_CALLED: o->called = arg; break;
	case OPT_MEASURED: o->measured = arg; break;
	case OPT_FIT: o->fit = arg; break;
	case OPT_CSV: set_report(o, REPORT_CSV); break;
	case OPT_SUMMARY_CSV: set_report(o, REPORT_SUMMARY_CSV); break;
	case OPT_JSON: set_report(o, REPORT_JSON); break;
	case OPT_YAML: set_report(o, REPORT_YAML); break;
	case OPT_TRACE: set_report(o, REPORT_TRACE); break;
	case ARGP_KEY_ARG:
		o->operand[o->n_operands++] = arg;
		break;
	case ARGP_KEY_END: check_operands(o); break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list, .parser = parse_option,
	.args_doc = "[FILE]\n--fit=NAME MODEL=LOG...",
	.doc = "Estimate cycles, bandwidths and memory of a network compiled for an "
	       "Ethos-U, from its command streams.\v"
	       "Every number is an estimate; npu-perf-accuracy(7) compares estimates "
	       "with measurements.",
};

static void
print_report(struct text *t, const struct options *o, const struct network *net)
{
	switch (o->report) {
	case REPORT_CSV: report_csv(t, net); break;
	case REPORT_SUMMARY_CSV: report_summary_csv(t, o, net); break;
	case REPORT_JSON: report_json(t, net); break;
	case REPORT_YAML: report_yaml(t, net); break;
	case REPORT_TRACE: report_trace(t, net); break;
	case REPORT_SUMMARY:
		report_summary(t, o, net);
		if (o->layers)
			report_layers(t, net);
	}
}

int
main(int argc, char **argv)
{
	struct options o = { .operand = calloc((size_t)argc, sizeof(char *)),
			     .model = PERF_CALIBRATED };
	struct err e = { 0 };
	if (!o.operand)
		out_of_memory();
	struct network net;
	struct text t = { 0 };
	struct cli_common common = {
		.output = &o.output,
		.output_group = 2,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	if (o.list_profiles)
		memory_list_profiles(&t);
	else if (o.fit)
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
