/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks processes, and enters network namespaces. */
#include "bench/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"

/* Mounts /sys for this network namespace: /sys/class/net, which some libraries read, shows the
 * mounter's namespace. Failure affects only those libraries. */
static void sysfs_mount(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "none", MS_SLAVE | MS_REC, NULL) != 0)
		return;
	if (umount2("/sys", MNT_DETACH) == 0 && mount("dxpb", "/sys", "sysfs", 0, NULL) != 0)
		log_error("cannot mount /sys of a network namespace: %m; UCX will find no device");
}

int child_netns_enter(const char *name)
{
	char path[256];

	if (!name)
		return DXP_OK;
	if (snprintf(path, sizeof(path), "/run/netns/%s", name) >= (int)sizeof(path)) {
		log_error("network namespace name is too long: %s", name);
		return DXP_EINVAL;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) {
		log_error("cannot enter network namespace %s: %m; it needs root, and \"ip netns "
			  "list\" lists the namespaces",
			  name);
		if (fd >= 0)
			close(fd);
		return DXP_EIO;
	}
	close(fd);
	sysfs_mount();
	return DXP_OK;
}

int child_spawn(child_body body, void *context, struct child *out)
{
	pid_t parent = getpid(); /* detects a parent that exited before prctl */
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		log_error("cannot create a socket pair: %m; \"ulimit -n\" shows the limit");
		return DXP_EIO;
	}
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		body(pair[1], context);
		_exit(0);
	}
	close(pair[1]);
	if (pid < 0) {
		log_error("cannot start a process: %m; \"ulimit -u\" shows the limit");
		close(pair[0]);
		return DXP_EIO;
	}
	*out = (struct child){pid, pair[0]};
	return DXP_OK;
}

void child_end(struct child *c)
{
	if (c->pid <= 0)
		return;
	close(c->control);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	*c = (struct child){.control = -1};
}

uint64_t child_cpu_ns(pid_t pid)
{
	clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
	struct timespec t = {0};

	if (pid == 0 || clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}
