/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs dxpd as a process beside a manager in this process, for its tests. */
#ifndef TEST_UNIT_DXPD_PROCESS_H
#define TEST_UNIT_DXPD_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/mmd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/util.h"
#include "manager/server.h"
#include "test/support/sanitizer.h"

#define PROGRAM   "bin/dxpd"
#define WAIT_NS   (120 * S_NS)
#define ARGUMENTS 24
#define OUT_BYTES 8192

struct process {
	pid_t pid;
	int out; /* pipe for standard output and error */
	char text[OUT_BYTES];
};

static char folder[64], manager_text[UDP_ADDRESS_TEXT_BYTES], key_path[128];
static struct server *manager;
static pthread_t manager_thread;

static void *manager_main(void *argument)
{
	server_run(argument);
	return NULL;
}

static void file_put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fchmod(fileno(f), 0600);
	fputs(text, f);
	fclose(f);
}

static void key_put(const char *path, uint8_t key[FABRIC_KEY_BYTES])
{
	char hex[2 * FABRIC_KEY_BYTES + 1];

	rng_entropy_kernel(NULL, key, FABRIC_KEY_BYTES);
	for (int i = 0; i < FABRIC_KEY_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", key[i]);
	file_put(path, hex);
}

static int world_open(void **state)
{
	struct server_options options = {.state_folder = folder};
	struct udp_address address;
	char path[128];

	snprintf(folder, sizeof(folder), "/tmp/dxp-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(key_path, sizeof(key_path), "%s/fabric.key", folder);
	key_put(key_path, options.key);
	address_parse("127.0.0.1", 0, &options.bind);
	if (server_open(&options, &manager) != DXP_OK)
		return -1;
	server_address(manager, &address);
	address_format(&address, manager_text);
	snprintf(path, sizeof(path), "%s/manager", folder);
	file_put(path, manager_text);
	return pthread_create(&manager_thread, NULL, manager_main, manager);
}

static int world_close(void **state)
{
	char command[128];

	server_stop(manager);
	pthread_join(manager_thread, NULL);
	server_close(manager);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* Starts dxpd. The options `first` and so on, up to NULL, override the default ones. */
static struct process start(const char *first, ...)
{
	const char *argv[ARGUMENTS] = {PROGRAM,     "--engine",   "none",  "--memory", "4M",
				       "--manager", manager_text, "--key", key_path};
	struct process p = {0};
	int count = 9, pipe_ends[2];
	va_list more;

	va_start(more, first);
	for (const char *a = first; a && count < ARGUMENTS - 1; a = va_arg(more, const char *))
		argv[count++] = a;
	va_end(more);
	assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (p.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipe_ends[1], 1);
		dup2(pipe_ends[1], 2);
		execv(PROGRAM, (char **)argv);
		_exit(99);
	}
	close(pipe_ends[1]);
	fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
	p.out = pipe_ends[0];
	return p;
}

/* Reads output of the process until it contains `text`, the process closes it, or WAIT_NS have
 * passed. */
static bool has_text(struct process *p, const char *text)
{
	size_t used = strlen(p->text);

	for (uint64_t end = clock_now_ns() + WAIT_NS; clock_now_ns() < end;) {
		if (strstr(p->text, text))
			return true;
		ssize_t bytes = read(p->out, p->text + used, OUT_BYTES - 1 - used);
		if (bytes > 0)
			used += (size_t)bytes;
		else if (bytes == 0)
			break;
		else
			usleep(1000);
	}
	return strstr(p->text, text) != NULL;
}

/* Sends the signal `number` unless it is 0, and waits for the exit. Returns the exit status, or -1
 * after a signal. */
static int end(struct process *p, int number)
{
	int status;

	if (number)
		kill(p->pid, number);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	close(p->out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
