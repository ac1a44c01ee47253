/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the JSON of npu-perf into the structures that pictures are drawn from. */
#include "report.h"

#include <math.h>
#include <string.h>

/*
 * The path up to a slash with which most names begin, or "".  Three names are tried,
 * because inputs and outputs often have other names.
 */
static const char *
common_path(struct arena *a, const struct json *layer, size_t n)
{
	for (size_t k = 0; n && k < 3; k++) {
		const char *s = json_string(&layer[k * (n - 1) / 2], "name", "");
		const char *slash = strchr(s, '/');
		size_t part = slash ? (size_t)(slash - s) + 1 : 0, same = 0;
		for (size_t i = 0; part && i < n; i++)
			same += !strncmp(json_string(&layer[i], "name", ""), s, part);
		if (2 * same > n && n > 1)
			return arena_strndup(a, s, part);
	}
	return "";
}

/* The name of fused operators is that of the first one, without the common path. */
static const char *
label_of(struct arena *a, const char *name, const char *path)
{
	size_t n = strcspn(name, ";"), skip = strlen(path);
	if (strncmp(name, path, skip) != 0 || skip >= n)
		skip = 0;
	return text_shortened(a, arena_strndup(a, name + skip, n - skip), LABEL);
}

/* A layer's label in the report, or NULL; an older report has none. */
static const char *
title_of(const struct json *layer)
{
	const char *s = layer ? json_string(layer, "label", "") : "";
	return *s ? s : NULL;
}

/* ---- operations and layers ------------------------------------------------------ */

static double
sum_of(const struct json *memories)
{
	double v = 0;
	for (size_t i = 0; memories && i < memories->n; i++)
		v += memories->item[i].number;
	return v;
}

static struct extent
extent_of(const struct json *o, const char *key)
{
	const struct json *v = json_get(o, key);
	if (!v || v->n != 3)
		return (struct extent){ 0 };
	return (struct extent){ .h = v->item[0].number, .w = v->item[1].number,
				.c = v->item[2].number };
}

static struct place
place_of(const struct json *o, const char *key)
{
	const struct json *v = json_get(o, key);
	if (!v || v->n != 2)
		return (struct place){ .region = -1 };
	return (struct place){ .region = v->item[0].number, .at = v->item[1].number };
}

static struct operation
operation_of(const struct json *o)
{
	const char *kind = json_string(o, "kind", "?"), *by = json_string(o, "limited_by", "NPU");
	return (struct operation){
		.ifm = extent_of(o, "ifm"), .ofm = extent_of(o, "ofm"),
		.ifm_at = place_of(o, "ifm_at"), .ofm_at = place_of(o, "ofm_at"),
		.weights_at = json_number(o, "weights_at", -1),
		.weight_bytes = json_number(o, "weight_bytes", 0),
		.name = json_string(o, "name", "?"), .kind = kind,
		.is_transfer = !strcmp(kind, "dma"), .is_memory = !strcmp(kind, "memory"),
		.layer = -1,
		.limit = !strcmp(by, "NPU")    ? LIMIT_COMPUTE
			 : !strcmp(by, "SRAM") ? LIMIT_SRAM
					       : LIMIT_CONSTANTS,
		.start = json_number(o, "start_cycle", 0),
		.end = json_number(o, "end_cycle", 0),
		.cycles = json_number(o, "total_cycles", 0),
		.npu = json_number(o, "npu_cycles", 0),
		.macs = json_number(o, "macs", 0),
		.stall = json_number(o, "stall_cycles", 0),
		.starting = json_number(o, "start_cycles", 0),
		.read_bytes = sum_of(json_get(o, "read_bytes")),
		.written_bytes = sum_of(json_get(o, "write_bytes")),
	};
}

/* index of the layer of a kernel; adds the layer if it is new */
static int
find_layer(struct report *r, const char *name, const char *kind, size_t *cap)
{
	for (size_t i = r->n_layers; *name && i-- > 0;)
		if (!strcmp(r->layer[i].name, name))
			return (int)i;
	agrow(r->a, r->layer, r->n_layers, cap);
	r->layer[r->n_layers++] = (struct layer){ .name = *name ? name : kind,
						  .kind = kind, .start = -1 };
	return (int)r->n_layers - 1;
}

static void
add_kernel(struct layer *l, const struct operation *o, struct extent block)
{
	const double stall = fmax(o->stall, 0), starting = fmin(fmax(o->starting, 0), stall);
	if (l->start < 0)
		l->block = block;
	/* which work the layer does: kernels with weights come before all others */
	bool has_weights = o->weights_at >= 0;
	if (!l->n_kernels || (has_weights && !l->has_weights)) {
		l->kernel = o->kind;
		l->is_uniform = !l->n_kernels;
		l->ifm_c = o->ifm.c;
		l->ofm_c = o->ofm.c;
		l->has_weights = has_weights;
		l->results = 0;
	}
	l->is_uniform &= !strcmp(l->kernel, o->kind) && l->ifm_c == o->ifm.c &&
			 l->ofm_c == o->ofm.c;
	if (has_weights == l->has_weights)
		l->results += o->ofm.h * o->ofm.w * o->ofm.c;
	l->is_memory = o->is_memory;
	l->n_kernels++;
	if (l->start < 0 || o->start < l->start)
		l->start = o->start;
	l->cycles[o->limit] += o->cycles;
	l->cycles[LIMIT_STALL] += stall - starting;
	l->cycles[LIMIT_START] += starting;
	l->total += o->cycles + stall;
	l->macs += o->macs;
	l->bytes += o->read_bytes + o->written_bytes;
}

/*
 * True if the report counts the operator as one on the CPU.  Some operators run
 * nowhere, such as folded ones.
 */
static bool
is_on_cpu(const struct report *r, const struct json *layer)
{
	size_t n;
	const struct json *names = json_items(r->root, "cpu_operator_names", &n);
	const char *kind = json_string(layer, "kind", "?");
	for (size_t i = 0; i < n && !json_true(layer, "npu"); i++)
		if (!strcmp(names[i].string, kind))
			return true;
	return false;
}

/*
 * Lists the operators that run.  The result has for each named operator its node's
 * number + 1; 0: it does not run.
 */
static size_t *
list_nodes(struct report *r, const int *place, const char *path)
{
	size_t n;
	const struct json *named = json_items(r->root, "layers", &n);
	size_t *at = anew(r->a, size_t, n + 1);
	/*
	 * The layer, + 1, whose kernels compute the operators of its list `parts`; 0: none.  The
	 * operators of a chain read results of others and are nodes; an operator without reads
	 * was merged with the layer before lowering.
	 */
	int *owner = anew(r->a, int, n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t n_parts, n_reads;
		const struct json *parts = json_items(&named[i], "parts", &n_parts);
		for (size_t k = 0; k < n_parts; k++) {
			double part = parts[k].number;
			if (!(part >= 0 && part < (double)n))
				continue;
			json_items(&named[(size_t)part], "reads", &n_reads);
			if (n_reads)
				owner[(size_t)part] = (int)i + 1;
		}
	}
	r->node = anew(r->a, struct node, n + r->n_layers);
	for (size_t i = 0; i < n; i++) {
		int head = place[i] || !owner[i] ? -1 : owner[i] - 1;
		const char *name = json_string(&named[i], "name", "?");
		const char *kind = json_string(&named[i], "kind", "?");
		bool is_within = head >= 0 && place[head];
		if (!place[i] && !is_within && !is_on_cpu(r, &named[i]))
			continue;
		name = *name ? name : kind;
		const char *title = title_of(&named[i]);
		r->node[r->n_nodes] = (struct node){
			.name = name, .title = title ? title : name,
			.label = title ? title : label_of(r->a, name, path),
			.index = i, .kind = kind,
			.reason = json_string(&named[i], "reason", NULL),
			.layer = place[is_within ? (size_t)head : i] - 1,
			.within = is_within ? head : -1 };
		at[i] = ++r->n_nodes;
	}
	for (size_t i = 0; i < r->n_nodes; i++)
		if (r->node[i].within >= 0)
			r->node[i].within = (int)at[r->node[i].within] - 1;
	for (size_t i = 0; !n && i < r->n_layers; i++)
		if (!r->layer[i].is_memory)
			r->node[r->n_nodes++] = (struct node){
				.name = r->layer[i].name, .title = r->layer[i].title,
				.label = r->layer[i].label, .index = i,
				.kind = r->layer[i].kind, .layer = (int)i, .within = -1 };
	return at;
}

/* Reads the operators on the CPU, and gives their cycles to their nodes. */
static void
read_cpu(struct report *r)
{
	const struct json *v = json_items(r->root, "on_cpu", &r->n_cpu);
	r->cpu = anew(r->a, struct cpu_operator, r->n_cpu + 1);
	for (size_t i = 0; i < r->n_cpu; i++) {
		struct cpu_operator *c = &r->cpu[i];
		*c = (struct cpu_operator){ .name = json_string(&v[i], "name", ""),
					    .kind = json_string(&v[i], "kind", "?"),
					    .cycles = json_number(&v[i], "cycles", 0),
					    .at = json_number(&v[i], "npu_cycle", 0),
					    .node = -1,
					    .layer = json_number(&v[i], "layer", -1) };
		double time = json_number(&v[i], "seconds", c->cycles / r->clock) * r->clock;
		time = time > 0 ? time : 0;
		/* in the order of the report, whatever it says */
		c->at = i && c->at < r->cpu[i - 1].at ? r->cpu[i - 1].at : c->at;
		c->start = c->at + r->cpu_time;
		c->end = c->start + time;
		r->cpu_time += time;
		for (size_t k = 0; k < r->n_nodes; k++)
			if (r->node[k].layer < 0 && (double)r->node[k].index == c->layer) {
				r->node[k].cpu_cycles = c->cycles;
				r->node[k].cpu_time = time;
				c->node = (int)k;
			}
	}
	r->whole = r->cycles + r->cpu_time;
}

/*
 * The time of a cycle of the NPU: later by the time of all operators on the CPU that ran
 * before.  At the cycle of such an operator, what ends there ended before the operator, and
 * what begins there begins after the operator.
 */
static double
time_of(const struct report *r, double cycle, bool begins)
{
	size_t low = 0, high = r->n_cpu;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool before = begins ? r->cpu[middle].at <= cycle : r->cpu[middle].at < cycle;
		if (before)
			low = middle + 1;
		else
			high = middle;
	}
	return cycle + (low ? r->cpu[low - 1].end - r->cpu[low - 1].at : 0);
}

static void
set_times(const struct report *r, double *start, double *end)
{
	*start = time_of(r, *start, *end > *start);
	*end = time_of(r, *end, false);
}

/*
 * Sets the time of a tensor.  An operator on the CPU takes no cycle of the NPU, but the tensors that
 * it reads and writes live while it runs, and outputs until the end.  An operator that reads no other
 * reads an input.
 */
static void
set_lifetime(const struct report *r, struct span *s)
{
	const double begin = s->start, end = s->end;
	set_times(r, &s->start, &s->end);
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		const struct node *x = c->node < 0 ? NULL : &r->node[c->node];
		bool reads = x && !x->n_reads && !strcmp(s->kind, "input");
		for (size_t k = 0; x && k < x->n_reads; k++)
			reads |= s->node >= 0 && x->reads[k] == (size_t)s->node;
		if (x && s->node == c->node && begin == c->at)
			s->start = fmin(s->start, c->start);
		if (reads && end == c->at)
			s->end = fmax(s->end, c->end);
	}
	if (!strcmp(s->kind, "output") && end >= r->cycles)
		s->end = r->whole;
	s->start = fmin(s->start, s->end);
}

/* Sets the time of a peak: that in which all of its tensors live, if that is in the CPU's time. */
static void
set_peak(const struct report *r, struct peak *p)
{
	double start = 0, end = r->whole;
	size_t found = 0;
	set_times(r, &p->start, &p->end);
	for (size_t i = 0; i < r->n_spans; i++)
		for (size_t k = 0; k < p->n_names; k++) {
			const struct span *s = &r->span[i];
			if (p->names[k].kind != JSON_STRING || strcmp(p->names[k].string, s->name) != 0 ||
			    strcmp(p->place, s->place) != 0)
				continue;
			start = fmax(start, s->start);
			end = fmin(end, s->end);
			found++;
		}
	if (found && found == p->n_names && start < end && !(p->start < p->end)) {
		p->start = start;
		p->end = end;
	}
}

/* Reads the network's graph.  If the report has no edges, the nodes are a chain. */
static void
read_nodes(struct report *r, const int *place, const char *path)
{
	size_t n, n_reads;
	const struct json *named = json_items(r->root, "layers", &n);
	const size_t *at = list_nodes(r, place, path);
	bool has_edges = n && json_get(&named[0], "reads");
	for (size_t i = 0; i < n && has_edges; i++) {
		const struct json *reads = json_items(&named[i], "reads", &n_reads);
		struct node *x = at[i] ? &r->node[at[i] - 1] : NULL;
		if (!x)
			continue;
		x->reads = anew(r->a, size_t, n_reads + 1);
		for (size_t k = 0; k < n_reads; k++) {
			double from = reads[k].number;
			bool in_range = from >= 0 && from < (double)n && at[(size_t)from];
			if (in_range)
				x->reads[x->n_reads++] = at[(size_t)from] - 1;
		}
	}
	for (size_t i = 1; i < r->n_nodes && !has_edges; i++) {
		r->node[i].reads = anew(r->a, size_t, 1);
		r->node[i].reads[0] = i - 1;
		r->node[i].n_reads = 1;
	}
}

/* The layer of kernel i in a file without a source map; the layer has its weights. */
static int
group_layer(struct report *r, size_t i, size_t *cap)
{
	const struct operation *o = &r->op[i];
	bool same_weights;
	int k = find_group(r, i, &same_weights);
	if (k < 0) {
		k = find_layer(r, o->name, o->kind, cap);
		r->layer[k].first_op = i;
	}
	if (!same_weights) {
		double results = o->ofm.h * o->ofm.w; /* of each channel */
		r->layer[k].weight_bytes += o->weight_bytes;
		r->layer[k].constant_bytes += o->weight_bytes;
		r->layer[k].original_bytes +=
		    o->weights_at >= 0 && results > 0 ? o->macs / results : 0;
	}
	return k;
}

static void
read_operations(struct report *r)
{
	size_t n, n_named, cap = 0;
	const struct json *o = json_items(r->root, "operations", &n);
	const struct json *named = json_items(r->root, "layers", &n_named);
	int *place = anew(r->a, int, n_named + 1); /* layer + 1 of each named layer; 0: none */
	const char *path = common_path(r->a, named, n_named);
	r->op = anew(r->a, struct operation, n);
	for (size_t i = 0; i < n; i++) {
		struct operation *op = &r->op[r->n_ops++];
		*op = operation_of(&o[i]);
		op->label = label_of(r->a, op->name, path);
		double k = json_number(&o[i], "layer", -1);
		bool in_range = k >= 0 && k < (double)n_named;
		const struct json *l = in_range ? &named[(size_t)k] : NULL;
		if (op->is_transfer)
			continue;
		if (in_range && place[(size_t)k])
			op->layer = place[(size_t)k] - 1;
		else if (!r->has_map && !op->is_memory)
			op->layer = group_layer(r, i, &cap);
		else
			op->layer = find_layer(r, l ? json_string(l, "name", op->name)
						    : op->name,
					       l ? json_string(l, "kind", op->kind)
						 : op->kind, &cap);
		if (in_range)
			place[(size_t)k] = op->layer + 1;
		if (title_of(l))
			r->layer[op->layer].title = title_of(l);
		add_kernel(&r->layer[op->layer], op, extent_of(&o[i], "block"));
	}
	for (size_t i = 0; i < n; i++) {
		double k = json_number(&o[i], "layer", -1);
		if (r->op[i].is_transfer && k >= 0 && k < (double)n_named)
			r->op[i].layer = place[(size_t)k] - 1;
	}
	for (size_t i = 0; i < r->n_layers; i++) {
		struct layer *x = &r->layer[i];
		x->label = x->title ? x->title : label_of(r->a, x->name, path);
		x->title = x->title ? x->title : x->name;
	}
	const struct json *c = json_items(r->root, "constants", &n);
	for (size_t i = 0; i < n; i++) {
		double k = json_number(&c[i], "layer", -1);
		if (!(k >= 0 && k < (double)n_named) || !place[(size_t)k])
			continue;
		struct layer *l = &r->layer[place[(size_t)k] - 1];
		double bytes = json_number(&c[i], "bytes", 0);
		l->constant_bytes += bytes;
		if (!strcmp(json_string(&c[i], "kind", ""), "weights"))
			l->weight_bytes += bytes - json_number(&c[i], "scale_bytes", 0);
		l->original_bytes += json_number(&c[i], "original_bytes", 0);
	}
	read_nodes(r, place, path);
	read_cpu(r);
}

/* ---- memory and the curve ---------------------------------------------------------- */

static void
read_memory(struct report *r)
{
	size_t n, n_named;
	const struct json *named = json_items(r->root, "layers", &n_named);
	const char *path = common_path(r->a, named, n_named);
	const struct json *v = json_items(r->root, "tensors", &n);
	r->span = anew(r->a, struct span, n);
	for (size_t i = 0; i < n; i++) {
		const char *name = json_string(&v[i], "name", "?");
		r->span[r->n_spans++] = (struct span){
			.name = name,
			.shape = json_string(&v[i], "shape", ""),
			.kind = json_string(&v[i], "kind", "tensor"),
			.place = json_string(&v[i], "place", "arena"),
			.at = json_number(&v[i], "address", 0),
			.bytes = json_number(&v[i], "bytes", 0),
			.start = json_number(&v[i], "start_cycle", 0),
			.end = json_number(&v[i], "end_cycle", 0) };
		/* a buffer has the name of the operator whose weights it holds */
		struct span *s = &r->span[r->n_spans - 1];
		s->owner = s->name;
		if (!strcmp(s->kind, "buffer"))
			s->owner = text_cut(r->a, s->name, " (weights)");
		s->stem = arena_strndup(r->a, s->owner, strlen(s->owner) - strlen(id_of(s->owner)));
		s->label = label_of(r->a, s->stem, path);
	}
	v = json_items(r->root, "peaks", &n);
	r->peak = anew(r->a, struct peak, n);
	for (size_t i = 0; i < n; i++) {
		struct peak *p = &r->peak[r->n_peaks++];
		*p = (struct peak){ .place = json_string(&v[i], "place", "arena"),
				    .bytes = json_number(&v[i], "bytes", 0),
				    .top = json_number(&v[i], "top", 0),
				    .start = json_number(&v[i], "start_cycle", 0),
				    .end = json_number(&v[i], "end_cycle", 0) };
		p->names = json_items(&v[i], "tensors", &p->n_names);
		/* the highest address may be in use at another time than the peak of bytes */
		for (size_t k = 0; k < r->n_spans; k++)
			if (!strcmp(r->span[k].place, p->place))
				p->top = fmax(p->top, r->span[k].at + r->span[k].bytes);
	}
}

/* a size in bytes; a report may have any number */
static int64_t
size_of_memory(const struct json *own, const char *key)
{
	return (int64_t)fmin(fmax(json_number(own, key, 0), 0), 0x1p40);
}

/* The part: a built-in one, or with all that npu-perf knows of it; NULL: unknown. */
static const struct target_part *
find_part(const struct report *r)
{
	const char *name = json_string(r->root, "part", NULL);
	const struct json *own = json_get(r->root, "own_part");
	if (!name || !own)
		return target_part_find(name, &(struct err){ 0 });
	struct target_part *p = anew(r->a, struct target_part, 1);
	*p = (struct target_part){
		.name = name,
		.accel = json_string(r->root, "accelerator", ""),
		.system = json_string(own, "system_config", ""),
		.mode = json_string(own, "memory_mode", ""),
		.arena_memory = json_string(own, "arena_memory", "SRAM"),
		.arena_bytes = size_of_memory(own, "arena_bytes"),
		.constant_memory = json_string(own, "constant_memory", "flash"),
		.constant_bytes = size_of_memory(own, "constant_bytes"),
		.cache_bytes = size_of_memory(own, "npu_sram_bytes"),
		.linux_bytes = size_of_memory(own, "npu_sram_bytes"),
		.cpu = json_string(own, "cpu", ""),
		.cpu_clock = json_number(own, "cpu_clock", 0),
		.source = r->file,
	};
	return p;
}

bool
read_report(struct arena *a, struct bytes json, const char *file, struct report *r,
	    struct err *e)
{
	struct json *root = anew(a, struct json, 1);
	*r = (struct report){ .a = a, .file = file, .root = root };
	if (!json_parse(a, json, file, root, e) || !check_kinds(root, file, e))
		return false;
	/* the total that the start and end of operations add up to */
	const struct json *estimate = json_get(root, "estimate");
	const char *model = estimate ? json_string(estimate, "model", "") : "";
	r->is_calibrated = !strcmp(model, "calibrated");
	r->cycles = json_number(root, r->is_calibrated ? "calibrated_cycles" : "timeline_cycles", -1);
	r->clock = json_number(root, "core_clock", 0);
	r->cpu_name = json_string(root, "cpu", "Cortex-M55");
	r->cpu_error = json_number(root, "cpu_error", 3);
	if (!(r->cpu_error >= 1))
		r->cpu_error = 1;
	r->network = json_string(root, "network", "?");
	r->sram = json_number(root, "sram_bytes", 0);
	r->macs_per_cycle = json_number(root, "macs_per_cycle", 0);
	const struct json *rate = json_get(root, "bytes_per_cycle");
	r->sram_rate = json_number(rate, "sram", 0);
	r->constant_rate = json_number(rate, json_string(root, "constants_in", ""), 0);
	if (r->cycles < 0 || r->clock <= 0 || !json_get(root, "operations"))
		return err_at(e, file, 0, "not a report of npu-perf --json");
	r->has_map = json_get(root, "tensors") != NULL;
	r->part = find_part(r);
	r->for_linux = !strcmp(json_string(root, "driver", ""), "linux");
	read_operations(r);
	read_memory(r);
	make_labels(r);
	/* all times that are cycles of the NPU become those of the inference */
	for (size_t i = 0; i < r->n_ops; i++) {
		struct operation *o = &r->op[i];
		set_times(r, &o->start, &o->end);
		o->label = o->is_transfer ? o->label : r->layer[o->layer].label;
	}
	for (size_t i = 0; i < r->n_layers; i++)
		r->layer[i].start = time_of(r, r->layer[i].start, true);
	for (size_t i = 0; i < r->n_spans; i++) {
		/* a tensor has the name of the operator that writes it, a buffer that of its reader */
		r->span[i].node = node_called(r, r->span[i].owner);
		set_lifetime(r, &r->span[i]);
	}
	for (size_t i = 0; i < r->n_peaks; i++)
		set_peak(r, &r->peak[i]);
	name_spans(r);
	return true;
}
