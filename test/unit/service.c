/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the report to a service manager (base/service.h): by descriptor and datagram, both kinds of
 * names, only once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/service.h"

/* '@': an abstract name. */
static int listener(const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t bytes = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, name, bytes);
	if (name[0] == '@')
		at.sun_path[0] = '\0';
	assert_true(fd >= 0);
	assert_int_equal(
		bind(fd, (void *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)),
		0);
	return fd;
}

static void expect_once(const char *name)
{
	int fd = listener(name);
	char text[32] = "";

	setenv("NOTIFY_SOCKET", name, 1);
	service_ready(-1, "");
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_int_equal(recv(fd, text, sizeof(text), 0), 7);
	assert_string_equal(text, "READY=1");
	service_ready(-1, "");
	assert_int_equal(recv(fd, text, sizeof(text), 0), -1);
	close(fd);
}

static void service_ready__path(void **state)
{
	char folder[] = "/tmp/dxp-service-XXXXXX", name[64];

	assert_non_null(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/notify", folder);
	expect_once(name);
	unlink(name);
	rmdir(folder);
}

static void service_ready__abstract_name(void **state)
{
	char name[64];

	snprintf(name, sizeof(name), "@dxp-service-%d", (int)getpid());
	expect_once(name);
}

static void fails(const char *name, const char *words)
{
	char text[512] = "";

	setenv("NOTIFY_SOCKET", name, 1);
	log_divert(text, sizeof(text));
	service_ready(-1, "");
	log_divert(NULL, 0);
	assert_null(getenv("NOTIFY_SOCKET"));
	if (!strstr(text, words))
		fail_msg("%s", text);
}

static void service_ready__bad_names(void **state)
{
	char path[200];

	fails("", "no path");
	fails("/", "no path");
	fails("vsock:2:1", "no path");
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	fails(path, "no path");
	fails("/nonexistent/notify", "cannot report to the service manager");
}

/* The descriptor is closed after the message, unless it is 0, 1 or 2. */
static void service_ready__descriptor(void **state)
{
	char text[8] = "";
	int ends[2], out = dup(STDOUT_FILENO);

	assert_int_equal(pipe(ends), 0);
	service_ready(ends[1], "a\n");
	assert_int_equal(read(ends[0], text, sizeof(text)), 2);
	assert_string_equal(text, "a\n");
	assert_int_equal(read(ends[0], text, sizeof(text)), 0);
	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	service_ready(STDOUT_FILENO, "b\n");
	assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(read(ends[0], text, sizeof(text)), 2);
	assert_string_equal(text, "b\n");
	close(ends[0]);
	close(ends[1]);
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(service_ready__descriptor),
		cmocka_unit_test(service_ready__path),
		cmocka_unit_test(service_ready__abstract_name),
		cmocka_unit_test(service_ready__bad_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
