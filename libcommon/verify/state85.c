/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the state that one operation of U85 leaves for the next: kept accumulators
 * (rule 55), chains (rule 54), branches (rule 57).  See ethosu-commands(7) 26.5, 29, 32,
 * 35.
 */
#include "verify/rules.h"

#include <inttypes.h>
#include <string.h>

/* ---- rule 55: accumulators ------------------------------------------------ */

void
check_accumulators(struct checker *c)
{
	const struct npu_op *op = &c->op, *p = &c->state85.last;
	bool keeps = npu_has_accumulators(op) && op->acc_input == NPU_ACC_KEEP;
	bool left = c->state85.any && npu_has_accumulators(p);
	ERROR_IF(c->state85.any && p->acc_kept && !keeps, c, 55,
		 "drops the accumulators that %s at 0x%06zx keeps",
		 npu_op_name(p), 4 * p->at);
	ERROR_IF(keeps && !left, c, 55,
		 "continues accumulators, but no earlier operation has left any");
	ERROR_IF(keeps && left && (!hwc_equal(p->extent, op->extent) ||
				   !hwc_equal(p->ublock, op->ublock)), c, 55,
		 "continues accumulators of another extent or microblock");
	ERROR_IF((keeps || op->acc_kept) && !npu_is_one_block(op), c, 55,
		 "keeps accumulators of more than one block");
	ERROR_IF(op->acc_kept && !npu_has_accumulators(op), c, 55,
		 "keeps accumulators, but this operation has none");
	c->state85.last = *op;
	c->state85.any = true;
}

/* ---- rule 54: chains ------------------------------------------------------ */

enum { CHAIN_LENGTH = 4, CHAIN_OPERANDS = 3 };

static void
check_link(struct checker *c, const struct npu_fm *f, const char *role)
{
	struct chain *k = &c->state85.chain;
	if (f->storage != NPU_CHAINED)
		return;
	ERROR_IF(f->chain >= NPU_MAX_CHAINS, c, 54, "%s: chain buffer %d does not exist", role,
		 f->chain);
	ERROR_IF(c->op.kind != NPU_ELEMENTWISE, c, 54,
		 "%s is chained, but only elementwise operations can read a chain buffer", role);
	if (f->chain >= NPU_MAX_CHAINS)
		return;
	const struct npu_fm *from = &k->buffer[f->chain];
	bool is_filled = k->n && k->filled[f->chain];
	k->read[f->chain] = true;
	ERROR_IF(!is_filled, c, 54,
		 "%s: no operation of this chain has written chain buffer %d", role,
		 f->chain);
	ERROR_IF(is_filled && (from->bits != f->bits ||
			   from->is_signed != f->is_signed ||
			   !hwc_equal(from->shape, f->shape)), c, 54,
		 "%s differs from chain buffer %d, which holds %dx%dx%d of %c%d", role, f->chain,
		 from->shape.h, from->shape.w, from->shape.c,
		 from->is_signed ? 's' : 'u', from->bits);
}

void
check_chain(struct checker *c)
{
	const struct npu_op *op = &c->op;
	struct chain *k = &c->state85.chain;
	bool chained = op->ofm.storage == NPU_CHAINED && !op->acc_kept;
	bool reads = op->ifm.storage == NPU_CHAINED ||
		     (op->has_ifm2 && op->ifm2.storage == NPU_CHAINED);
	c->state85.is_member = k->n > 0;
	if (k->n) {
		/* members have equal extents, blocks and microblocks (ethosu-commands(7) 29) */
		ERROR_IF(!reads, c, 54,
			 "interrupts the chain that begins at 0x%06zx", 4 * k->first.at);
		ERROR_IF(!hwc_equal(op->extent, k->first.extent) ||
			 !hwc_equal(op->block, k->first.block) ||
			 !hwc_equal(op->ublock, k->first.ublock), c, 54,
			 "differs in extent or block from the chain's first operation");
		ERROR_IF(k->n == CHAIN_LENGTH, c, 54, "a chain of more than %d operations",
			 CHAIN_LENGTH);
	}
	check_link(c, &op->ifm, "IFM");
	if (op->has_ifm2)
		check_link(c, &op->ifm2, "IFM2");
	if (!k->n && !chained)
		return;
	if (!k->n)
		k->first = *op;
	k->n++;
	bool external1 = !op->ifm_scalar && npu_fm_stored(&op->ifm);
	bool external2 = op->has_ifm2 && !op->ifm2_scalar && npu_fm_stored(&op->ifm2);
	k->operands += external1 + external2; /* operands in memory */
	WARN_IF(op->blockdep, c, 54, "BLOCKDEP %d in a chain, 0 is usual", op->blockdep);
	ERROR_IF(chained && op->kind == NPU_RESIZE, c, 54, "RESIZE cannot be in a chain");
	WARN_IF(k->operands == CHAIN_OPERANDS + 1, c, 54,
		"a chain with more than %d operands in memory", CHAIN_OPERANDS);
	ERROR_IF(chained && op->ofm.chain >= NPU_MAX_CHAINS, c, 54,
		 "OFM: chain buffer %d does not exist", op->ofm.chain);
	if (chained && op->ofm.chain < NPU_MAX_CHAINS) {
		k->buffer[op->ofm.chain] = op->ofm;
		k->buffer[op->ofm.chain].shape = op->extent;
		k->filled[op->ofm.chain] = true;
		k->read[op->ofm.chain] = false;
	} else {
		for (int i = 0; i < NPU_MAX_CHAINS; i++)
			ERROR_IF(k->filled[i] && !k->read[i], c, 54,
				 "no operation of the chain reads chain buffer %d", i);
		*k = (struct chain){ .n = 0 };
	}
}

/*
 * Checks an operation that is not a kernel: only waits may be inside a chain
 * (ethosu-commands(7) 29).
 */
void
check_between(struct checker *c)
{
	enum npu_op_kind kind = c->op.kind;
	if (kind == NPU_DMA_WAIT || kind == NPU_KERNEL_WAIT)
		return;
	ERROR_IF(c->state85.chain.n && kind != NPU_OTHER, c, 54,
		 "interrupts the chain that begins at 0x%06zx",
		 4 * c->state85.chain.first.at);
	ERROR_IF(c->state85.any && c->state85.last.acc_kept &&
		 (kind == NPU_STOP || kind == NPU_BRANCH), c, 55,
		 "no operation continues the accumulators of %s at 0x%06zx",
		 npu_op_name(&c->state85.last), 4 * c->state85.last.at);
}

/* ---- rule 57: branches ---------------------------------------------------- */

static bool
is_target(const struct checker *c, size_t at)
{
	for (size_t i = 0; i < c->state85.n_targets; i++)
		if (c->state85.target[i] == at)
			return true;
	return false;
}

void
find_targets(struct checker *c)
{
	struct npu_command cmd;
	struct err bad = { 0 };
	size_t at = 0, cap = 0;
	while (stream_next(c->s, &at, &cmd, &bad)) {
		if (cmd.code != NPU_OP_BRANCH || is_target(c, cmd.payload / 4))
			continue;
		agrow(c->a, c->state85.target, c->state85.n_targets, &cap);
		c->state85.target[c->state85.n_targets++] = cmd.payload / 4;
	}
}

/* At a branch target, forgets all registers and operations: paths to the target may write
 * different registers, so that the operations after the target may not use these registers. */
void
enter_target(struct checker *c, size_t at)
{
	if (!c->state85.n_targets || !is_target(c, at))
		return;
	memset(c->regs.written, 0, sizeof(c->regs.written));
	c->has_previous = c->any_kernel = false;
	c->kernels.n = c->dmas.n = c->waited.n = 0;
	c->state85.any = false;
}

void
check_branch(struct checker *c)
{
	const struct npu_op *op = &c->op;
	struct npu_command cmd;
	struct err bad = { 0 };
	size_t word = (size_t)op->target / 4, at = 0;
	while (at < word && stream_next(c->s, &at, &cmd, &bad))
		;
	bool boundary = at == word && word < c->s->n_words;
	ERROR_IF(op->target % 4 || !boundary, c, 57,
		 "branches to 0x%06" PRIx64 ", where no command begins",
		 (uint64_t)op->target);
	ERROR_IF(op->param & 1 && !c->any_kernel, c, 57,
		 "the branch is conditional, but no kernel is before it");
	/* the checks after the target assume that no operation is running */
	ERROR_IF(c->kernels.n || c->dmas.n, c, 57,
		"branches while %d kernels and %d transfers are outstanding", c->kernels.n,
		c->dmas.n);
}
