/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches as processes, which tests start and kill. */
#ifndef TEST_UNIT_SWITCH_PROCESS_H
#define TEST_UNIT_SWITCH_PROCESS_H

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A switch in a process of its own. */
struct test_switch {
	pid_t pid; /* 0: it does not run */
	char address[32];
};

/* Starts a switch at a loopback address that no other run of this test uses. */
static void switch_start(struct test_switch *s, int last, const struct test_switch *parent)
{
	const int pid = (int)getpid() & 0x7fff;
	int ready[2];
	char line, fd[16];

	snprintf(s->address, sizeof(s->address), "127.%d.%d.%d", pid >> 8, pid & 255, last);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	snprintf(fd, sizeof(fd), "%d", ready[1]);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		fcntl(ready[1], F_SETFD, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(SWITCH_PROGRAM, "dxp-switch", "--address", s->address, "--ready-fd", fd,
		      "--plane", "user", parent ? "--parent" : NULL,
		      parent ? parent->address : NULL, NULL);
		_exit(127);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &line, 1), 1);
	close(ready[0]);
}

static void switch_kill(struct test_switch *s)
{
	if (s->pid == 0)
		return;
	kill(s->pid, SIGKILL);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	s->pid = 0;
}

#endif
