# SPDX-License-Identifier: GPL-2.0-only
#
# Drivers of chips on a simulated I2C bus, which believe that their chip is there. Modules of hunt-more.config.
#
# programs: huntwork
# modules: i2c-stub i2c-dev lm75 lm90 lm85 lm78 jc42 at24 max6875 gpio-pca953x

. /qt/workloads/lib.sh

prepare()
{
	modprobe i2c-stub chip_addr=0x48,0x4c,0x2e,0x2d,0x18,0x50,0x52,0x20 || return
	BUS=$(ls -d /sys/bus/i2c/devices/i2c-*)
	BUS=${BUS##*/}
}

work()
{
	while read -r chip address; do
		put "/sys/bus/i2c/devices/$BUS/new_device" "$chip $address" || return
		put "/sys/bus/i2c/devices/$BUS/delete_device" "$address" || return
	done <<-"END"
		lm75 0x48
		lm90 0x4c
		lm85 0x2e
		lm78 0x2d
		jc42 0x18
		24c02 0x50
		max6875 0x52
		pca9555 0x20
END
	F huntwork open "/dev/$BUS"
}

clean()
{
	for address in 0x48 0x4c 0x2e 0x2d 0x18 0x50 0x52 0x20; do
		[ ! -e "/sys/bus/i2c/devices/${BUS#i2c-}-00${address#0x}" ] ||
			echo $address > "/sys/bus/i2c/devices/$BUS/delete_device"
	done
}
