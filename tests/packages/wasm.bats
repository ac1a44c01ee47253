# SPDX-License-Identifier: Apache-2.0
# make check-wasm: the modules under node have the outputs and messages of the programs.

load ../lib/common

native=${NPUTOOLS_NATIVE-$TOP/build}/bin
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)
digits=$TOP/tests/models/digits.tflite

# both NAME ARGUMENT...: output, messages and status are the same
both()
{
	local status=0 want=0
	(PATH=$native:$PATH; "$@") >want.out 2>want.err </dev/null || want=$?
	"$@" >out 2>err </dev/null || status=$?
	[ $status = $want ] || { echo "$*: status $status, not $want"; cat err; return 1; }
	diff want.out out && diff want.err err
}

@test "--help, --usage and --version of each program are the same" {
	for o in --help --usage --version; do
		for p in $(programs); do
			"$native/$p" $o
		done >want$o
		# shellcheck disable=SC2046
		NPUTOOLS_WASM=$TOP/build-wasm node -e '
			const n = require(process.argv[1]);
			const option = process.argv[2];
			for (const p of process.argv.slice(3))
				if (n.run(p, [option]))
					process.exit(1);
		' "$TOP/scripts/wasm/nputools.js" $o $(programs) >out$o
	done
	diff want--help out--help
	diff want--version out--version
	# glibc's argp breaks lines of --usage at places that depend on its buffer
	diff <(tr -s ' \n' '\n' <want--usage) <(tr -s ' \n' '\n' <out--usage)
}

@test "wrong usage is refused with the same words" {
	both npu-sched --nonsense
	both npu-sched -Z
	both npu-sched -a
	both npu-sched --ver
	both npu-sched --json=3
	both npu-sched --effort=ten
	both npucc a b
	# an abbreviation that fits two spellings of an option
	both npucc --opt=Fast m.tflite
	both tfl-quantcheck none.tflite
}

@test "compiled model, header and listing are the same for every accelerator" {
	for a in ethos-u55-32 ethos-u55-256 ethos-u65-512 ethos-u85-256; do
		case $a in
		ethos-u65*) m="--system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram" ;;
		ethos-u85*) m="--system-config=Ethos_U85_SYS_DRAM_Low --memory-mode=Dedicated_Sram" ;;
		*) m=${memory[*]} ;;
		esac
		# shellcheck disable=SC2086
		"$native/npucc" -a $a $m -o want.tflite "$digits" 2>want.err
		# shellcheck disable=SC2086
		npucc -a $a $m -o out.tflite "$digits" 2>err
		cmp want.tflite out.tflite
		diff want.err err
	done
}

@test "stages work in a shell's pipe at any -j, and npucc reads standard input" {
	tfl-quantcheck --pass "$digits" | tfl-partition -a ethos-u55-128 |
		npu-sched -a ethos-u55-128 "${memory[@]}" -j 8 2>/dev/null |
		npu-wenc -j 3 | npu-cmdgen >out.tflite
	"$native/npucc" -a ethos-u55-128 "${memory[@]}" -o want.tflite "$digits" 2>/dev/null
	cmp want.tflite out.tflite
	npucc -a ethos-u55-128 "${memory[@]}" -o - <"$digits" 2>/dev/null | cmp - want.tflite
}

@test "--check and --keep write the same files, and no other file is left" {
	o=(-a ethos-u55-128 "${memory[@]}" --check -o x.h)
	mkdir native module
	(cd native && "$native/npucc" "${o[@]}" --keep=kept "$digits") 2>want.err
	(cd module && npucc "${o[@]}" --keep=kept "$digits") 2>err
	diff -r native module
	diff want.err err
}

@test "npu-sweep prints the same tables, failures and late jobs, and keeps a store" {
	local o=("${memory[@]}" -a "ethos-u55-64,ethos-u55-128" --limits=2)
	both npu-sweep "${o[@]}" --json -j2 "$digits"
	both npu-sweep "${o[@]}" --dry-run "$digits"
	head -c 1000 "$digits" >broken.tflite
	both npu-sweep "${o[@]}" --csv broken.tflite "$digits"
	both npu-sweep "${o[@]}" --csv --timeout=0.001 "$digits"
	# a store made by the modules: complete the first time, read the second time, cleaned
	npu-sweep "${o[@]}" --results=store -o table "$digits"
	npu-sweep "${o[@]}" --results=store --merge "$digits" | diff - table
	cp -r store before
	npu-sweep --gc --results=store >out
	[ "$(tail -1 out)" = "kept: $(find before -type f | wc -l) files" ]
	diff -r before store
	"$native/npu-sweep" --gc --results=store >out
	[ -z "$(find store -name '*.json')" ]
}

@test "npu-vela writes the same files and prints the same listings" {
	local o=(--accelerator-config=ethos-u55-128 "${memory[@]}")
	mkdir want got
	for a in "" --verbose-all --output-format=raw --ignore-ops=CONV_2D; do
		# shellcheck disable=SC2086
		both npu-vela "${o[@]}" $a --output-dir=got "$digits"
		# shellcheck disable=SC2086
		"$native/npu-vela" "${o[@]}" $a --output-dir=want "$digits" >/dev/null 2>&1
		diff -r want got
	done
	both npu-vela "${o[@]}" --arena-cache-size=16 "$digits"
	both npu-vela none.tflite
	both npu-vela --enable-debug-db "$digits"
	both npu-vela --list-configs=Arm/vela.ini
	[ ! -e output ]
}

@test "a broken file gives the same line and status 2, and no file is left" {
	for n in 1 100 1000 9000; do
		head -c $n "$digits" >broken.tflite
		both npucc -a ethos-u55-128 "${memory[@]}" -o x.tflite broken.tflite
		[ "$(wc -l <err)" = 1 ]
	done
	[ -z "$(find . -name '.n*' -o -name x.tflite)" ]
}

@test "all programs give the same outputs for random models" {
	"$TOP/tests/same-outputs" -n 1 "${native%/bin}" "${BIN%/bin}"
}

@test "a keyword model and MobileNetV2 give the same bytes" {
	[ -n "$SHARED" ] || skip "no shared models"
	for m in kws_ref_model mbv2_int8; do
		both npucc -a ethos-u55-128 "${memory[@]}" -o - "$SHARED/models/$m.tflite"
	done
}

@test "in names of Windows, the last drive counts" {
	node -e '
		const { windowsPath } = require(process.argv[1]);
		for (const [name, want] of [["/C:/here/x", "C:/here/x"], ["/C:", "C:/"],
				["/C:/here/D:/there", "D:/there"], ["/", "/"]])
			if (windowsPath(name) !== want)
				throw new Error(`${name}: ${windowsPath(name)}`);
	' "$TOP/scripts/wasm/nputools.js"
}
