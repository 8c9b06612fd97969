/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program on a disk that becomes slow: slow-disk FILE PROGRAM ARGUMENT...
 *
 * Each fsync() and fdatasync() of the program waits for the number of ms in FILE, which may change.
 * The program has the process id of slow-disk. A second process waits in its place: the kernel
 * suspends the calls and reports them there (seccomp_unotify(2)), which also reaches programs
 * without a C library, such as etcd. That process ends with the program. Exit status 77: the kernel
 * cannot do this. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/util.h"

#define CANNOT 77

static uint64_t delay_ns(const char *path)
{
	char text[24] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoull(text, NULL, 10) * MS_NS;
}

static int filter_install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_COUNT(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* Sends a descriptor to the other process, or receives it if `fd` is -1. Returns it, or -1. */
static int descriptor_pass(int pair, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char byte = 0;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	if (fd < 0) {
		if (recvmsg(pair, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
			return -1;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
		return fd;
	}
	control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(pair, &message, MSG_NOSIGNAL) == 1 ? fd : -1;
}

/* Delays the calls one after the other, as a disk does. Returns when the program has ended. */
static void calls_delay(int listener, const char *path)
{
	struct pollfd wait = {.fd = listener, .events = POLLIN};

	for (;;) {
		struct seccomp_notif call = {0};
		struct seccomp_notif_resp go = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		if (poll(&wait, 1, -1) < 0 && errno != EINTR)
			return;
		if (!(wait.revents & POLLIN))
			return;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
			continue; /* the caller was killed */
		const uint64_t ns = delay_ns(path);
		nanosleep(&(struct timespec){(time_t)(ns / S_NS), (long)(ns % S_NS)}, NULL);
		go.id = call.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go);
	}
}

int main(int argc, char **argv)
{
	int pair[2];

	if (argc < 3 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return 2;
	const pid_t helper = fork();
	if (helper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		int listener = descriptor_pass(pair[1], -1);
		if (listener >= 0)
			calls_delay(listener, argv[1]);
		return 0;
	}
	int listener = helper > 0 ? filter_install() : -1;
	if (listener < 0 || descriptor_pass(pair[0], listener) < 0) {
		fprintf(stderr, "slow-disk: the kernel delays no calls: %s\n", strerror(errno));
		return CANNOT;
	}
	close(listener);
	execvp(argv[2], argv + 2);
	fprintf(stderr, "slow-disk: cannot start %s: %s\n", argv[2], strerror(errno));
	return 127;
}
