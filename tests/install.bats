# SPDX-License-Identifier: Apache-2.0
# make install: everything in its place, and it works from there.

load lib/common

@test "installed programs, pages and rules work; uninstall leaves nothing" {
	make -s -C "$TOP" B="${NPUTOOLS_BUILD:-build}" DESTDIR="$PWD/root" \
		PREFIX=/usr install >log
	for p in $(programs) npucc npu-sweep; do
		[ -x "root/usr/bin/$p" ]
		[ -e "root/usr/share/man/man1/$p.1" ]
	done
	[ -e root/usr/share/man/man5/nputools-graph.5 ]
	[ -e root/usr/share/man/man7/nputools.7 ]
	[ -e root/usr/share/nputools/npu.mk ]
	root/usr/bin/npucc -a ethos-u55-64 --memory-mode=Shared_Sram \
		--system-config=Ethos_U55_High_End_Embedded -o x.h \
		"$TOP/tests/models/digits.tflite"
	[ -s x.h ]
	make -s -C "$TOP" DESTDIR="$PWD/root" PREFIX=/usr uninstall
	[ -z "$(find root -type f)" ]
}

@test "install-deps has nothing to do and needs no network where all is there" {
	# install-deps only knows how to ask dpkg
	command -v dpkg-query >/dev/null || skip "no dpkg"
	# as long as an earlier run installed them; else this is no test of it
	run dpkg-query -W -f '${db:Status-Status}\n' gcc make libxxhash-dev bats
	[ "$status" = 0 ] || skip "packages not from dpkg"
	mkdir bin
	for p in apt-get sudo; do
		printf '%s\n' '#!/bin/sh' "echo $p called >&2" 'exit 9' >"bin/$p"
		chmod +x "bin/$p"
	done
	out=$(PATH=$PWD/bin:$PATH "$TOP/scripts/install-deps" 2>&1) || {
		[[ $out == *called* ]] && skip "packages are missing here"
		false
	}
	[ -z "$out" ] || skip "packages are missing here: $out"
}
