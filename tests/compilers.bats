# SPDX-License-Identifier: Apache-2.0
# The output of a program does not depend on the compiler that built it.

bats_require_minimum_version 1.5.0

load lib/common

memory=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)

# clang_build DIR LEVEL: builds the programs by clang with -OLEVEL into DIR/bin, which takes
# as long as a tenth of all tests.  tests/check-all has a clang build and compares it;
# .ci/run calls tests/check-all.
clang_build()
{
	[ -n "${NPUTOOLS_ALL-}" ] || skip "heavy: builds the tree with clang (NPUTOOLS_ALL); tests/check-all clang compares such a build"
	[ -x "$1/bin/npu-cmdgen" ] || MAKEFLAGS='' make -C "$TOP" -s -j2 CC=clang \
		B="$1" CFLAGS="-O$2" FAST_CFLAGS="-O$2" WARN= all >build.log 2>&1 ||
		{ tail build.log; return 1; }
}

# same DIR MODEL: both builds compile MODEL to the same bytes
same()
{
	npucc -a ethos-u55-128 "${memory[@]}" -o here.tflite "$2" 2>here.err ||
		{ echo "$2:"; cat here.err; return 1; }
	PATH=$1/bin:$PATH npucc -a ethos-u55-128 "${memory[@]}" -o there.tflite \
		"$2" 2>there.err || { echo "clang: $2:"; cat there.err; return 1; }
	cmp here.tflite there.tflite || { echo "$2"; return 1; }
	cmp here.err there.err
}

# random models of families whose lowering makes several operations of one operator
@test "builds by gcc and by clang compile models to the same bytes" {
	need clang
	clang=$BATS_FILE_TMPDIR/clang
	clang_build "$clang" 0
	gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	n=0
	for name in LEAKY_RELU DIV LOG_SOFTMAX RSQRT RESIZE_BILINEAR CONCATENATION \
		CONV_2D FULLY_CONNECTED SOFTMAX UNIDIRECTIONAL_SEQUENCE_LSTM; do
		for seed in 1 2 3; do
			"$gen" $seed $name >m.tflite
			same "$clang" m.tflite
			n=$((n + 1))
		done
	done
	for seed in 3 6 9; do
		"$gen" -g $seed >m.tflite
		same "$clang" m.tflite
		n=$((n + 1))
	done
	same "$clang" "$BATS_TEST_DIRNAME/models/digits.tflite"
	[ $n = 33 ]
}

# clang_tests DIR: builds also the generator of models
clang_tests()
{
	MAKEFLAGS='' make -C "$TOP" -s CC=clang B="$1" CFLAGS=-O0 FAST_CFLAGS=-O0 \
		WARN= "$1/tests/gen-model" >build.log 2>&1 || { cat build.log; false; }
}

@test "builds by gcc and by clang draw the same random models" {
	need clang
	clang=$BATS_FILE_TMPDIR/clang
	clang_build "$clang" 0
	clang_tests "$clang"
	for seed in $(seq 1 100); do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" $seed >here.tflite
		"$clang/tests/gen-model" $seed >there.tflite
		cmp here.tflite there.tflite || { echo "seed $seed"; false; }
	done
}

# every program; tests/check-all compares more builds and more models
@test "programs built by gcc and by clang write the same outputs" {
	need clang
	clang=$BATS_FILE_TMPDIR/clang
	clang_build "$clang" 0
	clang_tests "$clang"
	run "$TOP/tests/same-outputs" -n 3 "${NPUTOOLS_BUILD:-$TOP/build}" "$clang"
	echo "$output"
	[ "$status" = 0 ]
	[[ ${lines[-1]} == *"of 4 models, from 2 builds: 0 differ" ]]
}

@test "same-outputs detects a message, a status and a byte" {
	build=${NPUTOOLS_BUILD:-$TOP/build}
	for how in 'echo >&2' 'echo' 'exit 3'; do
		rm -rf other
		mkdir -p other/bin other/tests
		ln -s "$build"/bin/* other/bin/
		ln -s "$build/tests/gen-model" other/tests/
		rm other/bin/npu-perf
		printf '#!/bin/sh\n%s/bin/npu-perf "$@"\n%s\n' "$build" "$how" >other/bin/npu-perf
		chmod 755 other/bin/npu-perf
		run "$TOP/tests/same-outputs" -n 0 "$build" other
		echo "$output"
		[ "$status" = 1 ]
		[[ $output == *"model 0: "*"/other differs from "* ]]
		[[ $output == *"  perf."* ]]
	done
}

@test "builds by gcc and by clang compile a leaky relu of 16 bits to the same bytes" {
	need clang
	clang=$BATS_FILE_TMPDIR/clang
	clang_build "$clang" 0
	# three operations of 16 bits
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 6 LEAKY_RELU >m.tflite
	tfl-partition m.tflite | grep -q '^tensor .*shape=i16'
	same "$clang" "$PWD/m.tflite"
	[ -z "$SHARED" ] || same "$clang" "$SHARED/models/seanet_leaky_relu1.tflite"
}

# built by clang, LEAKY_RELU of 16 bits read an operand that was not made yet
@test "scripts/check-effects finds operands whose order of evaluation is open" {
	need clang-query
	cat >bad.c <<-'end'
		struct part;
		struct operand { int t; };
		struct operand rescaled(struct part *p, int by);
		int *make(struct part *p);
		void take(int *op, struct operand o, int zero);
		int sum(struct part *p);
		void f(struct part *p)
		{
			take(make(p), rescaled(p, 1), 0);
		}
		int g(struct part *p)
		{
			return sum(p) << 8 | sum(p);
		}
		struct operand two[2];
		void h(struct part *p)
		{
			struct operand v[2] = { rescaled(p, 1), rescaled(p, 2) };
			two[0] = v[1];
		}
	end
	run "$TOP/scripts/check-effects" "$PWD/bad.c"
	echo "$output"
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 3 ]
	[[ $output == *"bad.c:9:1: arguments"* ]]
	[[ $output == *"bad.c:13:8: operands"* ]]
	[[ $output == *"bad.c:18:23: elements"* ]]
	cat >good.c <<-'end'
		struct part;
		int *make(struct part *p);
		int look(const struct part *p);
		void take(int *op, int a, int b);
		void f(struct part *p)
		{
			int n = 0, t[2];
			take(make(p), look(p), look(p));
			t[n++] = look(p);
			(void)t;
		}
	end
	"$TOP/scripts/check-effects" "$PWD/good.c"
	run "$TOP/scripts/check-effects" "$PWD/absent.c"
	[ "$status" = 1 ]
}

@test "a warning of gcc or clang stands alone: all flags of warnings are known to the compiler" {
	need clang
	printf 'int f(int a) { int unused; return a; }\n' >w.c
	for cc in gcc clang; do
		MAKEFLAGS='' make -C "$TOP" -n V=1 CC=$cc B="$PWD/none" \
			"$PWD/none/libcommon/kernels/conv.o" >commands
		flags=$(grep -o -- ' -W[a-z-]*' commands | grep -v Werror)
		[ "$(wc -l <<<"$flags")" -gt 5 ]
		$cc $flags -c w.c -o w.o 2>err
		grep -q 'unused variable' err
		run ! grep -E 'unrecognized|unknown' err
	done
}
