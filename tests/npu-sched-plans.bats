# SPDX-License-Identifier: Apache-2.0
# The plans of networks, so that a change of any plan shows in the history of a table.

load lib/common

@test "the plans of networks are those of tests/plans.tsv" {
	"$TOP/tests/plans" "${NPUTOOLS_BUILD:-$TOP/build}" >plans.tsv
	[ "$(wc -l <plans.tsv)" = 166 ]
	diff "$TOP/tests/plans.tsv" plans.tsv ||
		{ echo "if meant: tests/plans build >tests/plans.tsv"; return 1; }
}
