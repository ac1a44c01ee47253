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

@test "call() runs programs on files in memory, as the programs do on the disk" {
	cp "$TOP/tests/models/digits.tflite" digits.tflite
	npucc -q --part=alif-e7-he -o out.tflite digits.tflite
	npu-perf --json out.tflite >want.json
	cat >call.js <<-'END'
		const nputools = require("nputools"), fs = require("fs");
		const [model, to] = process.argv.slice(2);
		const before = fs.readdirSync(".").join();
		const r = nputools.call("npucc", ["--part=alif-e7-he", "-o", "out.tflite", "digits.tflite"],
			{ "digits.tflite": fs.readFileSync(model) });
		if (r.status || Object.keys(r.files).sort().join() !== "digits.tflite,out.tflite")
			throw new Error(JSON.stringify([r.status, r.stderr, Object.keys(r.files)]));
		fs.writeFileSync(to + "/x.tflite", r.files["out.tflite"]);
		fs.writeFileSync(to + "/x.json", nputools.call("npu-perf", ["--json", "out.tflite"], r.files).stdout);
		const equal = nputools.call("npu-sim", ["--compare=digits.tflite", "out.tflite"], r.files);
		const no = nputools.call("npucc", ["--part=alif-e7-he", "--arena-cache-size=2000", "-o", "o.tflite",
			"digits.tflite"], r.files);
		if (equal.status || no.status !== 1 || !no.stderr.includes("more than the limit of 2000; the smallest that works is ") || no.files["o.tflite"])
			throw new Error(equal.stderr + no.status + no.stderr);
		for (const bad of [["no-such-program", [], {}], ["npucc", [], { "a/b": new Uint8Array(1) }]])
			try {
				nputools.call(...bad);
				throw new TypeError("no exception");
			} catch (e) {
				if (!/no program|no name of a file/.test(e.message))
					throw e;
			}
		if (fs.readdirSync(".").join() !== before)
			throw new Error("a file was written");
	END
	cp call.js "$BATS_FILE_TMPDIR"
	local here=$PWD
	installed node call.js "$here/digits.tflite" "$here"
	cd "$here"
	cmp out.tflite x.tflite
	cmp want.json x.json
}

@test "the package has types, an API page, the manual, npu.mk and the files for CMake" {
	local prefix
	prefix=$(installed npx --offline nputools --prefix)
	cmp "$prefix/share/nputools/npu.mk" "$TOP/scripts/npu.mk"
	[ -s "$prefix/share/cmake/nputools/nputools-config.cmake" ]
	[ "$(ls "$prefix"/share/doc/nputools/*.[1-9].html | wc -l)" = "$(ls "$TOP"/man/*.[1-9] | wc -l)" ]
	# types, page and module have the same names
	(installed node -p 'Object.keys(require("nputools")).sort().join("\n")') >names
	grep -oP '^export (function|const) \K\w+' "$prefix/index.d.ts" | sort | diff names -
	while read -r name; do
		[ "$name" = windowsPath ] || grep -q "^## .*$name" "$prefix/API.md"
	done <names
	# the example of the page
	sed -n '/^const fs = /,/^```$/p' "$prefix/API.md" | sed '$d' >example.js
	sed -i '1i const nputools = require("nputools");' example.js
	cp example.js "$BATS_FILE_TMPDIR"
	cp "$TOP/tests/models/digits.tflite" "$BATS_FILE_TMPDIR/keyword.tflite"
	[[ $(installed node example.js) =~ ^0\.[0-9]+$ ]]
}

@test "the same modules make the same package" {
	"$TOP/scripts/wasm/pack" "$TOP/build-wasm" \
		"$("$BIN/npucc" --version | sed 's/.* //')" again >/dev/null
	cmp again/*.tgz "$package"
}
