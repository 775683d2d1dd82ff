# SPDX-License-Identifier: GPL-2.0-only
#
# A rule adds addresses, each with a counter and a limit, to a set; there is no memory for
# the limit.
#
# programs: nft

prepare()
{
	ip link set lo up
	nft -f - <<-'END'
	table ip t {
		set s {
			type ipv4_addr
			size 1024
			flags dynamic
			counter limit rate 1/second
		}
		chain c {
			type filter hook output priority 0
			add @s { ip daddr counter limit rate 1/second }
		}
	}
	END
	echo "func nft_limit_clone enable" > $FAULTS
}

once()
{
	ping -c 1 -W 1 127.0.0.1
}
