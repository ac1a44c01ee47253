# SPDX-License-Identifier: Apache-2.0
# make check-release: a whole release, built twice in different folders and times.
# NPUTOOLS_RELEASE: the directory of the two releases, a and b.

load ../lib/common

setup_file()
{
	[ -n "${NPUTOOLS_RELEASE-}" ] || skip "make check-release builds the releases"
	version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
	export version
}

@test "two builds give the same bytes, for every file" {
	diff -r "$NPUTOOLS_RELEASE/a" "$NPUTOOLS_RELEASE/b"
	(cd "$NPUTOOLS_RELEASE/a" && sha256sum -c SHA256SUMS)
	# all parts, and nothing else
	(cd "$NPUTOOLS_RELEASE/a" && find . -mindepth 1 | sed 's,^./,,' | sort) >have
	cat have
	[ "$(grep -c '' have)" = 14 ]
	sed 's/^.\{66\}//' "$NPUTOOLS_RELEASE/a/SHA256SUMS" | sort | comm -13 - have >others
	diff - others <<-'END'
	SHA256SUMS
	provenance.intoto.json
	END
}

@test "the static programs of this machine compile a model, with pages beside them" {
	tar -xzf "$NPUTOOLS_RELEASE/a/nputools-$version-linux-$(uname -m).tar.gz"
	cd "nputools-$version-linux-$(uname -m)"
	[ "$(bin/npucc --version)" = "npucc (nputools) $version" ]
	bin/npucc --part=alif-e7-hp -o m.tflite --check "$TOP/tests/models/digits.tflite"
	[ -s share/man/man1/npucc.1 ]
	! readelf -d bin/npucc | grep NEEDED || false
}

@test "programs of aarch64 run under qemu and give the same bytes" {
	need qemu-aarch64
	tar -xzf "$NPUTOOLS_RELEASE/a/nputools-$version-linux-aarch64.tar.gz"
	qemu-aarch64 "nputools-$version-linux-aarch64/bin/tfl-partition" \
		"$TOP/tests/models/digits.tflite" >aarch64
	tfl-partition "$TOP/tests/models/digits.tflite" | cmp - aarch64
}

@test "the bill of materials names the programs and their libraries" {
	jq -e --arg v "$version" '.bomFormat == "CycloneDX" and
		.metadata.component.name == "nputools" and .metadata.component.version == $v and
		([.components[].name] | contains(["xxhash", "glibc"]))' \
		"$NPUTOOLS_RELEASE/a/nputools-$version.cdx.json"
}
