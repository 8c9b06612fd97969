#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three machines, from bare Debian to a fabric with services, a firewall, users' programs, kills, an
# upgrade from the release before, and purge. Prints each command that a user would type. The
# commands of docs/guide/tutorial.md are here, in this order; test/tools/tutorial.sh compares them.
#
#   test/packages/machines.sh [FOLDER]      folder of the packages; default build/deb
#
#   a [10.0.0.1]: dxp-manager, dxp-switch, dxp-web ---+
#   b [10.0.0.2]: dxpd -------------------------------+--- bridge
#   c [10.0.0.3]: programs that use the xPU of b -----+
#
# DXP_LAB_CACHE (default build/lab) is a folder for the bare Debian and the packages of the release
# before, which are made once. Needs root. Skipped, with status 77, if machines are not possible, or
# a source or the release before is missing. lib_machines.sh describes the machines.
set -euo pipefail

cd "$(dirname "$0")/../.."
packages=${1:-${DXP_DEB:-build/deb}}
cache=$(mkdir -p "${DXP_LAB_CACHE:-build/lab}" && cd "${DXP_LAB_CACHE:-build/lab}" && pwd)
scratch=$(mktemp -d)
readonly packages cache scratch
# read by lib_machines.sh
# shellcheck disable=SC2034
readonly hosts=$'10.0.0.1 a\n10.0.0.2 b\n10.0.0.3 c'

# shellcheck source=test/packages/lib_debian.sh
. test/packages/lib_debian.sh
# shellcheck source=test/packages/lib_machines.sh
. test/packages/lib_machines.sh

clean_up() {
	local status=$?
	machines_end
	rm -rf --one-file-system "$scratch"
	exit $status
}
trap clean_up EXIT
compgen -G "$packages/dxp_*.deb" >/dev/null || skip "no packages in $packages; run make deb"
before_find
source_find
exec 9>"$cache/lock"
flock 9 # the tree is shared
machines_check

# packages_before: builds the packages of the release before, once.
packages_before() {
	before=$cache/$commit/before
	readonly before
	[ ! -e "$before/complete" ] || return 0
	say "== packages of $base, once, in $before"
	rm -rf "$before"
	tools/deb "$before" "$commit" >"$scratch/log" 2>&1 || die "$(tail -n 20 "$scratch/log")"
	touch "$before/complete"
}

packages_before
mkdir "$scratch/now"
cp "$packages"/*.deb "$scratch/now"
machines_base "$before" "$scratch/now"
ours='./dxp_*.deb ./dxp[d-]*.deb ./libdxp*.deb'
for folder in before now; do
	archives_fetch "cd /packages/$folder && rm -f dxp-slurm_* dxp-wireshark_* &&
		apt-get install $ours clinfo pocl-opencl-icd ocl-icd-libopencl1"
done
archives_fetch 'apt-get install --no-install-recommends gcc libc6-dev pkg-config hashcat nftables \
	openssh-server openssh-client libopenmpi-dev curl'

say '== three machines'
machine_boot a 10.0.0.1
machine_boot b 10.0.0.2
machine_boot c 10.0.0.3

# copied FOLDER: replaces the packages in /root of each machine, as `scp build/deb/*.deb a:` does.
copied() {
	local machine
	for machine in a b c; do
		inside $machine "rm -f *.deb && cp /packages/$1/*.deb ."
	done
}

# token_create COMMAND: makes a token on a, which replaces TOKEN in the following commands.
token_create() {
	on a "$1"
	token=$(cat "$scratch/out")
}

# state: prints ids, names, keys and grants, which an upgrade must keep.
state() {
	inside a 'dxp nodes --json' | grep -E '"(id|name|uuid)"' | grep -B 1 -A 1 xpu
	inside a 'dxp grants'
	inside a 'cat /var/lib/dxp/fabric.key'
}

say '== the release before'
copied before
on a 'apt install -y ./dxp_*.deb ./dxp-manager_*.deb ./dxp-opencl-icd_*.deb clinfo'
on b 'apt install -y ./dxp_*.deb ./dxpd_*.deb pocl-opencl-icd ocl-icd-libopencl1'
on c 'apt install -y ./dxp_*.deb ./dxp-opencl-icd_*.deb clinfo'
on a "mkdir -p /etc/dxp && printf '[dxp-manager]\nbind = 10.0.0.1\n' >/etc/dxp/dxp.conf"
on a 'systemctl enable --now dxp-manager'
on a 'dxp join 10.0.0.1 $(cat /var/lib/dxp/registry/operator.token)'
token_create 'dxp token create'
on b 'dxp join 10.0.0.1 TOKEN --dir /var/lib/dxp'
on b 'systemctl enable --now dxpd'
token_create 'dxp token create --role host'
on c 'dxp join 10.0.0.1 TOKEN'
on a "dxp grant c '*'"
eventually c ' on xpu1' 'dxp run -- clinfo -l'
state >"$scratch/state"

say '== upgrade, one machine after another; the fabric works in between'
copied now
# upgraded MACHINE UNIT: fails unless the unit runs a program of the new package.
upgraded() {
	eventually "$1" 'it runs' "systemctl is-active --quiet $2 && echo it runs"
	inside "$1" "readlink /proc/\$(systemctl show -P MainPID $2)/exe" >"$scratch/out"
	! grep 'deleted' "$scratch/out" || die "$2 runs a program of the release before"
}
on b 'apt install -y ./dxp_*.deb ./dxpd_*.deb'
upgraded b dxpd
eventually c 'xpu1' 'dxp ping xpu1 --count 20'
on a 'apt install -y ./dxp_*.deb ./dxp-manager_*.deb ./dxp-opencl-icd_*.deb'
upgraded a dxp-manager
eventually c 'xpu1' 'dxp ping xpu1 --count 20'
on c 'apt install -y ./dxp_*.deb ./dxp-opencl-icd_*.deb'
eventually c ' on xpu1' 'dxp run -- clinfo -l'
state | diff "$scratch/state" - || die 'the upgrade changed ids, names, grants or the key'

# purged MACHINE: purges our packages; nothing of them may remain.
purged() {
	on "$1" "apt purge -y '?name(dxp)'"
	inside "$1" 'for at in \
			/{var/lib,usr/bin,lib/systemd/system,etc/OpenCL/vendors,etc/default}/dxp*
		do [ ! -e "$at" ] || echo "$at"; done
		systemctl list-units --all --plain --no-legend "dxp*"' >"$scratch/out"
	[ ! -s "$scratch/out" ] || die "left on $1: $(cat "$scratch/out")"
	on "$1" 'rm -rf ~/.local/state/dxp /etc/dxp'
}

say '== purge'
purged a
purged b
purged c

say '== from zero to two machines'
on a 'apt install -y ./dxp_*.deb ./dxp-manager_*.deb ./dxp-opencl-icd_*.deb clinfo'
on a "printf '[dxp-manager]\nbind = 10.0.0.1\n' >>/etc/dxp/dxp.conf"
on a 'systemctl enable --now dxp-manager'
on a 'dxp join 10.0.0.1 $(cat /var/lib/dxp/registry/operator.token)'
expect 'role operator'
token_create 'dxp token create'
on b 'apt install -y ./dxp_*.deb ./dxpd_*.deb pocl-opencl-icd'
on b 'dxp join 10.0.0.1 TOKEN --dir /var/lib/dxp'
expect 'joined the fabric of 10.0.0.1 as b'
on b 'systemctl enable --now dxpd'
inside b 'journalctl --no-pager \
	_SYSTEMD_INVOCATION_ID=$(systemctl show -P InvocationID dxpd)' >"$scratch/out"
! grep -E 'warning|error' "$scratch/out" || die 'the service has warnings'
on a "dxp grant a '*'"
on a 'dxp run -- clinfo -l'
expect ' on b-xpu1'

say '== a third machine, which only uses xPUs'
token_create 'dxp token create --role host'
on c 'apt install -y ./dxp_*.deb ./dxp-opencl-icd_*.deb clinfo'
on c 'dxp join 10.0.0.1 TOKEN'
on c 'dxp run -- clinfo -l'
expect 'the program used no xPU'
on a "dxp grant c '*'"
on c 'dxp nodes'
expect ' b-xpu1 '
on c 'dxp run -- clinfo -l'
expect ' on b-xpu1'

say '== a firewall'
for machine in a b c; do
	on $machine 'apt install -y --no-install-recommends nftables'
	say "$machine# nft -f /etc/nftables.conf"
	inside $machine "cat >/etc/nftables.conf <<-'E'
		flush ruleset
		table inet filter {
			chain input {
				type filter hook input priority filter; policy drop;
				iif lo accept
				ct state established,related accept
				icmp type echo-request accept
			}
		}
	E
	nft -f /etc/nftables.conf"
done
fails c 'nft insert rule inet filter input udp dport 4795 accept' 'dxp doctor --all'
on a 'nft insert rule inet filter input udp dport 4795 accept'
# Without a rule on b, packets that b sends to c open its port for c: its firewall tracks
# connections. net/data_path has a firewall that does not.
on b 'nft insert rule inet filter input udp dport 4796-4859 accept'
eventually c ' alive ' 'dxp nodes' # the lease of b has expired meanwhile
on c 'dxp doctor --all'
expect 'UDP 10.0.0.2:4796 answers'
on c 'dxp bench latency --to b-xpu1 --quick'

say '== programs of users'
on c 'apt install -y ./libdxp0_*.deb ./libdxp-dev_*.deb ./dxp-doc_*.deb'
on c 'apt install -y --no-install-recommends gcc libc6-dev pkg-config'
on c 'cp /usr/share/doc/dxp/examples/hello_xpu/hello_xpu.c .'
on c 'cc -o hello hello_xpu.c $(pkg-config --cflags --libs dxp)'
on c './hello'
expect ' 0 errors'
on b "printf '[dxpd]\nmemory = 4G\n' >>/etc/dxp/dxp.conf" # hashcat needs this much
on b 'systemctl restart dxpd'
on c 'apt install -y --no-install-recommends hashcat'
hash=$(printf dxpu | md5sum | cut -d ' ' -f 1)
on c "dxp run -- hashcat --force -m 0 -a 3 --potfile-disable -O --quiet $hash '?l?l?l?l'"
expect "$hash:dxpu"

say '== an MPI program on b and c, summed by a switch on a'
on a 'apt install -y ./dxp-switch_*.deb'
on a "printf '[dxp-switch]\naddress = 10.0.0.1\n' >>/etc/dxp/dxp.conf"
on a 'systemctl enable --now dxp-switch'
on a 'nft insert rule inet filter input udp dport 4791 accept'
# the hosts of an allreduce also send to each other
on b 'nft insert rule inet filter input udp dport { 4791, 49152-50175 } accept'
on c 'nft insert rule inet filter input udp dport { 4791, 49152-50175 } accept'
on c 'dxp inc test --switch 10.0.0.1'
on b 'apt install -y ./dxp-openmpi_*.deb'
on c 'apt install -y ./dxp-openmpi_*.deb'
# Open MPI itself connects by ssh, and by TCP to ports that it chooses.
on b 'apt install -y --no-install-recommends openssh-server'
on c 'apt install -y --no-install-recommends openssh-client libopenmpi-dev'
on b 'nft insert rule inet filter input ip saddr 10.0.0.0/24 tcp dport { 22, 1024-65535 } accept'
on c 'nft insert rule inet filter input ip saddr 10.0.0.0/24 tcp dport 1024-65535 accept'
inside c "ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519 &&
	ssh-keyscan b >~/.ssh/known_hosts" >"$scratch/log" 2>&1 </dev/null ||
	die "no key for ssh: $(cat "$scratch/log")"
key=$(inside c 'cat ~/.ssh/id_ed25519.pub' </dev/null)
inside b "mkdir -p -m 700 ~/.ssh && echo '$key' >~/.ssh/authorized_keys" </dev/null
inside c 'cat >sum.c' <<-'E'
	#include <mpi.h>
	#include <stdio.h>

	int main(int argc, char **argv)
	{
		int rank, ranks, sum = 0;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &ranks);
		for (int i = 0; i < 1000; i++)
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%d ranks, sum %d\n", ranks, sum);
		MPI_Finalize();
		return 0;
	}
E
on c 'mpicc -o sum sum.c'
on c 'scp -q sum b:'
# summed: runs the program, which must use the switch.
summed() {
	on c 'mpirun --allow-run-as-root --host b,c -x DXP_INC_SWITCH=10.0.0.1 \
		--mca coll_dxp_verbose 1 ./sum'
	expect '2 ranks, sum 1'
	expect 'offloaded'
}
summed
on c 'dxp inc --switch 10.0.0.1'

say '== the web page'
token_create 'dxp token create --role host'
on a 'apt install -y ./dxp-web_*.deb'
on a 'dxp join 10.0.0.1 TOKEN --dir /var/lib/dxp --name web'
on a 'systemctl enable --now dxp-web'
on a 'apt install -y --no-install-recommends curl'
eventually a 'b-xpu1' 'curl -s http://127.0.0.1:4795/api/v1/nodes'

say '== each service is killed, and restarts'
# killed MACHINE UNIT: kills the service's processes, and waits until systemd has restarted it.
killed() {
	on "$1" "systemctl kill --signal KILL $2"
	eventually "$1" 'NRestarts=1' "systemctl show --property NRestarts $2"
	eventually "$1" 'it runs' "systemctl is-active --quiet $2 && echo it runs"
}
state >"$scratch/state"
killed a dxp-manager
eventually c 'b-xpu1' 'dxp ping b-xpu1 --count 20'
killed b dxpd
eventually c 'b-xpu1' 'dxp ping b-xpu1 --count 20'
killed a dxp-switch
eventually c '10.0.0.1' 'dxp inc test --switch 10.0.0.1'
summed
killed a dxp-web
eventually a 'b-xpu1' 'curl -s http://127.0.0.1:4795/api/v1/nodes'
state | diff "$scratch/state" - || die 'the restarts changed ids, names, grants or the key'

say '== restarted by the administrator, in any order'
on b 'systemctl stop dxpd'
on a 'systemctl restart dxp-manager'
on b 'systemctl start dxpd'
eventually c ' on b-xpu1' 'dxp run -- clinfo -l'

say '== removal'
purged a
purged b
purged c
say passed
