#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Gives commands to dynamic debug and prints the effect of each.  qemu-test/compare/dyndbg
# compares the output of two kernels.  It prints no call site of the files in
# /dyndbg.left, one name per line, because their source differs between the kernels.
#
# After each step it prints the exit code and the messages, the lines of the control file
# that have changed, a checksum of the whole file, and the kernel's log, without times and
# thread numbers.

CONTROL=/proc/dynamic_debug/control
DEBUGFS=/sys/kernel/debug/dynamic_debug/control
VERBOSE=/sys/module/dynamic_debug/parameters/verbose
PARAMS=/sys/module/test_dynamic_debug/parameters
LEFT=/qt/dyndbg.left
STEP=0

control()
{
	awk -v left=$LEFT '
		BEGIN { while ((getline f < left) > 0) out[f] = 1 }
		{ f = $1; sub(/:[0-9]+$/, "", f) }
		!(f in out)' $CONTROL
}

# Messages of dynamic debug, and of the modules of the test
log()
{
	dmesg -c | sed 's/^<[0-9]*>//; s/^\[[^]]*\] //' |
		grep -E 'dyndbg|test_dd|dd_sites|test_dynamic_debug' |
		sed -E 's/^\[[0-9]+\] /[tid] /' |
		awk -v left=$LEFT '
			BEGIN { while ((getline f < left) > 0) out[f] = 1 }
			{ f = $3; sub(/:[0-9]+$/, "", f) }
			!(/^dyndbg: changed / && f in out)' |
		sed 's/^/log: /'
}

show()
{
	echo "exit: $1"
	sed 's/^/said: /' /tmp/said
	control > /tmp/now
	diff /tmp/was /tmp/now | grep '^[-+][^-+]'	# diff of busybox is always unified
	mv /tmp/now /tmp/was
	echo "control: $(md5sum < /tmp/was) $(wc -l < /tmp/was)"
	log
}

step()
{
	STEP=$((STEP + 1))
	echo "== $STEP $*"
}

# ctl COMMAND [FILE]: writes the output of printf COMMAND with one write
ctl()
{
	step "ctl $1 ${2:-}"
	printf '%b' "$1" > /tmp/command
	dd if=/tmp/command of="${2:-$CONTROL}" bs=65536 count=1 conv=notrunc \
		2> /tmp/dd
	code=$?
	grep -v 'records\|copied' /tmp/dd > /tmp/said
	show $code
}

# run COMMAND: runs a shell command
run()
{
	step "run $1"
	(eval "$1") > /tmp/said 2>&1
	show $?
}

# The whole control file, not only the changes
whole()
{
	step whole
	sed 's/^/whole: /' /tmp/was
}

verbose()
{
	echo "$1" > $VERBOSE
}

T='module test_dynamic_debug'

basics()
{
	ctl "$T +p"
	ctl "$T -p"
	ctl "$T =pmflt"
	ctl "$T -t"
	ctl "$T +t"
	ctl "$T =_"
	ctl "$T +_"
	ctl "$T =p\n"
	ctl "  $T   \t +mf  \n"
	ctl "$T =p" $DEBUGFS
	ctl "$T =_" $DEBUGFS
	ctl "+p"
	ctl "-p"
	ctl "=_"
	ctl "# nothing"
	ctl ""
	ctl "\n"
	ctl ";;\n;"
}

sites()
{
	ctl "func do_cats +p"
	ctl "func do_* +m"
	ctl "func do_?ats +f"
	ctl "func do -p"
	ctl "func '' +p"
	ctl "func \"do_levels\" +l"
	ctl "file lib/test_dynamic_debug.c +p"
	ctl "file test_dynamic_debug.c -p"
	ctl "file */test_dynamic_debug.c +p"
	ctl "file lib/test_* -p"
	ctl "file test_dynamic* =t"
	ctl "file dynamic_debug.c +p"
	ctl "file nosuch.c +p"
	ctl "file /lib/test_dynamic_debug.c +p"
	ctl "file test_dynamic_debug.c:do_cats =p"
	ctl "file test_dynamic_debug.c:*levels =p"
	ctl "file test_dynamic_debug.c:?o_levels =_"
	ctl "file test_dynamic_debug.c:130 +p"
	ctl "file test_dynamic_debug.c:1-140 +m"
	ctl "file test_dynamic_debug.c:140- +f"
	ctl "file test_dynamic_debug.c:-140 +l"
	ctl "file test_dynamic_debug.c: +t"
	ctl "file test_dynamic_debug.c:do_cats func do_cats +p"
	ctl "$T =_"
	ctl "$T line 100-150 +p"
	ctl "$T line 141 +m"
	ctl "$T line -141 +f"
	ctl "$T line 141- +l"
	ctl "$T line 0 =_"
	ctl "$T line 0-0 =p"
	ctl "$T line \"\" =_"
	ctl "$T line - =p"
	ctl "$T line 150-100 +p"
	ctl "$T line 1-2-3 +p"
	ctl "$T line x +p"
	ctl "$T line +141 =_"
	ctl "$T line 4294967296 +p"
	ctl "$T line 99999999999 +p"
	ctl "$T line 5 line 6 +p"
	ctl "$T line 0 line 6 +p"
	ctl "format init +p"
	ctl "format ^doing +p"
	ctl "format ^oing +p"
	ctl "format 'init start' +m"
	ctl "format \"doing\\\\040cat\" +f"
	ctl "format done\\\\n -p"
	ctl "format ^ +t"
	ctl "format '' =_"
	ctl "$T format nothing_like_it +p"
	ctl "module test_* +p"
	ctl "module test_dynamic-debug +p"
	ctl "module nosuch +p"
	ctl "module * -p"
	ctl "$T func do_cats file test_dynamic_debug.c line 1-1000 +p"
	ctl "$T func do_cats file test_dynamic_debug.c line 1-1000 format doing +p"
	ctl "module main file kernel/power/* +p"
	ctl "module params +pm"
	ctl "file kernel/params.c =_"
	ctl "file drivers/* format % +l"
	ctl "file drivers/* =_"
	ctl "file kernel/power/* =_"
}

classes()
{
	ctl "class D2_CORE +p"
	ctl "class D2_* +p"
	ctl "class d2_core +p"
	ctl "$T class D2_KMS +pm"
	ctl "$T class LOW +p"
	ctl "class HI +p"
	ctl "class MID func do_cats -p"
	ctl "class L7 +pf"
	ctl "class V7 format V7 +p"
	ctl "class nosuch +p"
	ctl "class '' +p"
	ctl "class D2_CORE class D2_KMS +p"
	ctl "module dd_sites class D2_CORE +p"
	ctl "class D2_CORE =_; class D2_KMS =_; class L7 =_"
	run "echo 0x3ff > $PARAMS/p_disjoint_bits; cat $PARAMS/p_disjoint_bits"
	run "echo 0x21 > $PARAMS/p_disjoint_bits; cat $PARAMS/p_disjoint_bits"
	run "echo 0x10000 > $PARAMS/p_disjoint_bits; cat $PARAMS/p_disjoint_bits"
	run "echo no > $PARAMS/p_disjoint_bits"
	run "echo +LOW,-MID,HI > $PARAMS/p_disjoint_names; cat $PARAMS/p_disjoint_names"
	run "echo +NONE > $PARAMS/p_disjoint_names"
	run "echo 5 > $PARAMS/p_level_num; cat $PARAMS/p_level_num"
	run "echo 50 > $PARAMS/p_level_num; cat $PARAMS/p_level_num"
	run "echo L4 > $PARAMS/p_level_names; cat $PARAMS/p_level_names"
	run "echo -L4 > $PARAMS/p_level_names; cat $PARAMS/p_level_names"
	run "echo 0x3ff > $PARAMS/T_disjoint_bits; cat $PARAMS/T_disjoint_bits"
	run "cat $PARAMS/do_prints"
	ctl "$T =_; class D2_CORE =_"
}

wrong()
{
	ctl "$T"
	ctl "$T p"
	ctl "$T *p"
	ctl "$T +x"
	ctl "$T +pX"
	ctl "$T +"
	ctl "$T ="
	ctl "p"
	ctl "module +p"
	ctl "nosuch word +p"
	ctl "MODULE x +p"
	ctl "module a module b +p"
	ctl "file a file b +p"
	ctl "func a func b +p"
	ctl "format a format b +p"
	ctl "module \"test +p"
	ctl "module 'test +p"
	ctl "module \"test_dynamic_debug\"+p"
	ctl "module \"test_dynamic_debug\" +p # and a comment"
	ctl "# $T +p"
	ctl "a b c d e f g h i j k +p"
	ctl "$T func a file b line 1 format c +p"
	ctl "$T\\0 +p"
}

several()
{
	ctl "$T +p; $T +m; $T +f"
	ctl "$T =_\n$T +p\n# none\n\n$T +l"
	ctl "$T +x; $T =m; nosuch +p"
	ctl "$T =_;"
	ctl ";$T =p\n"
	head -c 4095 /dev/zero | tr '\0' ';' > /tmp/command
	run "dd if=/tmp/command of=$CONTROL bs=65536 conv=notrunc 2>&1 | grep -v 'records\|copied'"
	head -c 4096 /dev/zero | tr '\0' ';' > /tmp/command
	run "dd if=/tmp/command of=$CONTROL bs=65536 conv=notrunc 2>&1 | grep -v 'records\|copied'"
	(head -c 4000 /dev/zero | tr '\0' ' '; echo "$T =_") > /tmp/command
	run "dd if=/tmp/command of=$CONTROL bs=65536 conv=notrunc 2>&1 | grep -v 'records\|copied'"
	(head -c 3000 /dev/zero | tr '\0' 'x'; echo " +p") > /tmp/command
	run "dd if=/tmp/command of=$CONTROL bs=65536 conv=notrunc 2>&1 | grep -v 'records\|copied'"
}

# Modules are loaded, unloaded and loaded again: the order of lines, and dyndbg=
comes_and_goes()
{
	run "rmmod test_dynamic_debug"
	ctl "$T +p"
	run "insmod /modules/test_dynamic_debug.ko"
	run "insmod /modules/dd_sites.ko"
	whole
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko dyndbg=+p"
	whole
	ctl "module dd_sites +pfl; $T -p"
	run "echo 1 > /sys/module/dd_sites/parameters/say"
	ctl "func dd_say_one -p; func dd_say_t* +t"
	run "echo 1 > /sys/module/dd_sites/parameters/say"
	run "echo 3 > /sys/module/dd_sites/parameters/classes"
	run "rmmod dd_sites; rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko 'dyndbg=\"func do_cats +pf; class D2_CORE +pl\"'"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko 'dyndbg=\"module dd_sites +p\"'"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko dyndbg=func do_cats +p"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko dyndbg"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko dyndbg=+x"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko nosuch=1 dyndbg=+pm"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko p_disjoint_bits=0x7 p_level_num=3 dyndbg==m"
	run "rmmod test_dynamic_debug"
	run "insmod /modules/test_dynamic_debug.ko p_disjoint_bits=no dyndbg=+p"
	run "insmod /modules/test_dynamic_debug.ko p_disjoint_names=+LOW,HI p_level_names=L3"
	run "insmod /modules/test_dynamic_debug.ko"
	run "cat $PARAMS/do_prints"
	run "insmod /modules/dd_sites.ko 'dyndbg=\"func dd_say_four +p\"' classes=1"
	whole
	run "rmmod dd_sites"
}

# The file is the same for any size and offset of the reads.
readers()
{
	run "dd if=$CONTROL bs=7 2> /dev/null | cmp - $CONTROL"
	run "dd if=$CONTROL bs=700 2> /dev/null | cmp - $CONTROL"
	run "dd if=$CONTROL bs=65536 2> /dev/null | cmp - $CONTROL"
	run "dd if=$CONTROL bs=1000 skip=20 2> /dev/null > /tmp/tail;
		tail -c +20001 $CONTROL | cmp - /tmp/tail"
	run "cmp $CONTROL $DEBUGFS"
	run "ls -l $CONTROL $DEBUGFS | cut -c 1-10"
}

: > /tmp/said
: > /tmp/was
step boot
show 0
whole
if ! grep -q qt.dyndbg=boot /proc/cmdline; then
	run "insmod /modules/test_dynamic_debug.ko"
	basics
	sites
	classes
	wrong
	several
	comes_and_goes
	for level in 1 2 3; do
		verbose $level
		wrong
		comes_and_goes
	done
	verbose 4
	basics
	sites
	classes
	several
	comes_and_goes
	verbose 0
	readers
	whole
fi
run "rmmod test_dynamic_debug"
run "insmod /modules/test_dynamic_debug.ko"
whole
echo "steps: $STEP"
