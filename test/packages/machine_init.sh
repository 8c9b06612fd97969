#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Becomes the first process of a machine of lib_machines.sh: makes its mounts, then starts systemd.
# Runs as process 1 of new namespaces.
#
#   test/packages/machine_init.sh NAME TREE FOLDER
#
# TREE is the lower layer of the root. FOLDER has upper, work and root.
set -euo pipefail

readonly name=$1 tree=$2 folder=$3
readonly root=$folder/root

mount --make-rprivate /
hostname "$name"
mount -t overlay overlay -o "lowerdir=$tree,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount -t proc proc "$root/proc"
# Settings of the kernel belong to this machine, not to the lab.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
cd "$root"
mkdir -p .outside
pivot_root . .outside
exec chroot . sh -c 'umount -l /.outside && rmdir /.outside &&
	exec env -i container=dxp-lab PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init'
