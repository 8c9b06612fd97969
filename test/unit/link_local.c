/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests local sockets that pass file descriptors, and memory of two processes. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/local.h"

#define LONG_PARTS 8
#define SECOND     1000000000ull

static char folder[64];

static int folder_make(void **state)
{
	strcpy(folder, "/tmp/dxp-local-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int scratch_folder_remove(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static const char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

struct pair {
	int listener, server, client;
	struct local_peer peer;
};

static struct pair pair_open(const char *path)
{
	struct pair p;

	assert_int_equal(local_listen(path, &p.listener), DXP_OK);
	assert_int_equal(local_accept(p.listener, &p.server, &p.peer), DXP_EAGAIN);
	assert_int_equal(local_connect(path, SECOND, &p.client), DXP_OK);
	assert_int_equal(local_accept(p.listener, &p.server, &p.peer), DXP_OK);
	return p;
}

static void pair_close(struct pair *p, const char *path)
{
	local_unlisten(path, p->listener);
	close(p->server);
	close(p->client);
	assert_int_equal(access(path, F_OK), -1);
}

static int receive(int fd, void *data, size_t space, int *fds, unsigned fd_space,
		   unsigned *fd_count)
{
	*fd_count = fd_space;
	return local_receive(fd, data, space, fds, fd_count);
}

static bool closes_on_exec(int fd)
{
	return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

static void local_send__bytes_and_descriptors(void **state)
{
	const char *path = path_of("a");
	struct pair p = pair_open(path);
	struct stat st;
	int pipes[2], got[4];
	unsigned count;
	char data[8];

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(p.peer.pid, getpid());
	assert_int_equal(p.peer.uid, geteuid());
	assert_true(closes_on_exec(p.server) && closes_on_exec(p.client));
	assert_int_equal(receive(p.server, data, 8, got, 4, &count), DXP_EAGAIN);
	assert_int_equal(local_wait(p.server, 1000), DXP_ETIMEDOUT);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(local_send(p.client, "ab", 2, pipes, 2), 2);
	assert_int_equal(local_send(p.client, "c", 1, NULL, 0), 1);
	assert_int_equal(local_wait(p.server, SECOND), DXP_OK);
	assert_int_equal(receive(p.server, data, 8, got, 4, &count), 2);
	assert_memory_equal(data, "ab", 2);
	assert_int_equal(count, 2);
	assert_true(closes_on_exec(got[0]) && closes_on_exec(got[1]));
	assert_int_equal(write(got[1], "x", 1), 1);
	assert_int_equal(read(pipes[0], data, 1), 1);
	assert_int_equal(receive(p.server, data, 8, got + 2, 2, &count), 1);
	assert_int_equal(count, 0);
	close(got[0]);
	close(got[1]);
	close(pipes[0]);
	close(pipes[1]);
	pair_close(&p, path);
}

/* Detects leaks between two calls. */
static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void local_receive__too_much_is_rejected_and_closed(void **state)
{
	const char *path = path_of("a");
	struct pair p = pair_open(path);
	const int fds[LOCAL_FDS_MAX] = {0, 1, 2, 0};
	int before = lowest_free(), got[LOCAL_FDS_MAX];
	unsigned count;
	char data[4];

	/* more descriptors than space, by one or by many */
	for (unsigned sent = 1; sent <= LOCAL_FDS_MAX; sent++) {
		for (unsigned space = 0; space < sent; space++) {
			assert_int_equal(local_send(p.client, "ab", 2, fds, sent), 2);
			assert_int_equal(receive(p.server, data, 4, got, space, &count),
					 DXP_EMALFORMED);
			assert_int_equal(count, 0);
			assert_int_equal(lowest_free(), before);
		}
	}
	/* more bytes than space */
	assert_int_equal(local_send(p.client, "abcde", 5, fds, 1), 5);
	assert_int_equal(receive(p.server, data, 4, got, 4, &count), DXP_EMALFORMED);
	assert_int_equal(count, 1); /* the caller must close it */
	close(got[0]);
	assert_int_equal(lowest_free(), before);
	assert_int_equal(local_send(p.client, "abcd", 4, NULL, 0), 4);
	assert_int_equal(receive(p.server, data, 4, got, 4, &count), 4);
	pair_close(&p, path);
}

static void local_receive__the_end(void **state)
{
	const char *path = path_of("a");
	struct pair p = pair_open(path);
	unsigned count;
	char data[4];
	int got[1];

	close(p.client);
	assert_int_equal(receive(p.server, data, 4, got, 1, &count), DXP_ECLOSED);
	assert_int_equal(local_send(p.server, "a", 1, NULL, 0), DXP_ECLOSED);
	p.client = dup(p.server);
	pair_close(&p, path);
}

static void local_listen__paths_of_any_length(void **state)
{
	char path[4096];
	size_t at = (size_t)snprintf(path, sizeof(path), "%s", folder);

	for (int i = 0; i < LONG_PARTS; i++) {
		at += (size_t)snprintf(path + at, sizeof(path) - at, "/%060d", i);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path + at, sizeof(path) - at, "/socket");
	assert_true(strlen(path) > 400);
	struct pair p = pair_open(path);
	pair_close(&p, path);
}

static void local_listen__replaces_what_a_dead_process_left(void **state)
{
	const char *path = path_of("a");
	int status, fd, other;
	pid_t child = fork();

	if (child == 0)
		_exit(local_listen(path, &fd) == DXP_OK ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(local_connect(path, SECOND, &fd), DXP_ENOENT);
	assert_int_equal(local_listen(path, &fd), DXP_OK);
	/* A used socket and a plain file are not replaced. */
	assert_int_equal(local_listen(path, &other), DXP_EBUSY);
	assert_int_equal(local_connect(path, SECOND, &other), DXP_OK);
	close(other);
	local_unlisten(path, fd);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(local_listen(path, &fd), DXP_EBUSY);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(local_listen(path_of("none/a"), &fd), DXP_ENOENT);
	assert_int_equal(local_listen(path_of(""), &fd), DXP_EINVAL);
}

static void local_connect__names_the_error(void **state)
{
	int fd;

	assert_int_equal(local_connect(path_of("nobody"), SECOND, &fd), DXP_ENOENT);
	assert_int_equal(local_connect(path_of("no/folder"), SECOND, &fd), DXP_ENOENT);
	assert_int_equal(local_connect("", SECOND, &fd), DXP_EINVAL);
}

/* The listener never accepts. */
static void local_connect__in_time(void **state)
{
	const char *path = path_of("a");
	int listener, fds[256], count = 0, status = DXP_OK;

	assert_int_equal(local_listen(path, &listener), DXP_OK);
	while (count < 256 && status == DXP_OK)
		status = local_connect(path, 5 * MS_NS, &fds[count++]);
	assert_int_equal(status, DXP_ETIMEDOUT);
	while (--count > 0)
		close(fds[count - 1]);
	local_unlisten(path, listener);
}

/* ---- memory ---- */

static void local_memory__two_mappings_one_memory(void **state)
{
	struct local_memory a, b;

	assert_int_equal(local_memory_create("test", 8192, &a), DXP_OK);
	assert_int_equal(local_memory_map(a.fd, 4096, 4096, &b), DXP_OK);
	assert_int_equal(b.fd, -1);
	((uint8_t *)a.base)[4097] = 7;
	assert_int_equal(((uint8_t *)b.base)[1], 7);
	assert_true(closes_on_exec(a.fd));
	/* No process can resize the memory or add seals. */
	assert_int_equal(ftruncate(a.fd, 4096), -1);
	assert_int_equal(ftruncate(a.fd, 16384), -1);
	assert_int_equal(fcntl(a.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	local_memory_free(&b);
	local_memory_free(&a);
	assert_int_equal(local_memory_create("test", UINT64_MAX, &a), DXP_ENOMEM);
}

static int memfd(uint64_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int map_status(int fd, uint64_t offset, uint64_t bytes)
{
	struct local_memory m;
	int status = local_memory_map(fd, offset, bytes, &m);

	if (status == DXP_OK)
		local_memory_free(&m);
	return status;
}

static int map_once(int fd)
{
	int status = map_status(fd, 0, 4096);

	close(fd);
	return status;
}

static void local_memory_map__nothing_that_could_kill_us(void **state)
{
	const int shrink = F_SEAL_SHRINK;
	int fd = memfd(8192, shrink);

	assert_int_equal(map_status(fd, 0, 8192), DXP_OK);
	assert_int_equal(map_status(fd, 4096, 4096), DXP_OK);
	assert_int_equal(map_status(fd, 0, 8193), DXP_EINVAL);
	assert_int_equal(map_status(fd, 4096, 4097), DXP_EINVAL);
	assert_int_equal(map_status(fd, 8192, 1), DXP_EINVAL);
	assert_int_equal(map_status(fd, 12288, 1), DXP_EINVAL);
	assert_int_equal(map_status(fd, 4096, UINT64_MAX), DXP_EINVAL);
	assert_int_equal(map_status(fd, UINT64_MAX - 4095, 4096), DXP_EINVAL);
	assert_int_equal(map_status(fd, 1, 4096), DXP_EINVAL);
	assert_int_equal(map_status(fd, 0, 0), DXP_EINVAL);
	close(fd);
	assert_int_equal(map_once(memfd(4096, 0)), DXP_EINVAL); /* no seal against shrinking */
	assert_int_equal(map_once(memfd(4096, F_SEAL_GROW)), DXP_EINVAL);
	assert_int_equal(map_once(memfd(4096, shrink | F_SEAL_WRITE)), DXP_EINVAL);
	assert_int_equal(map_once(memfd(4096, shrink | F_SEAL_FUTURE_WRITE)), DXP_EINVAL);
	assert_int_equal(map_once(memfd(4095, shrink)), DXP_EINVAL);
	assert_int_equal(map_once(open("/dev/zero", O_RDWR)), DXP_EINVAL);
	assert_int_equal(map_once(open(folder, O_TMPFILE | O_RDWR, 0600)), DXP_EINVAL);
	assert_int_equal(map_once(open("/dev/shm", O_TMPFILE | O_RDWR, 0600)), DXP_EINVAL);
	fd = memfd(4096, shrink);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(map_once(open(path, O_RDONLY)), DXP_EINVAL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_send__bytes_and_descriptors),
		cmocka_unit_test(local_receive__too_much_is_rejected_and_closed),
		cmocka_unit_test(local_receive__the_end),
		cmocka_unit_test(local_listen__paths_of_any_length),
		cmocka_unit_test(local_listen__replaces_what_a_dead_process_left),
		cmocka_unit_test(local_connect__names_the_error),
		cmocka_unit_test(local_connect__in_time),
		cmocka_unit_test(local_memory__two_mappings_one_memory),
		cmocka_unit_test(local_memory_map__nothing_that_could_kill_us),
	};

	return cmocka_run_group_tests(tests, folder_make, scratch_folder_remove);
}
