#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# alloctop [N]: prints the N lines of the kernel (15) that hold the most memory, with
# units.  All data comes from /proc/allocinfo.

sed 1,2d /proc/allocinfo | sort -rn | awk -v n="${1:-15}" -v w=18 '
function human(b,   u) {
	u = 1
	while (b >= 1000 && u < 5) { b /= 1024; u++ }
	return sprintf(b < 9.95 && u > 1 ? "%.1f %s" : "%.0f %s", b,
		       substr("BKMGT", u, 1) (u > 1 ? "iB" : ""))
}
{
	total += $1
	if ($1 > 0) used++
	if (NR > n) next
	module = $4 ~ /^\[/ ? " " $4 : ""
	func_ = $(module ? 5 : 4)
	sub(/^func:/, "", func_)
	size[NR] = human($1); calls[NR] = $2; where[NR] = $3 module; name[NR] = func_
	if (length(where[NR]) > w) w = length(where[NR])
}
END {
	if (!used) { print "  nothing is accounted: is vm.mem_profiling 1?"; exit }
	if (NR < n) n = NR
	row = "  %9s  %8s  %-" w "s  %s\n"
	printf row, "size", "calls", "line of the kernel", "function"
	for (i = 1; i <= n; i++)
		printf row, size[i], calls[i], where[i], name[i]
	printf "\n  %9s  in %d of %d lines (the pages of slabs are on a line of slub.c, and\n", human(total), used, NR
	printf "  %9s  the objects in them on the lines that asked for those)\n", ""
}'
