#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds all fuzz targets as OSS-Fuzz and ClusterFuzzLite expect: $OUT/TARGET, the seeds in
# $OUT/TARGET_seed_corpus.zip, and the words of the format in $OUT/TARGET.dict.
# In the environment: CC, CFLAGS, CXX, CXXFLAGS, LIB_FUZZING_ENGINE and OUT.
cd "${SRC:+$SRC/nputools}"
build=${WORK-/tmp}/nputools
make -j"$(nproc)" B="$build" CC="$CC" WERROR= FAST_CFLAGS= STATIC=0 PKG_CONFIG=false \
	CFLAGS="$CFLAGS" FUZZ_LD="${CXX:-$CC} ${CXXFLAGS-}" FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
	fuzz-programs
for f in tests/fuzz/*.c; do
	target=$(basename "$f" .c)
	[ "$target" != replay ] || continue
	cp "$build/fuzz/$target" "$OUT/"
	if [ -d "tests/fuzz/corpus/$target" ]; then
		rm -f "$OUT/${target}_seed_corpus.zip"
		(cd "tests/fuzz/corpus/$target" && zip -q "$OUT/${target}_seed_corpus.zip" -- *)
	fi
	"$build/fuzz/words" "$target" >"$OUT/$target.dict"
	[ -s "$OUT/$target.dict" ] || rm "$OUT/$target.dict"
	printf '[libfuzzer]\nmax_len = 16384\ntimeout = 30\nrss_limit_mb = 3000\n' >"$OUT/$target.options"
done
