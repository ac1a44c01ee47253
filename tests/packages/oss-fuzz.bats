# SPDX-License-Identifier: Apache-2.0
# make oss-fuzz: what tests/fuzz/oss-fuzz/build.sh leaves is complete, and runs.
# NPUTOOLS_OSS_FUZZ: the directory OUT of that build.

load ../lib/common

out=${NPUTOOLS_OSS_FUZZ-}

setup_file()
{
	[ -n "$out" ] || skip "make oss-fuzz builds the targets"
	need unzip
}

@test "each target has its options, and the words of its format" {
	local f t
	for f in "$TOP"/tests/fuzz/*.c; do
		t=$(basename "$f" .c)
		[ "$t" = replay ] && continue
		[ -x "$out/$t" ]
		grep -q '^\[libfuzzer\]$' "$out/$t.options"
		[ ! -e "$out/$t.dict" ] || grep -q '^".*"$' "$out/$t.dict"
	done
	[ -s "$out/graph.dict" ]
}

# -runs=0: only the seeds
@test "each target runs its seeds, with the sanitizer" {
	local seeds t
	for seeds in "$out"/*_seed_corpus.zip; do
		t=$(basename "$seeds" _seed_corpus.zip)
		unzip -q "$seeds" -d "$t"
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
			"$out/$t" -runs=0 -detect_leaks=0 "$t" >"$t.log" 2>&1 || { tail -20 "$t.log"; false; }
		grep -q "INITED cov: [1-9]" "$t.log" || { tail -3 "$t.log"; false; }
	done
	[ -s flow.log ]
	nm "$out/flow" | grep -q __asan_init
}
