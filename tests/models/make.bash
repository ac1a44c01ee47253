# Sourced by bats files: models made of JSON by flatc, and the programs.

here=$(cd "$BATS_TEST_DIRNAME" && pwd)
export PATH="${NPUTOOLS_BIN:-$here/../build/bin}:$PATH"
shared=${NPUTOOLS_SHARED:-$here/../../shared}

# model NAME [JQ-PROGRAM]: NAME.tflite in the current directory: fc.json
# changed by jq.  ".t[0]" etc. are not known there: write the whole path.
model() {
	command -v flatc >/dev/null || skip "flatc is not installed"
	command -v jq >/dev/null || skip "jq is not installed"
	jq "${2:-.}" "$here/models/fc.json" >"$1.json" || return
	flatc -b --strict-json "$here/models/tflite.fbs" "$1.json" || return
	rm -f "$1.json"
}

need_shared() {
	[ -d "$shared/models" ] || skip "no shared models at $shared"
}
