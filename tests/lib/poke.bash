# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/common:  load lib/poke
# Streams of compiled models, changed in one place.

# the file offset of the driver payload
payload() {
	grep -obUa -m 1 COP1 "$1" | cut -d: -f1
}

# poke FILE BYTE HEX...: overwrites bytes of the driver payload from BYTE on
poke() {
	local file=$1 at=$(($(payload "$1") + $2)) byte
	shift 2
	for byte; do
		printf '%b' "\\x$byte"
	done | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
}

# poke_command FILE NAME N HEX HEX: the param of the N-th command of this name
poke_command() {
	local at
	at=$(npu-dis "$1" | grep -F "$2 " | sed -n "$3"p | cut -c1-8)
	[ -n "$at" ]
	poke "$1" $((at + 32 + 2)) "$4" "$5"
}

# poke_payload FILE NAME N HEX x 4: its payload
poke_payload() {
	local at
	at=$(npu-dis "$1" | grep -F "$2 " | sed -n "$3"p | cut -c1-8)
	[ -n "$at" ]
	poke "$1" $((at + 32 + 4)) "$4" "$5" "$6" "$7"
}
