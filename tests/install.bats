# SPDX-License-Identifier: Apache-2.0
# make install: all files are in their place, and the programs work from there.

load lib/common

@test "installed programs, pages and rules work, and uninstall removes all files" {
	make -s -C "$TOP" B="${NPUTOOLS_BUILD:-build}" DESTDIR="$PWD/root" \
		PREFIX=/usr install >log
	for p in $(programs); do
		[ -x "root/usr/bin/$p" ]
		[ -e "root/usr/share/man/man1/$p.1" ]
	done
	[ -e root/usr/share/man/man5/nputools-graph.5 ]
	[ -e root/usr/share/man/man7/nputools.7 ]
	[ -e root/usr/share/nputools/npu.mk ]
	cmp root/usr/share/nputools/LICENSE "$TOP/LICENSE"
	for f in "$TOP"/scripts/examples/*; do
		cmp "$f" "root/usr/share/nputools/examples/${f##*/}"
	done
	root/usr/bin/npucc -a ethos-u55-64 --memory-mode=Shared_Sram \
		--system-config=Ethos_U55_High_End_Embedded -o x.h \
		"$TOP/tests/models/digits.tflite"
	[ -s x.h ]
	cmp root/usr/include/nputools.h "$TOP/tools/libnputools/nputools.h"
	[ -e root/usr/share/man/man3/nputools.3 ]
	[ "$(readlink root/usr/lib/libnputools.so)" = libnputools.so.1 ]
	[ -s root/usr/lib/libnputools.so.1 ] && [ -s root/usr/lib/libnputools.a ]
	make -s -C "$TOP" DESTDIR="$PWD/root" PREFIX=/usr uninstall
	[ -z "$(find root ! -type d)" ]
}

# machine STATUS: bin/dpkg-query reports STATUS for every package; apt-get and sudo only
# record their arguments
machine()
{
	mkdir -p bin
	# the names follow -W -f FORMAT
	printf '%s\n' '#!/bin/sh' 'shift 3' 'for p; do' "	echo \"$1 \$p\"" 'done' \
		>bin/dpkg-query
	for p in apt-get sudo; do
		printf '%s\n' '#!/bin/sh' "echo \"$p \$*\" >>called" 'exit 9' >"bin/$p"
	done
	chmod +x bin/*
}

@test "install-deps does nothing and needs no network if all packages are installed" {
	machine installed
	PATH=$PWD/bin:$PATH "$TOP/scripts/install-deps" >out 2>&1
	[ ! -s out ]
	[ ! -e called ]
}

@test "install-deps installs missing packages, and fails if one cannot be installed" {
	machine config-files
	printf '%s\n' '#!/bin/sh' 'echo "apt-get $*" >>called' \
		'seq 200; echo "no such package"; exit 9' >bin/apt-get
	printf '%s\n' '#!/bin/sh' 'exec "$@"' >bin/sudo
	export INSTALL_LOG=$PWD/logs/install
	run env PATH="$PWD/bin:$PATH" "$TOP/scripts/install-deps"
	[ "$status" -ne 0 ]
	grep -q 'install .*libxxhash-dev' called
	# one line says which packages, one says why not; the rest is in the file
	echo "$output"
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} = "installing "*libxxhash-dev*"(log: $INSTALL_LOG)" ]]
	[[ ${lines[1]} = "install-deps: could not install "*": no such package" ]]
	[ "$(wc -l <logs/install)" -gt 400 ]
}

@test "make demo installs what building needs, and no tool of the tests" {
	machine config-files
	printf '%s\n' '#!/bin/sh' 'exec "$@"' >bin/sudo
	printf '%s\n' '#!/bin/sh' 'echo "apt-get $*" >>called' >bin/apt-get
	export INSTALL_LOG=$PWD/logs/install
	# the packages that "make demo" asks for: its own command, as make prints it
	run env -u MAKEFLAGS make -n -C "$TOP" demo
	[ "$status" = 0 ]
	local command
	command=$(grep -o 'scripts/install-deps.*' <<<"$output")
	[ "$command" = "scripts/install-deps --demo" ]
	grep -q -- ' -j[0-9]* demo-run' <<<"$output"
	env PATH="$PWD/bin:$PATH" "$TOP/scripts/install-deps" --demo
	tr ' ' '\n' <called | sort -u >demo
	local p
	for p in gcc make libxxhash-dev; do
		grep -qx "$p" demo
	done
	for p in valgrind clang clang-tidy cppcheck shellcheck bats gcc-arm-none-eabi jq mandoc; do
		run ! grep -qx "$p" demo
	done
	# make check installs these, too
	rm called
	env PATH="$PWD/bin:$PATH" "$TOP/scripts/install-deps"
	tr ' ' '\n' <called | sort -u >check
	for p in valgrind clang-tidy cppcheck bats jq mandoc groff-base; do
		grep -qx "$p" check
	done
	[ -z "$(comm -23 demo check)" ]
}

@test "STATIC=1 makes programs without shared libraries" {
	need gcc file
	[ -e "$(gcc -print-file-name=libxxhash.a)" ] || skip "no libxxhash.a"
	[[ $BIN != *asan* ]] || skip "sanitizers are shared libraries"
	local b=$PWD/static build=${NPUTOOLS_BUILD:-$TOP/build}
	# the library's objects are the same for both kinds of programs
	mkdir "$b"
	cp -a "$build/libcommon" "$build/libcommon.a" "$b/"
	env -u MAKEFLAGS make -s -C "$TOP" B="$b" STATIC=1 WERROR= CFLAGS=-O0 FAST_CFLAGS= \
		"$b/bin/tfl-quantcheck" "$b/bin/mkinput"
	file "$b/bin/tfl-quantcheck" | grep -qE 'static(ally|-pie) linked'
	file "$b/bin/mkinput" | grep -qE 'static(ally|-pie) linked'
	"$b/bin/tfl-quantcheck" -q "$TOP/tests/models/digits.tflite"
	# the results of pkg-config are updated in the same directory
	make -s -C "$TOP" B="$b" STATIC=1 PKG_CONFIG=false WERROR= CFLAGS=-O0 FAST_CFLAGS= \
		"$b/bin/mkinput"
	! grep -q HAVE_LIBPNG "$b/found" || false
}

@test "programs are linked with a static libc if possible, except those with other libraries" {
	need gcc pkg-config
	printf '%s\n' '#!/bin/sh' 'case " $* " in *" -static"*) exit 1 ;; esac' \
		'exec gcc "$@"' >shared-only
	chmod +x shared-only
	linked()
	{
		# a sanitized suite has its own flags in the environment
		env -u CFLAGS -u LDFLAGS make -n -C "$TOP" B="$PWD/b" V=1 "$@" \
			"$PWD/b/bin/tfl2c" | grep -- '-o .*/bin/tfl2c'
	}
	linked CC=gcc | grep -q -- ' -static-pie '
	linked CC=gcc HARDEN= | grep -q -- ' -static '
	linked CC=gcc STATIC=0 >shared
	linked CC="$PWD/shared-only" >>shared
	linked CC=gcc CFLAGS='-O1 -fsanitize=address' >>shared
	[ "$(grep -c -- '-o ' shared)" = 3 ]
	! grep -e ' -static' shared || false
	pkg-config --exists libpng || skip "no libpng"
	env -u CFLAGS -u LDFLAGS make -n -C "$TOP" B="$PWD/b" V=1 CC=gcc \
		"$PWD/b/bin/mkinput" >commands
	! grep -e ' -static.*-o .*/bin/mkinput' commands || false
}

@test "argp-standalone and STATIC=1 work with any flags on the command line" {
	# a libc without argp: pkg-config names the library
	mkdir argp
	printf '%s\n' 'Name: argp-standalone' 'Description: argp' 'Version: 1' \
		'Libs: -L/nowhere/lib' 'Cflags: -I/nowhere/include' >argp/argp-standalone.pc
	PKG_CONFIG_LIBDIR=$PWD/argp make -n -C "$TOP" B="$PWD/b" CPPFLAGS=-DMINE LDFLAGS=-Lours \
		V=1 "$PWD/b/bin/tfl2c" >commands
	grep -q -- '-DMINE *-I/nowhere/include .*-c -o .*tfl2c/main.o' commands
	grep -q -- '-Lours .*-o .*bin/tfl2c .*-L/nowhere/lib' commands
	make -n -C "$TOP" B="$PWD/b" STATIC=1 PKG_CONFIG=false LDFLAGS=-Lours V=1 \
		"$PWD/b/bin/tfl2c" >commands
	grep -q -- '-Lours -static-pie *-o .*bin/tfl2c' commands
}

@test "the tree's own argp is built where the C library has none" {
	printf '%s\n' '#!/bin/sh' 'case "$*" in *"-include argp.h"*) exit 1 ;; esac' 'exec gcc "$@"' >cc
	chmod +x cc
	make -n -C "$TOP" B="$PWD/b" CC="$PWD/cc" PKG_CONFIG=false CPPFLAGS=-DMINE V=1 \
		"$PWD/b/bin/tfl2c" >commands
	grep -q -- '-DMINE -Ilibcommon/base/argp .*-c -o .*tfl2c/main.o' commands
	grep -q -- '-c -o .*/libcommon/base/argp/help.o' commands
	make -n -C "$TOP" B="$PWD/b" PKG_CONFIG=false V=1 "$PWD/b/bin/tfl2c" >commands
	run grep -c base/argp commands
	[ "$output" = 0 ]
}

@test "make dist makes the same archive of the committed files each time" {
	git -C "$TOP" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "no git checkout"
	mkdir a b
	for d in a b; do
		make -s -C "$TOP" DIST="$PWD/$d" dist 2>log
	done
	cmp a/*.tar.gz b/*.tar.gz
	version=$(npucc --version | sed 's/.* //')
	tar -xzf a/nputools-"$version".tar.gz
	grep -q "^VERSION := $version\$" "nputools-$version/Makefile"
	grep -q "1.0.0, 26 November 2026" "nputools-$version/man/nputools-news.7"
}
