# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# bash completion for nputools: options come from each program's --help, so
# there is no list here to fall behind.

_nputools_options()
{
	"$1" --help 2>/dev/null | sed -n \
		's/^ \{1,6\}\(-.,\{0,1\} \{0,1\}\)\{0,1\}\(--[a-z0-9-]*\).*/\2/p'
}

_nputools_systems()
{
	npu-sched --list-profiles 2>/dev/null |
		sed -n 's/^ *\([A-Z][A-Za-z0-9_]*\).*/\1/p'
}

_nputools()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local words=
	# "--option=value" arrives as three words
	[ "$cur" != = ] || cur=
	[ "$prev" != = ] || prev=${COMP_WORDS[COMP_CWORD - 2]}
	case $prev in
	-a | --accelerator-config)
		words="ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256"
		words+=" ethos-u65-256 ethos-u65-512 ethos-u85-128 ethos-u85-256"
		words+=" ethos-u85-512 ethos-u85-1024 ethos-u85-2048" ;;
	--memory-mode) words="Shared_Sram Sram_Only Dedicated_Sram" ;;
	--system-config) words=$(_nputools_systems) ;;
	--optimise) words="Performance Size" ;;
	--svg) words="memory timeline layers roofline curve" ;;
	--model) words="timeline calibrated vela-2.1 vela-3.12 regor" ;;
	--dialect) words="alif mlek cmsis xxd" ;;
	*)
		case $cur in
		-*) words=$(_nputools_options "$1") ;;
		esac ;;
	esac
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames 2>/dev/null
	fi
}

complete -F _nputools tfl-quantcheck tfl-partition tosa-partition npu-sched npu-wenc \
	npu-cmdgen tfl2c npu-sim npu-dis npu-perf npu-report npu-sweep npu-vela mkinput npu-eval npucc
