#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs, uses, reinstalls and purges the packages in a bare Debian. Prints each command that a
# user would type.
#
#   test/packages/lab.sh [FOLDER]      folder of the packages; default build/deb, from `make deb`
#
# The bare Debian is a chroot that debootstrap makes in a temporary folder; it is removed at the
# end. It uses this machine's sources of packages. Needs root. Skipped, with status 77, without
# debootstrap, root or packages, or if the source does not answer.
set -euo pipefail

cd "$(dirname "$0")/../.."
packages=${1:-${DXP_DEB:-build/deb}}
readonly packages

# shellcheck source=test/packages/lib_debian.sh
. test/packages/lib_debian.sh

[ "$(id -u)" -eq 0 ] || skip 'needs root, for a chroot'
command -v debootstrap >/dev/null || skip 'no debootstrap; tools/setup deb'
compgen -G "$packages/dxp_*.deb" >/dev/null || skip "no packages in $packages; run make deb"

source_find

scratch=$(mktemp -d)
root=$scratch/debian
namespace=dxp-lab-$$
readonly scratch root namespace
clean_up() {
	local status=$?
	ip netns del "$namespace" 2>/dev/null || true
	for at in "$root/dev" "$root/sys" "$root/proc"; do
		! mountpoint -q "$at" || umount -l "$at"
	done
	rm -rf --one-file-system "$scratch"
	exit $status
}
trap clean_up EXIT

say "== a bare Debian $release"
debootstrap --variant=minbase "$release" "$root" "$url" >"$scratch/log" 2>&1 ||
	skip "debootstrap failed: $(tail -n 1 "$scratch/log")"
mount -t proc proc "$root/proc"
# the library hwloc, which PoCL uses, reads the processors there
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
apt_settings_copy "$root"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
rm -f "$root"/packages/*-dbgsym_*.deb

# Once packages are installed, commands run in a network namespace of their own, where no other
# program uses ports; empty: this machine's.
network=()

# user COMMAND: prints the command, and runs it in the chroot, into $scratch/out.
user() {
	say "# $1"
	local status=0
	"${network[@]}" chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive bash -c "$1" >"$scratch/out" 2>&1 || status=$?
	[ $status -eq 0 ] || die "it ended with $status: $(tail -n 20 "$scratch/out")"
}

# expect TEXT: fails unless the last command printed the text.
expect() {
	grep -qF -- "$1" "$scratch/out" || die "'$1' is not in: $(cat "$scratch/out")"
	say "ok: $(grep -F -m 1 -- "$1" "$scratch/out")"
}

say '== install'
user 'apt-get -q update && apt-get -qy install --no-install-recommends /packages/*.deb \
	pocl-opencl-icd ocl-icd-libopencl1 clinfo gcc libc6-dev pkg-config man-db procps ufw'
user 'dxp --version' && expect 'dxp '
user 'id dxp' && expect 'dxp'

ip netns add "$namespace"
ip -n "$namespace" link set lo up
network=(ip netns exec "$namespace")

say '== one machine, by hand'
user 'dxp up --xpus 2 --memory 64M' && expect '2 xPUs is up'
user 'dxp nodes' && expect 'alive'
user 'dxp run -- clinfo -l' && expect 'Direct xPU'
user 'cc -o /tmp/hello /usr/share/doc/dxp/examples/hello_xpu/hello_xpu.c \
	$(pkg-config --cflags --libs dxp) && /tmp/hello' && expect ' 0 errors'
user 'dxp down'

say '== as the services start it'
# A chroot has no service manager, so the units' commands run here.
user 'install -d -o dxp -g dxp /var/lib/dxp /run/dxp'
unit() {
	sed -n "s/^ExecStart=//p" "$root/lib/systemd/system/$1.service" |
		sed 's/ \$[A-Z_]*//'
}
manager=$(unit dxp-manager) daemon=$(unit dxpd)
user "start-stop-daemon --start --background --chuid dxp --make-pidfile \
	--pidfile /tmp/m.pid --exec ${manager%% *} -- ${manager#* }"
user 'mkdir -p /etc/dxp && printf "[dxpd]\nmanager = 127.0.0.1:4795\n" >/etc/dxp/dxp.conf'
user 'dxp config show dxpd' && expect '; /etc/dxp/dxp.conf:2'
user 'for i in $(seq 100); do [ -s /var/lib/dxp/fabric.key ] && exit; sleep 0.1; done; exit 1'
user "DXP_RUN=/run/dxp start-stop-daemon --start --background --chuid dxp --make-pidfile \
	--pidfile /tmp/d.pid --exec ${daemon%% *} -- ${daemon#* } --memory 64M"
user 'for i in $(seq 300); do
		case $(dxp nodes) in *" xpu1 "*) exit ;; esac
		sleep 0.1
	done
	dxp nodes
	exit 1'
user 'dxp nodes' && expect ' xpu1 '
user 'dxp run -- clinfo -l' && expect 'Direct xPU'
user 'start-stop-daemon --stop --retry 10 --pidfile /tmp/d.pid'
user 'start-stop-daemon --stop --retry 10 --pidfile /tmp/m.pid'

say '== rules of ufw in the guide'
while read -r rule; do
	user "ufw --dry-run ${rule#ufw }" && expect '--dport'
done < <(sed -n 's/^\(ufw allow .*\)$/\1/p' docs/guide/install.md)

say '== pages and completion'
for page in dxp dxp-up dxpd dxp-manager dxp-switch dxp-web; do
	user "man $page | cat" && expect 'SYNOPSIS'
done
user 'man 5 dxp.conf | cat' && expect 'DXPD_MEMORY'
user 'man 7 dxp | cat' && expect 'dxp_mmd(3)'
user 'man 3 dxp_mem_alloc | cat' && expect 'zeroed device memory'
# completes WORD...: prints what the completion offers for the last word.
completes() {
	user "source /usr/share/bash-completion/completions/dxp
	COMP_WORDS=(dxp $*) COMP_CWORD=$#; _dxp; echo \"\${COMPREPLY[@]}\""
}
completes no && expect 'nodes'
completes up --xp && expect '--xpus'
completes bench latency --to x --ro && expect '--rounds'

say '== again, then purge'
user 'apt-get -qy install --reinstall --no-install-recommends /packages/*.deb'
user 'apt-get -qy purge "dxp*" "libdxp*"'
for at in /var/lib/dxp /etc/OpenCL/vendors/dxp.icd /usr/bin/dxp \
	/lib/systemd/system/dxpd.service; do
	[ ! -e "$root$at" ] || die "$at is left"
done
say passed
