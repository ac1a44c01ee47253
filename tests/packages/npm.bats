# SPDX-License-Identifier: Apache-2.0
# make npm: the packed file is installed in an empty folder without a network.

load ../lib/common

package=${NPUTOOLS_NPM-}
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	npm install --offline --no-audit --no-fund --silent "${NPUTOOLS_NPM?}"
}

# installed COMMAND...: runs in the folder of the package, without the tree's programs in
# PATH
installed()
{
	cd "$BATS_FILE_TMPDIR" || return
	PATH=$(dirname "$(command -v node)"):/usr/bin:/bin "$@"
}

@test "npx nputools npucc compiles the same as npucc" {
	cp "$TOP/tests/models/digits.tflite" "$BATS_FILE_TMPDIR/a b'c.tflite"
	npucc -a ethos-u55-128 "${memory[@]}" -o want.tflite \
		"$BATS_FILE_TMPDIR/a b'c.tflite"
	want=$PWD/want.tflite
	installed npx --offline nputools npucc -a ethos-u55-128 "${memory[@]}" -o x.tflite \
		"a b'c.tflite"
	cmp "$want" "$BATS_FILE_TMPDIR/x.tflite"
	installed npx --offline npucc -a ethos-u55-128 "${memory[@]}" --check -o x.h \
		"a b'c.tflite"
	[ -s "$BATS_FILE_TMPDIR/x.h" ]
	[ -z "$(find "$BATS_FILE_TMPDIR" -name '.npu*')" ]
}

@test "npu-vela and npu-sweep start the other programs of the package" {
	cp "$TOP/tests/models/digits.tflite" "$BATS_FILE_TMPDIR/digits.tflite"
	npu-vela "${memory[@]}" --output-dir=want "$BATS_FILE_TMPDIR/digits.tflite" >want.log 2>&1
	npu-sweep "${memory[@]}" -a ethos-u55-64 "$BATS_FILE_TMPDIR/digits.tflite" >want.table
	installed npx --offline npu-vela "${memory[@]}" --output-dir=out digits.tflite \
		>"$BATS_TEST_TMPDIR/log" 2>&1
	installed npx --offline npu-sweep "${memory[@]}" -a ethos-u55-64 --results=store \
		digits.tflite >"$BATS_TEST_TMPDIR/table"
	cd "$BATS_TEST_TMPDIR"
	diff -r want "$BATS_FILE_TMPDIR/out"
	diff want.log log
	diff want.table table
	[ -n "$(find "$BATS_FILE_TMPDIR/store" -name '*.json')" ]
}

@test "every program is in the package and prints its version" {
	for p in $(programs); do
		[ "$(installed node_modules/.bin/"$p" --version)" = "$("$BIN/$p" --version)" ]
	done
	[ "$(installed node_modules/.bin/nputools --version)" = \
		"$("$BIN/npucc" --version | sed 's/.*) /nputools /')" ]
}

@test "the status is the program's, or 2 for an unknown program" {
	run installed npx --offline nputools tfl-quantcheck none.tflite
	[ "$status" = 2 ]
	run installed npx --offline nputools no-such-program
	[ "$status" = 2 ]
	[[ $output == *"there are mkinput, npu-cmdgen"* ]]
}

@test "the same modules make the same package" {
	"$TOP/scripts/wasm/pack" "$TOP/build-wasm" \
		"$("$BIN/npucc" --version | sed 's/.* //')" again >/dev/null
	cmp again/*.tgz "$package"
}
