# SPDX-License-Identifier: Apache-2.0
# For suites whose figures come from the timeline: the programs plan and estimate with the
# published formulas, which no calibration changes.

npu-sched()
{
	command npu-sched --model=timeline "$@"
}

npucc()
{
	command npucc --model=timeline "$@"
}

npu-perf()
{
	command npu-perf --model=timeline "$@"
}
