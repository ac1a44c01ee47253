/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the metadata: the original's, the arena plan, the layouts of inputs and
 * outputs, and the source map.
 */
#include "model.h"

#include "base/little_endian.h"
#include "map/profile.h"
#include "source/source.h"
#include "tflite/fields.h"
#include "tflite/write.h"

#include <string.h>

static void
add_metadata(struct build *b, const char *name, struct bytes data)
{
	struct tflw_model *w = &b->w;
	agrow(b->c->a, w->metadata, (size_t)w->n_metadata, &b->cap_metadata);
	w->metadata[w->n_metadata++] = (struct tflw_metadata){
		.name = name, .buffer = add_buffer(b, data) };
}

/*
 * Appends the commands of the compiled bodies to the source map, with the name of the body in
 * front.  A body without a source map ends the list, because streams are told by their order.
 */
static void
add_bodies(const struct cmdgen *c, struct npu_map *m)
{
	for (int s = 1; c->body && s < c->m->n_subgraphs; s++) {
		struct npu_map *of = NULL;
		const char *name = c->m->subgraph[s].name;
		if (!c->body[s] || !has_stream(c->body[s]))
			continue;
		if (!map_read(c->a, c->body[s], &of, &(struct err){ 0 }) || !of)
			return;
		struct map_stream *streams = anew(c->a, struct map_stream,
						  m->n_streams + of->n_streams);
		struct map_command *commands = anew(c->a, struct map_command,
						    m->n_commands + of->n_commands);
		if (!*name)
			name = arena_printf(c->a, "body%d", s);
		for (size_t i = 0; i < m->n_streams + of->n_streams; i++)
			streams[i] = i < m->n_streams ? m->streams[i]
						      : of->streams[i - m->n_streams];
		for (size_t i = 0; i < m->n_commands; i++)
			commands[i] = m->commands[i];
		for (size_t i = 0; i < of->n_commands; i++) {
			const struct map_command *x = &of->commands[i];
			/* layers and moments are those of the first subgraph */
			commands[m->n_commands + i] = (struct map_command){
				.at = x->at, .what = x->what, .slice = x->slice,
				.name = arena_printf(c->a, "%s/%s", name, x->name),
			};
		}
		m->streams = streams;
		m->commands = commands;
		m->n_streams += of->n_streams;
		m->n_commands += of->n_commands;
	}
}

void
build_metadata(struct build *b)
{
	const struct cmdgen *c = b->c;
	struct arena *a = c->a;

	/* the original's */
	struct fb_ref root = c->m->root;
	uint32_t n = fb_vector(root, FB_Model_metadata).n;
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref md = fb_item(root, FB_Model_metadata, i);
		const char *name = fb_string(md, FB_Metadata_name, NULL);
		uint64_t buffer = (uint64_t)fb_int(md, FB_Metadata_buffer);
		if (strcmp(name, "OfflineMemoryAllocation") != 0 &&
		    strcmp(name, MAP_METADATA) != 0 &&
		    strcmp(name, PROFILE_METADATA) != 0 &&
		    strcmp(name, BORDERS_METADATA) != 0 &&
		    buffer < c->m->n_buffers && c->m->buffer[buffer].p)
			add_metadata(b, name, c->m->buffer[buffer]);
	}

	/* the arena plan: ethosu-commands(7) 13.4; the runtime plans the tensors of subgraphs
	 * that are not compiled */
	int n_tensors = 0, k = 0;
	for (int i = 0; i < b->w.n_subgraphs; i++)
		n_tensors += b->w.subgraph[i].n_tensors;
	uint8_t *p = arena_alloc(a, 4 * ((size_t)n_tensors + 3), 1);
	store_le32(p, 0);
	store_le32(p + 4, (uint32_t)b->w.n_subgraphs);
	store_le32(p + 8, (uint32_t)n_tensors);
	for (; k < b->sg.n_tensors; k++)
		store_le32(p + 12 + 4 * k, (uint32_t)(int32_t)b->plan[k]);
	for (int s = 1; s < b->w.n_subgraphs; s++)
		for (int i = 0; i < b->w.subgraph[s].n_tensors; i++, k++)
			store_le32(p + 12 + 4 * k, (uint32_t)(int32_t)body_planned_at(b, s, i));
	add_metadata(b, "OfflineMemoryAllocation",
		     (struct bytes){ .p = p, .n = 4 * ((size_t)n_tensors + 3) });

	struct border_tensors x = find_borders(c);
	struct bytes text = borders_print(a, &x);
	if (text.p)
		add_metadata(b, BORDERS_METADATA, text);

	/* the profile and the source map last, so that the rest of the file is the same without
	 * them */
	bool any = false;
	for (size_t i = 0; i < c->g->n_nodes; i++)
		any |= c->stream[i].n_marks > 0;
	if (!any || c->no_map)
		return;
	struct npu_map *m = map_make(a, c->g, c->m, c->stream);
	size_t bytes = 0;
	for (int i = 0; i < b->w.n_buffers; i++)
		bytes += b->w.buffer[i].n;
	source_carry(a, c->g, bytes, m);
	add_bodies(c, m);
	add_metadata(b, PROFILE_METADATA, profile_print(a, c->accel, &c->memory));
	add_metadata(b, MAP_METADATA, map_encode(a, m));
}
