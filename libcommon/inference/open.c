/* SPDX-License-Identifier: Apache-2.0 */
/* Opens models in every format that npu-sim runs: TFLite, TOSA, npz, vela-bin. */
#include "inference/inference.h"

#include "kernels/kernels.h"
#include "raw/raw.h"
#include "tosa/tosa.h"

bool
read_model(struct arena *a, const char *path, bool any_size, struct model *out,
	   struct err *e)
{
	struct bytes file;
	const char *name = file_name(path);
	*out = (struct model){ .borders.actual = 1 };
	if (!file_read(a, path, TFL_MAX_BYTES, &file, e))
		return false;
	size_t n = file.n;
	bool ok = tosa_is(file) ? tosa_read(a, file, name, &out->tosa, e)
				: raw_model(a, file, name, &file, e) &&
					  model_read(a, file, name, &out->tflite, e) &&
					  borders_read(a, out->tflite, &out->borders, e);
	return ok && (any_size || check_size(out, n, name, e));
}

bool
open_model(struct arena *a, const struct model *m, bool compared, struct sim **out,
	   struct err *e)
{
	if (m->tosa)
		return sim_open_tosa(a, m->tosa, out, e);
	return (compared ? sim_open_to_compare : sim_open)(a, m->tflite, out, e);
}

int32_t
inputs_each(const struct model *m, const struct model *other)
{
	int32_t have = m->borders.actual, each = other->borders.actual;
	return have % each ? 1 : have / each;
}
