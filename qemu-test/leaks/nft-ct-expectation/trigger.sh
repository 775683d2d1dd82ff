# SPDX-License-Identifier: GPL-2.0-only
#
# A rule expects a second connection beside each one to a port.
#
# programs: nft

prepare()
{
	ip link set lo up
	nft -f - <<-'END'
	table ip t {
		ct expectation e {
			protocol tcp
			dport 9876
			timeout 1s
			size 12
			l3proto ip
		}
		chain c {
			type filter hook output priority 0
			tcp dport 8888 ct expectation set "e"
		}
	}
	END
}

once()
{
	nc -w 1 127.0.0.1 8888 < /dev/null
}
