# SPDX-License-Identifier: Apache-2.0
# a few hundred random models; make check-long is for more

@test "random models compute the same compiled" {
	run "$BATS_TEST_DIRNAME/random-models" -b "${NPUTOOLS_BUILD:-build}" -n 300
	echo "$output"
	[ "$status" = 0 ]
}
