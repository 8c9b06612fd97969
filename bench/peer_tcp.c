/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures kernel TCP as fast as a small program can be: one connection, TCP_NODELAY, kernel-tuned
 * buffers. The variant is the congestion control. A PUT is answered by one byte, a GET is requested
 * by one byte. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/peer_stream.h"
#include "link/sockaddr.h"

#define PIECE_BYTES (256u << 10) /* per system call; more gains little */

struct tcp_end {
	int fd;
	uint8_t *region;
	struct peer_stream stream;
	uint64_t quiet_ns; /* when bytes stopped to move; 0: they move */
};

static int options_set(const struct peer_end *e, int fd)
{
	const int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!e->variant || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, e->variant,
				      (socklen_t)strlen(e->variant)) == 0)
		return DXP_OK;
	log_error("no TCP congestion control %s: %m; try \"modprobe tcp_%s\"", e->variant,
		  e->variant);
	return DXP_EUNSUPPORTED;
}

static int far_connect(struct peer_end *e, int fd)
{
	int family = sockaddr_is_v4(&e->ends->far) ? AF_INET : AF_INET6;
	struct udp_address at = e->ends->far;
	union link_sockaddr name;

	at.port = 0;
	socklen_t bytes = sockaddr_from_wire(&at, family, &name);
	if (bind(fd, &name.any, bytes) != 0 || listen(fd, 1) != 0)
		return -1;
	bytes = sizeof(name);
	getsockname(fd, &name.any, &bytes);
	sockaddr_to_wire(&name, &at);
	return control_write(e->control, &at, sizeof(at)) ? accept4(fd, NULL, NULL, SOCK_CLOEXEC)
							  : -1;
}

static int near_connect(struct peer_end *e, int fd)
{
	int family = sockaddr_is_v4(&e->ends->near) ? AF_INET : AF_INET6;
	struct udp_address at;
	union link_sockaddr name;

	if (!control_read(e->control, &at, sizeof(at)))
		return -1;
	socklen_t bytes = sockaddr_from_wire(&at, family, &name);
	return connect(fd, &name.any, bytes) == 0 ? fd : -1;
}

static int tcp_open(struct peer_end *e)
{
	int family = sockaddr_is_v4(&e->ends->near) ? AF_INET : AF_INET6;
	struct tcp_end *t = calloc(1, sizeof(*t));
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	e->state = t;
	if (!t || fd < 0)
		return DXP_ENOMEM;
	int status = options_set(e, fd);
	if (status != DXP_OK)
		return status;
	t->fd = e->far ? far_connect(e, fd) : near_connect(e, fd);
	t->region = mmap(NULL, RAW_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (t->fd < 0 || t->region == MAP_FAILED) {
		log_error("cannot connect the two ends of a TCP connection: %m");
		return DXP_EIO;
	}
	peer_stream_open(&t->stream, e);
	return options_set(e, t->fd);
}

static int tcp_post(struct peer_end *e)
{
	struct tcp_end *t = e->state;

	peer_stream_post(&t->stream);
	return DXP_OK;
}

static bool push(struct tcp_end *t, bool *moved)
{
	while (t->stream.sent < t->stream.owed) {
		size_t at = t->stream.sent % (RAW_BUFFER_BYTES - PIECE_BYTES);
		ssize_t n = send(t->fd, t->region + at,
				 min_u64(t->stream.owed - t->stream.sent, PIECE_BYTES),
				 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		t->stream.sent += (uint64_t)n;
		*moved = true;
	}
	return true;
}

static bool pull(struct tcp_end *t, bool *moved)
{
	for (;;) {
		size_t at = t->stream.received % (RAW_BUFFER_BYTES - PIECE_BYTES);
		ssize_t n = recv(t->fd, t->region + at, PIECE_BYTES, MSG_DONTWAIT);
		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		t->stream.received += (uint64_t)n;
		*moved = true;
		if ((size_t)n < PIECE_BYTES)
			return true;
	}
}

/* If nothing moved, spins for about a wakeup's cost, then sleeps. */
static void rest(const struct peer_end *e, struct tcp_end *t, bool moved)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};

	if (moved) {
		t->quiet_ns = 0;
		return;
	}
	if (e->work->spin)
		return;
	uint64_t now_ns = clock_now_ns();
	if (t->quiet_ns == 0)
		t->quiet_ns = now_ns;
	if (now_ns - t->quiet_ns < RAW_SPIN_NS)
		return;
	if (t->stream.sent < t->stream.owed)
		p.events |= POLLOUT;
	poll(&p, 1, 100);
}

static int tcp_poll(struct peer_end *e)
{
	struct tcp_end *t = e->state;
	bool moved = false;

	if (!push(t, &moved) || !pull(t, &moved))
		return DXP_EPEERLOST;
	rest(e, t, moved);
	return (int)peer_stream_ended(&t->stream);
}

static void tcp_serve(struct peer_end *e)
{
	struct tcp_end *t = e->state;

	peer_stream_serve(&t->stream, e, tcp_poll(e));
}

const struct peer_ops peer_tcp = {tcp_open, tcp_post, tcp_poll, tcp_serve};
