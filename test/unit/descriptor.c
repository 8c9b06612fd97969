/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that new file descriptors 0, 1 and 2 are moved above 2, as a program needs whose standard
 * input is closed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "link/local.h"

static int kept = -1; /* copy of descriptor 0 */

static int input_close(void **state)
{
	kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	if (kept >= 0)
		close(STDIN_FILENO);
	return 0;
}

static int input_restore(void **state)
{
	close(STDIN_FILENO);
	if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
	}
	return 0;
}

static void missing(int fd)
{
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

static void moves_low(void **state)
{
	int low = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_int_equal(low, STDIN_FILENO);
	errno = ENOTTY;
	int fd = descriptor_raise(low);
	assert_int_equal(errno, ENOTTY);
	assert_true(fd >= DESCRIPTOR_FIRST);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	missing(STDIN_FILENO);
	assert_int_equal(descriptor_raise(fd), fd);
	close(fd);
	errno = ENOENT;
	assert_int_equal(descriptor_raise(-1), -1);
	assert_int_equal(errno, ENOENT);
}

static void moves_pairs_and_streams(void **state)
{
	int fds[2];

	assert_int_equal(descriptor_raise_pair(pipe2(fds, O_CLOEXEC), fds), 0);
	assert_true(fds[0] >= DESCRIPTOR_FIRST && fds[1] >= DESCRIPTOR_FIRST);
	assert_int_equal(write(fds[1], "a", 1), 1);
	close(fds[0]);
	close(fds[1]);
	FILE *file = descriptor_fopen("/dev/null", "we");
	assert_non_null(file);
	assert_true(fileno(file) >= DESCRIPTOR_FIRST);
	assert_true(fputs("text", file) >= 0);
	assert_int_equal(fclose(file), 0);
	DIR *folder = descriptor_opendir("/");
	assert_non_null(folder);
	assert_true(dirfd(folder) >= DESCRIPTOR_FIRST);
	assert_non_null(readdir(folder));
	closedir(folder);
	missing(STDIN_FILENO);
}

static void closes_when_none_is_free(void **state)
{
	struct rlimit before, none;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_int_equal(fd, STDIN_FILENO);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = DESCRIPTOR_FIRST;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int raised = descriptor_raise(fd);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(raised, -1);
	missing(STDIN_FILENO);
}

static void received_move(void **state)
{
	char byte = 'a';
	int pair[2], sent[1], got[LOCAL_FDS_MAX];
	unsigned count = 1;

	assert_int_equal(descriptor_raise_pair(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), pair),
			 0);
	sent[0] = pair[0];
	assert_int_equal(local_send(pair[0], &byte, 1, sent, 1), 1);
	assert_int_equal(local_receive(pair[1], &byte, 1, got, &count), 1);
	assert_int_equal(count, 1);
	assert_true(got[0] >= DESCRIPTOR_FIRST);
	missing(STDIN_FILENO);
	close(got[0]);
	close(pair[0]);
	close(pair[1]);
}

static void write__all_or_error(void **state)
{
	static const char text[] = "all of it";
	char back[sizeof(text)];
	int pair[2];

	assert_int_equal(descriptor_raise_pair(pipe2(pair, O_CLOEXEC), pair), 0);
	assert_true(descriptor_write(pair[1], text, sizeof(text)));
	assert_int_equal(read(pair[0], back, sizeof(back)), sizeof(back));
	assert_memory_equal(back, text, sizeof(text));
	close(pair[0]);
	close(pair[1]);
	assert_false(descriptor_write(pair[1], text, sizeof(text)));
	assert_int_equal(errno, EBADF);
	int full = descriptor_raise(open("/dev/full", O_WRONLY | O_CLOEXEC));
	assert_true(full >= 0);
	assert_false(descriptor_write(full, text, sizeof(text)));
	assert_int_equal(errno, ENOSPC);
	close(full);
}

static void memory__discarded_pages_are_zero(void **state)
{
	static uint8_t bytes[16384], zero[4096];
	int fd = descriptor_memory("test", sizeof(bytes));

	assert_true(fd >= DESCRIPTOR_FIRST);
	memset(bytes, 7, sizeof(bytes));
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_true(descriptor_discard(fd, 4096, 4096));
	memset(bytes + 4096, 0, 4096);
	for (off_t at = 0; at < (off_t)sizeof(bytes); at += 4096) {
		assert_int_equal(pread(fd, zero, 4096, at), 4096);
		assert_memory_equal(zero, bytes + at, 4096);
	}
	assert_int_equal(lseek(fd, 0, SEEK_END), sizeof(bytes));
	close(fd);
	assert_false(descriptor_discard(fd, 4096, 4096));
	assert_int_equal(errno, EBADF);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, input_close, input_restore)

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(moves_low),
					   CASE(moves_pairs_and_streams),
					   CASE(closes_when_none_is_free),
					   CASE(received_move),
					   CASE(write__all_or_error),
					   CASE(memory__discarded_pages_are_zero)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
