# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # for _init_completion
#
# Completion for kmonlog and kmonparse in bash. The functions that are called here are
# those of the package bash-completion.

_kmon_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# The last word of a list with commas.
_kmon_list()
{
	local before=

	[[ $cur != *,* ]] || before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
}

_kmonlog()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-d | --device | -o | --output | -p | --pids | --sites | --tags)
		_filedir
		return ;;
	-s | --sources)
		_kmon_list 'sched alloc none'
		return ;;
	-b | --buffer | -t | --time | -m | --max)
		return ;;
	esac
	$split || _kmon_words '--device --buffer --output --force --time --max --pids --sources
		--sites --tags --quiet --help --version'
}
complete -F _kmonlog kmonlog

_kmonparse()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-p | --pids | --sites | -o | --output)
		_filedir
		return ;;
	--ctf)
		_filedir -d
		return ;;
	-t | --top | -s | --scale | --sort-memory)
		return ;;
	esac
	if $split; then
		return
	elif [[ $cur == -* ]]; then
		_kmon_words '--text --names --json --ctf --summary --top --scale --sort --pids
			--sites --output --force --sort-memory --help --version'
	else
		_filedir
	fi
}
complete -F _kmonparse kmonparse
