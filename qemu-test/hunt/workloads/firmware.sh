# SPDX-License-Identifier: GPL-2.0-only
#
# Firmware: loaded from a file, built of parts, uploaded
#
# modules: test_firmware

. /qt/workloads/lib.sh

prepare()
{
	modprobe test_firmware
	mkdir -p /lib/firmware
	echo firmware > /lib/firmware/hunt
	cd /sys/devices/virtual/misc/test_firmware || return
}

work()
{
	F sh -c 'printf hunt > trigger_request' || return
	F sh -c 'printf hunt > trigger_async_request' || return
	put 1 reset || return
	F sh -c 'printf hunt > config_name' || return
	put 2 config_num_requests || return
	put 1 config_into_buf || return
	put 1 trigger_batched_requests || return
	put 1 release_all_firmware || return
	put 1 trigger_batched_requests_async || return
	put 1 release_all_firmware || return
	F sh -c 'printf hunt > upload_register' || return
	put 1 /sys/class/firmware/hunt/loading || return
	F cp /lib/firmware/hunt /sys/class/firmware/hunt/data || return
	put 0 /sys/class/firmware/hunt/loading || return
	sleep 1
	F sh -c 'printf hunt > upload_unregister' || return
	put 1 reset
}

clean()
{
	[ ! -e /sys/class/firmware/hunt ] || printf hunt > upload_unregister
	echo 1 > release_all_firmware
	echo 1 > reset
}
