/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-quantcheck --pass for libnputools. */
#include "lib.h"

#include "kernels/kernels.h"
#include "tfl-quantcheck/quantcheck.h"

bool
lib_tfl_quantcheck(struct call *c, struct bytes model)
{
	const struct {
		bool is_set;
		const char *rules;
	} allow[] = {
		{ c->o.allow, c->o.allow },
		{ c->o.integer_io, "interface-float" },
		{ c->o.allow_unequal_quantization, "unequal-quantization" },
	};
	struct tfl_model *m;
	struct review r;
	rule_set allowed = 0;
	for (size_t i = 0; i < ARRAY_LEN(allow); i++)
		if (allow[i].is_set && !rules_add(&allowed, allow[i].rules, &c->e))
			return false;
	if (!model_read(c->a, model, c->o.name, &m, &c->e) || !tfl_check_plain(m, &c->e))
		return false;
	review_model(&r, c->a, m, allowed);
	report_briefly(&c->notes, &r, "");
	return review_pass(&r, false, &c->e);
}
