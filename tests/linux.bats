#!/usr/bin/env bats
# the Linux driver ethosu: npu-dis --verify=linux, npucc --target=linux, npu-run.
bats_require_minimum_version 1.5.0

load lib/common
load lib/poke
load lib/standin

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

# poke_code FILE NAME N HEX HEX: changes the code of the N-th command of this name
poke_code()
{
	local at
	at=$(npu-dis "$1" | grep -F "$2 " | sed -n "$3"p | cut -c1-8)
	[ -n "$at" ]
	poke "$1" $((at + 32)) "$4" "$5"
}

# by_rule RULE TEXT: npu-dis refuses m.tflite by this rule, with this text in the message
by_rule()
{
	run --separate-stderr npu-dis --verify=linux m.tflite
	[ "$status" = 1 ] || { echo "$1: status $status"; return 1; }
	[[ $stderr == *"error: rule $1 of the Linux driver: "*"$2"* ]] || {
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
	refuses 2 "--source works only with" npu-dis --verify=linux --source=m.wenc m.tflite
}

@test "--verify=linux: each rule refuses a broken stream" {
	cp "$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite" m.tflite
	by_rule device "not ethos-u55-128"
	fresh u65
	poke_code m.tflite NPU_OP_CONV 1 01 00 # an IRQ
	by_rule command "does not accept this command"
	fresh u65
	poke_command m.tflite NPU_OP_CONV 1 01 00
	by_rule command "parameter 1"
	fresh u85
	poke_code m.tflite NPU_OP_CONV 1 07 00 # RESIZE
	by_rule command "does not accept this command"
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

@test "--verify=linux: accesses behind the memory of a region" {
	fresh u65
	poke_payload m.tflite NPU_SET_IFM_BASE0 1 00 00 00 7f
	by_rule extent "is used up to 0x7f"
	fresh u85
	poke_payload m.tflite NPU_SET_WEIGHT_LENGTH 1 00 00 01 00
	by_rule extent "region "
	fresh u65
	poke_command m.tflite NPU_SET_OFM_REGION 1 05 00
	by_rule extent "region 5 "
	fresh u65
	poke_command m.tflite NPU_SET_IFM_STRIDE_Y 1 ff 00
	by_rule extent "is used up to 0x"
	# a negative stride, which the driver reads as a number of 40 bits
	fresh u65
	poke_payload m.tflite NPU_SET_IFM_STRIDE_Y 1 f0 ff ff ff
	poke_command m.tflite NPU_SET_IFM_STRIDE_Y 1 ff 00
	by_rule extent ": the driver reads the negative stride IFM_STRIDE_Y without its sign"
	[[ $stderr == *"the Linux driver ethosu refuses 1 command stream; npucc --target=linux makes streams that it accepts" ]]
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
	# internal memory of the NPU is no region
	[[ $(transfer ethos-u65-256 's/^00020131/01000131/') == *"accepted by Linux; bytes of regions: 0 272" ]]
	run transfer ethos-u65-256 's/^00000130/06000130/'
	[ "$status" = 1 ] && [[ $output == *"rule dma-mode"* ]]
	run transfer ethos-u85-256 's/^00000130/08000130/'
	[ "$status" = 1 ] && [[ $output == *"rule dma-index"* ]]
	run transfer ethos-u65-256 /4032/d
	[ "$status" = 1 ] && [[ $output == *"rule register-set of the Linux driver: the stream has not set DMA0_LEN"* ]]
	steps='s/^00000130/02000130 00004033 00000010/'
	run transfer ethos-u65-256 "$steps"
	[ "$status" = 1 ] && [[ $output == *"rule register-set"*" DMA0_SIZE0"* ]]
	run transfer ethos-u65-256 "$steps; s/^00000010/00000132 &/"
	[ "$status" = 1 ] && [[ $output == *"rule dma-length of the Linux driver: DMA0_SIZE0 is 0"* ]]
	# two runs of 16 bytes with a gap of 16: the driver counts a gap behind the last run, too
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
	[ "$stderr" = "npu-dis: m.tflite: error: the Linux driver ethosu refuses 1 command stream; npucc --target=linux makes streams that it accepts" ]
}

@test "linux_check() and the driver's check agree on changed streams" {
	"$TESTBIN/linux-mutants" 3000 2 "$BATS_FILE_TMPDIR"/u?5.tflite >out || {
		cat out
		false
	}
	grep -q '^6000 streams: .* other differences 0$' out
	# all rules that a model without transfers can break
	for rule in command stop register-set format storage transpose padding extent; do
		grep -q "^  $rule " out || { echo "no $rule"; false; }
	done
}

# the folder that has drm.h: the header's own, or one of the system
drm_folder()
{
	local folder
	for folder in "$(dirname "$1")" /usr/include/drm /usr/include/libdrm; do
		[ ! -e "$folder/drm.h" ] || { echo "$folder"; return; }
	done
}

# the kernel's header, or the one that ETHOSU_HEADER names
@test "the ioctls are those of the published header" {
	need "${CC:-cc}"
	header=${ETHOSU_HEADER:-/usr/include/drm/ethosu_accel.h}
	[ -e "$header" ] || skip "no $header: set ETHOSU_HEADER to the kernel's ethosu_accel.h"
	folder=$(drm_folder "$header")
	[ -n "$folder" ] || skip "no drm.h beside $header or in /usr/include/drm"
	"${CC:-cc}" -std=c11 -Wall -Werror -I"$folder" -DETHOSU_HEADER="\"$header\"" \
		-o ioctls "$TOP/tests/unit/linux_ioctl.c"
	run ./ioctls
	[ "$status" = 0 ] || { echo "$output"; false; }
	[[ $output == "calls 0 to 5 compared with the published header"* ]]
	# a header with another structure differs
	sed 's/__u32 sram_size;/& __u32 more;/' "$header" >other.h
	"${CC:-cc}" -std=c11 -I"$folder" -DETHOSU_HEADER="\"$PWD/other.h\"" \
		-o ioctls "$TOP/tests/unit/linux_ioctl.c"
	run -1 ./ioctls
	[[ $output == "a job is 0x28, not 0x2c"* ]]
}

@test "npu-run gives what npu-sim gives" {
	for f in u65 u85; do
		fresh $f
		npu-sim --seed=5 --frames=3 -o want m.tflite >want.txt
		on $f "$RUN" --seed=5 --frames=3 -o got m.tflite >got.txt
		cmp got.txt want.txt
		cmp got/output_0.npy want/output_0.npy
		on $f "$RUN" --seed=5 --compare m.tflite
		on $f "$RUN" --seed=5 --compare="$TOP/tests/models/digits.tflite" m.tflite
		on $f "$RUN" --seed=5 -e want/output_0.npy --frames=3 --json m.tflite |
			grep -q '"equal": true'
	done
	# from standard input
	on u85 "$RUN" --seed=5 --frames=3 <m.tflite | cmp - got.txt
}

@test "npu-run: operators of the CPU, several streams, state, batches" {
	npucc "${U65[@]}" --cpu=ADD -o m.tflite "$TOP/tests/models/digits.tflite" 2>log
	npu-sim m.tflite >want
	on u65 "$RUN" m.tflite >got 2>err
	cmp got want
	[ "$(cat err)" = "npu-run: note: 1 operator runs on the CPU, with the reference kernels: ADD" ]
	npucc "${U65[@]}" --batch=2 -o batch.tflite "$TOP/tests/models/digits.tflite" 2>log
	npu-sim batch.tflite >want
	on u65 "$RUN" --compare="$TOP/tests/models/digits.tflite" batch.tflite | cmp - want
	# nothing stays in the device's SRAM between two jobs
	npucc "${U65[@]}" --target=linux --yield-every=1000 -o divided.tflite "$TOP/tests/models/digits.tflite" 2>log
	[ "$(npu-perf --json divided.tflite | jq .npu_operators)" -gt 4 ]
	on u65 "$RUN" --compare="$TOP/tests/models/digits.tflite" divided.tflite >got
	"$TESTBIN/gen-model" 1 SVDF >svdf.tflite
	npucc "${U65[@]}" -o state.tflite svdf.tflite 2>log
	npu-sim --frames=4 state.tflite >want
	on u65 "$RUN" --frames=4 state.tflite 2>/dev/null | cmp - want
	# a raw network, as ExecuTorch has it
	npucc "${U65[@]}" -o m.wenc "$TOP/tests/models/digits.tflite" 2>log
	npu-cmdgen --emit=npz -o m.npz m.wenc
	npu-sim m.npz >want
	on u65 "$RUN" m.npz | cmp - want
}

@test "npu-run: bodies of IF and WHILE, each with its own stream" {
	local kind
	for kind in if while both; do
		"$TESTBIN/gen-model" 1 CONV_2D | "$TESTBIN/control-model" $kind 3 >plain.tflite
		npucc -q "${U65[@]}" --target=linux -o m.tflite plain.tflite
		on u65 "$RUN" --inputs=random,min,random --compare=plain.tflite m.tflite
		npucc -q "${U85[@]}" --target=linux -o m.tflite plain.tflite
		on u85 "$RUN" --inputs=random,min,random --compare=plain.tflite m.tflite
	done
	refuses 2 "how often the bodies of IF and WHILE run depends on data" \
		on u85 "$RUN" --measure=log m.tflite
}

@test "npu-run refuses before it submits" {
	fresh u65
	refuses 2 "the model is compiled for ethos-u65-256, but /dev/accel/accel0 is ethos-u85-256: compile it with -a ethos-u85-256" \
		on u85 "$RUN" m.tflite
	refuses 2 "no ethos-u operator" on u65 "$RUN" "$TOP/tests/models/digits.tflite"
	refuses 2 "No such file or directory: the kernel's ethosu driver creates this file" \
		"$RUN" --device=/dev/accel/accel9 m.tflite
	refuses 2 "not a device of a DRM driver" "$RUN" --device=/dev/null m.tflite
	STANDIN_FAULT=other refuses 2 "the driver is rocket, not ethosu" on u65 "$RUN" m.tflite
	poke_command m.tflite NPU_SET_IFM_PAD_BOTTOM 1 ff 00
	export STANDIN_LOG=$PWD/calls
	refuses 1 "rule padding of the Linux driver" on u65 "$RUN" m.tflite
	fresh u65
	poke_payload m.tflite NPU_SET_OFM_BASE0 1 00 00 00 7f
	refuses 1 "rule extent of the Linux driver" on u65 "$RUN" m.tflite
	grep -q '; npucc --target=linux makes streams that it accepts$' refuses.err
	[ "$(sort -u calls | tr '\n' ' ')" = "query version " ]
	fresh u65
	on u65 "$RUN" --frames=2 m.tflite >/dev/null
	[ "$(grep -c '^stream$' calls)" = 1 ]
	[ "$(grep -c '^submit$' calls)" = 2 ]
	refuses 2 "needs a MODEL" "$RUN" --compare
	refuses 2 "needs a LOG" "$RUN" --measure --json m.tflite
}

@test "npu-run reports each failure in one line" {
	# a stream with SRAM: region 2
	npucc -a ethos-u65-256 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram \
		--arena-cache-size=16K -o m.tflite "$TOP/tests/models/digits.tflite" 2>log
	npu-dis --verify=linux m.tflite | grep -q ', 2 written '
	npu-sim m.tflite >want
	on u65 "$RUN" m.tflite | cmp - want
	STANDIN_SRAM=1024 refuses 2 "but /dev/accel/accel0 has 1024: compile the model with --arena-cache-size=1024" \
		on u65 "$RUN" m.tflite
	STANDIN_FAULT=submit refuses 2 "submitting a job: Invalid argument" on u65 "$RUN" m.tflite
	STANDIN_FAULT=timeout refuses 2 "a job has not ended after 50 ms" \
		on u65 "$RUN" --timeout=50 m.tflite
	STANDIN_FAULT=gone refuses 2 "No such device: the device is gone" on u65 "$RUN" m.tflite
	STANDIN_FAULT=nomem refuses 2 "the kernel has no contiguous memory left" \
		on u65 "$RUN" -o none m.tflite
	[ ! -e none ]
	# a driver that always asks to try again: the time limit ends that
	SECONDS=0
	STANDIN_FAULT=eagain refuses 2 "Resource temporarily unavailable" \
		on u65 "$RUN" --timeout=50 m.tflite
	[ $SECONDS -lt 10 ]
	STANDIN_FAULT=eintr on u65 "$RUN" m.tflite | cmp - want
	export STANDIN_FAULT=wrong
	run -1 --separate-stderr on u65 "$RUN" --compare m.tflite
	[[ $stderr == *"note: operator 0 is the first with a difference: byte 0x"*" of region 1 is "* ]]
	[[ $stderr == *"but in the other model"* ]]
}

@test "npu-run: two processes at once" {
	fresh u65
	npu-sim --frames=6 m.tflite >want
	on u65 "$RUN" --frames=6 m.tflite >one &
	on u65 "$RUN" --frames=6 m.tflite >two
	wait $!
	cmp one want
	cmp two want
}

@test "npu-run --measure writes what npu-perf reads" {
	fresh u65
	on u65 "$RUN" --frames=3 --measure=log m.tflite >out
	[ "$(grep -c '^NPU TOTAL cycles: ' log)" = 3 ]
	words=$(npu-dis m.tflite | sed -n 's/^Command stream length = \(.*\) bytes/\1/p')
	grep -q "^NPU TOTAL cycles: $words\$" log # the stand-in counts 4 cycles a word
	grep -q '^NPU AXI1_RD_DATA_BEAT_RECEIVED beats: 386$' log
	npu-perf --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram \
		--measured=log m.tflite >perf
	grep -q 'axi1_read_beats *386 ' perf
	on u65 "$RUN" --measure m.tflite | tail -n 1 | grep -q '^NPU TOTAL cycles: '
	STANDIN_COUNTERS=0 refuses 2 "use a newer kernel" on u65 "$RUN" --measure m.tflite
	STANDIN_COUNTERS=0 on u65 "$RUN" m.tflite >/dev/null
}

@test "networks run by the stand-in equal to npu-sim" {
	need_shared models
	step=9
	[ -z "${NPUTOOLS_QUICK-}" ] || step=18
	[ -z "${NPUTOOLS_ALL-}" ] || step=1
	n=0
	for f in "$SHARED"/models/*.tflite; do
		n=$((n + 1))
		[ $((n % step)) = 0 ] || continue
		for a in u65 u85; do
			[ $a = u65 ] && options=("${U65[@]}") || options=("${U85[@]}")
			npucc "${options[@]}" -o m.tflite "$f" 2>log
			npu-dis --verify=linux m.tflite >verdict || { echo "$f $a"; false; }
			npu-sim m.tflite >want
			on $a "$RUN" m.tflite 2>/dev/null | cmp - want || { echo "$f $a"; false; }
		done
	done
}

# avoids FAMILY SEED u65|u85 RULE: the stream of this model breaks RULE; with --target=linux
# it breaks no rule, and the outputs are the same
avoids()
{
	"$TESTBIN/gen-model" "$2" "$1" >plain.tflite || return
	local options=("${U65[@]}")
	[ "$3" = u65 ] || options=("${U85[@]}")
	npucc "${options[@]}" -o m.tflite plain.tflite 2>log || return
	by_rule "$4" "" || return
	npucc --target=linux "${options[@]}" -o m.tflite plain.tflite 2>log || return
	npu-dis --verify=linux m.tflite >verdict || { cat verdict; return 1; }
	npu-dis --verify m.tflite >verdict || { cat verdict; return 1; }
	npu-sim --compare=plain.tflite m.tflite >verdict
}

@test "--target=linux makes streams that Linux takes" {
	avoids MAX_POOL_2D 1 u65 register-set
	avoids REVERSE_V2 2 u65 extent
	avoids MIRROR_PAD 1 u65 extent
	avoids TRANSPOSE 1 u85 transpose
	avoids RESIZE_BILINEAR 7 u85 command
	avoids GATHER 1 u85 dma-index
	refuses 2 "--target=linux is for Ethos-U65 and Ethos-U85" \
		tfl-partition --target=linux -a ethos-u55-128 plain.tflite
	refuses 2 "keeps the arena in DRAM: memory mode Shared_Sram does not" \
		npucc --target=linux -a ethos-u65-256 --system-config Ethos_U65_High_End \
		--memory-mode Shared_Sram -o m.tflite "$TOP/tests/models/digits.tflite"
	# an edited graph: the emitter refuses what the lowering would have avoided
	npucc "${U65[@]}" --target=linux -o m.wenc "$TOP/tests/models/digits.tflite" 2>log
	grep -q '^model .* driver=linux' m.wenc
	npucc "${U65[@]}" --target=any -o any.tflite "$TOP/tests/models/digits.tflite" 2>log
	npucc "${U65[@]}" -o m.tflite "$TOP/tests/models/digits.tflite" 2>log
	cmp m.tflite any.tflite
	"$TESTBIN/gen-model" 7 RESIZE_BILINEAR >plain.tflite
	npucc "${U85[@]}" -o m.wenc plain.tflite 2>log
	sed 's/^model .*/& driver=linux/' m.wenc >edited.wenc
	refuses 2 "breaks rule command of the Linux driver: RESIZE: the driver does not accept this command" \
		npu-cmdgen edited.wenc
}

@test "tosa-partition --target=linux" {
	"$TESTBIN/gen-tosa" 1 moves >m.tosa
	npucc "${U85[@]}" -o m.tflite m.tosa 2>log
	by_rule transpose ""
	tosa-partition -a ethos-u85-256 --target=linux m.tosa | grep -q '^model .* driver=linux'
	npucc "${U85[@]}" --target=linux -o m.tflite m.tosa 2>log
	npu-dis --verify=linux m.tflite
	npu-sim --compare=m.tosa m.tflite
	# a matrix product: the driver exchanges columns and channels of the second feature map
	"$TESTBIN/gen-tosa" 3 computed >m.tosa
	npucc "${U85[@]}" --target=linux -o m.tflite m.tosa 2>log
	npu-sim m.tflite >want
	on u85 "$RUN" m.tflite | cmp - want
}

# never_submits u65|u85 COUNT: of COUNT changed streams, those that --verify=linux refuses
# never reach the driver, and each run ends with one line or a report
never_submits()
{
	local i at status refused=0
	for ((i = 0; i < $2; i++)); do
		fresh "$1"
		at=$((32 + i * 7919 % 1200))
		poke m.tflite "$at" "$(printf %02x $((i * 31 % 256)))"
		rm -f calls
		status=0
		STANDIN_LOG=$PWD/calls on "$1" "$RUN" --timeout=2000 m.tflite >out 2>err || status=$?
		[ $status -le 2 ] || { echo "byte $at: status $status"; return 1; }
		npu-dis --verify=linux m.tflite >out 2>&1 && continue
		refused=$((refused + 1))
		! grep -qs '^stream$' calls || { echo "byte $at reached the driver"; return 1; }
		[ $status != 0 ] && [ "$(wc -l <err)" = 1 ] || { echo "byte $at"; cat err; return 1; }
	done
	echo $refused
}

@test "npu-run never submits what --verify=linux refuses" {
	local count=60
	[ -z "${NPUTOOLS_QUICK-}" ] || count=18
	for a in u65 u85; do
		refused=$(never_submits $a $count) || { echo "$refused"; false; }
		[ "$refused" -ge $((count / 6)) ]
	done
}
