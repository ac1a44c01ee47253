/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a compiled network: a list of NPU operators with their words, for one
 * accelerator and one memory system.  A reader of a further format only has to fill in
 * a struct network.
 */
#include "report.h"

#include "base/cli.h"
#include "base/file.h"
#include "base/fixed.h"
#include "borders/borders.h"
#include "kernels/kernels.h"
#include "map/profile.h"
#include "raw/raw.h"
#include "source/source.h"
#include "target/accel.h"
#include "target/part.h"
#include "tflite/calls.h"
#include "tflite/tflite.h"

#include <string.h>

const char *
network_name(struct arena *a, const char *file)
{
	const char *base = file_base(file);
	const char *dot = strrchr(base, '.');
	return dot && dot > base ? arena_strndup(a, base, (size_t)(dot - base))
				 : base;
}

/* bytes of input i of an ethos-u operator; 0 if it has no such input */
static int64_t
input_bytes(const struct tfl_subgraph *g, const struct tfl_op *op, int i)
{
	return i < op->n_in && op->in[i] >= 0 ? tfl_bytes(&g->tensor[op->in[i]])
					      : 0;
}

void
add_cpu(struct network *net, const char *label, const struct tfl_subgraph *g,
	const struct tfl_op *op)
{
	int out = op && op->n_out ? op->out[0] : -1;
	net->cpu[net->n_cpu++] = (struct cpu_operator){
		.label = label, .name = out >= 0 ? g->tensor[out].name : "",
		.before = net->n, .g = g, .op = op };
}

/* the memory system names the part, and thus the CPU */
static void
cost_cpu(struct network *net)
{
	const struct cpu_core core = cpu_core_of(net->memory.chip);
	for (int i = 0; i < net->n_cpu; i++) {
		struct cpu_operator *x = &net->cpu[i];
		if (x->op)
			x->cost = cpu_cost(&core, x->g, x->op);
		net->cpu_cycles += x->cost.cycles;
		net->cpu_most += x->cost.cycles * x->cost.error;
		net->n_uncosted += x->cost.cycles <= 0;
	}
}

/*
 * Counts the operators of an inference: those of the first subgraph and of its bodies.  Other
 * subgraphs are functions of their own, or run once (CALL_ONCE).  Streams count wherever they
 * are, as take_streams() takes all.  Adds the bytes of the NPU operators' special tensors
 * (ethosu-commands(7) 13.3): all operators of a subgraph share them, so that a plan needs the
 * largest of each.
 */
static void
walk_operators(struct arena *a, const struct tfl_model *m, struct network *net)
{
	size_t cap = 0;
	struct sizes *sum = &net->bytes;
	const bool *body = tfl_bodies(a, m);
	for (int s = 0; s < m->n_subgraphs; s++) {
		const struct tfl_subgraph *g = &m->subgraph[s];
		int64_t constants = 0;
		for (int i = 0; i < g->n_ops; i++) {
			const struct tfl_op *op = &g->op[i];
			if (npu_is_guard(g, op))
				continue;
			if (npu_is_operator(op)) {
				net->n++;
				net->n_bodies += s > 0;
				int64_t payload = input_bytes(g, op, 0), begin = 0;
				if (s && op->n_in > 2 && op->in[2] >= 0)
					begin = max_i64(0, tfl_planned_at(m, s, op->in[2]));
				sum->streams += (payload + 15) / 16 * 16;
				constants = max_i64(constants, input_bytes(g, op, 1));
				sum->arena = max_i64(sum->arena, begin + input_bytes(g, op, 2));
				sum->fast = max_i64(sum->fast, input_bytes(g, op, 3));
				continue;
			}
			if (s > 0 && !body[s])
				continue;
			agrow(a, net->cpu, (size_t)net->n_cpu, &cap);
			add_cpu(net, tfl_op_label(op), g, op);
		}
		sum->constants += constants;
	}
}

/* Makes one operator per stream; all must be for the same accelerator. */
static bool
take_streams(struct arena *a, struct network *net, struct npu_stream *s, int n,
	     struct err *e)
{
	if (!stream_some(n, net->file, NULL, e))
		return false;
	net->op = anew(a, struct operator, (size_t)n);
	net->n = (size_t)n;
	net->accel = s[0].accel;
	if (!accel_does(net->accel, DO_ESTIMATE, e))
		return false;
	for (int i = 0; i < n; i++) {
		if (s[i].accel != net->accel)
			return err_at(e, net->file, 0, "operator %s is compiled for "
						       "%s, but operator %s for %s",
						       s[0].name,
				      net->accel->name, s[i].name,
				      s[i].accel->name);
		net->op[i] = (struct operator){ .stream = s[i],
						.name = text_cut(a, s[i].name,
								 "_command_stream") };
	}
	return true;
}

void
take_map(struct arena *a, struct network *net, const struct npu_map *map)
{
	net->map = map;
	net->n_layers = map->n_layers ? map_npu_layers(map) : net->n_layers;
	for (size_t k = 0, i = 0; k < map->n_streams; k++, i++) {
		const struct map_command *c = map_commands(map, (int)k);
		struct operator *op = &net->op[i];
		int n = (int)map->streams[k].commands;
		const char **label = anew(a, const char *, (size_t)n);
		for (int j = 0; j < n; j++)
			label[j] = map_label(a, &c[j]);
		op->command = c;
		op->label = label;
		op->n_labels = n;
	}
}

static bool
find_map(struct arena *a, const struct tfl_model *m, struct network *net,
	 const struct npu_stream *s, int n, bool with_graph, struct err *e)
{
	const struct npu_map *map;
	bool stale;
	if (!map_find(a, m, s, n, &map, &stale, e))
		return false;
	if (stale)
		cli_note_to(e, "warning", "%s: the source map in the file belongs to other "
				    "streams; layers have no names",
			 net->file);
	if (!map)
		return true;
	/* for input from a pipe, the source map has the network's name */
	const char *name = map->sources[0].name;
	if (!strcmp(net->file, file_name(NULL)) && name && *name)
		net->name = name;
	take_map(a, net, map);
	struct graph *g = NULL;
	if (with_graph && !source_carried(a, map, net->file, &g, e))
		return false;
	net->graph = g;
	return true;
}

static int64_t
separate_bytes(const struct tfl_model *m)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	int regions = stream_io_regions(m);
	int64_t n = 0;
	for (int k = 0; k < regions; k++)
		n += tfl_bytes(&g->tensor[stream_io_region(m, k)]);
	for (int i = 0; !regions && i < g->n_in + g->n_out; i++) {
		int tensor = i < g->n_in ? g->in[i] : g->out[i - g->n_in];
		if (stream_separate_place(m, tensor).region)
			n += tfl_bytes(&g->tensor[tensor]);
	}
	return n;
}

/* a file without a record, and no option: which parts have its NPU */
static bool
refuse_without_memory(const struct network *net, struct err *e)
{
	struct text t = { 0 };
	target_part_list_fitting(&t, net->accel->name, &(struct part_needs){ 0 });
	(void)err_at(e, net->file, 0, "--part or --system-config is required: there is no default; "
		     "--list-parts and --list-profiles list the choices; parts with the file's %s: %s",
		     net->accel->name, text_str(&t));
	text_free(&t);
	return false;
}

/*
 * Takes the memory system from the options; names that the options leave out come from
 * the file.  Without options it is the system that the file was compiled for, even if
 * this program has no such profile.
 */
static bool
find_memory(struct arena *a, const struct tfl_model *m, const struct options *o,
	    struct network *net, struct err *e)
{
	struct profile p;
	if (!profile_read(a, m, &p, e))
		return false;
	bool same_npu = p.accel == net->accel;
	if (same_npu && !o->config && !o->system && !o->mode) {
		net->memory = p.memory;
		return true;
	}
	const char *system = o->system || !same_npu ? o->system : p.memory.system;
	const char *mode = o->mode || !same_npu ? o->mode : p.memory.mode;
	if (!system && !o->config)
		return refuse_without_memory(net, e);
	if ((o->chip && !target_part_has(o->chip, net->accel->name, net->file, e)) ||
	    !memory_load(a, o->config, system, mode, net->accel, &net->memory, e))
		return false;
	/* for a system that the file records, its compilation had --any-accelerator */
	bool recorded = same_npu && p.memory.system && !strcmp(system, p.memory.system);
	if (!o->any_accelerator && !recorded && !memory_check_accel(&net->memory, net->accel, e))
		return false;
	net->memory.chip = o->chip;
	net->memory.part = o->chip ? o->chip->name : NULL;
	return true;
}

static bool
read_model(struct arena *a, const struct options *o, struct bytes file,
	   struct network *net, struct err *e)
{
	struct tfl_model *m;
	struct npu_stream *s;
	int n;
	if (!raw_model(a, file, net->file, &file, e) ||
	    !model_read(a, file, net->file, &m, e) || !stream_find(a, m, &s, &n, e))
		return false;
	net->n_layers = -1;
	net->bytes.separate = separate_bytes(m);
	walk_operators(a, m, net);
	struct border_tensors borders;
	if (!borders_read(a, m, &borders, e))
		return false;
	net->desired_batch = borders.desired;
	net->batch = borders.actual;
	if (!take_streams(a, net, s, n, e))
		return false;
	take_tensors(a, m, net);
	return find_map(a, m, net, s, n, o->report == REPORT_JSON, e) && find_memory(a, m, o, net, e);
}

bool
take_network(struct arena *a, const struct options *o, struct bytes file,
	     struct network *net, struct err *e)
{
	*net = (struct network){ .file = file_name(o->file), .batch = 1 };
	net->name = network_name(a, net->file);
	bool ok = is_graph(file) ? read_graph(a, o, file, net, e)
				 : read_model(a, o, file, net, e);
	if (o->called)
		net->name = o->called;
	if (!ok)
		return false;
	cost_cpu(net);
	return (!o->measured || read_measured(a, o->measured, o->file, &net->measured, e));
}

bool
read_network(struct arena *a, const struct options *o, struct network *net,
	     struct err *e)
{
	struct bytes file;
	return file_read(a, o->file, TFL_MAX_BYTES, &file, e) &&
	       take_network(a, o, file, net, e);
}
