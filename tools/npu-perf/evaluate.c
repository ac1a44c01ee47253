/* SPDX-License-Identifier: Apache-2.0 */
/* Costs every operator and derives the numbers of the reports. */
#include "report.h"

#include "base/cli.h"
#include "stream/op.h"
#include "target/accel.h"
#include "target/part.h"

#include <assert.h>
#include <math.h>

/*
 * Counts the data beats of each port.  The NPU also fetches the stream's own words,
 * from the memory of the constants.  RNNoise's 13,911 on AXI1, counted by Arm's simulator,
 * are 13,350 of constants and 561 of its 4,672 bytes of commands.
 */
static void
count_beats(struct arena *a, struct network *net, const struct operator *op)
{
	const struct memory_system *m = &net->memory;
	const struct perf_run *run = &op->run;
	struct perf_estimate *rows = anew(a, struct perf_estimate, run->n);
	struct perf_estimate sum =
	    perf_estimate_run(&net->machine, PERF_TIMELINE, &op->operand_info, run, rows);
	int port = m->const_area == m->axi[0] ? COUNT_AXI0_READ : COUNT_AXI1_READ;
	net->beats[port] += (double)(op->stream.n_words * sizeof(*op->stream.word)) /
			    net->accel->axi_bytes;
	for (int p = 0; p < PERF_PURPOSES; p++) {
		const double *axi0 = sum.bytes[m->axi[0]][p];
		const double *axi1 = sum.bytes[m->axi[1]][p];
		net->beats[COUNT_AXI0_READ] += axi0[PERF_READ] / net->accel->axi_bytes;
		net->beats[COUNT_AXI0_WRITE] += axi0[PERF_WRITE] / net->accel->axi_bytes;
		net->beats[COUNT_AXI1_READ] += axi1[PERF_READ] / net->accel->axi_bytes;
	}
}

/*
 * Costs the same streams with one memory, on all its ports, that moves twice the bytes per cycle.  The
 * fitted wait for stores may exceed that of the slower memory; a faster memory never
 * makes a network slower, so the network's own cycles are the limit.
 */
static bool
evaluate_faster(struct arena *a, struct network *net, enum mem_area area, struct err *e)
{
	struct memory_system faster = net->memory;
	bool by_fit = net->model == PERF_CALIBRATED;
	faster.mem[area].clock_scale *= 2;
	if (memory_has_one_sram(&net->memory)) {
		faster.mem[MEM_SRAM].clock_scale = 2 * net->memory.mem[MEM_SRAM].clock_scale;
		faster.mem[MEM_ON_CHIP_FLASH].clock_scale = faster.mem[MEM_SRAM].clock_scale;
	}
	struct perf_machine m = by_fit ? perf_machine_calibrated(net->accel, &faster)
				       : perf_machine_of(net->accel, &faster);
	for (size_t i = 0; i < net->n; i++) {
		struct perf_run run;
		if (!perf_stream(a, &m, &net->op[i].stream, &run, e))
			return false;
		net->faster[area] += run.cycles;
	}
	net->faster[area] = fmin(net->faster[area], network_cycles(net));
	return true;
}

bool
evaluate_memories(struct network *net, struct err *e)
{
	struct arena *a = arena_open();
	bool ok = true;
	for (int i = 0; i < MEM_AREAS; i++) {
		net->faster[i] = 0;
		if ((int)net->memory.axi[0] == i || (int)net->memory.axi[1] == i)
			ok = ok && evaluate_faster(a, net, (enum mem_area)i, e);
	}
	arena_close(a);
	return ok;
}

/* the cycles for which all operations of a run keep a memory's port busy */
static double
busy_cycles(const struct perf_run *run, enum mem_area area)
{
	double sum = 0;
	for (size_t i = 0; i < run->n; i++)
		sum += run->row[i].step.port[area];
	return sum;
}

/*
 * The cycles by which reading the commands of a stream makes it longer, if no other read of their
 * memory overlaps with that.  The NPU reads commands ahead, so that the estimate leaves them out
 * (npu-perf-accuracy(7)).
 */
static double
commands_beside(const struct network *net, const struct perf_machine *m, const struct operator *op,
		const struct perf_run *run)
{
	const enum mem_area from = m->one_sram ? MEM_SRAM : net->memory.const_area;
	const double bytes = (double)(op->stream.n_words * sizeof(*op->stream.word));
	return fmax(busy_cycles(run, from) + bytes / m->bytes_per_cycle[from] - run->cycles, 0);
}

const char busy_kind[] = "memory";

/*
 * A memory limits a run beside the clocks of kernels and transfers, which ignore that both share
 * it.  Less than half of a cycle is the rounding error of a sum.
 */
static struct busy_memory
find_busy(struct arena *a, const struct network *net, const struct perf_run *run)
{
	const struct memory_system *m = &net->memory;
	struct busy_memory x = { .area = MEM_SRAM };
	for (size_t i = 0; i < run->n; i++)
		x.start = fmax(x.start, run->row[i].step.end);
	for (enum mem_area k = 0; k < MEM_AREAS; k++)
		if (busy_cycles(run, k) > busy_cycles(run, x.area))
			x.area = k;
	x.end = run->cycles - x.start < 0.5 ? x.start : run->cycles;
	const struct target_part *names = target_part_with(m->chip, m->system, m->mode);
	const char *memory = target_part_memory(names, m->mode, x.area, m->const_area);
	x.name = arena_printf(a, "%s is still busy", text_plain(a, memory));
	return x;
}

struct perf_estimate
busy_estimate(const struct network *net, const struct operator *op)
{
	/* the estimators of Vela have no such time */
	bool counts = net->model == PERF_CALIBRATED || net->model == PERF_TIMELINE;
	return (struct perf_estimate){ .total = counts ? op->busy.end - op->busy.start : 0 };
}

bool
evaluate(struct arena *a, const struct options *o, struct network *net,
	 struct err *e)
{
	struct perf_machine formulas = perf_machine_of(net->accel, &net->memory);
	struct perf_machine fitted =
	    perf_machine_calibrated(net->accel, &net->memory);
	bool by_fit = o->model == PERF_CALIBRATED;
	struct perf_machine *m = &net->machine;
	struct perf_run *runs = anew(a, struct perf_run, net->n);
	/* sums over the kernels, by either estimate, of cycles of the NPU and of SRAM */
	double npu = 0, fitted_npu = 0, sram = 0, fitted_sram = 0;
	*m = by_fit ? fitted : formulas;
	net->model = o->model;
	for (size_t i = 0; i < net->n; i++) {
		struct operator *op = &net->op[i];
		struct perf_run calibrated;
		struct err inner = { 0 };
		if (!perf_stream(a, &formulas, &op->stream, &op->timeline, &inner) ||
		    !perf_stream(a, &fitted, &op->stream, &calibrated, &inner))
			return err_at(e, net->file, 0, "%s: %s", op->name,
				      inner.text);
		op->run = by_fit ? calibrated : op->timeline;
		op->busy = find_busy(a, net, &op->run);
		op->row = anew(a, struct perf_estimate, op->run.n);
		struct perf_estimate sum = perf_estimate_run(
		    m, o->model, &op->operand_info, &op->run, op->row);
		perf_estimate_add(&net->total, &sum);
		count_beats(a, net, op);
		op->start = by_fit ? net->calibrated : net->cycles;
		net->cycles += op->timeline.cycles;
		net->contention += op->timeline.contention;
		net->calibrated += calibrated.cycles;
		net->commands += commands_beside(net, &fitted, op, &calibrated);
		for (size_t k = 0; k < op->run.n; k++) {
			const struct perf_row *r = &op->run.row[k];
			net->blocks += r->cost.blocks;
			net->dram_blocks += perf_touches_dram(&r->op) ? r->cost.blocks : 0;
		}
		npu += op->timeline.kernel_cycles;
		sram += op->timeline.sram_bound;
		fitted_npu += calibrated.kernel_cycles;
		fitted_sram += calibrated.sram_bound;
		runs[i] = op->run;
		if (op->run.loops)
			cli_note_to(e, "note", "%s: %s has a loop; the estimate counts one "
					 "iteration",
				 net->file, op->name);
	}
	net->weights = perf_weights(a, runs, net->n);
	const enum mem_area from = net->memory.const_area;
	net->kernel_cycles = npu;
	net->constant_cycles = (double)perf_constants_read(a, runs, net->n) /
		fmax(formulas.bytes_per_cycle[from], fitted.bytes_per_cycle[from]);
	/* lower bounds that hold for both estimates */
	net->bound = fmax(fmin(npu, fitted_npu), net->constant_cycles);
	net->sram_bound = fmax(net->bound, fmin(sram, fitted_sram));
	assert(net->sram_bound <= fmax(net->calibrated, net->bound) + 1);
	assert(net->bound <= net->calibrated + 1);
	net->extrapolated = !perf_is_fitted(m);
	net->interval = perf_interval_of(m, net->calibrated);
	net->interval.high = perf_interval_of(m, net->calibrated + net->commands).high;
	return true;
}

int64_t
network_sram(const struct network *net)
{
	const struct memory_system *m = &net->memory;
	int64_t n = 0;
	if (net->bytes.arena < 0 || (m->spilling && net->bytes.fast < 0))
		return -1;
	if (m->arena_area == MEM_SRAM)
		n += net->bytes.arena;
	/* without spilling, the cache is the arena under another name */
	if (m->spilling)
		n += net->bytes.fast;
	return n;
}

static double
cpu_clock(const struct network *net, const struct cpu_core *core)
{
	return core->clock > 0 ? core->clock : net->memory.clock;
}

double
cpu_seconds(const struct network *net, const struct cpu_operator *op)
{
	struct cpu_core core = cpu_core_of(net->memory.chip);
	return op->cost.cycles / cpu_clock(net, &core);
}

struct inference
network_inference(const struct network *net)
{
	struct cpu_core core = cpu_core_of(net->memory.chip);
	struct inference x = { .core = core };
	double n = net->batch, clock = net->memory.clock * n;
	x.core.clock = cpu_clock(net, &core);
	x.npu_cycles = net->calibrated / n;
	x.cpu_cycles = net->cpu_cycles / n;
	/* the mean of the operators, weighted by cycles, so that their sum is not above the end */
	x.cpu_error = net->cpu_cycles > 0 ? net->cpu_most / net->cpu_cycles : core.error;
	double cpu = x.cpu_cycles / x.core.clock;
	x.seconds = net->calibrated / clock + cpu;
	x.low = net->interval.low / clock + cpu / x.cpu_error;
	x.high = net->interval.high / clock + cpu * x.cpu_error;
	return x;
}

int64_t
network_used(const struct network *net, enum mem_area area)
{
	const struct memory_system *m = &net->memory;
	const struct sizes *s = &net->bytes;
	int64_t n = 0;
	if (s->arena < 0 || s->constants < 0 || s->streams < 0)
		return -1;
	if (area == m->arena_area)
		n += s->arena;
	if (area == m->cache_area && m->spilling)
		n += s->fast;
	if (area == m->const_area)
		n += s->constants + s->streams;
	return n;
}

bool
row_listed(const struct perf_row *r)
{
	return r->step.kind == PERF_KERNEL || r->step.kind == PERF_DMA;
}

void
row_name(struct text *t, const struct operator *op, size_t row)
{
	const struct npu_op *npu = op->run.row[row].npu;
	if (op->label && npu->index >= 0 && npu->index < op->n_labels &&
	    op->label[npu->index])
		text_puts(t, op->label[npu->index]);
	else
		text_printf(t, "%s/%s_%d", op->name, npu_op_name(npu),
			    npu->index);
}

const char *
row_limit(const struct perf_row *r)
{
	if (r->step.kind == PERF_DMA)
		return "DMA";
	int most = 0;
	double cycles = 0; /* of the busiest memory, which may hold two areas */
	for (int a = 0; a < MEM_AREAS; a++) {
		cycles = fmax(cycles, fmax(r->cost.memory[a], r->cost.port[a]));
		if (r->cost.memory[a] > r->cost.memory[most])
			most = a;
	}
	return cycles > (double)r->cost.npu
		   ? memory_area_report((enum mem_area)most) : "NPU";
}

void
row_traffic(const struct network *net, const struct perf_row *r,
	    double read[MEM_AREAS], double write[MEM_AREAS])
{
	struct perf_row copy = *r;
	struct perf_run one = { .row = &copy, .n = 1 };
	struct perf_estimate e;
	struct perf_operand_info nothing = { .n_places = 0 };
	(void)perf_estimate_run(&net->machine, PERF_TIMELINE, &nothing, &one, &e);
	for (int a = 0; a < MEM_AREAS; a++) {
		read[a] = write[a] = 0;
		for (int p = 0; p < PERF_PURPOSES; p++) {
			read[a] += e.bytes[a][p][PERF_READ];
			write[a] += e.bytes[a][p][PERF_WRITE];
		}
	}
}

double
network_cycles(const struct network *net)
{
	return net->model == PERF_CALIBRATED ? net->calibrated : net->cycles;
}

double
row_utilisation(const struct network *net, double macs, double cycles)
{
	double capacity = cycles * net->accel->macs * net->accel->cores;
	return capacity > 0 ? 100 * macs / capacity : 0;
}

const char *
model_note(const struct network *net)
{
	if (net->model != PERF_CALIBRATED)
		return PERF_DISCLAIMER;
	return net->extrapolated ? PERF_FITTED : PERF_MEASURED;
}

double
share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 100;
}
