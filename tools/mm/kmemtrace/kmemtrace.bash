# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # for _init_completion
#
# Completion for kmemtraced, kmemtrace_check and kmemtrace-report in bash. The functions
# that are called here are those of the package bash-completion.

_kmemtrace_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# The last word of a list with commas.
_kmemtrace_list()
{
	local before=

	[[ $cur != *,* ]] || before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
}

_kmemtraced()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-o | --output | -d | --debugfs)
		_filedir -d
		return ;;
	-F | --features)
		_kmemtrace_list 'time pid tag all none'
		return ;;
	-s | --seconds | -m | --max)
		return ;;
	esac
	$split || _kmemtrace_words '--output --force --features --seconds --max --rest --stop
		--progress --quiet --debugfs --help --version'
}
complete -F _kmemtraced kmemtraced

_kmemtrace_check()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-b | --begins | -m | --max-errors)
		return ;;
	esac
	if [[ $cur == -* ]]; then
		_kmemtrace_words '--all --begins --max-errors --quiet --help --version'
	elif [[ " ${words[*]} " =~ ' '(-a|--all)' ' ]]; then
		_filedir -d
	else
		_filedir
	fi
}
complete -F _kmemtrace_check kmemtrace_check

_kmemtrace_report()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-s | --sort)
		_kmemtrace_words 'allocated requested fragmentation live calls frees lifetime
			cross-cpu'
		return ;;
	-b | --by)
		_kmemtrace_words 'site tag size type'
		return ;;
	--weight)
		_kmemtrace_words 'live allocated requested calls'
		return ;;
	-k | --vmlinux | -o | --output)
		_filedir
		return ;;
	--ctf)
		_filedir -d
		return ;;
	-n | --top | --moments)
		return ;;
	esac
	if $split; then
		return
	elif [[ $cur == -* ]]; then
		_kmemtrace_words '--sort --top --by --vmlinux --moments --summary --rows --sizes
			--live --lifetimes --timeline --errors --bytes --text --json --csv --folded
			--weight --pprof --ctf --output --force --strict --help --version'
	else
		_filedir -d
	fi
}
complete -F _kmemtrace_report kmemtrace-report
