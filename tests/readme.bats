# SPDX-License-Identifier: Apache-2.0
# README's session, typed as it stands there.

load lib/common

# commands of README's console block, each with what it printed behind it, as they
# stand there; a command goes on behind a backslash
session()
{
	local line command transcript=$PWD/session
	: >"$transcript"
	while IFS= read -r line; do
		[ "${line#'$ '}" != "$line" ] || continue
		command=${line#'$ '}
		printf '\n%s\n' "$line" >>"$transcript"
		while [ "${command%\\}" != "$command" ] && IFS= read -r line; do
			command=${command%\\}$line
			printf '%s\n' "$line" >>"$transcript"
		done
		# in this shell: it changes directory and PATH
		eval "$command" >>"$transcript" 2>&1 </dev/null ||
			echo "status $?" >>"$transcript"
	done
}

# blank lines in front of commands are for the eye
without_gaps()
{
	awk '/^$/ { n++; next } !/^\$ / { for (; n; n--) print "" } { n = 0; print }' "$1"
}

@test "README's session prints what README says" {
	sed -n '/^```console$/,/^```$/{/^```/d;p;}' "$TOP/README.md" >readme
	[ "$(grep -c '^\$ ' readme)" -gt 15 ]
	ln -s "$TOP/tests" tests
	mkdir build
	ln -s "$BIN" build/bin
	here=$PWD
	session <readme
	cd "$here"
	diff -u <(without_gaps readme) <(without_gaps session)
}

@test "README's session has every program but those that it names below" {
	sed -n '/^```console$/,/^```$/p' "$TOP/README.md" >readme
	for p in $(programs); do
		case $p in
		tosa-partition | npu-vela) grep -qF "\`$p\`" "$TOP/README.md" ;;
		*) grep -qw -- "$p" readme ;;
		esac || { echo "$p"; false; }
	done
}
