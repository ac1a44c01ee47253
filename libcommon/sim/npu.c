/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim.h"

bool
sim_npu_run(const struct sim_npu_job *job, struct err *e)
{
	return err_at(e, job->name, 0,
		      "operator %d (ethos-u): this build does not execute "
		      "command streams", job->op_index);
}
