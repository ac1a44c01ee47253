# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# bash completion for nputools: the options come from each program's --help, the choices
# from its error message for a wrong choice.  No list in this file can become outdated.

_nputools_options()
{
	"$1" --help 2>/dev/null | sed -n \
		's/^ \{1,6\}\(-.,\{0,1\} \{0,1\}\)\{0,1\}\(--[a-z0-9-]*\).*/\2/p'
}

# the names of one of the two lists of profiles; $1 is the line of its heading
_nputools_profiles()
{
	npu-sched --list-profiles 2>/dev/null | sed -n "/^$1/,/^[^ ]/"'s/^ \{1,\}\([A-Za-z][A-Za-z0-9_]*\).*/\1/p'
}

# the choices that PROGRAM OPTION=? prints after "choices:", "knows" or "there are", up to
# ", not"
_nputools_choices()
{
	"$1" "$2=?" </dev/null 2>&1 | sed -n '1{
		s/.* error: there is no .*; there are //;t list
		s/.*; choices: //;t list
		s/.* knows //;t list
		s/.* takes \(\([A-Za-z]*, \)*[A-Za-z]* or [A-Za-z]*\).*/\1/;t list
		d
		:list
		s/, not .*//
		s/ or /, /g
		s/, / /g
		/^[A-Za-z0-9. -]*$/p
	}'
}

_nputools()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local words='' asked=$1
	# "--option=value" arrives as three words
	[ "$cur" != = ] || cur=
	[ "$prev" != = ] || prev=${COMP_WORDS[COMP_CWORD - 2]}
	# npucc passes these options on
	case ${1##*/}$prev in
	npucc--optimise | npucc--model) asked=npu-sched ;;
	npucc--dialect) asked=tfl2c ;;
	esac
	case $prev in
	-a | --accelerator-config)
		words=$(_nputools_choices npu-sched --accelerator-config) ;;
	--memory-mode) words=$(_nputools_profiles memory) ;;
	--system-config) words=$(_nputools_profiles system) ;;
	--part)
		words=$(npu-sched --list-parts 2>/dev/null | sed '1d; s/ .*//')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -f -- "$cur")
		return ;;
	--optimise | --svg | --model | --dialect | --emit | --verify)
		words=$(_nputools_choices "$asked" "$prev") ;;
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

complete -F _nputools tfl-quantize tfl-quantcheck tfl-partition tosa-partition npu-sched npu-wenc \
	npu-cmdgen tfl2c npu-sim npu-run npu-dis npu-perf npu-report npu-share npu-sweep npu-vela mkinput npu-eval npucc
