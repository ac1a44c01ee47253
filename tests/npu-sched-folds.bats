# SPDX-License-Identifier: Apache-2.0
# Elementwise operations may treat dense feature maps as feature maps of another shape.

load lib/common
load lib/timeline
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is of lib/model

ADD=0 MUL=18 TANH=28 I16=7 I8=9 BOOL=6 NOT=87

system_of()
{
	case $1 in
	*u55*) echo Ethos_U55_High_End_Embedded --memory-mode Shared_Sram ;;
	*u65*) echo Ethos_U65_High_End --memory-mode Dedicated_Sram ;;
	*) echo Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram ;;
	esac
}

# scheduled NAME ACCELERATOR [OPTION...]: makes NAME.sched
scheduled()
{
	local system
	read -ra system <<<"$(system_of "$2")"
	tfl-partition -a "$2" --fail-on-cpu "$1.tflite" |
		npu-sched -a "$2" --system-config "${system[@]}" --any-accelerator \
			"${@:3}" >"$1.sched" 2>notes
}

# folded NAME SHAPE...: the operands of the only operation have these shapes
folded()
{
	local has
	has=$(sed -n 's/^op .* ifm=\([^ ]*\)\( ifm2=\([^ ]*\)\)\{0,1\} .*ofm=\([^ ]*\) .*/\1 \3 \4/p' \
		"$1.sched")
	echo "$1: $has"
	[[ $has =~ ^$2$ ]]
}

# same NAME: the compiled model computes the plain model's bytes on these accelerators
same()
{
	local a
	for a in ethos-u55-32 ethos-u55-256 ethos-u65-512 ethos-u85-128 ethos-u85-2048; do
		scheduled "$1" $a
		npu-wenc "$1.sched" | npu-cmdgen -o "$1.npu"
		npu-dis -q --verify "$1.npu"
		npu-sim --seed=7 --compare="$1.npu" "$1.tflite"
	done
}

cycles()
{
	sed -n 's/^target .* objective=\([0-9.]*\).*/\1/p' "$1.sched"
}

@test "a dense feature map is treated as a feature map of deeper rows" {
	op m $ADD $I16 '[1,2,160,2]' "$(second $I16 '[1,2,160,2]')"
	scheduled m ethos-u55-256
	folded m 't[0-9]\[[0-9]+,[0-9]+,[0-9]+\] t[0-9]\[.*\] t[0-9]\[.*\]'
	# A microblock is 8 deep: as [2,160,2], three in four elements are empty, 2,560
	# cycles.  Vela 5.1 takes 640 cycles for [10,4,16].
	[ "$(cycles m)" -le 640 ]
	same m
}

@test "short bursts of DRAM are joined" {
	op m $MUL $I8 '[1,6,7,3]' "$(second $I8 '[1,6,7,3]')"
	scheduled m ethos-u85-256 --arena-cache-size=1
	folded m 't[0-9]\[.*\] t[0-9]\[.*\] t[0-9]\[.*\]'
	sed 's/ ofm=t\([0-9]\)\[[^ ]*/ ofm=t\1/; s/ ifm=t\([0-9]\)\[[^ ]*/ ifm=t\1/
		s/ ifm2=t\([0-9]\)\[[^ ]*/ ifm2=t\1/; s/ block=[^ ]*/ block=2x4x8/' m.sched >own
	for f in m.sched own; do
		npu-wenc $f | npu-cmdgen -o x.tflite
		npu-perf --json --system-config Ethos_U85_SYS_DRAM_Low \
			--memory-mode Dedicated_Sram x.tflite | cycles_of timeline_cycles
	done >both
	# the feature map's own shape uses 3 bytes of each 128
	awk 'NR == 1 { a = $1 } END { print a, $1; exit !(a * 4 < $1) }' both
	same m
}

@test "a repeated operand ends a contiguous run" {
	# repeated rows, pixels or everything: two runs, two, one
	op rows $ADD $I8 '[1,4,6,5]' "$(second $I8 '[1,1,6,5]')"
	op pixels $MUL $I8 '[1,4,6,5]' "$(second $I8 '[1,4,6,1]')"
	op all $ADD $I8 '[1,4,6,5]' "$(second $I8 '[1,1,1,1]')"
	same rows
	same pixels
	same all
	# three runs are not changed
	op between $ADD $I8 '[1,4,6,5]' "$(second $I8 '[1,4,1,5]')"
	scheduled between ethos-u85-128
	folded between 't[0-9] t[0-9] t[0-9]'
	same between
}

@test "tables and types of the same size are treated as other shapes, too" {
	op m $TANH $I8 '[1,9,3,2]'
	op n $NOT $BOOL '[3,3,7]'
	same m
	same n
	scheduled n ethos-u85-256
	folded n 't0.i8\[.*\]  t1.i8\[.*\]'
}

@test "an elementwise operation takes few blocks where many take as long" {
	local memory=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" add 2 32 16 >m.tflite
	npucc -q -a ethos-u55-256 "${memory[@]}" --integer-io --within=0 -o m_npu.tflite m.tflite
	# 16,384 elements; blocks of 2x2x16 would be 256
	[ "$(npu-perf "${memory[@]}" --json m_npu.tflite |
		jq '[.operations[].blocks | select(. != null)] | length > 0 and max <= 2')" = true ]
}
