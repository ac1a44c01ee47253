# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/common:  load lib/standin
# npu-run with the stand-in for the Linux driver (tests/linux).

TESTBIN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
RUN=${NPUTOOLS_BUILD:-$TOP/build}/dynamic/bin/npu-run

# prints the libraries to load before libc; a sanitizer's library must be the first
standin_preload()
{
	local first=
	[[ $BIN != *asan* ]] || first=$(ldd "$RUN" | sed -n 's/.* => \(.*libasan[^ ]*\) .*/\1/p')
	echo "$first $TESTBIN/ethosu.so"
}

# on u65|u85 COMMAND...: runs COMMAND on a machine with this NPU
on()
{
	local config=0x10003008
	[ "$1" = u65 ] || config=0x20000118
	shift
	STANDIN_ENGINE=$TESTBIN/npu-engine STANDIN_CONFIG=$config \
		LD_PRELOAD=$(standin_preload) "$@"
}
