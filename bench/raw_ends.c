/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks the far end, connects both ends, and stops the far end. */
#include "bench/raw_ends.h"

#include <errno.h>
#include <netinet/udp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/child.h"
#include "link/sockaddr.h"

/* per socket buffer, as the kernel counts; four default windows */
#define BUFFER_BYTES    (8 << 20)
#define LOOKS_PER_CLOCK 4096 /* failed polls per clock read */

uint64_t raw_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

static int option_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Writes the bound address with its port to *bound. Returns DXP_EIO, logged, on failure. */
static int socket_open(const struct udp_address *at, int *out, struct udp_address *bound)
{
	int family = sockaddr_is_v4(at) ? AF_INET : AF_INET6;
	struct timeval patience = {.tv_sec = RAW_PATIENCE_S};
	struct udp_address any_port = *at;
	char text[UDP_ADDRESS_TEXT_BYTES];
	union link_sockaddr name;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	any_port.port = 0;
	socklen_t bytes = sockaddr_from_wire(&any_port, family, &name);
	if (fd < 0 || bind(fd, &name.any, bytes) < 0) {
		log_error("cannot bind UDP %s: %m; \"ip address\" lists the addresses",
			  address_format(&any_port, text));
		if (fd >= 0)
			close(fd);
		return DXP_EIO;
	}
	bytes = sizeof(name);
	getsockname(fd, &name.any, &bytes);
	sockaddr_to_wire(&name, bound);
	if (option_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES) < 0)
		option_set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
	if (option_set(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES) < 0)
		option_set(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	*out = fd;
	return DXP_OK;
}

struct hello {
	int status; /* of the sender's set-up; already logged */
	struct udp_address address;
};

static int meet(int control, int fd, const struct hello *own)
{
	int family = sockaddr_is_v4(&own->address) ? AF_INET : AF_INET6;
	union link_sockaddr name;
	struct hello peer;

	if (write(control, own, sizeof(*own)) != sizeof(*own) ||
	    read(control, &peer, sizeof(peer)) != sizeof(peer))
		return DXP_EIO;
	if (own->status != DXP_OK || peer.status != DXP_OK)
		return own->status != DXP_OK ? own->status : peer.status;
	socklen_t bytes = sockaddr_from_wire(&peer.address, family, &name);
	if (bytes > 0 && connect(fd, &name.any, bytes) == 0)
		return DXP_OK;
	log_error("cannot connect the two ends of a measurement; give both an address of one "
		  "family, on networks that reach each other");
	return DXP_EIO;
}

static struct far_report far_run(const struct raw_ends *ends, int control, far_main run,
				 const void *options)
{
	struct hello hello = {0};
	int fd = -1;

	hello.status = child_netns_enter(ends->far_netns);
	if (hello.status == DXP_OK)
		hello.status = socket_open(&ends->far, &fd, &hello.address);
	int status = meet(control, fd, &hello);
	if (status != DXP_OK)
		return (struct far_report){.status = status};
	return run(fd, options);
}

struct far_task {
	const struct raw_ends *ends;
	far_main run;
	const void *options;
};

static void far_body(int control, void *context)
{
	const struct far_task *t = context;
	struct far_report report = far_run(t->ends, control, t->run, t->options);

	_exit(write(control, &report, sizeof(report)) != sizeof(report));
}

struct far_report raw_far_stop(struct far_end *far, bool failed)
{
	struct far_report report = {.status = DXP_EIO};

	if (failed)
		kill(far->pid, SIGKILL);
	if (read(far->control, &report, sizeof(report)) != sizeof(report))
		report.status = DXP_EIO;
	waitpid(far->pid, NULL, 0);
	close(far->control);
	if (far->fd >= 0)
		close(far->fd);
	return report;
}

int raw_far_start(struct far_end *far, const struct raw_ends *ends, far_main run,
		  const void *options)
{
	struct hello hello = {0};

	far->fd = -1;
	struct far_task task = {ends, run, options};
	struct child child;
	if (child_spawn(far_body, &task, &child) != DXP_OK)
		return DXP_EIO;
	far->pid = child.pid;
	far->control = child.control;
	hello.status = socket_open(&ends->near, &far->fd, &hello.address);
	int status = meet(far->control, far->fd, &hello);
	if (status != DXP_OK)
		raw_far_stop(far, true);
	return status;
}

ssize_t raw_receive_spinning(int fd, void *buffer, size_t bytes)
{
	uint64_t give_up = 0;

	for (unsigned looks = 0;; looks++) {
		ssize_t got = recv(fd, buffer, bytes, MSG_DONTWAIT);
		if (got >= 0)
			return got;
		if (looks % LOOKS_PER_CLOCK != 0)
			continue;
		uint64_t now = raw_clock_ns(CLOCK_MONOTONIC);
		if (give_up == 0)
			give_up = now + RAW_PATIENCE_S * S_NS;
		else if (now > give_up)
			return -1;
	}
}
