#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp vf export`: a QEMU machine (without KVM) has a function of each of two NICs; a program moves
# data between the nodes by dxp/device.h. Afterwards the functions are free.
#
#   QEMU: vm_guest.c --- ivshmem --- function of xpu1 [dxpd]
#            +---------- ivshmem --- function of xpu2 [dxpd]
#
# DXP_TEST_KERNEL names a kernel for the machine; default: the newest readable /boot/vmlinuz-*.
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

readonly source=${DXP_SOURCE:-$(dirname "$0")/../..}
skip() { echo "skipped: $*"; exit 77; }

command -v qemu-system-x86_64 >/dev/null || skip 'no QEMU; apt install qemu-system-x86'
newest=$(find /boot -name 'vmlinuz-*' -readable 2>/dev/null | sort -V | tail -n 1)
kernel=${DXP_TEST_KERNEL:-$newest}
[ -r "$kernel" ] ||
	skip 'no kernel for a machine; apt install linux-image-cloud-amd64, or set DXP_TEST_KERNEL'
"${CC:-cc}" -std=gnu17 -O2 -Wall -Wextra -Werror -static -I "$source/include" -o "$scratch/guest" \
	"$source/test/net/vm_guest.c" || skip 'no static C library'

# member NAME MODE FILE: prints a cpio entry (format "newc").
member() {
	local bytes
	bytes=$(stat -c %s "$3")
	printf 070701
	printf %08X $((++inode)) "$2" 0 0 1 0 "$bytes" 0 0 0 0 $((${#1} + 1)) 0
	printf '%s\0' "$1"
	head -c $(((4 - (110 + ${#1} + 1) % 4) % 4)) /dev/zero
	cat "$3"
	head -c $(((4 - bytes % 4) % 4)) /dev/zero
}
inode=0
: >"$scratch/empty"
{
	member init $((0100755)) "$scratch/guest"
	member 'TRAILER!!!' 0 "$scratch/empty"
} >"$scratch/initrd"

say "== wrong use"
refuse 2 'needs a NIC, `--` and the command of QEMU' dxp vf export xpu1
refuse 2 'needs a power of two' dxp vf export --memory 100K xpu1 -- true
refuse 1 "no NIC" dxp vf export xpu1 -- true
dxp up --port 0 >/dev/null
refuse 127 "cannot start '$scratch/none'" dxp vf export xpu1 -- "$scratch/none"

say "== a machine with functions of two NICs"
command=(qemu-system-x86_64 -accel tcg -m 128 -nodefaults -display none -no-reboot
	-serial "file:$scratch/console" -kernel "$kernel" -initrd "$scratch/initrd"
	-append 'console=ttyS0 quiet panic=-1')
dxp vf export xpu1,xpu2 --memory 1M -- "${command[@]}" >"$scratch/said" 2>&1 &
machine=$!
for _ in $(seq 6000); do # on a loaded machine, emulation is slow
	! grep -q '^guest: \(passed\|FAILED\)' "$scratch/console" 2>/dev/null || break
	runs $machine || break
	sleep 0.1
done
wait $machine || die "the machine ended with $?: $(cat "$scratch/said" "$scratch/console")"
for line in 'functions of xpu1 and xpu2' NAP PUT GET 'list of 300' 'wrong key rejected' passed; do
	expect "guest: $line" "$scratch/console"
done
[ "$(grep -c '^guest: PUT' "$scratch/console")" -eq 2 ] || die "$(cat "$scratch/console")"
say "$(grep '^guest' "$scratch/console")"

say "== its functions are free again"
for _ in {1..2400}; do # at most 120 s
	[ "$(dxp vf | grep -c ' free ')" -ne 14 ] || break
	sleep 0.05
done
[ "$(dxp vf | grep -c ' free ')" -eq 14 ] || die "$(dxp vf)"
say ok
