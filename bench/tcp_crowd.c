/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens connections to one listener, all kept until the last is established. */
#include "bench/tcp_crowd.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "bench/child.h"
#include "bench/peer.h"

#define BACKLOG     4096
#define SPARE_FILES 64
#define HELLO       4 /* bytes over each connection */

struct crowd {
	int listener;
	uint32_t count;
};

static int listen_somewhere(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t bytes = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd >= 0 && bind(fd, (const struct sockaddr *)at, bytes) == 0 &&
	    listen(fd, BACKLOG) == 0 && getsockname(fd, (struct sockaddr *)at, &bytes) == 0)
		return fd;
	log_error("cannot listen on loopback: %m");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Writes a byte to `control` after reading from all. */
static void accept_all(int control, void *context)
{
	const struct crowd *c = context;
	char hello[HELLO];

	for (uint32_t i = 0; i < c->count; i++) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 || recv(fd, hello, sizeof(hello), MSG_WAITALL) != HELLO)
			return;
	}
	control_write(control, hello, 1);
	control_read(control, hello, 1); /* until the other process exits */
}

static bool files_allow(uint32_t count)
{
	struct rlimit limit = {count + SPARE_FILES, count + SPARE_FILES}, now;

	if (getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur >= limit.rlim_cur)
		return true;
	if (now.rlim_max > limit.rlim_max)
		limit.rlim_max = now.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static int connect_all(const struct sockaddr_in *at, int *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fds[i] < 0 || connect(fds[i], (const struct sockaddr *)at, sizeof(*at)) != 0 ||
		    send(fds[i], "dxp", HELLO, MSG_NOSIGNAL) != HELLO) {
			log_error("TCP connection %u of %u: %m", i + 1, count);
			return DXP_EIO;
		}
	}
	return DXP_OK;
}

int tcp_crowd_rate(uint32_t count, double *per_s)
{
	struct sockaddr_in at;
	struct child child = {0};
	char byte;

	*per_s = 0;
	if (!files_allow(count))
		return DXP_OK;
	struct crowd c = {.listener = listen_somewhere(&at), .count = count};
	int *fds = malloc(count * sizeof(*fds));
	for (uint32_t i = 0; fds && i < count; i++)
		fds[i] = -1;
	int status = c.listener >= 0 && fds ? child_spawn(accept_all, &c, &child) : DXP_EIO;
	uint64_t begin_ns = clock_now_ns();
	if (status == DXP_OK)
		status = connect_all(&at, fds, count);
	if (status == DXP_OK && control_read(child.control, &byte, 1))
		*per_s = count * 1e9 / (double)(clock_now_ns() - begin_ns);
	for (uint32_t i = 0; fds && i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(fds);
	if (c.listener >= 0)
		close(c.listener);
	child_end(&child);
	return status;
}
