/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cut network has the operators that its outputs depend on.  The search goes from the
 * outputs against the flow of data, and stops at the inputs.
 */
#include "tflite/cut.h"

#include "base/nearest.h"
#include "base/text.h"
#include "tflite/fields.h"
#include "tflite/write.h"

#include <stdlib.h>
#include <string.h>

struct state {
	struct arena *a;
	const struct tfl_model *m;
	const struct tfl_subgraph *sg;
	struct err *e;
	bool *op, *needed; /* of each operator, of each tensor */
	bool *is_input;	   /* of each tensor: a new input */
	int *todo, n_todo; /* operators whose inputs are not visited yet */
};

#define BAD(s, ...) err_at((s)->e, (s)->m->name, 0, __VA_ARGS__)

/* ---- names ------------------------------------------------------------------------ */

/* true if an operator or the application writes the tensor */
static bool
is_computed(const struct tfl_subgraph *sg, int tensor)
{
	if (sg->tensor[tensor].producer >= 0)
		return true;
	for (int i = 0; i < sg->n_in; i++)
		if (sg->in[i] == tensor)
			return true;
	return false;
}

/*
 * Length of the name at the begin of the list; 0: another name is there.  Converters join
 * the names of fused layers by ';', and one of these is enough.
 */
static size_t
name_length(const char *list, const char *name)
{
	size_t all = strlen(name);
	if (!strncmp(list, name, all) && (list[all] == ',' || !list[all]))
		return all;
	for (const char *part = name; part; part = strchr(part, ';')) {
		part += *part == ';';
		size_t n = strcspn(part, ";");
		if (!strncmp(list, part, n) && (list[n] == ',' || !list[n]))
			return n;
	}
	return 0;
}

/* Is word one of the words between the slashes of a name? */
static bool
has_word(const char *name, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = name; *at; at += *at == '/') {
		size_t k = strcspn(at, "/");
		if (k == n && !strncmp(at, word, k))
			return true;
		at += k;
	}
	return false;
}

/*
 * The name of a computed tensor, or one of its joined names, that has the word between slashes, as
 * a layer's name is, or else is nearest to it; NULL: none is.
 */
static const char *
nearest_name(const struct state *s, const char *word)
{
	const char **names = NULL;
	size_t n = 0, cap = 0;
	for (int i = 0; i < s->sg->n_tensors; i++)
		for (const char *part = s->sg->tensor[i].name; is_computed(s->sg, i) && *part;
		     part += *part == ';') {
			size_t k = strcspn(part, ";");
			agrow(s->a, names, n, &cap);
			names[n] = text_plain(s->a, arena_strndup(s->a, part, k));
			part += k;
			if (has_word(names[n++], word))
				return names[n - 1];
		}
	return nearest_word(word, names, n);
}

/* Takes one tensor from the list.  Names contain commas: the longest name that fits counts. */
static bool
take_tensor(struct state *s, const char *option, const char **list, int *out)
{
	const struct tfl_subgraph *sg = s->sg;
	size_t length = 0;
	int found = -1, same = -1, constant = -1;
	bool is_whole = false;
	for (int i = 0; i < sg->n_tensors; i++) {
		const char *name = sg->tensor[i].name;
		size_t n = name_length(*list, name);
		bool whole = n == strlen(name);
		if (!n || n < length || !is_computed(sg, i)) {
			if (n && whole && constant < 0)
				constant = i;
			continue;
		}
		if (n == length && is_whole && !whole)
			continue;
		same = n == length && whole == is_whole ? found : -1;
		length = n;
		found = i;
		is_whole = whole;
	}
	const char *word = arena_strndup(s->a, *list, strcspn(*list, ","));
	const char *shown = text_plain(s->a, word);
	if (same >= 0)
		return BAD(s, "%s: tensors %d and %d have the name %s: use the number", option,
			   same, found, shown);
	if (found < 0) {
		char *end = NULL;
		long number = *word >= '0' && *word <= '9' ? strtol(word, &end, 10) : -1;
		bool is_number = number >= 0 && !*end && number < sg->n_tensors;
		found = constant >= 0 ? constant : is_number ? (int)number : -1;
		length = strlen(word);
	}
	if (found < 0) {
		const char *near = nearest_name(s, word);
		return BAD(s, "%s: subgraph 0 has no tensor '%s'%s%s%s", option, shown,
			   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
	if (!is_computed(sg, found))
		return BAD(s, "%s: tensor %d (%s) is a constant", option, found,
			   text_plain(s->a, sg->tensor[found].name));
	*list += length;
	*list += **list == ',';
	*out = found;
	return true;
}

static bool
take_list(struct state *s, const char *option, const char *list, int *v, int *n)
{
	*n = 0;
	if (!*list)
		return BAD(s, "%s needs the name of a tensor", option);
	while (*list) {
		int t = 0;
		if (!take_tensor(s, option, &list, &t))
			return false;
		for (int i = 0; i < *n; i++)
			if (v[i] == t)
				return BAD(s, "%s names tensor %d (%s) twice", option, t,
					   text_plain(s->a, s->sg->tensor[t].name));
		v[(*n)++] = t;
	}
	return true;
}

/* ---- the operators between --------------------------------------------------------- */

static void
need_op(struct state *s, int op)
{
	if (op < 0 || s->op[op])
		return;
	s->op[op] = true;
	s->todo[s->n_todo++] = op;
}

static void
need_tensor(struct state *s, int tensor)
{
	if (tensor < 0 || s->needed[tensor])
		return;
	s->needed[tensor] = true;
	if (!s->is_input[tensor])
		need_op(s, s->sg->tensor[tensor].producer);
}

static void
need_all(struct state *s)
{
	while (s->n_todo) {
		const struct tfl_op *op = &s->sg->op[s->todo[--s->n_todo]];
		for (int k = 0; k < op->n_in; k++)
			need_tensor(s, op->in[k]);
	}
}

/* true if two operators VAR_HANDLE name the same variable */
static bool
same_variable(const struct tfl_op *a, const struct tfl_op *b)
{
	static const int slots[] = { FB_VarHandleOptions_container,
				     FB_VarHandleOptions_shared_name };
	struct fb_ref x = tfl_options(a, &fb_VarHandleOptions);
	struct fb_ref y = tfl_options(b, &fb_VarHandleOptions);
	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		const char *of_x = fb_string(x, slots[i], NULL);
		const char *of_y = fb_string(y, slots[i], NULL);
		if (strcmp(of_x, of_y) != 0)
			return false;
	}
	return true;
}

/* Does an operator that is needed read or write the variable of the handle `tensor`? */
static bool
variable_is_needed(const struct state *s, int tensor)
{
	int p = tensor < 0 ? -1 : s->sg->tensor[tensor].producer;
	const struct tfl_op *handle = p < 0 ? NULL : &s->sg->op[p];
	for (int i = 0; handle && handle->code == TFL_VAR_HANDLE && i < s->sg->n_ops; i++)
		if (s->op[i] && s->sg->op[i].code == TFL_VAR_HANDLE &&
		    same_variable(&s->sg->op[i], handle))
			return true;
	return false;
}

static bool
any_variable_is_needed(const struct state *s)
{
	for (int i = 0; i < s->sg->n_ops; i++)
		if (s->op[i] && s->sg->op[i].code == TFL_VAR_HANDLE)
			return true;
	return false;
}

/* true if the operator sets a variable that the network reads */
static bool
sets_variable(const struct state *s, const struct tfl_op *op)
{
	for (int k = 0; k < op->n_out; k++)
		if (s->sg->tensor[op->out[k]].is_variable && s->needed[op->out[k]])
			return true;
	if (op->n_out)
		return false;
	return op->code == TFL_CALL_ONCE ? any_variable_is_needed(s)
					 : op->n_in && variable_is_needed(s, op->in[0]);
}

/* No result of these operators leads to an output. */
static void
need_variables(struct state *s)
{
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < s->sg->n_ops; i++) {
			if (s->op[i] || !sets_variable(s, &s->sg->op[i]))
				continue;
			need_op(s, i);
			need_all(s);
			more = true;
		}
	}
}

/* Marks, in side, the operators that a new input depends on, or that depend on an output. */
static void
find_sides(const struct state *s, const int *out, int n_out, const int *in, int n_in,
	   enum cut_side *side)
{
	const struct tfl_subgraph *sg = s->sg;
	bool *before = anew(s->a, bool, (size_t)sg->n_tensors);
	bool *behind = anew(s->a, bool, (size_t)sg->n_tensors);
	for (int i = 0; i < n_in; i++)
		before[in[i]] = true;
	for (int i = 0; i < n_out; i++)
		behind[out[i]] = true;
	for (int i = sg->n_ops; i-- > 0;) {
		const struct tfl_op *op = &sg->op[i];
		bool is_before = false;
		for (int k = 0; k < op->n_out; k++)
			is_before |= before[op->out[k]];
		for (int k = 0; is_before && k < op->n_in; k++)
			if (op->in[k] >= 0)
				before[op->in[k]] = true;
		side[i] = s->op[i] ? CUT_INSIDE : is_before ? CUT_BEFORE : CUT_ASIDE;
	}
	for (int i = 0; i < sg->n_ops; i++) {
		const struct tfl_op *op = &sg->op[i];
		bool is_behind = false;
		for (int k = 0; k < op->n_in; k++)
			is_behind |= op->in[k] >= 0 && behind[op->in[k]];
		for (int k = 0; is_behind && k < op->n_out; k++)
			behind[op->out[k]] = true;
		if (side[i] == CUT_ASIDE && is_behind)
			side[i] = CUT_BEHIND;
	}
}

/* ---- the new model ---------------------------------------------------------------- */

static void
keep_operators(struct state *s, struct tflw_subgraph *w)
{
	int n = 0, extra = 0;
	for (int i = 0; i < s->sg->n_ops; i++)
		extra += s->sg->op[i].n_out;
	struct tflw_tensor *more = anew(s->a, struct tflw_tensor,
					(size_t)w->n_tensors + (size_t)extra + 1);
	if (w->n_tensors)
		memcpy(more, w->tensor, (size_t)w->n_tensors * sizeof(*more));
	w->tensor = more;
	for (int i = 0; i < s->sg->n_ops; i++) {
		if (!s->op[i])
			continue;
		/* a new input that the operator writes becomes a tensor that nobody reads */
		const struct tfl_op *op = &s->sg->op[i];
		int *out = anew(s->a, int, (size_t)op->n_out + 1);
		for (int k = 0; k < op->n_out; k++) {
			out[k] = op->out[k];
			if (!s->is_input[out[k]])
				continue;
			w->tensor[w->n_tensors] = w->tensor[out[k]];
			out[k] = w->n_tensors++;
		}
		w->op[n] = w->op[i];
		w->op[n++].out = out;
	}
	w->n_ops = n;
}

static void
use_buffer(const struct tflw_model *w, bool *used, int64_t buffer)
{
	if (buffer >= 0 && buffer < w->n_buffers)
		used[buffer] = true;
}

/* Empties the buffers that no tensor of the new model uses. */
static void
drop_buffers(struct state *s, struct tflw_model *w)
{
	bool *used = anew(s->a, bool, (size_t)w->n_buffers + 1);
	for (int i = 0; i < w->n_metadata; i++)
		use_buffer(w, used, w->metadata[i].buffer);
	for (int i = 0; i < s->sg->n_ops; i++)
		for (int k = 0; s->op[i] && k < s->sg->op[i].n_in; k++)
			if (s->sg->op[i].in[k] >= 0)
				use_buffer(w, used, s->sg->tensor[s->sg->op[i].in[k]].buffer);
	for (int g = 1; g < w->n_subgraphs; g++)
		for (int i = 0; i < w->subgraph[g].n_tensors; i++)
			use_buffer(w, used, w->subgraph[g].tensor[i].buffer);
	for (int i = 0; i < w->n_buffers; i++)
		if (!used[i])
			w->buffer[i] = (struct bytes){ 0 };
	while (w->n_buffers > 1 && !used[w->n_buffers - 1])
		w->n_buffers--;
	/* tensors that nobody uses now name buffer 0, the empty one */
	for (int i = 0; i < w->subgraph[0].n_tensors; i++)
		if (w->subgraph[0].tensor[i].buffer >= (uint32_t)w->n_buffers)
			w->subgraph[0].tensor[i].buffer = 0;
}

static bool
write_cut(struct state *s, struct cut *cut)
{
	struct tflw_model w;
	struct err inner = { 0 };
	tflw_copy(s->a, s->m, &w);
	/*
	 * The metadata stay, except for the plan of the arena and for the description of inputs
	 * and outputs, which are those of the original.
	 */
	uint32_t n = fb_vector(s->m->root, FB_Model_metadata).n;
	w.metadata = anew(s->a, struct tflw_metadata, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref md = fb_item(s->m->root, FB_Model_metadata, i);
		const char *name = fb_string(md, FB_Metadata_name, NULL);
		if (strcmp(name, "OfflineMemoryAllocation") != 0 &&
		    strcmp(name, "TFLITE_METADATA") != 0)
			w.metadata[w.n_metadata++] = (struct tflw_metadata){
				.name = name,
				.buffer = (uint32_t)fb_int(md, FB_Metadata_buffer) };
	}
	keep_operators(s, &w.subgraph[0]);
	w.subgraph[0].in = cut->in;
	w.subgraph[0].n_in = cut->n_in;
	w.subgraph[0].out = cut->out;
	w.subgraph[0].n_out = cut->n_out;
	drop_buffers(s, &w);
	return tfl_write(s->a, &w, &cut->file, &inner) || BAD(s, "%s", inner.text);
}

/* ---- the cut ------------------------------------------------------------------------ */

static struct state
open_state(struct arena *a, const struct tfl_model *m, struct err *e)
{
	const struct tfl_subgraph *sg = &m->subgraph[0];
	size_t n_ops = (size_t)sg->n_ops, n_tensors = (size_t)sg->n_tensors;
	return (struct state){ .a = a, .m = m, .sg = sg, .e = e,
			       .op = anew(a, bool, n_ops + 1),
			       .needed = anew(a, bool, n_tensors + 1),
			       .is_input = anew(a, bool, n_tensors + 1),
			       .todo = anew(a, int, n_ops + 1) };
}

/* A copy of the n numbers of a list, with space for those of all tensors and `more`. */
static int *
copy_list(const struct state *s, const int *v, int n, int more)
{
	int *copy = anew(s->a, int, (size_t)n + (size_t)s->sg->n_tensors + (size_t)more + 1);
	if (n)
		memcpy(copy, v, (size_t)n * sizeof(*v));
	return copy;
}

/* cut->in and cut->out are set; cut->in is `in`, which has space for the inputs of the original. */
static bool
cut_between(struct state *s, int *in, bool needs_all, struct cut *cut)
{
	const struct tfl_subgraph *sg = s->sg;
	const int n_in = cut->n_in;
	enum cut_side *side = anew(s->a, enum cut_side, (size_t)sg->n_ops + 1);
	for (int i = 0; i < cut->n_out; i++)
		need_tensor(s, cut->out[i]);
	need_all(s);
	need_variables(s);
	for (int i = 0; i < cut->n_out; i++)
		if (s->is_input[cut->out[i]])
			return BAD(s, "--cut-outputs: tensor %d (%s) is an input of the cut: no "
				      "operator is between them", cut->out[i],
				   text_plain(s->a, sg->tensor[cut->out[i]].name));
	for (int i = 0; i < n_in && needs_all; i++)
		if (!s->needed[cut->in[i]])
			return BAD(s, "--cut-inputs: no output of the cut depends on tensor %d "
				      "(%s)", cut->in[i],
				   text_plain(s->a, sg->tensor[cut->in[i]].name));
	for (int i = 0; i < sg->n_in; i++)
		if (s->needed[sg->in[i]] && !s->is_input[sg->in[i]]) {
			in[cut->n_in++] = sg->in[i];
			cut->n_kept_in++;
		}
	find_sides(s, cut->out, cut->n_out, in, n_in, side);
	cut->side = side;
	cut->n_ops = sg->n_ops;
	for (int i = 0; i < sg->n_ops; i++)
		cut->n_left_out += side[i] != CUT_INSIDE;
	return write_cut(s, cut);
}

static void
mark_inputs(struct state *s, const int *in, int n)
{
	for (int i = 0; i < n; i++)
		s->is_input[in[i]] = true;
}

bool
tfl_cut(struct arena *a, const struct tfl_model *m, const char *inputs,
	const char *outputs, struct cut *cut, struct err *e)
{
	struct state s = open_state(a, m, e);
	int n_in = 0, n_out = s.sg->n_out;
	int *in = copy_list(&s, NULL, 0, s.sg->n_in), *out = copy_list(&s, s.sg->out, n_out, 0);
	if ((inputs && !take_list(&s, "--cut-inputs", inputs, in, &n_in)) ||
	    (outputs && !take_list(&s, "--cut-outputs", outputs, out, &n_out)))
		return false;
	mark_inputs(&s, in, n_in);
	/* outputs of the original that are inputs of the cut are no outputs of it */
	int n_kept = 0;
	for (int i = 0; i < n_out && !outputs; i++)
		if (!s.is_input[out[i]])
			out[n_kept++] = out[i];
	n_out = outputs ? n_out : n_kept;
	*cut = (struct cut){ .in = in, .n_in = n_in, .out = out, .n_out = n_out };
	return cut_between(&s, in, true, cut);
}

bool
tfl_cut_at(struct arena *a, const struct tfl_model *m, const int *in, int n_in, const int *out,
	   int n_out, struct cut *cut, struct err *e)
{
	struct state s = open_state(a, m, e);
	int *inputs = copy_list(&s, in, n_in, s.sg->n_in);
	mark_inputs(&s, in, n_in);
	*cut = (struct cut){ .in = inputs, .n_in = n_in, .out = out, .n_out = n_out };
	return cut_between(&s, inputs, false, cut);
}

const char *
cut_side_name(enum cut_side s)
{
	static const char *const names[] = {
		[CUT_INSIDE] = "inside", [CUT_BEFORE] = "before the inputs",
		[CUT_BEHIND] = "behind the outputs", [CUT_ASIDE] = "beside the cut",
	};
	return names[s];
}
