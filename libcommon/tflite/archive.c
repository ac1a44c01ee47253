/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZIP archives behind a model: converters append labels and metadata in this manner, because
 * a FlatBuffer is read from its beginning and a ZIP archive from its end.
 */
#include "tflite/write.h"

#include "base/fixed.h"
#include "base/little_endian.h"

#include <string.h>

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50,
       LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 22, MOST_COMMENT = UINT16_MAX };

/* places in a file, in bytes from its beginning */
struct archive {
	size_t first;	  /* first local header */
	size_t directory; /* its entries name places, which begin at `prefix` */
	size_t end;	  /* record that ends the archive; only a comment follows */
	size_t prefix;
	unsigned n;	  /* entries */
};

/* the field of an entry that names the place of the local header */
enum { ENTRY_PLACE = 42, END_DIRECTORY = 16 };

static bool
find_end(struct bytes file, size_t *end)
{
	for (size_t comment = 0; comment <= MOST_COMMENT; comment++) {
		if (file.n < END_BYTES + comment)
			return false;
		*end = file.n - END_BYTES - comment;
		const uint8_t *p = file.p + *end;
		if (load_le32(p) == END && load_le16(p + 20) == comment)
			return true;
	}
	return false;
}

static size_t
entry_bytes(const uint8_t *entry)
{
	return CENTRAL_BYTES + (size_t)load_le16(entry + 28) + load_le16(entry + 30) +
	       load_le16(entry + 32);
}

/* Returns false if there is no archive, or one whose entries contradict each other. */
static bool
find(struct bytes file, struct archive *z)
{
	if (!find_end(file, &z->end))
		return false;
	const uint8_t *end = file.p + z->end;
	size_t bytes = load_le32(end + 12), at = load_le32(end + END_DIRECTORY);
	z->n = load_le16(end + 10);
	if (bytes > z->end || at > z->end - bytes)
		return false;
	z->first = z->directory = z->end - bytes;
	z->prefix = z->directory - at;
	const uint8_t *p = file.p + z->directory;
	for (unsigned i = 0; i < z->n; i++) {
		if ((size_t)(end - p) < CENTRAL_BYTES || load_le32(p) != CENTRAL ||
		    (size_t)(end - p) < entry_bytes(p))
			return false;
		size_t local = z->prefix + load_le32(p + ENTRY_PLACE);
		if (local > z->directory || z->directory - local < LOCAL_BYTES ||
		    load_le32(file.p + local) != LOCAL)
			return false;
		z->first = local < z->first ? local : z->first;
		p += entry_bytes(p);
	}
	return p == end;
}

bool
tfl_append_archive(struct arena *a, struct bytes from, struct bytes *to)
{
	struct archive z;
	if (!find(from, &z) || z.first == 0)
		return true;
	size_t n = from.n - z.first;
	if (n > TFL_MAX_BYTES || to->n > TFL_MAX_BYTES - n)
		return false;
	uint8_t *file = arena_alloc(a, to->n + n, 1);
	memcpy(file, to->p, to->n);
	memcpy(file + to->n, from.p + z.first, n);
	/* places count from the beginning of the new file */
	uint8_t *p = file + to->n + (z.directory - z.first);
	size_t less = z.first - z.prefix;
	for (unsigned i = 0; i < z.n; i++) {
		size_t place = load_le32(p + ENTRY_PLACE) - less + to->n;
		store_le32(p + ENTRY_PLACE, (uint32_t)place);
		p += entry_bytes(p);
	}
	store_le32(p + END_DIRECTORY, (uint32_t)(to->n + (z.directory - z.first)));
	*to = (struct bytes){ .p = file, .n = to->n + n };
	return true;
}
