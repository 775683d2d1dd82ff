# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # for _init_completion
#
# Completion for allocinfo, alloctop, allocinfod and allocinfo-dump in bash. The functions that are called here are
# those of the package bash-completion.

_allocinfo_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# The filter of diff and report: words of dynamic debug.
_allocinfo_filter()
{
	case $prev in
	file | func | line)
		return ;;
	module)
		_allocinfo_words "$(lsmod 2>/dev/null | sed '1d;s/ .*//')"
		return ;;
	esac
	_filedir
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'file func module line' -- "$cur")
}

_allocinfo_record()
{
	case $prev in
	-o | --output)
		_filedir
		return ;;
	--proc)
		_filedir -d
		return ;;
	-i | --interval | -n | --count | --max-size | --max-age)
		return ;;
	esac
	$split || _allocinfo_words '--output --force --interval --count --max-size --max-age
		--proc --help --version'
}

_allocinfo_diff()
{
	case $prev in
	-b | --by)
		_allocinfo_words 'site func file dir module'
		return ;;
	-s | --sort)
		_allocinfo_words 'bytes calls'
		return ;;
	--format)
		_allocinfo_words 'text json csv'
		return ;;
	-o | --output)
		_filedir
		return ;;
	-n | --top)
		return ;;
	esac
	$split && return
	case $cur in
	-*)
		_allocinfo_words '--by --sort --top --format --all --bytes --output --force --help
			--version' ;;
	*)
		_allocinfo_filter ;;
	esac
}

_allocinfo_report()
{
	case $prev in
	-b | --by)
		_allocinfo_words 'site func file dir module node'
		return ;;
	-s | --sort)
		_allocinfo_words 'bytes calls average name'
		return ;;
	--format)
		_allocinfo_words 'text json csv folded pprof openmetrics'
		return ;;
	--weight)
		_allocinfo_words 'bytes calls'
		return ;;
	-o | --output | --vmcore | --map | --contexts)
		_filedir
		return ;;
	--proc)
		_filedir -d
		return ;;
	-n | --top)
		return ;;
	esac
	$split && return
	case $cur in
	-*)
		_allocinfo_words '--by --sort --top --format --weight --bytes --contexts --vmcore
			--map --proc --output --force --help --version' ;;
	*)
		_allocinfo_filter ;;
	esac
}

_allocinfo_leak()
{
	case $prev in
	--format)
		_allocinfo_words 'text json'
		return ;;
	-o | --output)
		_filedir
		return ;;
	--proc)
		_filedir -d
		return ;;
	-l | --live | -i | --interval | --last | --until | -n | --top)
		return ;;
	esac
	$split && return
	case $cur in
	-*)
		_allocinfo_words '--live --interval --drop-caches --last --until --top --all
			--format --output --force --proc --help --version' ;;
	*)
		_allocinfo_filter ;;
	esac
}

_allocinfo_why()
{
	case $prev in
	--format)
		_allocinfo_words 'text json'
		return ;;
	-o | --output)
		_filedir
		return ;;
	--proc)
		_filedir -d
		return ;;
	--for | -n | --top)
		return ;;
	esac
	$split && return
	case $cur in
	-*)
		_allocinfo_words '--for --top --format --output --force --proc --help --version' ;;
	*)
		_allocinfo_words 'file func module line' ;;
	esac
}

_allocinfo_check()
{
	case $prev in
	--proc)
		_filedir -d
		return ;;
	esac
	$split || _allocinfo_words '--proc --help --version'
}

_allocinfo_export()
{
	case $prev in
	-t | --textfile)
		_filedir prom
		return ;;
	--proc)
		_filedir -d
		return ;;
	esac
	$split || _allocinfo_words '--textfile --proc --help --version'
}

_allocinfo()
{
	local cur prev words cword split

	_init_completion -s || return
	if [ "$cword" -gt 1 ] && declare -F "_allocinfo_${words[1]}" >/dev/null; then
		"_allocinfo_${words[1]}"
	elif [[ $cur == -* ]]; then
		_allocinfo_words '--help --version'
	elif [ "$cword" -eq 1 ]; then
		_allocinfo_words 'record diff report check leak why export'
	fi
}
complete -F _allocinfo allocinfo

_alloctop()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-s | --sort)
		_allocinfo_words 'bytes calls average growth rate name'
		return ;;
	-b | --by)
		_allocinfo_words 'site func file dir module'
		return ;;
	--proc)
		_filedir -d
		return ;;
	-n | --lines | -m | --min | -d | --delay | -w | --width | file | func | line)
		return ;;
	module)
		_allocinfo_words "$(lsmod 2>/dev/null | sed '1d;s/ .*//')"
		return ;;
	esac
	$split && return
	case $cur in
	-*)
		_allocinfo_words '--once --lines --min --sort --by --tree --delay --bytes --width
			--json --proc --help --version' ;;
	*)
		_allocinfo_words 'file func module line' ;;
	esac
}
complete -F _alloctop alloctop

_allocinfod()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	--tls-cert | --tls-key | --tls-client-ca | --auth-file)
		_filedir
		return ;;
	--proc)
		_filedir -d
		return ;;
	-l | --listen | -u | --user | -c | --cache | --connections | --per-address | --timeout)
		return ;;
	esac
	$split || _allocinfo_words '--listen --user --cache --tls-cert --tls-key --tls-client-ca
		--auth-file --connections --per-address --timeout --proc --help --version'
}
complete -F _allocinfod allocinfod

_allocinfodump()
{
	local cur prev words cword split

	_init_completion -s || return
	case $prev in
	-m | --map)
		_filedir
		return ;;
	-n | --lines)
		return ;;
	esac
	$split && return
	case $cur in
	-*)
		_allocinfo_words '--map --lines --raw --help --version' ;;
	*)
		_filedir ;;
	esac
}
complete -F _allocinfodump allocinfo-dump
