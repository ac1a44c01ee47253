#!/usr/bin/env bats
# The programs are hardened: nputools-security(7), BINARIES.
bats_require_minimum_version 1.5.0

load lib/common

B=${NPUTOOLS_BUILD:-$TOP/build}

@test "programs, libraries and objects are hardened" {
	need readelf
	case $B in *san* | *O0*) skip "this build has no hardening" ;; esac
	check-hardening "$B"/bin/* "$B"/dynamic/bin/* "$B"/lib/*.so.* "$B/libcommon.a"
}

# finds TEXT FILE: check-hardening complains of FILE with TEXT alone
finds()
{
	run check-hardening "$2"
	[ "$status" = 1 ]
	[ "$output" = "$2: $1" ] || { echo "$output"; false; }
}

@test "scripts/check-hardening finds each fault" {
	need gcc readelf
	echo 'int main(void) { return 0; }' >a.c
	good=(-fcf-protection -pie -fPIE '-Wl,-z,relro,-z,now,-z,noexecstack')
	case $(uname -m) in x86_64) ;; *) skip "the flags are those of x86-64" ;; esac
	gcc "${good[@]}" -o good a.c
	check-hardening good
	gcc "${good[@]}" -no-pie -o fixed a.c
	finds "not position-independent (PIE)" fixed
	gcc "${good[@]}" -Wl,-z,norelro -o norelro a.c
	finds "tables of addresses stay writable (RELRO)" norelro
	gcc "${good[@]}" -Wl,-z,lazy -o lazy a.c
	finds "symbols are not bound at the start" lazy
	gcc "${good[@]}" -Wl,-z,execstack -o execstack a.c
	finds "the stack is executable" execstack
	cp good setuid
	chmod u+s setuid
	finds "setuid or setgid" setuid

	printf '#include <stdio.h>\n%s\n' 'void g(char *); void f(int n) {
		char b[40]; snprintf(b, sizeof(b), "%d", n); g(b); }' >f.c
	objects=(-fstack-protector-strong -O2 -U_FORTIFY_SOURCE)
	object -D_FORTIFY_SOURCE=2 -fcf-protection
	check-hardening f.a
	object -D_FORTIFY_SOURCE=2 -fcf-protection=none
	finds "objects without protection of jumps and returns (CET or BTI)" f.a
	object -fcf-protection
	finds "no function of libc is fortified" f.a
	object -D_FORTIFY_SOURCE=2 -fcf-protection -fno-stack-protector
	finds "no function has a stack protector" f.a
}

# object FLAG...: f.c as the only object of f.a
object()
{
	gcc "${objects[@]}" "$@" -c f.c -o f.o
	rm -f f.a
	ar rc f.a f.o
}
