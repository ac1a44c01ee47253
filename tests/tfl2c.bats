#!/usr/bin/env bats
# tfl2c: its output compiles without a warning and has correct values.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model

warnings="-Wall -Wextra -Wconversion -Wundef -Wpedantic -Wshadow
	-Wdouble-promotion -Wcast-align -Werror"

# shorten HEADER: leaves ten lines of the model's bytes, which all look the same and take most of
# a compiler's time
shorten()
{
	awk '!/^  0x/ || ++n <= 10' "$1" >short.h && mv short.h "$1"
}

# compile HEADER: with every available compiler, as C99 and C++17
compile() {
	printf '#include "%s"\nint use(void);\nint use(void) { return m[0] + (m_len > 0); }\n' "$1" >t.c
	cp t.c t.cc
	local any=0
	for cc in "arm-none-eabi-gcc -mcpu=cortex-m55" gcc clang; do
		command -v ${cc%% *} >/dev/null || { echo "# no ${cc%% *}"; continue; }
		any=1
		$cc -std=c99 $warnings -Wmissing-prototypes -Wdeclaration-after-statement -c -o t.o t.c
	done
	for cc in "arm-none-eabi-g++ -mcpu=cortex-m55" g++ clang++; do
		command -v ${cc%% *} >/dev/null || { echo "# no ${cc%% *}"; continue; }
		any=1
		$cc -std=c++17 $warnings -Wold-style-cast -c -o t.o t.cc
	done
	[ $any = 1 ] || skip "no C compiler"
}

@test "the bytes are the model's, in the format of Alif's guide" {
	model m
	tfl2c -n m -o m.h m.tflite
	grep -qx 'const unsigned char m\[\] __attribute__((aligned(16))) = {' m.h
	grep -qx "const unsigned int m_len = $(stat -c %s m.tflite);" m.h
	grep -E '^  0x' m.h | tr -d ' ,\n' | sed 's/0x//g' >hex
	od -An -v -tx1 m.tflite | tr -d ' \n' | cmp - hex
	# the same from a pipe, and the same in a second run
	tfl2c -n m <m.tflite | cmp - m.h
}

@test "a header may be included in several files of one program" {
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram \
		-o digits.tflite "$TOP/tests/models/digits.tflite" 2>/dev/null
	local warnings="-Wall -Wextra -Wpedantic -Werror"
	for d in alif cmsis; do
		tfl2c --dialect=$d -n net -o net.h digits.tflite
		shorten net.h
		for n in one two; do
			printf '#include "net.h"\nunsigned long %s(void);\nunsigned long %s(void) { return sizeof(net) + net_len + net[4]; }\n' \
				$n $n >$n.c
			cp $n.c $n.cc
		done
		printf '#include "net.h"\n' >none.c
		printf 'unsigned long one(void), two(void);\nint main(void) { return one() != two(); }\n' >main.c
		for cc in gcc clang; do
			command -v $cc >/dev/null || continue
			$cc -std=c11 $warnings -o t one.c two.c none.c main.c
			./t
		done
		for cc in g++ clang++; do
			command -v $cc >/dev/null || continue
			sed 's/^unsigned long one(void), two(void);/unsigned long one(void); unsigned long two(void);/' \
				main.c >main.cc
			$cc -std=c++17 $warnings -o t one.cc two.cc main.cc
			./t
		done
	done
}

@test "every part of a header may be in several files: functions, sections, arenas, driver" {
	local o cc m
	for o in "" --separate-io-regions --cpu=ADD; do
		# shellcheck disable=SC2086
		npucc -q --part=alif-e7-he $o -o "m$o.tflite" "$TOP/tests/models/digits.tflite"
	done
	for n in one two; do
		printf '#define SECT ".x"\n#include "ethosu_driver.h"\n#include "net.h"\nextern int %s;\nint %s = 1;\n' \
			$n $n >$n.c
		cp $n.c $n.cc
	done
	printf 'extern int one, two;\nint main(void) { return one != two; }\n' >main.c
	cc -c main.c # variables have the same names in C and C++
	local w="-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Werror -I$TOP/tests/firmware/driver"
	for m in m m--separate-io-regions m--cpu=ADD; do
		for o in "" --shared-arena=all --section=.model --section-macro=SECT \
			--memory-mode=Shared_Sram --dialect=cmsis --namespace=A::B --resolver; do
			[ "$m" = m ] || [ -z "$o" ] || continue
			# shellcheck disable=SC2086
			tfl2c $o -n net -o net.h "$m.tflite"
			shorten net.h
			for cc in gcc\ -std=c99 clang\ -std=c11 g++\ -std=c++11 clang++\ -std=c++17; do
				command -v ${cc%% *} >/dev/null || continue
				case $cc-$o in
				*++*) $cc $w -o t one.cc two.cc main.o ;;
				*--namespace* | *--resolver*) continue ;;
				*) $cc $w -o t one.c two.c main.o ;;
				esac || { echo "$cc $m $o"; return 1; }
			done
		done
	done
}

@test "headers compile without a warning as C and C++" {
	model m
	tfl2c -n m --resolver -o m.h m.tflite
	compile m.h
	npu_model n "$U55_128"
	tfl2c -n m --resolver --memory-mode=Shared_Sram -o n.h n.tflite
	compile n.h
	tfl2c -n m --dialect=cmsis --section=.model -o c.h n.tflite
	compile c.h
	tfl2c -n m --dialect=cmsis -o c.h n.tflite
	compile c.h
}

# header_models: paths of published models and of one model compiled by other compilers; or
# of stand-ins and of the demo compiled here
header_models()
{
	if [ -n "$SHARED" ]; then
		printf "$SHARED/models/%s.tflite\n" kws_ref_model trained_lstm_int8 \
			seanet_transpose_conv0
		printf '%s\n' "$SHARED"/reference/vela-compiled/*/*/kws_ref_model.tflite
	else
		npucc -a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded \
			--memory-mode=Shared_Sram -o compiled.tflite \
			"$TOP/tests/models/digits.tflite" 2>notes
		stand_ins
		echo compiled.tflite
	fi
}

@test "headers of models compile, also of models that other compilers compiled" {
	header_models >models
	[ "$(wc -l <models)" -ge 8 ]
	while read -r m; do
		tfl2c -n m --resolver -o m.h "$m"
		shorten m.h
		compile m.h
	done <models
}

@test "the macros of memory are correct: plan, NPU, sum" {
	npu_model n "$U55_128"
	tfl2c -n m -o n.h n.tflite
	[ "$(value M_PLAN_BYTES n.h)" = 96 ]
	[ "$(value M_NPU_SCRATCH_BYTES n.h)" = 96 ]
	[ "$(value M_NPU_CONSTANT_BYTES n.h)" = 16 ]
	[ "$(value M_NPU_CACHE_BYTES n.h)" = 0 ]
	# a size that only the driver checks
	grep -q "^ \* SCRATCH_FAST_BYTES are declared by the model alone: reserve nothing for them.$" n.h
	run ! grep 'Reserve CACHE_BYTES' n.h
	[ "$(value M_INPUT_0_ARENA_OFFSET n.h)" = 64 ]
	[ "$(value M_OUTPUT_0_ARENA_OFFSET n.h)" = 80 ]
	# the input is [64, 84), the output [80, 85)
	[ "$(value M_INPUT_0_OVERLAPS_OUTPUT_0 n.h)" = 1 ]
	[ "$(value M_NPU_OPERATORS n.h)" = 1 ]
	[ "$(value M_CPU_OPERATORS n.h)" = 0 ]
	# the model has no plan: 16 for the input and 16 for the output
	model m
	tfl2c -n m -o m.h m.tflite
	[ "$(value M_PLAN_BYTES m.h)" = 0 ]
	[ "$(value M_TENSOR_BYTES m.h)" = 32 ]
	run ! grep -q ARENA_OFFSET m.h
}

# counted MODEL.tflite OPTION...: the header's number of bytes of the arena that the summary counts
counted()
{
	npucc -q --allow=unequal-quantization "${@:2}" -o counted.tflite "$1"
	tfl2c -n m -o counted.h counted.tflite
	local n
	n=$(sed -n "s/^ \* Of the arena, npucc's summary counts only the \([0-9]*\) bytes.*/\1/p" counted.h)
	[ -n "$n" ] || ! grep -q "summary counts PLAN only" counted.h || n=$(value M_PLAN_BYTES counted.h)
	[ "$n" = "$(npu-perf --json counted.tflite | jq .arena_bytes)" ]
}

@test "the header tells which bytes of the arena the summary counts" {
	need jq
	local digits=$TOP/tests/models/digits.tflite
	counted "$digits" --part=alif-e7-he
	[ "$(grep -c 'PLAN is larger' counted.h)" = 0 ]
	counted "$digits" --part=nxp-imx93
	[ "$(grep -c 'PLAN is larger' counted.h)" = 1 ]
	counted "$digits" --part=nxp-imx93 --cpu=CONV_2D
	counted "$digits" --part=nxp-imx93 --separate-io-regions
	# inputs and outputs that share regions are in the plan, too
	local lstm=$SHARED/models-real/wakeword_vad.tflite
	[ -n "$SHARED" ] || lstm=$(network lstm)
	counted "$lstm" --part=alif-e7-he --separate-io-regions
	# the body of IF has fast memory behind that of its caller
	local programs=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
	"$programs/gen-model" 8 CONV_2D >network.tflite
	"$programs/control-model" if 2 <network.tflite >if.tflite
	counted if.tflite --part=nxp-imx93
	[ "$(grep -c 'PLAN is larger' counted.h)" = 1 ]
}

@test "the greedy planner's figure for person_detect is that of TFLM" {
	need_shared
	# 55296: the head of the arena that TFLM's person detection example reports for this
	# network
	[ "$(tfl2c -n m "$SHARED/models/person_detect.tflite" | value M_TENSOR_BYTES -)" = 55296 ]
}

@test "a header for another NPU does not compile" {
	command -v gcc >/dev/null || skip "no gcc"
	npu_model n "$U55_128"
	tfl2c -n m --memory-mode=Shared_Sram -o n.h n.tflite
	[ "$(value M_NPU_MACS n.h)" = 128 ]
	[ "$(value M_NPU_PRODUCT n.h)" = 55 ]
	[ "$(value M_NPU_ID_WORD n.h)" = 0x10060000u ]
	echo '#include "n.h"' >t.c
	gcc -c -DETHOSU_MACS=128 -DETHOSU55 -DNPU_QCONFIG=2 -DNPU_REGIONCFG_0=3 t.c
	run gcc -c -DETHOSU_MACS=256 t.c
	[ "$status" -ne 0 ]
	[[ "$output" == *"m is compiled for an NPU with 128 MACs per cycle (ethos-u55-128)"* ]]
	run gcc -c -DETHOSU65 t.c
	[ "$status" -ne 0 ]
	run gcc -c -DNPU_REGIONCFG_0=1 t.c
	[ "$status" -ne 0 ]
	[[ "$output" == *"m wants NPU_REGIONCFG_0 3 in memory mode Shared_Sram"* ]]
	gcc -c -DETHOS_U_NPU_CACHE_SIZE=0 t.c
	gcc -c -DETHOS_U_NPU_CACHE_SIZE=96 t.c
	run gcc -c -DETHOS_U_NPU_CACHE_SIZE=95 t.c
	[ "$status" -ne 0 ]
	[[ "$output" == *"ETHOS_U_NPU_CACHE_SIZE is too small for m"* ]]
	run gcc -c -DTENSOR_ARENA_SIZE=100 t.c
	[ "$status" -ne 0 ]
	[[ "$output" == *"TENSOR_ARENA_SIZE is too small for m"* ]]
}

@test "two models in one source share an arena or have their own" {
	need gcc
	model a
	npu_model b "$U55_128"
	tfl2c -n a -o a.h a.tflite
	tfl2c -n b -o b.h b.tflite
	# Planning takes more than running:
	#   records    36 + 44 + 36 + 8 + 8
	#   tensors    12 * 4
	#   operator   32 + 8, aligned, and 48
	#   requests   12 * 12
	#   lists      4 + 24 * 4 + 16 + 48 * 4
	#   less       TENSOR_BYTES 32
	[ "$(value A_RUNTIME_BYTES a.h)" = 704 ]
	# Two arenas: the lists are in the second one.  Records of both arenas have 16 + 32
	# bytes instead of 36, and those of input and output follow.
	[ "$(value A_NON_PERSISTENT_ARENA_SIZE a.h)" = 464 ]
	[ "$(value A_PERSISTENT_ARENA_SIZE a.h)" = 432 ]
	# the larger arena first: it is large enough for both models
	printf '#include "b.h"\n#include "a.h"\nchar arena[TENSOR_ARENA_SIZE];\n' >t.c
	gcc $warnings -c t.c
	printf '#include "a.h"\n#include "b.h"\n' >t.c
	run gcc -c t.c
	[ "$status" -ne 0 ]
	[[ "$output" == *"TENSOR_ARENA_SIZE is too small for b: "*"define B_OWN_ARENA"* ]]
	gcc $warnings -DB_OWN_ARENA -c t.c
}

@test "several models share an arena of the largest model's size" {
	need gcc
	model a
	npu_model b "$U55_128"
	for n in a b; do
		tfl2c -n $n --shared-arena=work_memory -o $n.h $n.tflite
	done
	for order in "a b" "b a"; do
		for n in $order; do
			echo "#include \"$n.h\""
		done >t.c
		cat >>t.c <<-'END'
		WORK_MEMORY_DEFINE;
		_Static_assert(sizeof(work_memory) == B_TENSOR_ARENA_SIZE, "the larger");
		_Static_assert(B_TENSOR_ARENA_SIZE > A_TENSOR_ARENA_SIZE, "is b's");
		END
		gcc $warnings -c t.c
	done
}

@test "the section may be a macro of the SDK" {
	need gcc objdump
	model a
	tfl2c -n a --section-macro=CONFIG_MODEL_SECTION -o a.h a.tflite
	tfl2c -n a '--section-macro=CY_SECTION(CY_ML_MODEL_MEM)' -o b.h a.tflite
	cat >a.c <<-'END'
	#define CONFIG_MODEL_SECTION ".zephyr_models"
	#include "a.h"
	END
	cat >b.c <<-'END'
	#define CY_SECTION(name) __attribute__((section(name)))
	#define CY_ML_MODEL_MEM ".cy_xip"
	#include "b.h"
	END
	gcc $warnings -c a.c b.c
	objdump -h a.o | grep -qF .zephyr_models
	objdump -h b.o | grep -qF .cy_xip
	refuses 2 "--section-macro needs MACRO or MACRO(MACRO), not 'a b'" tfl2c --section-macro='a b' a.tflite
	refuses 2 "--section-macro excludes" \
		tfl2c --section-macro=A --section=b a.tflite
}

@test "quantize rounds half away from zero and clamps, and dequantize is its inverse" {
	command -v gcc >/dev/null || skip "no gcc"
	npu_model n "$U55_128"
	tfl2c -n m -o n.h n.tflite
	cat >t.c <<-'END'
	#include "n.h"
	#include <math.h>
	#include <stdio.h>
	static int wrong;
	static void want(float v, int q)
	{
		int got = m_input_0_quantize(v);
		if (got != q)
			wrong++, printf("%g: %d, not %d\n", (double)v, got, q);
	}
	int main(void)
	{
		/* scale 0.5, zero point -10 */
		want(0.0f, -10); want(0.25f, -9); want(-0.25f, -11);
		want(0.24999999f, -10); want(-0.24999999f, -10);
		want(0.75f, -8); want(-0.75f, -12);
		want(68.5f, 127); want(68.24f, 126); want(1e30f, 127);
		want(-59.0f, -128); want(-1e30f, -128);
		want(INFINITY, 127); want(-INFINITY, -128); want(NAN, -10);
		for (float v = -70; v < 80; v += 0.0371f) {
			float q = roundf(v / 0.5f) - 10;
			want(v, (int)(q < -128 ? -128 : q > 127 ? 127 : q));
		}
		for (int q = -128; q < 128; q++)
			want(m_input_0_dequantize((int8_t)q), q);
		for (int q = 0; q < 256; q++)
			if (m_output_0_quantize(m_output_0_dequantize((uint8_t)q)) != q)
				wrong++, printf("uint8 %d\n", q);
		return wrong != 0;
	}
	END
	gcc -std=c11 -o t t.c -lm
	./t
}

@test "source, declarations and asm link to the same bytes" {
	command -v gcc >/dev/null || skip "no gcc"
	model m
	tfl2c -n net --declarations -o net.h m.tflite
	run ! grep -q 0x1c net.h
	tfl2c -n net --format=source -o net.c m.tflite
	tfl2c -n net --format=asm --align=64 -o netasm.S m.tflite
	cat >main.c <<-'END'
	#include "net.h"
	#include <stdio.h>
	int main(void)
	{
		if ((uintptr_t)net % 16 || net_len != NET_BYTES)
			return 1;
		return fwrite(net, 1, net_len, stdout) != net_len;
	}
	END
	gcc $warnings -o a main.c net.c
	./a | cmp - m.tflite
	gcc $warnings -o b main.c netasm.S
	./b | cmp - m.tflite
	if command -v arm-none-eabi-gcc >/dev/null; then
		arm-none-eabi-gcc -mcpu=cortex-m55 -c -o s.o netasm.S
		arm-none-eabi-objcopy -O binary --only-section=.rodata s.o s.bin
		cmp -n "$(stat -c %s m.tflite)" s.bin m.tflite
	fi
	# the assembler detects a model that changed
	printf x >>m.tflite
	run gcc -c netasm.S
	[ "$status" -ne 0 ]
	[[ "$output" == *"the file is not the model of"* ]]
}

@test "C++ headers have namespaces and a resolver" {
	command -v g++ >/dev/null || skip "no g++"
	npu_model n "$U55_128"
	tfl2c -n m --namespace arm::app --resolver -o n.h n.tflite
	tfl2c -n m --namespace arm::app --format=source -o n.cc n.tflite
	tfl2c -n m --namespace arm::app --declarations --resolver=ops.h -o d.h n.tflite
	cat >t.cc <<-'END'
	#include "d.h"
	#include "ops.h"
	enum Status { Ok = 0, Error };
	struct Resolver { int n = 0; Status AddEthosU() { n++; return Ok; } };
	int main()
	{
		Resolver r;
		return !(arm::app::m_add_operators(r) && r.n == M_RESOLVER_OPS &&
			 arm::app::m_len == M_BYTES && arm::app::m[4] == 'T');
	}
	END
	g++ $warnings -o t t.cc n.cc
	./t
	# TFLM does not know this operator: a warning says so, and the resolver has no place
	# for it
	model f ".operator_codes = [{deprecated_builtin_code:32,builtin_code:32,custom_code:\"mine\"}]"
	run --separate-stderr tfl2c --resolver f.tflite
	[ "$status" -eq 0 ]
	[ "$stderr" = "tfl2c: warning: TensorFlow Lite Micro has no Add...() for mine
tfl2c: note: f.tflite: no operator runs on the NPU; npucc compiles models for it" ]
	grep -q '^#define NETWORK_MODEL_RESOLVER_OPS 0$' <<<"$output"
}

@test "dialect xxd has the bytes of xxd -i" {
	command -v xxd >/dev/null || skip "no xxd"
	model m
	tfl2c --dialect=xxd m.tflite >a
	xxd -i m.tflite | cmp - a
}

@test "dialect xxd has the framing of xxd -i" {
	model m
	tfl2c --dialect=xxd m.tflite >a
	[ "$(head -n 1 a)" = "unsigned char m_tflite[] = {" ]
	[ "$(tail -n 1 a)" = "unsigned int m_tflite_len = $(stat -c %s m.tflite);" ]
}

@test "dialect mlek has the evaluation kit's functions and attribute" {
	command -v g++ >/dev/null || skip "no g++"
	npu_model n "$U55_128"
	tfl2c --dialect=mlek --namespace arm::app::kws n.tflite >n.cc
	grep -qx 'static const uint8_t nn_model\[\] MODEL_TFLITE_ATTRIBUTE = {' n.cc
	cat >main.cc <<-'END'
	#include <cstddef>
	#include <cstdint>
	namespace arm { namespace app { namespace kws {
	extern const uint8_t *GetModelPointer();
	extern size_t GetModelLen();
	} } }
	int main()
	{
		return !(arm::app::kws::GetModelPointer()[4] == 'T' &&
			 arm::app::kws::GetModelLen() > 100);
	}
	END
	g++ -Wall -Wextra -Wundef -Werror -DACTIVATION_BUF_SZ=0x80000 -o t main.cc n.cc
	./t
	objdump -h t | grep -q nn_model
}

@test "dialect mlek has the declarations of the use case and the labels" {
	need g++ objdump
	npu_model n "$U55_128"
	printf 'yes\nno \\ "quoted"\r\n\n??/last' >labels.txt
	# the arguments of the evaluation kit's kws
	args=(--dialect=mlek --namespace arm::app::kws --labels=labels.txt)
	tfl2c "${args[@]}" --expression='extern const int   g_FrameLength    = 640' \
		--expression='extern const float g_ScoreThreshold = 0.7f;' n.tflite >n.cc
	tfl2c "${args[@]}" --declarations n.tflite >Labels.hpp
	cat >main.cc <<-'END'
	#include "Labels.hpp"
	namespace arm { namespace app { namespace kws {
	extern const int g_FrameLength;
	extern const float g_ScoreThreshold;
	} } }
	int main()
	{
		using namespace arm::app::kws;
		std::vector<std::string> labels(5);
		bool ok = GetLabelsVector(labels);
		return !(ok && labels.size() == 3 && labels[1] == "no \\ \"quoted\"" &&
			 labels[2] == "?" "?/last" && g_FrameLength == 640 &&
			 g_ScoreThreshold > 0.69f);
	}
	END
	g++ -std=c++17 $warnings -DACTIVATION_BUF_SZ=0x80000 -o t main.cc n.cc
	./t
	objdump -h t | grep -q " labels "
	refuses 2 "--expression and --labels work only with --dialect=mlek and --format=header" \
		tfl2c --labels=labels.txt n.tflite
	: >empty.txt
	refuses 2 "empty.txt: error: the file has no labels" \
		tfl2c --dialect=mlek --labels=empty.txt n.tflite
}

@test "dialect cmsis puts model, arena and cache into the examples' sections" {
	need gcc objdump
	npu_model n "$U55_128"
	tfl2c --dialect=cmsis n.tflite >n.h
	cat >t.c <<-'END'
	#include "n.h"
	ETHOS_ARENA_DEFINE;
	_Static_assert(sizeof(ethos_arena) == ETHOS_MODEL_TENSOR_ARENA_SIZE, "arena");
	END
	gcc -std=c11 $warnings -c t.c
	objdump -h t.o >sections
	for s in ethos_model ethos_arena; do
		grep -q " $s " sections
	done
	# IAR's compiler gets no labels
	gcc -std=c11 -D__ICCARM__ -E -P t.c | sed -n '/ethos_/p' >seen
	grep -q 'uint8_t ethos_arena\[\] *;' seen
	run ! grep -q __asm__ seen
	tfl2c --dialect=cmsis --format=asm -o n.S n.tflite
	tfl2c --dialect=cmsis --declarations n.tflite >n.h
	printf '#include "n.h"\nETHOS_ARENA_DEFINE;\nint main(void) { return ethos_model[4] != 84; }\n' >t.c
	gcc -std=c11 $warnings -o t t.c n.S
	./t
	tfl2c --dialect=cmsis --format=call -o n.c n.tflite
	gcc -std=c11 $warnings -I"$TOP/tests/firmware/driver" -c n.c
	# a stream with a separate fast memory of at most 393216 bytes
	npucc -a ethos-u65-256 --system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram \
		-o u65.tflite "$TOP/tests/models/digits.tflite"
	tfl2c --dialect=cmsis u65.tflite >n.h
	grep -q "^ \\* Reserve CACHE_BYTES of the NPU's own SRAM and, beside it, TENSOR_ARENA_SIZE\$" n.h
	run ! grep 'which the stream does not use' n.h
	printf '#include "n.h"\nETHOS_ARENA_DEFINE;\nETHOS_CACHE_DEFINE;\n' >t.c
	gcc -std=c11 $warnings -c t.c
	objdump -h t.o | grep -q ' ethos_cache '
	run gcc -DETHOS_CACHE_SIZE=16 -c t.c
	[ "$status" -ne 0 ]
	[[ "$output" == *"ETHOS_CACHE_SIZE is too small for ethos_model"* ]]
}

@test "hostile names stay inside their comment" {
	model m "$t[0].name = \"*/ int x; /* \\\\\" | $t[3].name = \"??/\n#error\""
	tfl2c -n m -o m.h m.tflite
	compile m.h
}

@test "a SOFTMAX of 16 bits on the CPU keeps two tables in the arena" {
	local softmax=".operator_codes=[{deprecated_builtin_code:25,builtin_code:25}]
		| .subgraphs[0].operators=[{inputs:[0],outputs:[3],builtin_options_type:9,builtin_options:{beta:1}}]
		| $t[3].shape=[1,4]"
	model byte "$softmax"
	model word "$softmax | $t[0].type=7 | $t[3].type=7"
	byte=$(tfl2c -n m byte.tflite | value M_RUNTIME_BYTES -)
	word=$(tfl2c -n m word.tflite | value M_RUNTIME_BYTES -)
	[ $((word - byte)) -ge 2080 ]
}

@test "an exceeded limit gives status 1, and nothing is written" {
	npu_model n "$U55_128"
	tfl2c -n m -o ok.h --arena-limit=0x10000 --model-limit=100000 n.tflite
	# tensors: 96 of the plan, and 48 + 32 of base addresses and sizes
	refuses 1 "tfl2c: n.tflite: error: the tensor arena takes 1040 bytes (tensors 176, variables 0, runtime 864), the limit is 1039" \
		tfl2c --arena-limit=1039 n.tflite
	tfl2c -o ok.h --arena-limit=1040 n.tflite
	n=$(stat -c %s n.tflite)
	refuses 1 "tfl2c: n.tflite: error: the model takes $n bytes, the limit is $((n - 1))" \
		tfl2c -o out.h --model-limit=$((n - 1)) n.tflite
	[ ! -e out.h ]
}

@test "refusals have an exact message, status 2 and no output file" {
	model m
	refuse() { # MESSAGE ARG...
		local want=$1
		shift
		run tfl2c -o out.h "$@"
		[ "$status" -eq 2 ] && [ "${lines[0]}" = "tfl2c: $want" ] &&
			[ ! -e out.h ] || { echo "$output"; return 1; }
	}
	refuse "error: --name needs a C identifier, not '1x'" -n 1x m.tflite
	refuse "error: --name needs a C identifier, not 'int'" -n int m.tflite
	refuse "error: --namespace needs a C++ namespace, not 'a:b'" --namespace a:b m.tflite
	refuse "error: --section needs the name of a section, not 'a\"b'" --section 'a"b' m.tflite
	refuse "error: --align needs a power of two, not 24" --align 24 m.tflite
	refuse "error: --align takes a whole number from 16 to 1048576, not '4'" --align 4 m.tflite
	refuse "error: --memory-mode: no such choice: 'Sram'; choices: Shared_Sram, Dedicated_Sram, Sram_Only" --memory-mode Sram m.tflite
	refuse "error: --dialect: no such choice: 'c'; choices: alif, mlek, cmsis, xxd" --dialect c m.tflite
	refuse "error: --dialect: no such choice: 'cmis'; choices: alif, mlek, cmsis, xxd; did you mean cmsis?" --dialect=cmis m.tflite
	refuse "error: --format=asm needs the model's file when it is assembled: name the file, or use --incbin=PATH" --format=asm
	refuse "nothing.tflite: error: No such file or directory" nothing.tflite

	npu_model n "9,9,9,9"
	refuse "n.tflite: error: subgraph 0, operator 0 (cs): payload's configuration word 0x09090909 does not match any accelerator" n.tflite
	npu_model c "$U55_128"
	printf '\x14\x00\x00\x00' | dd of=c.tflite bs=1 conv=notrunc status=none \
		seek=$(($(grep -obUa -m 1 COP1 c.tflite | cut -d: -f1) + 32))
	refuse "c.tflite: error: operator 0 (cs): 0x000000: command 0x0014 doesn't exist on ethos-u55-128 (rule 1)" c.tflite
	model p '.metadata = [{name:"OfflineMemoryAllocation",buffer:3}] | .buffers += [{data:[0,0,0,0,1,0,0,0,9,0,0,0]}]'
	refuse "p.tflite: error: OfflineMemoryAllocation of 12 bytes does not match 4 tensors" p.tflite

	run tfl2c -o /dev/full m.tflite
	[ "$status" -eq 2 ]
	[ "$output" = "tfl2c: /dev/full: error: No space left on device" ]
	run bash -c 'tfl2c m.tflite >/dev/full'
	[ "$status" -eq 2 ]
	run tfl2c --help
	[ "$status" -eq 0 ]
}
