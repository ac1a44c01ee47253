/* SPDX-License-Identifier: Apache-2.0 */
/* npu-run: runs a compiled model on the NPU of this machine, through the Linux driver ethosu. */
#define CLI_OPTIONS struct run_options
#include "npu-run.h"

#include "base/cli_options.h"

#include <string.h>

struct run_options {
	struct options o;
	const char *device;
	bool compare; /* simulate o.compare, and compare the outputs */
	bool measure;
	const char *log; /* file for the counters; NULL: standard output */
	unsigned timeout_ms;
};

static void
check_options(void *options)
{
	struct run_options *o = options;
	inference_check(&o->o);
	if (o->measure && !o->log && o->o.json)
		cli_error("--measure needs a LOG if --json is given");
	if (!o->compare || o->o.compare)
		return;
	if (!o->o.model || !strcmp(o->o.model, "-"))
		cli_error("--compare needs a MODEL if the model is read from standard input");
	o->o.compare = o->o.model;
}

static const struct cli_option option_list[] = {
	INFERENCE_OPTIONS(o.),
	{ CLI_TEXT("device", "FILE", device,
		   "device file of the NPU; default /dev/accel/accel0") },
	{ CLI_TEXT("compare", "MODEL", o.compare,
		   "simulate MODEL (default: the model itself) on the same inputs; fail "
		   "(status 1) if outputs differ"),
	  .flags = OPTION_ARG_OPTIONAL, .seen = CLI_SEEN(compare) },
	{ CLI_TEXT("measure", "LOG", log,
		   "count cycles and memory accesses of each inference, and write them to LOG "
		   "(default: after the report) in the format of npu-perf --measured"),
	  .flags = OPTION_ARG_OPTIONAL, .seen = CLI_SEEN(measure) },
	{ CLI_NUMBER("timeout", "MS", timeout_ms, 1, 3600000,
		     "time limit of an NPU operator, in milliseconds (default 10000)") },
	{ 0 }
};

static const struct argp argp = {
	.args_doc = "[MODEL]",
	.doc = "Run a model that is compiled for Ethos-U65 or Ethos-U85 on the NPU of this "
	       "machine, through the ethosu driver of the Linux kernel.",
};

/* Opens the device after the model is read, so that errors of the model are reported first. */
static bool
accept(void *runner, const struct tfl_model *m, struct err *e)
{
	struct runner *r = runner;
	return device_open(r->device, r->device->path, e) && accept_model(r, m, e) &&
	       (!r->measure || counts_open(r->a, r->device, &r->counts, e));
}

int
main(int argc, char **argv)
{
	struct run_options o = { .device = "/dev/accel/accel0", .timeout_ms = 10000,
				 .o.jobs = 1 };
	struct device d = { .fd = -1 };
	struct err e = { 0 };
	struct cli_common common = {
		.options = option_list,
		.check = check_options,
		.file = &o.o.model, .what = "model",
		.output = &o.o.output_dir,
		.output_value = "DIR",
		.output_doc = "write outputs as DIR/output_K.npy",
	};
	cli_parse(&argp, argc, argv, &o, &common);
	d.path = o.device;
	d.timeout_ms = o.timeout_ms;
	struct runner r = { .a = arena_open(), .device = &d, .compare = o.compare,
			    .measure = o.measure };
	o.o.accept = accept;
	o.o.npu = (struct sim_npu){ .ctx = &r, .run = run_job };
	bool ok = run_model(r.a, &o.o, &e);
	if (e.status == EXIT_NO && r.first.found)
		cli_note("note",
			 "operator %d is the first with a difference: byte "
			 "0x%zx of region %d is %u on the device and %u in npu-sim",
			 r.first.op, r.first.at, r.first.region, r.first.device, r.first.sim);
	struct err bad = { 0 };
	if (r.counts && (ok || e.status == EXIT_NO) && !counts_write(r.counts, o.log, &bad))
		e = bad;
	close_jobs(&r);
	if (r.counts)
		counts_close(r.counts);
	device_close(&d);
	arena_close(r.a);
	return cli_finish(&e);
}
