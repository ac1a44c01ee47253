/* SPDX-License-Identifier: Apache-2.0 */
#include "npu-sim.h"

#include "raw/raw.h"
#include "tosa/tosa.h"

bool
read_model(struct arena *a, const char *path, struct model *out, struct err *e)
{
	struct bytes file;
	*out = (struct model){ 0 };
	if (!file_read(a, path, TFL_MAX_BYTES, &file, e))
		return false;
	if (tosa_is(file))
		return tosa_read(a, file, file_name(path), &out->tosa, e);
	return raw_model(a, file, file_name(path), &file, e) &&
	       tfl_read(a, file, file_name(path), &out->tflite, e);
}

bool
open_model(struct arena *a, const struct model *m, bool compared, struct sim **out,
	   struct err *e)
{
	if (m->tosa)
		return sim_open_tosa(a, m->tosa, out, e);
	return (compared ? sim_open_to_compare : sim_open)(a, m->tflite, out, e);
}
