/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a graph, after any stage, passes through the remaining stages.  It is
 * refused with one line that names the file, or compiled.  Then the streams obey all
 * rules, match their graph, and can be estimated.
 */
#include "fuzz.h"

#include "graph/graph.h"
#include "lib/mutate.h"
#include "lib/programs.h"

#include <string.h>

enum { MAX_TEXT = 1 << 16 };

/* the next stage; if the text is no graph, its first line does not matter */
static int
stage_of(struct bytes text)
{
	static const char *const names[] = { "stage=sched\n", "stage=wenc\n" };
	for (int i = 0; i < 2; i++)
		if (memmem(text.p, text.n < 40 ? text.n : 40, names[i],
			   strlen(names[i])))
			return i + 1;
	return 0;
}

static bool
passes(struct bench *b, int stage, const char *in, const char *out)
{
	int before = bench_count(b);
	if (stage == 0)
		(void)RUN(b, npu_sched, "-a", "ethos-u55-128", "--system-config",
			  "RTSS_HE_SRAM_MRAM", "--memory-mode", "Shared_Sram", "-o",
			  out, in);
	else if (stage == 1)
		(void)RUN(b, npu_wenc, "-o", out, in);
	else
		(void)RUN(b, npu_cmdgen, "-o", out, in);
	if (b->status)
		expect_refusal(b, in, IN_GRAPH, before);
	return !b->status;
}

static void
judge(struct bench *b, struct arena *a, const char *graph, const char *npu)
{
	struct bytes text;
	const char *source = arena_printf(a, "--source=%s", graph);
	const char *name = strrchr(graph, '/') + 1;
	if (!bench_get(b, a, name, &text) || !memmem(text.p, text.n, "\nop ", 4))
		return;
	if (RUN(b, npu_dis, "-q", "--verify", source, npu))
		finding(b, "a compiled graph breaks a rule");
	if (RUN(b, npu_perf, "--json", "--system-config", "RTSS_HE_SRAM_MRAM",
		"--memory-mode", "Shared_Sram", "-o", bench_path(b, "perf"), npu))
		finding(b, "no estimate of a compiled graph");
}

static void
run(struct bench *b, struct arena *a, struct bytes text, unsigned choice)
{
	(void)choice;
	static const char *const names[] = { "0", "1", "2", "npu.tflite" };
	const char *path[4];
	int first = stage_of(text);
	for (int i = 0; i < 4; i++)
		path[i] = arena_strdup(a, bench_path(b, names[i]));
	bench_put(b, names[first], text);
	for (int i = first; i < 3; i++)
		if (!passes(b, i, path[i], path[i + 1]))
			return;
	judge(b, a, path[2], path[3]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = { .p = data, .n = size };
	return size > MAX_TEXT ? 0 : bench_try(text, 0, run);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return mutate_graph(data, size, max, seed);
}
