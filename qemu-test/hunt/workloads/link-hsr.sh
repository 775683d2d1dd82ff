# SPDX-License-Identifier: GPL-2.0-only
#
# Redundant rings: HSR and PRP
#
# programs: ip
# modules: hsr veth

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add v0 type veth peer name v1
	link add v2 type veth peer name v3
	link set v0 up
	link set v1 up
	link set v2 up
	link set v3 up
	link add h0 type hsr slave1 v0 slave2 v2 supervision 45 version 1
	link set h0 up
	link add h1 type hsr slave1 v1 slave2 v3 supervision 45 proto 1
	link set h1 up
	link del h0
	link del h1
	link del v0
	link del v2
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone h0 h1 v0 v2
}
