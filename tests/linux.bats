#!/usr/bin/env bats
# Linux's ethosu driver: npu-dis --verify=linux.
bats_require_minimum_version 1.5.0

load lib/common
load lib/poke

U65=(-a ethos-u65-256 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram)
U85=(-a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram)

setup_file()
{
	export PATH=${NPUTOOLS_BIN:-$BATS_TEST_DIRNAME/../build/bin}:$PATH
	cd "$BATS_FILE_TMPDIR" || return
	npucc "${U65[@]}" -o u65.tflite "$BATS_TEST_DIRNAME/models/digits.tflite" 2>log &&
		npucc "${U85[@]}" -o u85.tflite "$BATS_TEST_DIRNAME/models/digits.tflite" 2>log
}

# fresh FILE: m.tflite is the digits network for ethos-u65-256 or ethos-u85-256
fresh()
{
	cp "$BATS_FILE_TMPDIR/$1.tflite" m.tflite
}

# code FILE NAME N HEX HEX: the code of the N-th command of this name
poke_code()
{
	local at
	at=$(npu-dis "$1" | grep -F "$2 " | sed -n "$3"p | cut -c1-8)
	[ -n "$at" ]
	poke "$1" $((at + 32)) "$4" "$5"
}

# by_rule RULE TEXT: Linux refuses m.tflite by this rule
by_rule()
{
	run --separate-stderr npu-dis --verify=linux m.tflite
	[ "$status" = 1 ] || { echo "$1: status $status"; return 1; }
	[[ $stderr == *"error: rule $1 of Linux: "*"$2"* ]] || {
		echo "no rule $1, $2 in: $stderr"
		return 1
	}
	[[ $output == *", refused by Linux" ]]
}

@test "--verify=linux accepts what the kit compiles, and says what it uses" {
	for f in u65 u85; do
		fresh $f
		run --separate-stderr npu-dis --verify=linux m.tflite
		[ "$status" = 0 ]
		[ -z "$stderr" ]
		[[ $output == *" bytes for ethos-$f-256, accepted by Linux; bytes of regions: 0 "*", 1 written "* ]]
	done
	# the regions are those of the operations, and no byte of constants is written
	[[ $output != *" 0 written"* ]]
	npu-dis --verify m.tflite >npu
	npu-dis --verify=npu m.tflite | cmp - npu
	refuses 2 "--verify" npu-dis --verify=windows m.tflite
	refuses 2 "--source goes with" npu-dis --verify=linux --source=m.wenc m.tflite
}

@test "--verify=linux: a rule for each thing that the driver refuses" {
	cp "$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite" m.tflite
	by_rule device "not ethos-u55-128"
	fresh u65
	poke_code m.tflite NPU_OP_CONV 1 01 00 # an IRQ
	by_rule command "takes none of it"
	fresh u65
	poke_command m.tflite NPU_OP_CONV 1 01 00
	by_rule command "parameter 1"
	fresh u85
	poke_code m.tflite NPU_OP_CONV 1 07 00 # RESIZE
	by_rule command "takes none of it"
	fresh u65
	poke_code m.tflite NPU_SET_IFM_PAD_TOP 1 ff 02
	by_rule command "doesn't exist"
	fresh u65
	poke_code m.tflite NPU_OP_CONV 1 00 00 # STOP
	by_rule stop "words follow"
	fresh u65
	poke_code m.tflite NPU_OP_STOP 1 13 00 # PMU_MASK
	by_rule stop "does not end with STOP"
	fresh u65
	poke_code m.tflite NPU_SET_IFM_PAD_TOP 1 01 01 # PAD_LEFT instead
	by_rule register-set "has not set IFM_PAD_TOP before"
	fresh u65
	poke_command m.tflite NPU_SET_OFM_PRECISION 1 81 01
	by_rule format "format 2"
	fresh u85
	poke_command m.tflite NPU_SET_IFM_PRECISION 1 01 c0
	by_rule storage "IFM_PRECISION stores no feature map"
	fresh u85
	poke_command m.tflite NPU_SET_OFM_PRECISION 1 41 08
	by_rule transpose "the OFM is transposed"
	fresh u65
	poke_command m.tflite NPU_SET_IFM_PAD_BOTTOM 1 ff 00
	by_rule padding "padding is greater"
}

@test "--verify=linux: strides without a sign, places behind a region's memory" {
	fresh u65
	poke_payload m.tflite NPU_SET_IFM_BASE0 1 00 00 00 7f
	by_rule extent "region 1 is used up to 0x7f"
	fresh u85
	poke_payload m.tflite NPU_SET_WEIGHT_LENGTH 1 00 00 01 00
	by_rule extent "region "
	fresh u65
	poke_command m.tflite NPU_SET_OFM_REGION 1 05 00
	by_rule extent "region 5 "
	fresh u65
	poke_command m.tflite NPU_SET_IFM_STRIDE_Y 1 ff 00
	by_rule extent "region 1 is used up to 0x"
}

# transfer ACCELERATOR [SED-PROGRAM]: status of a transfer of 16 bytes from region 0 to 2
transfer()
{
	sed "$2" >words <<-END
		00000130
		00020131
		00004030 00000100
		00004031 00000000
		00004032 00000010
		00000010
		00000011
		ffff0000
	END
	npu-dis --raw -a "$1" --verify=linux words
}

@test "--verify=linux: transfers" {
	[[ $(transfer ethos-u65-256 "") == *"accepted by Linux; bytes of regions: 0 272, 2 written 16" ]]
	[[ $(transfer ethos-u85-256 "") == *"accepted by Linux; bytes of regions: 0 272, 2 written 16" ]]
	# inside the NPU: no region
	[[ $(transfer ethos-u65-256 's/^00020131/01000131/') == *"accepted by Linux; bytes of regions: 0 272" ]]
	run transfer ethos-u65-256 's/^00000130/06000130/'
	[ "$status" = 1 ] && [[ $output == *"rule dma-mode"* ]]
	run transfer ethos-u85-256 's/^00000130/08000130/'
	[ "$status" = 1 ] && [[ $output == *"rule dma-index"* ]]
	run transfer ethos-u65-256 /4032/d
	[ "$status" = 1 ] && [[ $output == *"rule register-set of Linux: the stream has not set DMA0_LEN"* ]]
	steps='s/^00000130/02000130 00004033 00000010/'
	run transfer ethos-u65-256 "$steps"
	[ "$status" = 1 ] && [[ $output == *"rule register-set"*" DMA0_SIZE0"* ]]
	run transfer ethos-u65-256 "$steps; s/^00000010/00000132 &/"
	[ "$status" = 1 ] && [[ $output == *"rule dma-length of Linux: DMA0_SIZE0 is 0"* ]]
	# two of 16 bytes and a gap of 16: the driver counts the gap behind the last, too
	[[ $(transfer ethos-u65-256 "$steps; s/^00000010/00020132 &/") == *": 0 320, 2 written 16" ]]
	run transfer ethos-u65-256 "s/^00000130/02000130 00ff4033 ffffffef/; s/^00000010/00020132 &/"
	[ "$status" = 1 ] && [[ $output == *"rule dma-length"*"DMA0_SRC"* ]]
	run transfer ethos-u65-256 "s/^00004031/00ff4031/; s/00000000/ffffffff/"
	[ "$status" = 1 ] && [[ $output == *"rule extent"*"its memory ends at 0x10000000000"* ]]
}

@test "--verify=linux --json: findings and regions for a program" {
	need jq
	fresh u65
	npu-dis --verify=linux --json m.tflite >v.json
	[ "$(jq -c '.[0] | [.errors, .findings, (.regions[1] | [.region, .written])]' v.json)" = \
		'[0,[],[1,true]]' ]
	poke_command m.tflite NPU_SET_IFM_PAD_BOTTOM 1 ff 00
	run -1 --separate-stderr npu-dis --verify=linux --json m.tflite
	[ "$(jq -c '.[0] | [.errors, .findings[0].rule, .findings[0].command, .regions]' \
		<<<"$output")" = '[1,"padding","CONV",[]]' ]
	[ "$stderr" = "npu-dis: m.tflite: Linux refuses 1 command stream" ]
}
