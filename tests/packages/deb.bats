# SPDX-License-Identifier: Apache-2.0
# make deb: the packages are checked by lintian, installed and removed.

load ../lib/common

dir=${NPUTOOLS_DEB-} # of the packages
deb=$(echo "$dir"/nputools_*.deb)
lib=$(echo "$dir"/libnputools1_*.deb)
dev=$(echo "$dir"/libnputools-dev_*.deb)
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

# dpkg in a directory that it takes for a system, as a real system needs a network
in_root()
{
	dpkg --root="$PWD/root" --force-depends --force-not-root \
		--force-script-chrootless --log="$PWD/log" "$@" >out 2>&1 ||
		{ cat out; return 1; }
}

make_root()
{
	mkdir -p root/var/lib/dpkg/{updates,info}
	: >root/var/lib/dpkg/status
	: >root/var/lib/dpkg/available
}

@test "lintian accepts the packages" {
	need lintian
	lintian --fail-on error,warning --allow-root "$deb" "$lib" "$dev"
}

@test "the package can be installed by dpkg --root and removed, and its programs work" {
	make_root
	in_root -i "$deb"
	in_root -s nputools
	grep -q '^Status: install ok installed' out
	m=$TOP/tests/models/digits.tflite
	npucc -a ethos-u55-128 "${memory[@]}" -o want.h "$m"
	root/usr/bin/npucc -a ethos-u55-128 "${memory[@]}" --check -o x.h "$m"
	cmp want.h x.h
	for p in $(programs); do
		root/usr/bin/"$p" --version
		[ -e "root/usr/share/man/man1/$p.1.gz" ]
	done
	in_root -r nputools
	[ -z "$(find root/usr root/etc -type f 2>/dev/null)" ]
}

@test "a program is built with libnputools-dev, and runs with libnputools1" {
	need g++ pkg-config
	make_root
	in_root -i "$lib" "$dev"
	[ -s root/usr/share/man/man3/nputools.3.gz ]
	local libdir
	libdir=$(echo root/usr/lib/*/pkgconfig)
	export PKG_CONFIG_LIBDIR=$PWD/$libdir PKG_CONFIG_SYSROOT_DIR=$PWD/root
	# shellcheck disable=SC2046 # pkg-config prints several words
	g++ -std=c++17 -o embed "$TOP/tests/embed/embed.cc" \
		$(pkg-config --cflags --libs libnputools)
	cp "$TOP/tests/models/digits.tflite" model.tflite
	# the library's package alone is enough to run the program
	in_root -r libnputools-dev
	[ ! -e root/usr/include/nputools.h ]
	LD_LIBRARY_PATH=${libdir%/*} ./embed model.tflite himax-we2 >made 2>notes
	npucc --part=himax-we2 -o want.tflite model.tflite 2>notes
	cmp want.tflite made
	in_root -r libnputools1
	[ -z "$(find root/usr ! -type d 2>/dev/null)" ]
}

@test "the three packages have no file in common, and the version of the programs" {
	for f in "$deb" "$lib" "$dev"; do
		dpkg-deb -f "$f" Version
		dpkg-deb --fsys-tarfile "$f" | tar -t | grep -v '/$' >>files
	done >versions
	[ "$(sort -u versions)" = "$("$BIN/npucc" --version | sed 's/.* //')" ]
	[ -z "$(sort files | uniq -d)" ]
	dpkg-deb -f "$dev" Depends | grep -qx "libnputools1 (= $(head -n 1 versions))"
	dpkg-deb -I "$lib" shlibs | grep -q '^libnputools 1 libnputools1 '
	dpkg-deb -f "$lib" Depends | grep -q 'libc6 (>= '
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
}
