# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Machines for scripts, each a bare Debian with systemd in namespaces of its own: network, mounts,
# processes, IPC, host name and control groups. Source it after lib_debian.sh.
#
#   NAME: eth0 [10.0.0.N] ---+
#                            +--- br0 in the namespace LAB-hub, without a way out
#   NAME: eth0 [10.0.0.N] ---+
#
# Their trees are overlays on one tree, which debootstrap makes once in the folder `cache`. Archives
# of all packages that the machines may install are in that tree, because the machines reach no
# source of packages. The script sets `scratch` and `cache` before, and calls machines_end at exit.
lab=dxp-lab-$$
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
readonly lab cgroups
declare -A starters=() inits=()

# machines_check: skips the test if machines are not possible here.
machines_check() {
	local program
	[ "$(id -u)" -eq 0 ] || skip 'needs root, for namespaces'
	for program in debootstrap unshare nsenter ip pgrep; do
		command -v $program >/dev/null || skip "no $program; tools/setup deb"
	done
	[ -n "$cgroups" ] || skip 'no cgroup2 is mounted, which systemd needs'
	unshare --mount --pid --fork --cgroup true 2>/dev/null ||
		skip 'mount, pid and cgroup namespaces are not allowed'
	ip netns add "$lab-hub" 2>/dev/null || skip 'network namespaces are not allowed'
	ip -n "$lab-hub" link add br0 type bridge
	ip -n "$lab-hub" addr add 10.0.0.254/24 dev br0
	ip -n "$lab-hub" link set br0 up
}

# machines_base FOLDER...: makes the tree in $cache, with these folders of packages in /packages.
machines_base() {
	local folder
	tree=$cache/$release
	readonly tree
	if [ ! -e "$tree.complete" ]; then
		say "== a bare Debian $release, once, in $cache"
		rm -rf --one-file-system "$tree"
		debootstrap --variant=minbase --include=systemd-sysv "$release" "$tree" "$url" \
			>"$scratch/log" 2>&1 ||
			skip "debootstrap failed: $(tail -n 1 "$scratch/log")"
		apt_settings_copy "$tree"
		chroot "$tree" apt-get -q update >"$scratch/log" 2>&1 ||
			skip "no lists of packages: $(tail -n 1 "$scratch/log")"
		# the machines are removed anyway
		echo force-unsafe-io >"$tree/etc/dpkg/dpkg.cfg.d/lab"
		touch "$tree.complete"
	fi
	rm -rf "$tree/packages"
	for folder; do
		mkdir -p "$tree/packages/${folder##*/}"
		cp "$folder"/*.deb "$tree/packages/${folder##*/}"
		rm -f "$tree/packages/${folder##*/}"/*-dbgsym_*.deb
	done
}

# archives_fetch COMMAND: downloads what the command, an apt-get, would install.
archives_fetch() {
	chroot "$tree" env DEBIAN_FRONTEND=noninteractive sh -c "$1 -qy --download-only" \
		>"$scratch/log" 2>&1 || skip "no archives: $(tail -n 3 "$scratch/log")"
}

# machine_boot NAME ADDRESS: starts a machine, and waits until systemd has started its units.
machine_boot() {
	local name=$1 i
	mkdir -p "$scratch/$name"/{upper/etc,work,root} "$cgroups/$lab/$name"
	printf '%s\n' "$name" >"$scratch/$name/upper/etc/hostname"
	printf '127.0.0.1 localhost\n%s\n' "$hosts" >"$scratch/$name/upper/etc/hosts"
	ip netns add "$lab-$name"
	ip -n "$lab-hub" link add name "$name" type veth peer name eth0 netns "$lab-$name"
	ip -n "$lab-hub" link set dev "$name" master br0 up
	ip -n "$lab-$name" addr add "$2/24" dev eth0
	ip -n "$lab-$name" link set lo up
	ip -n "$lab-$name" link set eth0 up
	ip -n "$lab-$name" route add default via 10.0.0.254
	# First into the group, which `ip netns exec` hides.
	sh -c 'echo $$ >"$1" && shift && exec "$@"' - "$cgroups/$lab/$name/cgroup.procs" \
		ip netns exec "$lab-$name" \
		unshare --mount --uts --ipc --pid --cgroup --fork --kill-child \
		test/packages/machine_init.sh "$name" "$tree" "$scratch/$name" \
		>"$scratch/$name/console" 2>&1 </dev/null &
	starters[$name]=$!
	for ((i = 0; i < 1200; i++)); do
		[ -e "/proc/${starters[$name]}" ] || break
		inits[$name]=$(pgrep -P "${starters[$name]}" || true)
		case $(inside "$name" 'systemctl is-system-running' 2>/dev/null) in
		running | degraded) return ;;
		esac
		sleep 0.1
	done
	skip "systemd does not start in a container here: $(tail -n 5 "$scratch/$name/console")"
}

# inside NAME COMMAND: runs the command on the machine as root, in /root. Passes on standard input.
inside() {
	nsenter --target "${inits[$1]}" --mount --uts --ipc --net --pid --root --wd -- \
		env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive sh -c 'cd /root && exec bash -c "$1"' - "$2"
}

# on NAME COMMAND: prints the command, and runs it as root on the machine, into $scratch/out. The
# value of `token` replaces the word TOKEN.
on() {
	local status=0
	say "$1# $2"
	inside "$1" "${2//TOKEN/${token:-}}" >"$scratch/out" 2>&1 </dev/null || status=$?
	[ $status -eq 0 ] || die "it ended with $status: $(tail -n 20 "$scratch/out")" \
		"$(inside "$1" 'journalctl --no-pager -n 30 -u "dxp*"' || true)"
}

# fails NAME TEXT COMMAND: prints the command, which must fail on the machine and print the text.
fails() {
	say "$1# $3"
	! inside "$1" "$3" >"$scratch/out" 2>&1 </dev/null ||
		die "it did not fail: $(cat "$scratch/out")"
	expect "$2"
}

# expect TEXT: fails unless the last command printed the text.
expect() {
	grep -qF -- "$1" "$scratch/out" || die "'$1' is not in: $(cat "$scratch/out")"
	say "ok: $(grep -F -m 1 -- "$1" "$scratch/out")"
}

# eventually NAME TEXT COMMAND: repeats the command until it prints the text, for at most 120 s.
eventually() {
	local begin=$SECONDS
	say "$1# $3"
	until inside "$1" "$3" >"$scratch/out" 2>&1 </dev/null &&
		grep -qF -- "$2" "$scratch/out"; do
		[ $((SECONDS - begin)) -le 120 ] || expect "$2"
		sleep 0.3
	done
	expect "$2"
}

# machines_end: ends all machines, and removes their namespaces and groups.
machines_end() {
	local name i
	for name in "${!starters[@]}"; do
		kill -KILL "${starters[$name]}" 2>/dev/null || true
		wait "${starters[$name]}" 2>/dev/null || true
	done
	for name in hub a b c; do
		ip netns del "$lab-$name" 2>/dev/null || true
	done
	for ((i = 0; i < 100; i++)); do # until the kernel has ended all processes
		[ -d "$cgroups/$lab" ] || break
		find "$cgroups/$lab" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.1
	done
}
