#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# start-unit.sh UNIT PROGRAM SECONDS: start the file UNIT under a service manager of its own,
# and print its state SECONDS later. For the unit, PROGRAM is /run/program. It
# needs root, and exits with 77 if the machine allows no mount.
#
# The manager is that of a user, who has no privilege. UNIT can have a filter of system calls,
# but no other user and no namespaces.

set -eu
user=12346
[ $# = 4 ] || exec unshare --mount --cgroup "$0" "$@" inside

unit=$(realpath "$1")
program=$(realpath "$2")
cgroup=/sys/fs/cgroup/start-unit.$$
if ! { mount --make-rprivate / && mount -t cgroup2 none /sys/fs/cgroup && mkdir "$cgroup"; }; then
	echo "no cgroup2 can be mounted here"
	exit 77
fi
trap 'rmdir "$cgroup"/*/ "$cgroup" 2>/dev/null || true' EXIT
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/home/systemd/user /run/user
cp "$unit" /run/home/systemd/user
cp "$program" /run/program
chown -R $user /run/home /run/user "$cgroup"

# as_user COMMAND...: run a command as the user of the manager
as_user() {
	exec env -i PATH="$PATH" HOME=/run/home XDG_CONFIG_HOME=/run/home XDG_RUNTIME_DIR=/run/user \
		setpriv --reuid $user --regid $user --clear-groups "$@"
}

manager() {
	echo $BASHPID >"$cgroup/cgroup.procs"
	as_user /lib/systemd/systemd --user --unit="${unit##*/}"
}

manager &
sleep "$3"
(as_user systemctl --user show -p ActiveState,SubState,Result,NRestarts,ExecMainStatus "${unit##*/}") || true
echo 1 >"$cgroup/cgroup.kill"
wait 2>/dev/null || true
while grep -q 'populated 1' "$cgroup/cgroup.events"; do
	sleep 0.1
done
