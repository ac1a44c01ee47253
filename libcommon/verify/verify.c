/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the rules to streams, command by command. */
#include "verify/rules.h"

#include "target/accel.h"

#include <inttypes.h>

/* Most runs of bytes that are examined in a model: a strided feature map can have many. */
#define RUNS_MAX ((uint64_t)1 << 26)

static void
check_state85(struct checker *c)
{
	check_chain(c);
	check_accumulators(c);
}

static void
values55(struct checker *c)
{
	check_values(c);
	check_tables(c);
}

static const struct rules rules[GENERATIONS] = {
#define OLDER                                                                \
	{ .reports_redundant = true, .kernel_limit = true, .max_bits = 32,         \
	  .values = values55,                                                 \
	  .blocks = check_shram, .streams = check_streams, .dma = check_dma }
	[GEN_U55] = OLDER,
	[GEN_U65] = OLDER,
	[GEN_U85] = { .max_bits = 64, .dmas_overlap = true,
		      .values = check_values85, .blocks = check_blocks85,
		      .state = check_state85, .streams = check_streams85,
		      .dma = check_dma85 },
};

static void
check_operation(struct checker *c)
{
	if (!check_written_registers(c))
		return;
	if (npu_is_kernel(&c->op)) {
		if (c->rules->state)
			c->rules->state(c);
		c->rules->values(c);
		check_geometry(c);
		c->rules->blocks(c);
		if (!check_kernel_memory(c)) {
			/* without exact accesses, hazards cannot be checked */
			c->has_previous = false;
			return;
		}
		check_weights(c);
		check_order(c);
		follow_copies(c);
		return;
	}
	if (c->rules->state)
		check_between(c);
	if (c->op.kind == NPU_BRANCH)
		check_branch(c);
	if (c->op.kind == NPU_DMA) {
		c->rules->dma(c);
		follow_copies(c);
	}
	check_order(c);
}

static void
check_stream(struct checker *c)
{
	struct npu_command cmd;
	struct err bad = { 0 };
	size_t at = 0;
	bool stopped = false;
	find_targets(c);
	while (!stopped && stream_next(c->s, &at, &cmd, &bad)) {
		c->at = cmd.at;
		c->command = cmd.info->name;
		enter_target(c, cmd.at);
		check_word(c, &cmd);
		if (!cmd.is_op) {
			npu_write(&c->regs, &cmd);
			continue;
		}
		npu_op_decode(&c->regs, c->accel, &cmd, &c->op);
		check_operation(c);
		stopped = c->op.kind == NPU_STOP;
	}
	if (bad.status) {
		c->at = at;
		c->command = NULL;
		ERROR(c, 1, "%s", bad.text);
		return;
	}
	check_end(c, at, stopped);
}

void
stream_verify(const struct tfl_model *m, const struct npu_stream *s, int n,
	      struct npu_verify *v)
{
	struct arena *a = arena_open();
	struct checker *c = anew(a, struct checker, 1);
	struct plan *plan = NULL;
	*c = (struct checker){ .out = v, .a = a, .runs = RUNS_MAX };
	begin_findings(c);
	for (int i = 0; i < n; i++) {
		*c = (struct checker){
			.out = c->out, .a = c->a, .runs = c->runs, .tried = c->tried,
			.findings = c->findings, .s = &s[i],
			.accel = s[i].accel,
			.rules = &rules[s[i].accel->generation],
			.kernels = { .depth = MAX_KERNELS },
			.dmas = { .depth = s[i].accel->max_dma },
			.waited = { .depth = 8 },
		};
		if (m) {
			if (!plan)
				plan = plan_open(c, m);
			check_container(c, m);
			plan_advance(plan, s[i].subgraph, s[i].op);
			plan_bind(plan, c);
		}
		check_stream(c);
		if (m)
			plan_outputs(plan, c);
		WARN_IF(!c->runs, c, VERIFY_RULE_WRITTEN,
			"more than %" PRIu64 " separate runs of bytes: the rest "
			"was not checked", RUNS_MAX);
	}
	end_findings(c);
	arena_close(a);
}
