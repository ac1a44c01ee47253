/* SPDX-License-Identifier: Apache-2.0 */
#include "npu-sim.h"

#include "tosa/tosa.h"

bool
open_model(struct arena *a, const char *path, bool compared, struct sim **out,
	   struct err *e)
{
	struct bytes file;
	struct tosa_graph *g;
	struct tfl_model *m;
	if (!file_read(a, path, TFL_MAX_BYTES, &file, e))
		return false;
	if (tosa_is(file))
		return tosa_read(a, file, file_name(path), &g, e) &&
		       sim_open_tosa(a, g, out, e);
	if (!tfl_read(a, file, file_name(path), &m, e))
		return false;
	return (compared ? sim_open_to_compare : sim_open)(a, m, out, e);
}
