# SPDX-License-Identifier: GPL-2.0-only
#
# Functions that several workloads of the hunt need; each of them sources this file as
# /qt/workloads/lib.sh.
#
# A workload of a file system calls one of these functions in prepare(), and has no work() and
# clean() of its own:
#
#	on_image SIZE TYPE OPTIONS MKFS...	a file system in a file, which is made by MKFS... FILE
#	on_disk TYPE OPTIONS MKFS...		the same on /dev/vda
#	on_file FILE TYPE OPTIONS		the file system in FILE, mounted read-only
#	on_copy FILE TYPE OPTIONS		the same read-write; after a failure, FILE is copied again
#
# OPTIONS are those of the file system, "" if there are none. After a failure the file system is
# made again, so that each run begins with the same. WHAT=plain leaves out extended attributes.

IMAGE=/tmp/image
DEVICE=
KIND=
OPTIONS=
MKFS=
WHAT=files
MAY_FAIL=

# mkfs and quota tools look there
[ -e /etc/mtab ] || ln -s /proc/mounts /etc/mtab

# Is this folder a mount point?
mounted()
{
	grep -q " $1 " /proc/mounts
}

# unmount FOLDER...: also if more than one is mounted there
unmount()
{
	for folder; do
		tries=0
		while mounted "$folder"; do
			umount "$folder" || usleep 100000
			tries=$((tries + 1))
			[ $tries -lt 10 ] || return
		done
	done
	return 0
}

# zeros FILE SIZE: a file without holes; SIZE in MiB
zeros()
{
	dd if=/dev/zero of="$1" bs=1M count="$2"
}

# put FILE VALUE: writes VALUE to FILE, which must exist. The fault may hit open() or write(). The
# arguments have the same order as those of the step `put` of huntwork.
put()
{
	# shellcheck disable=SC2016
	F sh -c 'echo "$2" > "$1"' sh "$1" "$2"
}

# try COMMAND...: it may fail
try()
{
	"$@"
	# of serve.sh: the first command of F that failed
	# shellcheck disable=SC2034
	FAILED=
	return 0
}

# set_to FILE VALUE: writes VALUE to FILE without faults. Does nothing if FILE does not exist.
set_to()
{
	[ ! -e "$1" ] || echo "$2" > "$1"
}

# link_gone DEVICE...: removes network devices that exist
link_gone()
{
	for device; do
		[ ! -e "/sys/class/net/$device" ] || ip link del "$device" || return
	done
	return 0
}

# device_there PATH: waits until a device appears
device_there()
{
	tries=0
	while [ ! -e "$1" ]; do
		usleep 20000
		tries=$((tries + 1))
		[ $tries -lt 100 ] || return
	done
}

# attach FILE DEVICE: a loop device
attach()
{
	losetup "$2" "$1"
}

detach()
{
	! losetup "$1" > /dev/null 2>&1 || losetup -d "$1"
}

# bind_again BUS: prints steps for huntwork. They unbind and bind each device of BUS that has a
# driver. The probe function runs in the task that writes to `bind`. Steps are split at spaces, and
# some names of drivers have spaces, so the steps name a symlink to the driver.
bind_again()
{
	for device in "/sys/bus/$1/devices"/*; do
		[ -e "$device/driver" ] || continue
		driver=/tmp/driver-of-${device##*/}
		ln -sfn "$(readlink -f "$device/driver")" "$driver"
		echo "put $driver/unbind ${device##*/}"
		echo "put $driver/bind ${device##*/}"
	done
}

# bound_again BUS: binds what has lost its driver
bound_again()
{
	for device in "/sys/bus/$1/devices"/*; do
		[ -e "$device/driver" ] || echo "${device##*/}" > "/sys/bus/$1/drivers_probe"
	done
}

# walk_bus BUS NUMBER: the workload is to bind the devices of that bus again, at least so many
walk_bus()
{
	BUS=$1
	DEVICES=$2
	prepare()
	{
		sleep 1
		bind_again "$BUS" > /tmp/steps
		[ "$(grep -c "/bind " /tmp/steps)" -ge "$DEVICES" ]
	}
	work()
	{
		F huntwork steps /tmp/steps
	}
	clean()
	{
		bound_again "$BUS"
		# disks are looked for in the background
		usleep 100000
		[ "$(bind_again "$BUS" | grep -c "/bind ")" -ge "$DEVICES" ]
	}
}

# gadget FUNCTION...: the workload is to make a USB gadget with these functions, to bind it to
# dummy_udc, and to remove it. Standard input has the settings of the functions, as steps. With
# MAY_FAIL="- ", binding may fail.
gadget()
{
	modprobe dummy_hcd
	mount -t configfs x /sys/kernel/config
	modprobe libcomposite && cd /sys/kernel/config/usb_gadget || return
	{
		cat <<-'END'
		mkdir g
		put g/idVendor 0x1d6b
		put g/idProduct 0x0104
		mkdir g/strings/0x409
		put g/strings/0x409/manufacturer hunt
		mkdir g/configs/c.1
		mkdir g/configs/c.1/strings/0x409
		put g/configs/c.1/strings/0x409/configuration first
		END
		printf 'mkdir g/functions/%s\n' "$@"
		cat
		for function; do
			echo "link g/configs/c.1/$function $PWD/g/functions/$function"
		done
		echo "${MAY_FAIL}put g/UDC dummy_udc.0"
		echo "${MAY_FAIL}put g/UDC"
		for function; do
			echo "rm g/configs/c.1/$function"
			echo "rmdir g/functions/$function"
		done
		cat <<-'END'
		rmdir g/configs/c.1/strings/0x409
		rmdir g/configs/c.1
		rmdir g/strings/0x409
		rmdir g
		END
	} > /tmp/steps
	work()
	{
		F huntwork steps /tmp/steps
	}
	clean()
	{
		gadget_gone
	}
}

# gadget_gone: removes what a gadget has left
gadget_gone()
{
	[ -e g ] || return 0
	[ -z "$(cat g/UDC)" ] || echo > g/UDC
	for function in g/functions/*; do
		[ -e "$function" ] || break
		rm -f "g/configs/c.1/${function##*/}"
		rmdir "$function"
	done
	rmdir g/configs/c.1/strings/0x409
	rmdir g/configs/c.1
	rmdir g/strings/0x409
	rmdir g
}

# dm_gone NAME: removes a device of the device mapper if it exists
dm_gone()
{
	! dmsetup info "$1" || dmsetup remove --retry --noudevsync "$1"
}

# md_gone DEVICE: stops an array. Its device goes away a little later.
md_gone()
{
	tries=0
	while [ -e "/sys/block/$1" ]; do
		mdadm --stop "/dev/$1"
		usleep 100000
		tries=$((tries + 1))
		[ $tries -lt 30 ] || return
	done
}

# md_disks NUMBER: prepare() and clean() of a workload that makes /dev/md0. It can use NUMBER disks:
# /dev/loop0, /dev/loop1, and so on.
md_disks()
{
	DISKS=$(seq 0 $(($1 - 1)))
	prepare()
	{
		for disk in $DISKS; do
			zeros "/tmp/disk$disk" 8
			attach "/tmp/disk$disk" "/dev/loop$disk" || return
		done
	}
	clean()
	{
		md_gone md0 || return
		for disk in $DISKS; do
			dd if=/dev/zero of="/dev/loop$disk" bs=64k count=4 oflag=direct
		done
		return 0
	}
}

make_fs()
{
	# several words
	# shellcheck disable=SC2086
	[ -z "$MKFS" ] || $MKFS "$DEVICE"
}

on_image()
{
	zeros $IMAGE "$1"
	DEVICE=/dev/loop0
	KIND=$2
	OPTIONS=$3
	shift 3
	MKFS=$*
	attach $IMAGE $DEVICE && make_fs
}

on_disk()
{
	DEVICE=/dev/vda
	KIND=$1
	OPTIONS=$2
	shift 2
	MKFS=$*
	make_fs
}

on_file()
{
	DEVICE=/dev/loop0
	KIND=$2
	OPTIONS=ro${3:+,$3}
	attach "$1" $DEVICE
}

on_copy()
{
	cp "$1" /tmp/fresh || return
	DEVICE=/dev/loop0
	KIND=$2
	OPTIONS=$3
	MKFS="cp /tmp/fresh"
	attach "$1" $DEVICE
}

# One process, because each takes longer than what it does
work()
{
	[ -z "$MKFS" ] || : > /tmp/.used
	case $OPTIONS in
	ro | ro,*) F huntwork mount "$KIND" "$DEVICE" "$OPTIONS" read || return ;;
	*) F huntwork mount "$KIND" "$DEVICE" "$OPTIONS" $WHAT || return ;;
	esac
	rm -f /tmp/.used
}

clean()
{
	unmount /mnt || return
	[ -e /tmp/.used ] || return 0
	make_fs && rm -f /tmp/.used
}

# tree FOLDER: files of all kinds that an image can hold
tree()
{
	mkdir -p "$1/one/two" "$1/several"
	echo short > "$1/short"
	dd if=/bin/busybox of="$1/one/program" bs=4096 count=60
	dd if=/dev/zero of="$1/one/zeros" bs=4096 count=40
	seq 1 4000 > "$1/one/two/numbers"
	ln -s one/two/numbers "$1/link"
	ln "$1/short" "$1/hard"
	mknod "$1/null" c 1 3
	mkfifo "$1/pipe"
	for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo $number > "$1/several/a-name-that-is-not-short-$number"
	done
}
