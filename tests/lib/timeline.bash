# SPDX-License-Identifier: Apache-2.0
# For suites whose figures are those of the timeline: plans are made and costed by the
# published formulas, which no fit changes.

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
