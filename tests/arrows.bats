# SPDX-License-Identifier: Apache-2.0
# In npu-sched, a folder uses only itself and the folders below it.

load lib/common

# arrows: functions and tables of one folder that objects of another folder use, as the
# linker sees them: "from to symbol file"
arrows()
{
	(cd "$BIN/../tools/npu-sched" && nm -A ./*/*.o) | awk '
		{
			split($1, path, ":") # ./FOLDER/OBJECT:ADDRESS
			file = substr(path[1], 3)
			from = file
			sub(/\/.*/, "", from)
		}
		NF == 3 && $2 ~ /^[TDRB]$/ { print "D", $3, from }
		$(NF - 1) == "U" { print "U", $NF, from, file }' | awk '
		$1 == "D" { home[$2] = $3 }
		$1 == "U" { use[n++] = $0 }
		END {
			for (i = 0; i < n; i++) {
				split(use[i], u)
				if (u[2] in home && home[u[2]] != u[3])
					print u[3], home[u[2]], u[2], u[4]
			}
		}'
}

@test "the folders of npu-sched are used in one order" {
	arrows >all
	# the list is not empty
	grep -q '^search plans ' all
	awk '
		BEGIN {
			n = split("network costs memory weights cascades plans search split batch", v)
			for (i = 1; i <= n; i++)
				storey[v[i]] = i
		}
		!($1 in storey) || !($2 in storey) || storey[$1] < storey[$2] { print; wrong = 1 }
		END { exit wrong }' all
}
