# SPDX-License-Identifier: GPL-2.0-only
#
# Firmware: loaded from a file, built of parts, uploaded
#
# programs: huntwork
# modules: test_firmware

. /qt/workloads/lib.sh

prepare()
{
	modprobe test_firmware
	mkdir -p /lib/firmware
	echo firmware > /lib/firmware/hunt
	cd /sys/devices/virtual/misc/test_firmware || return
	cat > /tmp/steps1 <<-'END'
	text trigger_request hunt
	text trigger_async_request hunt
	put reset 1
	text config_name hunt
	put config_num_requests 2
	put config_into_buf 1
	put trigger_batched_requests 1
	put release_all_firmware 1
	put trigger_batched_requests_async 1
	put release_all_firmware 1
	text upload_register hunt
	put /sys/class/firmware/hunt/loading 1
	END
	cat > /tmp/steps2 <<-'END'
	put /sys/class/firmware/hunt/loading 0
	sleep 1000
	text upload_unregister hunt
	put reset 1
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F cp /lib/firmware/hunt /sys/class/firmware/hunt/data || return
	F huntwork steps /tmp/steps2
}

clean()
{
	[ ! -e /sys/class/firmware/hunt ] || printf hunt > upload_unregister
	echo 1 > release_all_firmware
	echo 1 > reset
}
