# SPDX-License-Identifier: Apache-2.0
# Plans as text: --keep-plan and --plan.

bats_require_minimum_version 1.5.0
load lib/common

programs=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
u55=(-a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
# shellcheck disable=SC2034 # by name, in repeat_all
u65=(-a ethos-u65-512 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram)
# shellcheck disable=SC2034
u85=(-a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram)

# repeats PART OPTION...: if there is a plan, its decisions alone give the same schedule, and
# the same text
repeats()
{
	npu-sched "${@:2}" --keep-plan=plan -o kept.sched "$1" 2>notes || return 0
	npu-sched "${@:2}" --plan=plan --keep-plan=again -o again.sched "$1" 2>notes || {
		echo "$*: refused"
		cat notes
		return 1
	}
	cmp kept.sched again.sched
	cmp plan again
}

# repeat_all MODEL: on three accelerators, without a limit and within two
repeat_all()
{
	local sram accel
	for accel in u55 u65 u85; do
		local -n target=$accel
		tfl-partition -a "${target[1]}" -o m.part "$1" 2>notes || continue
		repeats m.part "${target[@]}"
		[ -e kept.sched ] || continue
		sram=$(sed -n 's/^area  *\(arena\|cache\) .* used=\([0-9]*\).*/\2/p' kept.sched |
			tail -1)
		for percent in 60 30; do
			[ "${sram:-0}" -lt 100 ] || repeats m.part "${target[@]}" \
				--arena-cache-size=$((sram * percent / 100))
		done
		rm -f kept.sched
	done
}

@test "the decisions of a plan give the same schedule again: generated networks" {
	local seed kind last=6
	[ -z "${NPUTOOLS_ALL-}" ] || last=60
	[ -x "$programs/gen-model" ] || skip "no $programs/gen-model"
	for kind in conv block fan; do
		"$programs/chain-model" $kind 9 >m.tflite
		repeat_all m.tflite
	done
	for ((seed = 1; seed <= last; seed++)); do
		"$programs/gen-model" -g "$seed" >m.tflite
		repeat_all m.tflite
	done
	"$programs/gen-model" 2 UNIDIRECTIONAL_SEQUENCE_LSTM >m.tflite
	repeat_all m.tflite
}

@test "the decisions of a plan give the same schedule again: real networks" {
	local list=(person_detect kws_ref_model trained_lstm_int8 seanet_conv5) m
	[ -n "$SHARED" ] || skip "no shared models"
	if [ -n "${NPUTOOLS_ALL-}" ]; then
		list=()
		for m in "$SHARED"/models/*.tflite; do
			list+=("$(basename "$m" .tflite)")
		done
	fi
	for m in "${list[@]}"; do
		repeat_all "$SHARED/models/$m.tflite"
	done
}

# Twelve convolutions; their plan.
chain_plan()
{
	[ -x "$programs/chain-model" ] || skip "no $programs/chain-model"
	"$programs/chain-model" conv 12 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	npu-sched "${u55[@]}" --arena-cache-size=22000 --keep-plan=plan -o m.sched m.part 2>notes
}

# edited EXPRESSION: the schedule of the plan after sed's change is other.sched, which is valid
# and exact
edited()
{
	sed "$1" plan >edited
	run -1 cmp -s plan edited
	npu-sched "${u55[@]}" --plan=edited -o other.sched m.part 2>notes
	npu-wenc -o m.wenc other.sched
	npu-cmdgen -o m_npu.tflite m.wenc
	npu-dis -q --verify --source=m.wenc m_npu.tflite
	npu-sim --seed 5 --compare m.tflite m_npu.tflite
	run -1 cmp -s m.sched other.sched
}

@test "a schedule follows a changed decision, valid and exact" {
	chain_plan
	grep -q '^step .* run=o3 buffer=' m.sched
	edited '/^op *o3 /s/ fetch=1/ fetch=0/'
	grep -q '^step .* run=o3$' other.sched
	edited '/^op *o3 /s/ layout=nhcwb16/ layout=nhwc/'
	[ "$(grep -c '^tensor .*layout=nhwc ' other.sched)" -gt \
		"$(grep -c '^tensor .*layout=nhwc ' m.sched)" ]
	edited '/^op *o6 /s/ fetch/ rows=4 fetch/'
	[ "$(grep -c '^step .* run=o6 ' other.sched)" = 6 ]
	edited 's/^\(op *o7 .*\) fetch/\1 joins=1 rows=5 fetch/'
	[ "$(grep -c '^step .* run=o7 ' other.sched)" = 5 ]
	grep -q '^tensor .* rows=' other.sched
	edited 's/ limit=[0-9]*/ limit=1000/'
	run -1 grep -q '^buffer' other.sched
}

@test "a key of a plan that is absent leaves the decision to npu-sched" {
	chain_plan
	sed 's/ \(system\|memory\|model\|level\|ops\|kind\|ofm\|name\|layout\)=[^ ]*//g' plan >short
	npu-sched "${u55[@]}" --arena-cache-size=22000 --plan=short -o short.sched m.part 2>notes
	cmp m.sched short.sched
}

# wrong TEXT EXPRESSION [OPTION...]: after sed's change, the plan is refused with this text
wrong()
{
	sed "$2" plan >bad
	refuses 2 "$1" npu-sched "${u55[@]}" "${@:3}" --plan=bad -o bad.sched m.part
	[ "$(wc -l <refuses.err)" = 1 ]
	[ ! -e bad.sched ]
}

@test "a plan that does not fit is refused with its line and the rule" {
	chain_plan
	wrong 'bad:1: error: not a plan of npu-sched' 1d
	wrong 'bad:1: error: version 2 of a plan: this npu-sched reads version 1' 1s/1/2/
	wrong 'error: the last line is not eof' \$d
	wrong 'bad:3: error: the plan is for accelerator ethos-u55-256, not ethos-u55-128' \
		s/u55-128/u55-256/
	wrong 'bad:3: error: the plan is for level 6, not 5' '' --level=5
	wrong 'bad:3: error: the plan is for model robust, not timeline' '' --model=timeline
	wrong 'bad: error: the plan has no memory record' /^memory/d
	wrong 'bad:5: error: there are two network records' '/^network/p'
	wrong 'bad:5: error: the limited memory is the arena, not the cache' \
		's/^memory *arena/memory cache/'
	wrong 'bad:4: error: the network has no such split' 's/network whole/network split/'
	wrong 'bad:4: error: the network has 12 operations, the plan has 13' s/ops=12/ops=13/
	wrong "bad:4: error: the plan has no line for o5 (" '/^op *o5 /d'
	wrong 'bad:18: error: o11 has two lines, also line 17' '/^op *o11 /p'
	wrong 'the network has no operation o12' '/^op *o11 /{p;s/o11/o12/;s/name=.*//}'
	wrong 'bad:8: error: o2 of the network is conv, not fc' '/^op *o2 /s/kind=conv/kind=fc/'
	wrong 'bad:8: error: o2 of the network makes 24x24x16, not 24x24x17' \
		'/^op *o2 /s/24x24x16/24x24x17/'
	wrong 'bad:8: error: o3 cannot run here: it needs results of later lines' \
		'/^op *o2 /{h;d};/^op *o3 /G'
	wrong 'bad:6: error: the first operation has none before it to join' \
		'/^op *o0 /s/ ofm/ joins=1 ofm/'
	wrong 'rows= has to be below the height of the last result' \
		'/^op *o2 /s/ ofm/ rows=24 ofm/'
	wrong 'rows= and blocks= belong to the last line of a cascade, that of o3' \
		'/^op *o2 /s/ ofm/ rows=2 ofm/;/^op *o3 /s/ ofm/ rows=2 joins=1 ofm/'
	wrong 'o2 to o3 cannot run so: without rows= they are a chain, which is not possible' \
		'/^op *o3 /s/ ofm/ joins=1 ofm/'
	wrong 'fast=1 is not possible for o2' '/^op *o2 /s/ ofm/ fast=1 ofm/'
	wrong 'the weights of o2 cannot be cut' '/^op *o2 /s/ ofm/ slices=fine ofm/'
	wrong 'fetch= has 2 slices, but o2 is the first to use 1' '/^op *o2 /s/fetch=1/fetch=1,0/'
	wrong 'fetch wants a number from 0 to 1, not 2' '/^op *o2 /s/fetch=1/fetch=2/'
	wrong 'the result of o11 has to be nhwc' '/^op *o11 /s/layout=nhwc/layout=nhcwb16/'
	wrong 'the result of o2 has to be in the area arena' '/^op *o2 /s/ ofm/ area=cache ofm/'
	wrong "op has no key 'row'; did you mean rows? (keys that begin with x- are free)" \
		'/^op *o2 /s/ ofm/ row=2 ofm/'
	wrong "op has no key 'colour'; it has kind, ofm, joins, rows, blocks, slices, " \
		'/^op *o2 /s/ ofm/ colour=2 ofm/'
}

@test "a plan that needs too much memory is refused" {
	chain_plan
	refuses 1 'plan:5: error: the plan needs ' npu-sched "${u55[@]}" \
		--arena-cache-size=20000 --plan=plan m.part
	grep -q 'bytes of SRAM, more than the limit of 20000$' refuses.err
}

@test "a file that never ends is no plan" {
	chain_plan
	[[ $BIN == *asan* ]] || ulimit -v 400000
	refuses 2 "/dev/zero: error: larger than 67108864 bytes" \
		npu-sched "${u55[@]}" --plan=/dev/zero -o bad.sched m.part
}

@test "--plan excludes what needs a search" {
	chain_plan
	refuses 2 '--plan needs no search' npu-sched "${u55[@]}" --plan=plan --front m.part
	refuses 2 '--plan needs no search' npu-sched "${u55[@]}" --plan=plan --within=3 m.part
	refuses 2 '--keep-plan excludes' npu-sched "${u55[@]}" --keep-plan=x --explain m.part
	refuses 2 'a plan cannot be kept or read with --batch' \
		npu-sched "${u55[@]}" --keep-plan=x --batch=2 m.part
	[ ! -e x ]
}

@test "npu-sched(1) names every record and key of a plan" {
	sed -n 's/^\(RECORD\|\tKEY\|\tDECIDED\)([^"]*"\([a-z]*\)".*/\2/p' "$TOP/schema/plan.def" >words
	[ "$(wc -l <words)" = 29 ]
	sed -n '/^\.Ss Plans as text/,/^\.Sh/p' "$TOP/man/npu-sched.1" >page
	while read -r word; do
		grep -qE "^\.(It S[my]|It Cm|Cm|Ic)( .*)? $word( |\$)|^$word and" page ||
			{ echo "no $word"; return 1; }
	done <words
}

@test "npucc passes --keep-plan and --plan to npu-sched" {
	chain_plan
	npucc -q "${u55[@]}" --arena-cache-size=22000 --keep-plan=kept -o one.tflite m.tflite
	cmp plan kept
	sed '/^op *o3 /s/ fetch=1/ fetch=0/' plan >edited
	npucc -q "${u55[@]}" --plan=edited --check -o other.tflite m.tflite
	run -1 cmp -s one.tflite other.tflite
	refuses 2 'no.plan' npucc "${u55[@]}" --plan=no.plan -o x.tflite m.tflite
}
