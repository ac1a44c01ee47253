/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a compiled model again without source map and profile, or cuts the source map
 * off.
 */
#include "map/map.h"

#include "base/little_endian.h"
#include "map/profile.h"
#include "tflite/fields.h"
#include "tflite/write.h"

#include <string.h>

/*
 * True if a tensor uses the buffer.  Normally only metadata refers to the source map's
 * buffer; a hostile file can differ.
 */
static bool
is_of_tensor(const struct tflw_model *w, uint32_t buffer)
{
	for (int s = 0; s < w->n_subgraphs; s++)
		for (int i = 0; i < w->subgraph[s].n_tensors; i++)
			if (w->subgraph[s].tensor[i].buffer == buffer)
				return true;
	return false;
}

bool
map_strip(struct arena *a, const struct tfl_model *m, struct bytes *out,
	  struct err *e)
{
	struct tflw_model w;
	struct err inner = { 0 };
	*out = m->file;
	if (!tfl_metadata(m, MAP_METADATA).p && !tfl_metadata(m, PROFILE_METADATA).p)
		return true;
	tflw_copy(a, m, &w);

	/* Copy all metadata but map and profile.  Their buffers are dropped if they are the
	 * last ones. */
	uint32_t n = fb_vector(m->root, FB_Model_metadata).n;
	bool *dropped = anew(a, bool, (size_t)w.n_buffers + 1);
	w.metadata = anew(a, struct tflw_metadata, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref md = fb_item(m->root, FB_Model_metadata, i);
		const char *name = fb_string(md, FB_Metadata_name, NULL);
		uint32_t buffer = (uint32_t)fb_int(md, FB_Metadata_buffer);
		if (strcmp(name, MAP_METADATA) != 0 && strcmp(name, PROFILE_METADATA) != 0) {
			w.metadata[w.n_metadata++] = (struct tflw_metadata){
				.name = name, .buffer = buffer };
			continue;
		}
		if (buffer >= (uint32_t)w.n_buffers || is_of_tensor(&w, buffer))
			continue;
		w.buffer[buffer] = (struct bytes){ .p = NULL };
		dropped[buffer] = true;
	}
	while (w.n_buffers && dropped[w.n_buffers - 1])
		w.n_buffers--;
	return tfl_write(a, &w, out, &inner) ||
	       err_at(e, m->name, 0, "%s", inner.text);
}

struct bytes
map_cut(struct arena *a, const struct tfl_model *m)
{
	enum { LENGTH = 4, ALIGN = 16 }; /* bytes of a vector's length; alignment of the
					  * file's end */
	struct bytes map = tfl_metadata(m, MAP_METADATA);
	size_t at = map.p ? (size_t)(map.p - m->file.p) : 0;
	if (at < LENGTH || map.n + ALIGN <= m->file.n - at)
		return m->file;
	uint8_t *p = arena_alloc(a, at, 1);
	memcpy(p, m->file.p, at);
	store_le32(p + at - LENGTH, 0);
	return (struct bytes){ .p = p, .n = at };
}
