#!/usr/bin/env bats
# The steps of scripts/github, scripts/gitlab and scripts/jenkins, run in a repository whose
# model changed.  Stand-ins replace make, gh and curl, which keep what they are given.
bats_require_minimum_version 1.5.0

load lib/common

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	need git
	mkdir -p origin/model stubs
	export HOME=$PWD LC_ALL=C
	git config --global user.name Tester
	git config --global user.email tester@example.org
	git config --global init.defaultBranch main
	git -C origin init -q
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 3 >origin/model/keyword.tflite
	git -C origin add model
	git -C origin commit -qm old
	git clone -q origin clone
	cd clone || return
	mkdir -p nputools/build nputools/scripts
	ln -s "$BIN" nputools/build/bin
	ln -s "$TOP/scripts/github" nputools/scripts/github
	BASE=$(git rev-parse HEAD)
	export BASE
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" model/keyword.tflite
	git commit -qam new
	stub make '[ "$*" = "-C nputools deps all" ]'
	stub gh '[ "$1 $2 $3" = "pr comment 7" ]
		case $* in *--edit-last*) exit 1 ;; esac
		cp "${@: -1}" "$HOME/posted"'
	stub curl 'case "$*" in *"PRIVATE-TOKEN: secret"*body@comment*/api/projects/5/merge_requests/7/notes) ;;
		*) exit 1 ;; esac
		cp comment "$HOME/posted"'
	PATH=$HOME/stubs:$PATH
}

# stub NAME SCRIPT: the program NAME for the steps
stub()
{
	printf '#!/bin/bash\n%s\n' "$2" >"$HOME/stubs/$1"
	chmod 755 "$HOME/stubs/$1"
}

# steps FILE: the shell commands of a file, as one script, which each system runs with -e
steps()
{
	python3 - "$1" <<-'END'
		import re, sys, yaml
		text = open(sys.argv[1]).read()
		if sys.argv[1].endswith(".yml"):
		    job, = [j for j in (yaml.safe_load(text).get("jobs") or
		            yaml.safe_load(text)).values() if isinstance(j, dict)]
		    env = job.get("env") or job["variables"]
		    run = job.get("script") or [s["run"] for s in job["steps"] if "run" in s]
		    run = [c for c in job.get("before_script", []) if "apt-get" not in c] + run
		else:
		    env = dict(re.findall(r"^ *(\w+) = '(.*)'$", text, re.M))
		    run = re.findall(r"sh '''(.*?)'''", text, re.S)
		for name, value in env.items():
		    print(f"export {name}='{value}'")
		print("\n".join(run))
	END
}

# fails FILE: with a tolerance, the steps of FILE fail because the network is slower, after
# the comment, and with a wide one they succeed
fails()
{
	steps "$TOP/scripts/$1" >../steps.sh
	rm -f comment ../posted
	sed "s/^export TOLERANCE=''$/export TOLERANCE=2/" ../steps.sh >../limit.sh
	run cmp ../steps.sh ../limit.sh
	[ "$status" = 1 ]
	run bash -eo pipefail ../limit.sh
	[ "$status" = 1 ]
	grep -q '^| time, ms .* \*\*more than 2 %\*\* |$' comment
	[ "$1" = jenkins/Jenkinsfile ] || cmp ../posted comment
	sed -i 's/^export TOLERANCE=.*/export TOLERANCE=100000/' ../limit.sh
	bash -eo pipefail ../limit.sh >../log 2>&1
}

# comments FILE: the steps of FILE succeed, and the table has the numbers of both models
comments()
{
	python3 -c 'import yaml' 2>none || skip "needs the yaml module of Python, to read the steps"
	steps "$TOP/scripts/$1" >../steps.sh
	bash -eo pipefail ../steps.sh >../log 2>&1 || { cat ../log; return 1; }
	local o=(-a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded
		--memory-mode=Shared_Sram) name value
	npucc "${o[@]}" -o ../want.tflite model/keyword.tflite 2>../notes
	cmp compiled.tflite ../want.tflite
	npu-perf --json compiled.tflite | npu-report --numbers >../numbers
	while read -r name value; do
		case $name in
		inference_seconds) name="time, ms" value=$(awk "BEGIN { printf \"%.4g\", 1e3 * $value }") ;;
		sram_bytes) name="SRAM, bytes" ;;
		*) continue ;;
		esac
		grep -qE "^\| $name \| [0-9.]+ \| $value \| [+-]" comment
	done <../numbers
	[ "$(wc -l <comment)" -ge 6 ]
}

@test "GitHub's steps compile, check, compare with the base and comment" {
	export GITHUB_PATH=$PWD/../github_path NUMBER=7 PATH=$BIN:$PATH
	comments github/model.yml
	[ "$(cat ../github_path)" = "$PWD/nputools/build/bin" ]
	cmp ../posted comment
	fails github/model.yml
}

@test "GitLab's steps do the same, and need a token for the comment" {
	export CI_MERGE_REQUEST_DIFF_BASE_SHA=$BASE CI_API_V4_URL=https://git.example/api
	export CI_PROJECT_ID=5 CI_MERGE_REQUEST_IID=7
	comments gitlab/model.yml
	[ ! -e ../posted ]
	export NPUTOOLS_TOKEN=secret
	comments gitlab/model.yml
	cmp ../posted comment
	fails gitlab/model.yml
}

@test "Jenkins' steps do the same, for the branch that the change is for" {
	export CHANGE_TARGET=main
	comments jenkins/Jenkinsfile
	fails jenkins/Jenkinsfile
}

@test "the steps fail for a model that cannot be read, before they compare" {
	export GITHUB_PATH=$PWD/../github_path NUMBER=7
	echo "no model" >model/keyword.tflite
	steps "$TOP/scripts/github/model.yml" >../steps.sh
	run bash -eo pipefail ../steps.sh
	[ "$status" = 2 ]
	[ ! -e comment ] && [ ! -e ../posted ]
}
