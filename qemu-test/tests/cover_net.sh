# SPDX-License-Identifier: GPL-2.0-only
#
# Socket buffers and other memory that the network code allocates for its callers are
# charged to the caller's line, and closed sockets leave nothing.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU slab_nomerge
# modules: ctag_cover_net ctag_keep
# timeout: 360

COVER=ctag_cover_net
. /qt/lib.sh
. /qt/bin/cover

# Per-CPU caches keep freed heads; only more traffic makes them move.
CACHE='net/core/skbuff.c:[0-9]+ func:napi_skb_cache_(get|put)'
CACHE_MOST=$((64 * $(nproc)))

test_each_function()
{
	cover_all
}

# net_calls PATTERN: calls on the lines of net/ that match
net_calls()
{
	set -- $(sum_tags "$1")
	echo "$2"
}

test_r27_no_line_of_a_header()
{
	loopback_up
	load sockets 100
	bad=$(tags | grep -E '(include/net/[^ ]*|include/linux/(skbuff|netdevice|etherdevice|if_vlan|netlink|ptr_ring|skb_array|sockptr)|net/[^ ]*)\.h:')
	unload
	[ -z "$bad" ] || fail "$(echo "$bad" | head -1)"
	bad=$(tags | grep -E 'func:(__alloc_skb|kmalloc_reserve|skb_clone|sk_prot_alloc|sk_alloc|skb_page_frag_refill|alloc_skb_with_frags|__build_skb|sock_wmalloc|sock_alloc_send_pskb|dst_alloc)(_noprof)? *$')
	[ -z "$bad" ] || fail "$(echo "$bad" | head -1)"
}

# Each family has lines of its own.
test_sockets_at_their_family()
{
	loopback_up
	inet=$(net_calls 'func:inet_create( |$)')
	unix=$(net_calls 'func:unix_create1( |$)')
	load udp 200
	[ $(($(net_calls 'func:inet_create( |$)') - inet)) -ge 200 ] || fail "200 UDP sockets"
	eq "unix sockets" "$(net_calls 'func:unix_create1( |$)')" "$unix"
	unload
}

# net_lines NAME: a snapshot of the lines of net/ in /tmp/NAME
net_lines()
{
	snapshot /tmp/all
	grep -E '^[^ ]*net/' /tmp/all > /tmp/$1
}

# around KIND N LINES: opens and closes N of KIND; afterwards all is as before, and at least
# LINES lines of net/ have changed meanwhile
around()
{
	# a CPU caches the first route that it uses
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		ON=$(printf %x $((1 << cpu))) load "$1" 10
		unload
	done
	load "$1" "$2"
	unload
	settle
	for f in after during before; do
		net_lines $f
	done
	load "$1" "$2"
	net_lines during
	unload
	settle 2
	net_lines after
	awk -F'\t' -v cache="$CACHE" -v most="$CACHE_MOST" -v min="$3" '
	FILENAME == "/tmp/before" { b[$1] = $2; c[$1] = $3; next }
	FILENAME == "/tmp/during" { if ($3 != c[$1]) n++; next }
	$1 ~ cache { held += $3; next }
	$2 != b[$1] || $3 != c[$1] {
		print "# " $1 ": " b[$1] "/" c[$1] " before, " $2 "/" $3 " after"
		bad++
	}
	END {
		print "# " n + 0 " lines touched, " held + 0 " heads cached"
		if (held > most) { print "# that is too many"; bad++ }
		exit bad || n < min
	}' /tmp/before /tmp/during /tmp/after || fail "not as before"
}

test_a_thousand_tcp_connections()
{
	loopback_up
	around sockets 1000 5
}

test_a_thousand_udp_sockets()
{
	loopback_up
	around udp 1000 2
}

test_a_thousand_unix_sockets()
{
	around unix 1000 2
}

run_tests
