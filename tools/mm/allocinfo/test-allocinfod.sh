#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-allocinfod.sh [DIR]: test allocinfod, which is in DIR. test-allocinfod.py connects
# to it; this script makes certificates, and tests what the daemon refuses.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/test-lib.sh"
cd "$tmp" || exit
program=$bin/allocinfod
# The daemon may not start the process that looks for leaks; fuzz-serve looks for them.
export ASAN_OPTIONS=detect_leaks=0

# key NAME: options for openssl to make NAME.key
key() {
	printf '%s\n' -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key"
}

make_keys() {
	local name
	for name in server ca foreign; do
		# shellcheck disable=SC2046 # several words
		openssl req -x509 $(key $name) -out $name.pem -subj /CN=$name -days 2 \
			-addext subjectAltName=IP:127.0.0.1 2>/dev/null
	done
	for name in client server2; do
		# shellcheck disable=SC2046
		openssl req $(key $name) -out $name.csr -subj /CN=$name 2>/dev/null
	done
	openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out client.pem \
		-days 2 2>/dev/null
	# a certificate that may only be used by servers
	openssl x509 -req -in server2.csr -CA ca.pem -CAkey ca.key -out server2.pem -days 2 \
		-extfile <(echo extendedKeyUsage=serverAuth) 2>/dev/null
	chmod 600 ./*.key
	printf '# who may look\nprom:secret word\nother:a:b\n' >users
	chmod 600 users
}

# starts WHAT TEXT ARG...: it must refuse to start with exit status 1 and say TEXT
refuses() {
	local what=$1 text=$2
	shift 2
	expect "$what" 1 timeout 10 "$program" --proc m --listen 127.0.0.1:0 "$@"
	says "$what" "$text"
}

test_secrets() {
	chmod 640 users
	refuses "a readable file of users" 'users: group or others have access' --auth-file users
	chmod 600 users
	refuses "no file of users" 'nothing: No such file' --auth-file nothing
	refuses "a directory of users" 'm: not a file' --auth-file m
	install -m 600 /dev/null empty
	refuses "no user" 'it has no user' --auth-file empty
	echo prom >empty
	refuses "no password" 'a line is not user:password' --auth-file empty
	printf 'prom:secret\r\n' >empty
	refuses "a password with CR" 'a line has a control character' --auth-file empty
	chmod 644 server.key
	refuses "a readable key" 'server.key: group or others' --tls-cert server.pem --tls-key server.key
	chmod 600 server.key
	refuses "the key of another certificate" 'are certificate and key valid' \
		--tls-cert server.pem --tls-key ca.key
	if [ "$(id -u)" -eq 0 ]; then
		cp users foreign_users
		chown 12345 foreign_users
		chmod 600 foreign_users
		refuses "a file of another user" 'it belongs to another user' --auth-file foreign_users
	fi
}

test_start() {
	refuses "no such user" 'no-such: No such file' --user no-such
	refuses "root as the user" 'root: Operation not permitted' --user root
	refuses "a foreign address" 'cannot listen: Cannot assign' --listen 192.0.2.1:0
	# shellcheck disable=SC2016
	expect "--help on a full disk" 3 bash -c '"$1" --help >/dev/full' - "$program"
	expect "a key without a certificate" 64 "$program" --tls-key server.key
	expect "a CA without a certificate" 64 "$program" --tls-client-ca ca.pem
}

# Without --listen, the daemon listens only on the loopback address. A namespace of its own keeps
# the port free; its loopback interface is down at first (0x8914: SIOCSIFFLAGS, 1: IFF_UP).
test_default_address() {
	if [ "$(id -u)" -ne 0 ] || ! unshare -n true; then
		skip "it needs root and unshare"
		return
	fi
	cat >up.py <<-'END'
		import fcntl, socket, struct
		fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))
	END
	# shellcheck disable=SC2016
	expect "the default address" 124 unshare -n \
		sh -c 'python3 up.py && exec timeout 2 "$1" --proc m' - "$program"
	says "the default address" 'listening on http://127.0.0.1:9842/'
	not_says "the default address" 'other machines can connect'
}

# A user without the right to read the file cannot start it, one with the capability can.
test_users() {
	if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
		skip "it needs root and setpriv"
		return
	fi
	chmod 755 .
	expect "another user" 1 setpriv --reuid 12345 --regid 12345 --clear-groups \
		"$program" --proc m --listen 127.0.0.1:0
	says "another user" 'only root can read'
	cp users their_users
	chown 12345 their_users
	chmod 600 their_users
	expect "a user with a capability" 124 setpriv --reuid 12345 --regid 12345 --clear-groups \
		--inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search \
		--bounding-set=-all,+dac_read_search \
		timeout 1 "$program" --proc m --listen 127.0.0.1:0 --auth-file their_users
	says "a user with a capability" 'listening on http://127.0.0.1:'
}

# What code of a client could do, if it took over the daemon.
test_confine() {
	if [ "$(id -u)" -ne 0 ]; then
		skip "it needs root"
		return
	fi
	expect "what is forbidden" 0 "$bin/try-confine"
}

make_keys
make_proc m <<<'4096 1 mm/slub.c:10 func:alloc_slab_page'
chmod 400 m/allocinfo
test_secrets
test_start
test_default_address
test_users
test_confine
timeout 900 python3 "$here/test-allocinfod.py" "$program" "$tmp" >"$tmp/python" 2>&1
rc=$?
grep -a '^FAILED\|Error' "$tmp/python"	# comes first: a summary shows the first failure
is "exit status of test-allocinfod.py" $rc 0
while IFS= read -r line; do
	skip "${line#skipped: }"
done < <(grep -a '^skipped: ' "$tmp/python")
sed '$!d;s/^/# /' "$tmp/python"
finish
