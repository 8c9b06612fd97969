#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A sandbox (own user, mount, process and network namespace, no network) with one function, by one
# socket: NAP, PUT, GET and fetch-add with a process outside and with another node. It must not
# reach another function or manage the NIC.
#
#   +-- sandbox: lo down ------------+
#   | nic_client --[vf 3]--+         |
#   +----------------------|---------+
#       nic_server --[vf 1]+-- dxpd: NIC of xpu1
#                                      |
#                                  127.0.0.1
#                                      |
#       nic_server --[vf 1]-- dxpd: NIC of xpu2
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_functions.sh
. "$(dirname "$0")/lib_functions.sh"

namespaces=(unshare --user --map-root-user --mount --net --pid --fork --mount-proc)
if ! "${namespaces[@]}" true 2>/dev/null; then
	echo 'skipped: no user namespaces for this user; sysctl kernel.unprivileged_userns_clone=1'
	exit 77
fi

# An empty folder is mounted over the run folder, and one folder holds only the socket. The nested
# user namespace makes these mounts final.
cat >"$scratch/enter" <<'END'
#!/bin/bash
set -euo pipefail
cell=$1 run=$2 vf=$3
shift 3
mount -t tmpfs -o size=1M cell "$cell"
touch "$cell/vf"
mount --bind "$vf" "$cell/vf"
mount -t tmpfs -o size=1M none "$run"
exec unshare --user --map-root-user --mount "$@"
END
mkdir "$scratch/cell"

inside() {
	timeout 120 "${namespaces[@]}" bash "$scratch/enter" "$scratch/cell" "$DXP_RUN" \
		"$DXP_RUN/xpu1.nic/vf3" "$@"
}

# talk ARGUMENTS...: runs the client in the sandbox.
talk() {
	inside "$DXP_BIN/nic_client" "$scratch/cell/vf" "$@" >"$scratch/client" 2>&1 ||
		die "client: $(cat "$scratch/client")"
	cat "$scratch/client"
	expect 'client: wrote 65528 bytes and read them back, the same' "$scratch/client"
	expect 'client: 0 clients before this one' "$scratch/client"
}

dxp up --xpus 2 --slots-per-daemon 1 --memory 64M --port 0
[ -S "$DXP_RUN/xpu1.nic/vf3" ] || die "no socket for function 3"

say "== what the sandbox sees"
inside find "$scratch/cell" "$DXP_RUN" ! -type d >"$scratch/out"
[ "$(cat "$scratch/out")" = "$scratch/cell/vf" ] || die "not one socket: $(cat "$scratch/out")"
inside bash -c "! umount '$DXP_RUN' 2>&1" | has -E 'not permitted|Invalid|must be|not mounted' ||
	die "the sandbox can look behind its mounts"
inside cat /proc/net/dev >"$scratch/out"
! grep -Ev '^(Inter| face|.*lo:)' "$scratch/out" || die "the sandbox has a network"
say "one socket, no network"

say "== with a process outside"
server xpu1 1
talk
server_done

say "== with another node"
server xpu2 1
talk "$server_at"
server_done

say "== what the sandbox cannot"
# refused TEXT NIC: the client inside must fail to reach the NIC and print the text.
refused() {
	! inside "$DXP_BIN/nic_client" "$2" >"$scratch/out" 2>&1 || die "the sandbox reached $2"
	expect "$1" "$scratch/out"
	say "ok: $(cat "$scratch/out")"
}
refused 'no NIC on this machine offers functions' xpu1
refused 'no NIC offers functions at' "$DXP_RUN/xpu1.nic/nic"
refused 'no NIC offers functions at' "$DXP_RUN/xpu1.nic/vf2"
# list, weight, limit and reset for function 1 (wire/attach.h) must be rejected
if command -v python3 >/dev/null; then
	cat >"$scratch/manage.py" <<'END'
import socket, struct, sys
for name, kind, value in (("list", 7, b"\0"), ("weight", 8, struct.pack(">Q", 64)),
                          ("limit", 9, struct.pack(">Q", 1)), ("reset", 10, b"")):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(struct.pack(">4sBBB", b"DXPA", 3, kind, 1) + value)
    answer = s.recv(1024)
    print(name, struct.unpack(">i", answer[6:10])[0])
END
	server xpu1 1
	inside python3 "$scratch/manage.py" "$scratch/cell/vf" >"$scratch/out"
	cat "$scratch/out"
	[ "$(tr '\n' ' ' <"$scratch/out")" = 'list -3 weight -3 limit -3 reset -3 ' ] ||
		die 'a management request was not rejected with DXP_EACCESS'
	talk # function 1 must still work
	server_done
else
	left_out 'requests of management' 'no python3; tools/setup check'
fi
say passed
