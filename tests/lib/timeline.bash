# SPDX-License-Identifier: Apache-2.0
# For suites whose figures come from the timeline: the programs plan and estimate with the
# published formulas, which no calibration changes.  Without another request, the plan is the
# fastest one.

# requests OPTION...: do the options ask for something else than the fastest plan?
requests()
{
	[[ " $*" == *" --front"* || " $*" == *" --optimise="* || " $*" == *" --max-cycles="* ]]
}

npu-sched()
{
	requests "$@" || set -- --within=0 "$@"
	command npu-sched --model=timeline "$@"
}

npucc()
{
	requests "$@" || set -- --within=0 "$@"
	command npucc --model=timeline "$@"
}

npu-perf()
{
	command npu-perf --model=timeline "$@"
}
