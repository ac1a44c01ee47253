# SPDX-License-Identifier: Apache-2.0
# make deb: the package is checked by lintian, installed and removed.

load ../lib/common

deb=${NPUTOOLS_DEB-}
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

@test "lintian accepts the package" {
	need lintian
	lintian --fail-on error,warning --allow-root "$deb"
}

# in a directory that dpkg takes for a system, as a real system needs a network
@test "the package can be installed by dpkg --root and removed, and its programs work" {
	mkdir -p root/var/lib/dpkg/{updates,info}
	: >root/var/lib/dpkg/status
	: >root/var/lib/dpkg/available
	dpkg=(dpkg --root="$PWD/root" --force-depends --force-not-root
		--force-script-chrootless --log="$PWD/log")
	"${dpkg[@]}" -i "$deb" >out 2>&1 || { cat out; return 1; }
	"${dpkg[@]}" -s nputools | grep -q '^Status: install ok installed'
	m=$TOP/tests/models/digits.tflite
	npucc -a ethos-u55-128 "${memory[@]}" -o want.h "$m"
	root/usr/bin/npucc -a ethos-u55-128 "${memory[@]}" --check -o x.h "$m"
	cmp want.h x.h
	for p in $(programs); do
		root/usr/bin/"$p" --version
		[ -e "root/usr/share/man/man1/$p.1.gz" ]
	done
	"${dpkg[@]}" -r nputools >out 2>&1 || { cat out; return 1; }
	[ -z "$(find root/usr root/etc -type f 2>/dev/null)" ]
}

@test "the maintainer is the one that distributes the package, or an address that cannot exist" {
	local changelog
	changelog=$(dpkg-deb --fsys-tarfile "$deb" |
		tar -xO ./usr/share/doc/nputools/changelog.gz | gzip -d)
	want="${DEBFULLNAME:-nputools} <${DEBEMAIL:-nputools@nputools.invalid}>"
	[ "$(dpkg-deb -f "$deb" Maintainer)" = "$want" ]
	grep -qF -- " -- $want  " <<<"$changelog"
}

@test "the package depends on the libraries that its programs use" {
	dpkg-deb -f "$deb" Depends | grep -q 'libc6 (>= '
	if readelf -d "$NPUTOOLS_BUILD/dynamic/bin/mkinput" | grep -q libsndfile; then
		dpkg-deb -f "$deb" Depends | grep -q libsndfile
	fi
	dpkg-deb -f "$deb" Version | grep -qx "$("$BIN/npucc" --version | sed 's/.* //')"
}
