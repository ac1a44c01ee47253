# SPDX-License-Identifier: Apache-2.0
# The sessions of the README and of nputools-tour(7), typed as they stand there.

load lib/common

# Runs the commands that standard input shows behind "$ ", and writes each command and
# its output to the file session.  A command
# goes on behind a backslash, a bar and "&&".
session()
{
	local line command transcript=$PWD/session
	: >"$transcript"
	while IFS= read -r line; do
		[ "${line#'$ '}" != "$line" ] || continue
		command=${line#'$ '}
		printf '\n%s\n' "$line" >>"$transcript"
		while [[ $command =~ (\\|\||&&)$ ]] && IFS= read -r line; do
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

# the listings of nputools-tour(7), one after the other, as a reader sees them
tour()
{
	sed -n '/^\.Bd -literal$/,/^\.Ed$/{/^\.[BE]d/d; s/^\\&//; s/\\e/\\/g; p;}' \
		"$TOP/man/nputools-tour.7"
}

@test "the session of nputools-tour(7) prints what the page shows" {
	tour >page
	[ "$(grep -c '^\$ ' page)" -gt 15 ]
	ln -s "$TOP/tests" tests
	mkdir build
	ln -s "$BIN" build/bin
	here=$PWD
	session <page
	cd "$here"
	diff -u <(without_gaps page) <(without_gaps session)
}

@test "the session of nputools-tour(7) shows every program, or names it below" {
	tour >page
	for p in $(programs); do
		case $p in
		tosa-partition | npu-vela | npucc | npu-run | npu-share | tfl-quantize) grep -q "^\.Xr $p 1" "$TOP/man/nputools-tour.7" ;;
		*) grep -qw -- "$p" page ;;
		esac || { echo "$p"; false; }
	done
}

@test "make demo ends with the first result of the README" {
	mkdir build
	ln -s "$BIN" build/bin
	"$TOP/scripts/demo" "$PWD/build" >said
	# without the commands, whose files have other names
	sed -n '/^digits_npu.tflite for /,/^\$ npu-sim/p' "$TOP/README.md" | sed '$d' >want
	[ "$(wc -l <want)" -gt 12 ]
	sed -n '/^digits_npu.tflite for /,/^$/p' said | sed '$d' | diff want -
	[ -s build/demo/digits.html ]
	grep -qx 'equal: .*' said
	grep -q '^a 7, with probability ' said
	sed -n '$p' said | grep -q '^Everything is in '
}

@test "the README leads to build systems of firmware and to the interfaces of Python and C" {
	sed -n '/^## Where to go next/,$p' "$TOP/README.md" >table
	grep 'make, CMake or Zephyr.*scripts/npu.mk.*nputools-packages(7)' table
	grep 'Python or C .*nputools-packages(7), nputools(3)' table
	# the page has a part for each
	for word in make CMake Zephyr; do
		grep -qx "\.It $word" "$TOP/man/nputools-packages.7"
	done
}

@test "the README is a landing page: at most 120 lines, and its commands print what it shows" {
	[ "$(wc -l <"$TOP/README.md")" -le 120 ]
	sed -n '/^```console$/,/^```$/{/^```/d;p;}' "$TOP/README.md" >readme
	# the tree after make demo: the session needs no other file
	ln -s "$TOP/tests" tests
	mkdir -p build/demo
	ln -s "$BIN" build/bin
	here=$PWD
	{ session <readme; } 2>&1
	[ -s build/digits.html ] && [ -s build/digits.h ]
	cd "$here"
	diff <(grep -v '^npu-sched: profile' readme) \
		<(sed '1{/^$/d;}' session | grep -v '^npu-sched: profile' | without_gaps /dev/stdin)
	# the picture is there
	[ -s "$TOP/$(sed -n 's/^!\[.*](\(.*\))$/\1/p' "$TOP/README.md")" ]
}
