#!/usr/bin/env bats
# The tree's knowledge of itself: what comments and pages refer to is there.
bats_require_minimum_version 1.5.0

load lib/common

@test "comments and pages refer to pages, sections and files that exist" {
	"$TOP/scripts/check-pages" "$TOP"
}

# finds TEXT: check-pages complains of the tree here, and says TEXT
finds() {
	run "$TOP/scripts/check-pages" "$PWD"
	[ "$status" = 1 ]
	[[ $output = *"$1"* ]] || { echo "$output"; false; }
}

@test "scripts/check-pages finds each of them that does not" {
	mkdir -p libcommon/sim tools schema scripts tests man
	printf '.Sh 6. ARITHMETIC\n.Ss 6.2 Scale\n' >man/ethosu-commands.7
	printf '.Sh RULES\n' >man/npu-dis.1
	code=libcommon/sim/a.c
	head='/* ethosu-commands(7) 6 and 6.2; npu-dis(1), RULES; tests/ */'
	printf '%s\nint a; /* scaled (6.2) */\n' "$head" >$code
	"$TOP/scripts/check-pages" "$PWD"

	printf '%s\n/* as ethosu-commands(7)\n * 6.3 says */\n' "$head" >$code
	finds "no section 6.3 in ethosu-commands(7)"
	printf '%s\n/* scaled (7.1) */\n' "$head" >$code
	finds "section 7.1 of which page?"
	printf '%s\n/* section 8 */\n' "$head" >$code
	finds "section 8 of which page?"
	printf '/* npu-dis(1), FINDINGS */\n' >$code
	finds "no FINDINGS in npu-dis(1)"
	printf '/* npu-perf(1) */\n' >$code
	finds "no npu-perf(1)"
	printf '/* as libcommon/sim/b.c */\n' >$code
	finds "no libcommon/sim/b.c"
	printf '/* operators.md 3.1 */\n' >$code
	finds "a page that is not here"
	printf '%s\n' "$head" >$code
	printf '.Xr ethosu-commands 7 ,\nsection 9.9\n' >>man/npu-dis.1
	finds "man/npu-dis.1: there is no section 9.9 in ethosu-commands(7)"
}

@test "headings of headers are where their functions are" {
	"$TOP/scripts/check-headers" "$TOP"
}

@test "scripts/check-headers finds those that are elsewhere, and nowhere" {
	mkdir -p libcommon/sim tools tests schema
	printf 'int\nf(void)\n{\n\treturn 1;\n}\n' >libcommon/sim/a.c
	printf 'int\ng(void)\n{\n\treturn f();\n}\n' >libcommon/sim/b.c
	printf '/* ---- a.c ---- */\nint f(void);\n' >libcommon/sim/sim.h
	"$TOP/scripts/check-headers" "$PWD"

	printf '/* b.c: a function */\nint f(void);\n' >libcommon/sim/sim.h
	run "$TOP/scripts/check-headers" "$PWD"
	[ "$status" = 1 ] && [[ $output = *"f is in a.c"*"not in b.c"* ]]
	printf '/* ---- a.c ---- */\n/* ---- others ---- */\nint g(void);\n' \
		>libcommon/sim/sim.h
	"$TOP/scripts/check-headers" "$PWD"
	run "$TOP/scripts/check-headers" -u "$PWD"
	[ "$status" = 1 ] && [[ $output = *"nobody calls g"* ]]
	printf 'int f(void);\nint h(void); /* f, h: h() */\n' >libcommon/sim/sim.h
	run "$TOP/scripts/check-headers" "$PWD"
	[ "$status" = 1 ] && [[ $output = *"h is nowhere in libcommon/sim"* ]]
}
