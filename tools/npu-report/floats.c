/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of float inputs and outputs, which --integer-io leaves out with their conversion. */
#include "report.h"

#include <string.h>

bool
is_left_out_by_integer_io(const char *reason)
{
	return strstr(reason, "--integer-io") != NULL;
}

bool
is_in_peak(const struct span *s, const struct peak *p)
{
	return !strcmp(s->place, p->place) && s->start <= p->start && s->end >= p->end;
}

bool
is_float_end(const struct span *s)
{
	return (!strcmp(s->kind, "input") || !strcmp(s->kind, "output")) && !strncmp(s->shape, "f32", 3);
}

const char *
floats_text(const struct report *r)
{
	const double worth = 0.1; /* of the memory: as much as a limit of SRAM that is proposed */
	for (size_t i = 0; i < r->n_peaks; i++) {
		const struct peak *p = &r->peak[i];
		double bytes = 0;
		for (size_t k = 0; k < r->n_spans; k++) {
			const struct span *s = &r->span[k];
			if (is_float_end(s) && is_in_peak(s, p))
				bytes += s->bytes;
		}
		if (bytes > 0 && bytes >= worth * p->bytes)
			return arena_printf(r->a, "float inputs and outputs hold %s of %s when most of it is in use",
					    human_bytes(r->a, bytes), place_text(r, p->place));
	}
	return NULL;
}
