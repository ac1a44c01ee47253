# SPDX-License-Identifier: Apache-2.0
# Rules for every program, checked for all programs.

load lib/common

@test "--help prints the usage and the options" {
	for p in $(programs); do
		"$p" --help >out 2>err || { echo "$p: status $?"; false; }
		[ ! -s err ] || { echo "$p: standard error"; cat err; false; }
		grep -q "^Usage: $p" out || { echo "$p: no usage"; false; }
		grep -q -- '--version' out || { echo "$p: --version"; false; }
	done
}

@test "--usage prints the usage" {
	for p in $(programs); do
		"$p" --usage >out
		grep -q "^Usage: $p" out || { echo "$p"; false; }
	done
}

@test "--version prints the program, the kit and the version" {
	version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
	for p in $(programs); do
		[ "$("$p" --version)" = "$p (nputools) $version" ] ||
			{ echo "$p: $("$p" --version)"; false; }
	done
}

@test "every program has a manual page without lint" {
	need mandoc
	for p in $(programs); do
		[ -e "$TOP/man/$p.1" ] || { echo "no man/$p.1"; false; }
	done
	for f in "$TOP"/man/*; do
		mandoc -Tlint -Wwarning "$f" >lint || { cat lint; false; }
	done
}

@test "every manual page has the exit statuses and an example" {
	for f in "$TOP"/man/*.1; do
		grep -qE '^\.Sh EXIT STATUS' "$f" || { echo "$f: exit"; false; }
		grep -q '^\.Sh EXAMPLES' "$f" || { echo "$f: example"; false; }
	done
}

@test "every option of --help is in the manual page" {
	need mandoc
	for p in $(programs); do
		page=$(mandoc -Tutf8 "$TOP/man/$p.1" | sed "s,.\x08,,g")
		for o in $("$p" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' |
			grep -oE -- '--[a-z0-9-]+'); do
			case $o in --help | --usage | --version) continue ;; esac
			grep -qF -- "$o" <<<"$page" ||
				{ echo "$p: $o is not in man/$p.1"; false; }
		done
	done
}

@test "an unknown option is a usage error" {
	for p in $(programs); do
		refuses 2 "unrecognized option '--no-such-option'" \
			"$p" --no-such-option
	done
}

@test "the message names an input that does not exist" {
	for p in $(programs); do
		status=0
		case $p in
		npu-sched) args=(-a ethos-u55-128 --system-config
			RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram) ;;
		npucc) args=(-o x.h) ;;
		npu-eval) args=(./no-such-file) ;;
		*) args=() ;;
		esac
		"$p" "${args[@]}" ./no-such-file >out 2>err </dev/null || status=$?
		[ $status = 2 ] || { echo "$p: status $status"; cat err; false; }
		grep -q no-such-file err || { echo "$p:"; cat err; false; }
		[ "$(wc -l <err)" = 1 ] || { echo "$p: lines"; cat err; false; }
	done
}

@test "a full disk is an error" {
	[ -c /dev/full ] || skip "no /dev/full"
	for p in $(programs); do
		for o in --help --usage --version; do
			status=0
			"$p" $o >/dev/full 2>err || status=$?
			[ $status = 2 ] ||
				{ echo "$p $o: status $status"; cat err; false; }
			grep -q "^$p: standard output: error: No space left" err ||
				{ echo "$p $o:"; cat err; false; }
			[ "$(wc -l <err)" = 1 ]
		done
	done
	# output that is written before the end of a run, and by a run that fails then
	status=0
	npu-sim --trace "$TOP/tests/models/digits-ethos-u55-128.tflite" >/dev/full 2>err || status=$?
	[ $status = 2 ]
	[ "$(<err)" = "npu-sim: standard output: error: No space left on device" ]
}

@test "without memory, a program prints one line with its name and exits with status 2" {
	(ulimit -v 60000 && npu-sim --version) || skip "sanitizers need more"
	# enough memory for the program, but not for its input
	truncate -s 100000000 big
	for p in $(programs); do
		args=()
		case $p in
		npucc) continue ;; # npucc does not read the input itself
		mkinput) args=(--random=1) ;;
		npu-eval) args=(big) ;;
		npu-sched) args=(-a ethos-u55-128 --system-config
			RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram) ;;
		esac
		status=0
		(ulimit -v 60000 && exec "$p" "${args[@]}" big) >out 2>err ||
			status=$?
		[ $status = 2 ] || { echo "$p: status $status"; cat err; false; }
		[ "$(cat err)" = "$p: error: out of memory" ] || { cat err; false; }
	done
}

@test "an output that is a link or an open file stays a link or an open file" {
	mkdir real
	ln -s real/rules link
	tfl-quantcheck --rules -o link
	[ -L link ]
	for name in /dev/stdout /dev/fd/1; do
		{ echo first; tfl-quantcheck --rules -o $name; echo last; } >out
		[ -L /dev/stdout ]
		{ echo first; cat real/rules; echo last; } | cmp - out
	done
	{ echo first >&2; tfl-quantcheck --rules -o /dev/stderr; } 2>out
	{ echo first; cat real/rules; } | cmp - out
	if [ -w /dev/shm ]; then
		local shm
		shm=$(mktemp -d /dev/shm/nputools.XXXXXX)
		head -c 100000 /dev/zero >"$shm/old"
		ln -s old "$shm/link"
		tfl-quantcheck --rules -o "$shm/link"
		cmp real/rules "$shm/old"
		rm -r "$shm"
	fi
	# an output is complete or absent
	ln -s nothing dangling
	status=0
	(ulimit -f 1 && trap '' XFSZ && tfl-quantcheck --rules -o dangling) 2>err || status=$?
	[ $status = 2 ]
	[ ! -e nothing ]
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" .
	ln -s real/digits.part digits.part
	npucc -o digits.part digits.tflite
	[ -L digits.part ]
	[ "$(tail -1 real/digits.part)" = eof ]
	[ "$(find real -type f | wc -l)" = 2 ]
	ln -s nodir/x.part nowhere.part
	refuses 2 "nowhere.part: error: the link points to a directory that does not exist" npucc -o nowhere.part digits.tflite
	mkdir dir.part
	refuses 2 "dir.part: error: is a directory" npucc -o dir.part digits.tflite
	[ -z "$(ls dir.part)" ]
}

# together COMMAND...: the command fails, as one of two outputs cannot be written; no file
# has changed
together()
{
	local before
	echo old >first
	before=$(ls -A)
	refuses 2 nodir "$@"
	rm refuses.*
	[ "$(ls -A)" = "$before" ] || { ls -A; return 1; }
	[ "$(cat first)" = old ]
}

@test "two outputs appear together or not at all" {
	local model=$BATS_TEST_DIRNAME/models/digits.tflite
	local target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
		--memory-mode Shared_Sram)
	npucc "${target[@]}" -o m.tflite "$model"
	npucc "${target[@]}" -o m.sched "$model"
	together tfl2c -n m --resolver=first -o nodir/m.h m.tflite
	together tfl2c -n m --resolver=nodir/r.h -o first m.tflite
	together mkinput --random 1 --expected=nodir/e.h -o first "$model"
	together mkinput --random 1 --expected=first -o nodir/i.h "$model"
	together npu-wenc --blob=first -o nodir/m.wenc m.sched
	together npu-wenc --blob=nodir/blob -o first m.sched
	if [ -c /dev/full ]; then
		refuses 2 "No space left" npu-wenc --blob=first -o /dev/full m.sched
		[ "$(cat first)" = old ]
	fi
	# the first tensor can be written, the output cannot: its name is a directory
	mkdir -p dump/output_0.npy
	refuses 2 output_0.npy npu-sim -o dump --dump=dump m.tflite
	[ "$(ls -A dump)" = output_0.npy ]
	npu-sim -o new --dump=new m.tflite
	[ -e new/output_0.npy ]
}

@test "a file larger than the system's limit is an error like a full disk" {
	local model=$BATS_TEST_DIRNAME/models/digits.tflite status=0
	(
		ulimit -f 1 # KiB
		exec npucc -a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM \
			--memory-mode Shared_Sram -o m.tflite "$model"
	) >out 2>err || status=$?
	cat err
	[ "$status" = 2 ]
	grep -q 'File too large$' err
	[ "$(ls)" = $'err\nout' ]
	(
		ulimit -f 1
		refuses 2 'm.part: error: File too large' tfl-partition -o m.part "$model"
	)
	[ ! -e m.part ]
}

@test "include lines follow the layers, and the tree contains no path of a machine" {
	"$TOP/scripts/check-tree" "$TOP"
}

@test "nputools-graph(5) names every record and key of the schema" {
	page=$TOP/man/nputools-graph.5
	while read -r keyword; do
		grep -qE "^\.Ss $keyword " "$page" || { echo "$keyword"; false; }
	done < <(sed -n 's/^RECORD([A-Z]*, "\([a-z]*\)".*/\1/p' \
		"$TOP/schema/graph.def")
	while read -r record key; do
		sed -n "/^\.Ss $record /,/^\.Ss/p" "$page" |
			grep -qE "^\.It Cm (.* )?$key( |\$)" ||
			{ echo "$record: $key"; false; }
	done < <(awk -F'"' '
		/^RECORD/ { record = $2 }
		/^\tKEY/ { print record, $2 }' "$TOP/schema/graph.def")
}

@test "nputools-ops(7) names every operator with a lowering" {
	n=0
	while read -r op; do
		grep -qE "^\.It Cm (.* )?$op( |\$)" "$TOP/man/nputools-ops.7" ||
			{ echo "$op"; false; }
		n=$((n + 1))
	done < <(operators '$6 != "none"')
	[ "$n" -gt 50 ]
}

# page_types: prints "OPERATOR TYPE..." for the operators of nputools-ops(7) that name types
page_types()
{
	sed -n 's/^\.It Cm \(.*([^)]*)\).*/\1/p' "$TOP/man/nputools-ops.7" |
		sed 's/) , Cm /)\n/g' | awk -F' No ' '{
			sub(/;.*/, "", $2)
			gsub(/[()]/, "", $2)
			n = split($2, type, ", *")
			types = ""
			for (i = 1; i <= n; i++)
				if (type[i] !~ / to /)
					types = types " " type[i]
			m = split($1, name, " , ")
			for (i = 1; i <= m; i++)
				all[name[i]] = all[name[i]] types
		} END { for (k in all) print k all[k] }' | sort
}

# table_types: the same for the rows of schema/operators.def, in the words of the page
table_types()
{
	sed -n 's/^OPERATOR(\(.*\))$/\1/p' "$TOP/schema/operators.def" | awk -F', ' '
		$6 != "none" {
			t = " " $8 " "
			gsub(/ \| /, " ", t)
			sub(/ FM /, " 8 16 ", t)
			sub(/ I8 U8 /, " 8 ", t)
			sub(/ I8 /, " int8 ", t)
			sub(/ I16 /, " int16 ", t)
			sub(/ I32 /, " 32 ", t)
			sub(/ I64 /, " int64 ", t)
			sub(/ BOOL /, " bool ", t)
			sub(/ $/, "", t)
			print $1 t
		}' | sort
}

@test "nputools-ops(7) names the types that checks take" {
	page_types | grep -v 'VAR_HANDLE\|CALL_ONCE' >page
	[ "$(wc -l <page)" -gt 50 ]
	table_types >table
	run grep -vxFf table page
	[ "$output" = "" ] || { echo "$output"; false; }
}

@test "npu-sched(1) names every accelerator" {
	sed -n 's/^ACCEL(.*"\(ethos-u[0-9-]*\)".*/\1/p' "$TOP/schema/target.def" >names
	[ "$(wc -l <names)" -ge 11 ]
	while read -r name; do
		grep -qE "^\.Cm (.* )?$name( |\$)" "$TOP/man/npu-sched.1" ||
			{ echo "$name"; false; }
	done <names
}

@test "manual pages refer to pages that exist" {
	for f in "$TOP"/man/*; do
		while read -r name section; do
			[ -e "$TOP/man/$name.$section" ] ||
				[[ $name = @(make|fsync|jq|xargs) ]] ||
				{ echo "$f: $name($section)"; false; }
		done < <(sed -n 's/^\.Xr \([^ ]*\) \([0-9]\).*/\1 \2/p' "$f")
	done
}

@test "an output that is the input is refused, under any name" {
	local p name
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" model.tflite
	cp model.tflite kept
	ln -s model.tflite link.tflite
	ln model.tflite other.tflite
	for p in $(programs) npucc; do
		args=()
		case $p in
		npu-sim | npu-vela) continue ;; # these write to a directory
		mkinput) args=(--random=1) ;;
		npu-eval) args=(kept) ;;
		npucc | npu-sched) args=(-a ethos-u55-128 --system-config
			RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram) ;;
		esac
		for name in model link other ./model; do
			refuses 2 "$p: $name.tflite: error: the output would overwrite the input model.tflite; name another file" \
				"$p" "${args[@]}" -o "$name.tflite" model.tflite
			[ "$(wc -l <refuses.err)" = 1 ]
			cmp model.tflite kept
		done
	done
	# a directory and a device are not the input
	tfl-quantcheck -o /dev/null model.tflite
}

@test "no output overwrites a file that an option names, nor another output" {
	local memory=(--system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram) in
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" m.tflite
	npucc -a ethos-u55-128 "${memory[@]}" -o n.tflite m.tflite
	tfl-partition --by-name -o m.part m.tflite
	npu-sched -a ethos-u55-128 "${memory[@]}" --permit=. -o m.sched m.part
	npu-wenc --blob=blob --permit=. -o m.wenc m.sched
	echo 'NPU TOTAL cycles: 9' >log
	npu-perf --json -o old.json n.tflite
	mkdir d
	npu-sim -o d m.tflite
	cp m.tflite m.html
	# the file of each command's option is intact afterwards
	while read -r in command; do
		cp "$in" kept
		# shellcheck disable=SC2086 # words without blanks
		refuses 2 "would overwrite the input" $command
		cmp "$in" kept
	done <<-'END'
		m.tflite mkinput --random=1 -o x.h --expected=m.tflite m.tflite
		n.tflite tfl2c -o x.h --resolver=n.tflite n.tflite
		m.tflite npu-sched --permit=. --part=alif-e7-he -o m.tflite m.part
		m.sched npu-wenc --permit=. --blob=m.sched -o x.wenc m.sched
		m.tflite npu-cmdgen --permit=. -o m.tflite m.wenc
		blob npu-cmdgen --permit=. -o blob m.wenc
		log npu-perf --measured=log -o log n.tflite
		old.json npu-report --compare=old.json -o old.json n.tflite
		d/output_0.npy npu-sim -e d/output_0.npy -o d m.tflite
		m.html npucc --part=alif-e7-he --report=m.html -o x.tflite m.html
	END
	while read -r command; do
		# shellcheck disable=SC2086 # words without blanks
		refuses 2 "error: two outputs have this name" $command
	done <<-'END'
		mkinput --random=1 -o x.h --expected=./x.h m.tflite
		tfl2c -o x.h --resolver=x.h n.tflite
		npu-wenc --permit=. --blob=x -o x m.sched
		npu-wenc --permit=. --blob=- m.sched
		npucc --part=alif-e7-he --keep=k --report=k/report.html -o x.tflite m.tflite
	END
	[ ! -e x ] && [ ! -e x.h ] && [ ! -e x.tflite ]
}

@test "64 KB of stack are enough for every program" {
	(ulimit -s 64 && npu-sched --version >log) || skip "sanitizers need more"
	local model=$BATS_TEST_DIRNAME/models/digits.tflite
	local memory=(--system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram)
	(
		ulimit -s 64
		tfl-quantcheck "$model" >log
		# npucc runs the other stages, too
		npucc -a ethos-u55-128 "${memory[@]}" --check -o c.tflite "$model"
		tfl2c -n net c.tflite >net.h
		mkinput --random=1 "$model" >in.h
		npu-dis --verify c.tflite >log
		npu-perf "${memory[@]}" --json -o c.json c.tflite
		npu-report -o c.html c.json
	)
}
