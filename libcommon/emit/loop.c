/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of U85, ethosu-commands(7) 32:
 *
 *   again:  condition, test; BRANCH if it is true to body; BRANCH to leave
 *   body:   ...; BRANCH to again
 *   leave:
 */
#include "emit/regs.h"

#include <string.h>

void
emit_border(struct emitter *m, struct emit_loop *l, int part)
{
	enum { BRANCH_WORDS = 2 };
	if (part == LOOP_TEST) /* continues the condition's code */
		return;
	/*
	 * Wait for all operations and forget all registers.  Execution reaches a branch target
	 * from two places, so that neither running operations nor register values can be assumed
	 * there.
	 */
	if (m->hazards.n_kernels)
		emit_wait(m, NPU_KERNEL_WAIT, 0);
	if (m->hazards.n_dma)
		emit_wait(m, NPU_DMA_WAIT, 0);
	m->hazards = (struct hazards){ .n_kernels = 0 };
	memset(m->written, 0, sizeof(m->written));
	if (part == LOOP_CONDITION) {
		l->again = m->out->n;
	} else if (part == LOOP_BODY) {
		size_t body = m->out->n + 2 * BRANCH_WORDS;
		(void)emit_branch(m, true, body);
		l->leave = emit_branch(m, false, 0);
	} else {
		(void)emit_branch(m, false, l->again);
		/* the loop is left to the word that follows */
		struct npu_op *leave = &m->out->op[l->leave];
		leave->target = 4 * (int64_t)m->out->n;
		m->out->word[leave->at + 1] = (uint32_t)leave->target;
	}
}
