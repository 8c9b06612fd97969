/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates sockets: family, buffers, control messages, bind, connect. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "link/endpoint.h"

static int option_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static int option_get(int fd, int level, int name)
{
	int value = 0;
	socklen_t bytes = sizeof(value);

	return getsockopt(fd, level, name, &value, &bytes) == 0 ? value : 0;
}

void socket_ecn(const struct link *l, struct link_socket *s, uint8_t ecn)
{
	s->ecn = ecn;
	s->ecn_other = 0;
	/* AF_INET6 sockets need IP_TOS too, for mapped peers */
	option_set(s->fd, IPPROTO_IP, IP_TOS, ecn);
	if (l->limits.family == AF_INET6)
		option_set(s->fd, IPPROTO_IPV6, IPV6_TCLASS, ecn);
}

uint32_t socket_waiting_bytes(const struct link_socket *s)
{
	uint32_t memory[SK_MEMINFO_VARS] = {0};
	socklen_t bytes = sizeof(memory);

	getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, memory, &bytes);
	return memory[SK_MEMINFO_RMEM_ALLOC];
}

/* FORCE options need CAP_NET_ADMIN and may exceed the system's limit; the kernel doubles the value
 * for its overhead. */
static void buffers_set(int fd, uint32_t bytes)
{
	if (option_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, (int)bytes) < 0)
		option_set(fd, SOL_SOCKET, SO_RCVBUF, (int)bytes);
	if (option_set(fd, SOL_SOCKET, SO_SNDBUFFORCE, (int)bytes) < 0)
		option_set(fd, SOL_SOCKET, SO_SNDBUF, (int)bytes);
}

static void buffer_report(struct link *l)
{
	l->receive_buffer_bytes = (size_t)option_get(l->sockets[0].fd, SOL_SOCKET, SO_RCVBUF);
	if (l->receive_buffer_bytes / 2 < l->buffer_bytes)
		log_info("the socket buffer has %zu of %u bytes; \"sysctl net.core.rmem_max=%u\" "
			 "allows more",
			 l->receive_buffer_bytes / 2, l->buffer_bytes, l->buffer_bytes);
}

/* Reports per datagram: time stamp, ECN bits, GRO length. All are optional; without one, its value
 * stays 0. */
static void reports_set(const struct link *l, const struct link_socket *s, bool on)
{
	option_set(s->fd, SOL_SOCKET, SO_TIMESTAMPNS, on);
	/* also for IPv4 peers of AF_INET6 */
	option_set(s->fd, IPPROTO_IP, IP_RECVTOS, on);
	if (l->limits.family == AF_INET6)
		option_set(s->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, on);
	if (l->gro)
		option_set(s->fd, IPPROTO_UDP, UDP_GRO, on || l->inbox.frame_bytes);
}

void socket_quiet(const struct link *l, struct link_socket *s, bool quiet)
{
	/* A batch that GRO merged may already wait in the socket, and without GRO the kernel does
	 * not report where its datagrams begin. So the socket becomes quiet only if nothing waits.
	 * A batch that another processor adds at this moment is lost: it is read as one long
	 * datagram. */
	reports_set(l, s, !quiet);
	if (quiet && !l->inbox.frame_bytes && socket_waiting_bytes(s) > 0) {
		quiet = false;
		reports_set(l, s, true);
	}
	s->quiet = quiet;
	s->wanted = 1;
	s->alone = 0;
	s->marked = false;
}

static int bind_rejected(const struct udp_address *address, int error)
{
	char text[UDP_ADDRESS_TEXT_BYTES];

	address_format(address, text);
	errno = error;
	if (error == EADDRINUSE) {
		log_error("cannot bind UDP %s: another program uses this port; stop it (\"ss "
			  "-ulnp\" names it) "
			  "or choose another port",
			  text);
		return DXP_EBUSY;
	}
	if (address_link_local(address))
		log_error("cannot bind UDP %s: a link-local address needs an interface; use a "
			  "global address, or one of fd00::/8",
			  text);
	else if (error == EADDRNOTAVAIL)
		log_error("cannot bind UDP %s: no interface of this machine has this address; \"ip "
			  "address\" lists the addresses",
			  text);
	else if (error == EACCES)
		log_error("cannot bind UDP %s: ports below 1024 are for root; choose a higher one",
			  text);
	else
		log_error("cannot bind UDP %s: %m; choose another address", text);
	return DXP_EIO;
}

/* The socket is not bound; on failure, fd is -1 and errno is set. */
static struct link_socket socket_make(const struct link *l)
{
	struct link_socket s = {.named = UINT32_MAX, .wanted = 1};

	s.fd = descriptor_raise(socket(
		l->limits.family, SOCK_DGRAM | SOCK_CLOEXEC | (l->block ? 0 : SOCK_NONBLOCK), 0));
	if (s.fd < 0)
		return s;
	if (l->limits.family == AF_INET6)
		option_set(s.fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	/* "Don't fragment", without ICMP "packet too big", which any host can send: RLTP finds the
	 * path MTU itself. */
	if (l->whole)
		option_set(s.fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (l->whole && l->limits.family == AF_INET6)
		option_set(s.fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	buffers_set(s.fd, l->buffer_bytes);
	option_set(s.fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	socket_quiet(l, &s, false);
	return s;
}

void socket_close(struct link_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int address_bind(struct link *l, const struct udp_address *address, bool choosy)
{
	int fd = l->sockets[0].fd;
	union link_sockaddr name;
	socklen_t bytes = sockaddr_from_wire(address, l->limits.family, &name);

	if (bind(fd, &name.any, bytes) < 0)
		return choosy && errno == EADDRINUSE ? DXP_EBUSY : bind_rejected(address, errno);
	bytes = sizeof(name);
	if (getsockname(fd, &name.any, &bytes) < 0)
		return bind_rejected(address, errno);
	sockaddr_to_wire(&name, &l->address);
	return DXP_OK;
}

static void wait_limit(int fd, uint32_t us)
{
	struct timeval t = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
}

/* Joins the group on the interface with `own_ip`. Without IP_MULTICAST_ALL 0, groups that other
 * sockets joined on other interfaces would also arrive. */
static int group_join(int fd, const struct udp_address *group, uint32_t own_ip)
{
	struct ip_mreq join = {.imr_interface.s_addr = htonl(own_ip)};

	memcpy(&join.imr_multiaddr, group->ip + 12, sizeof(join.imr_multiaddr));
	option_set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
	if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof(join)) == 0)
		return DXP_OK;
	log_info("cannot join a multicast group: %m; raise \"sysctl "
		 "net.ipv4.igmp_max_memberships\"");
	return DXP_EIO;
}

/* The socket may have received datagrams of other peers before, so the reader checks their
 * source. */
static int peer_name(struct link *l, const struct udp_address *peer)
{
	char text[UDP_ADDRESS_TEXT_BYTES];
	union link_sockaddr name;
	socklen_t bytes = sockaddr_from_wire(peer, l->limits.family, &name);

	l->sockets[0].peer = *peer;
	if (connect(l->sockets[0].fd, &name.any, bytes) == 0)
		return DXP_OK;
	log_error("no route to %s: %m; check the address and this machine's routes",
		  address_format(peer, text));
	return DXP_EIO;
}

int socket_open(struct link *l, const struct link_options *options)
{
	l->limits.family = sockaddr_is_v4(&options->bind) ? AF_INET : AF_INET6;
	l->buffer_bytes = options->buffer_bytes ? options->buffer_bytes : LINK_SOCKET_BUFFER_BYTES;
	l->gro = !options->no_gro;
	l->whole = options->whole;
	l->unconnected = options->unconnected;
	l->block = options->block_us > 0;
	for (unsigned i = 1; i < ARRAY_COUNT(l->sockets); i++)
		l->sockets[i].fd = -1;
	l->sockets[0] = socket_make(l);
	if (l->sockets[0].fd < 0) {
		log_error("cannot create a UDP socket: %m; %s",
			  l->limits.family == AF_INET6
				  ? "if this machine has no IPv6, bind an IPv4 address such as "
				    "0.0.0.0"
				  : "if the limit of open files is reached, raise \"ulimit -n\"");
		return DXP_EIO;
	}
	buffer_report(l);
	if (options->shared)
		option_set(l->sockets[0].fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (options->rejections)
		option_set(l->sockets[0].fd, IPPROTO_IP, IP_RECVERR, 1);
	if (options->priority > 0)
		option_set(l->sockets[0].fd, SOL_SOCKET, SO_PRIORITY, options->priority);
	if (l->block)
		wait_limit(l->sockets[0].fd, options->block_us);
	int status = address_bind(l, &options->bind, options->choosy);
	if (status == DXP_OK && options->group_on)
		status = group_join(l->sockets[0].fd, &options->bind, options->group_on);
	if (status == DXP_OK && options->peer.port)
		status = peer_name(l, &options->peer);
	if (status != DXP_OK)
		socket_close(&l->sockets[0]);
	return status;
}

static bool quietly_bound(int fd, const struct link *l, struct udp_address address)
{
	union link_sockaddr name;
	socklen_t bytes = sockaddr_from_wire(&address, l->limits.family, &name);

	return bind(fd, &name.any, bytes) == 0;
}

int link_move(struct link *l, const struct udp_address *address)
{
	struct udp_address same_port = *address, any_port = *address;
	struct link_socket new = socket_make(l);
	union link_sockaddr name;
	socklen_t bytes = sizeof(name);

	same_port.port = l->address.port;
	any_port.port = 0;
	if (new.fd < 0 ||
	    (!quietly_bound(new.fd, l, same_port) && !quietly_bound(new.fd, l, any_port)) ||
	    getsockname(new.fd, &name.any, &bytes) < 0) {
		socket_close(&new);
		return DXP_EIO;
	}
	/* Connected sockets are bound to the old address too. */
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		socket_close(&l->sockets[i]);
	l->sockets[0] = new;
	l->hot = l->next_socket = 0;
	l->busy.votes = 0;
	sockaddr_to_wire(&name, &l->address);
	if (l->watching)
		link_watch_add(l, 0);
	return DXP_OK;
}

static void sharing_set(const struct link *l, int value)
{
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		if (l->sockets[i].fd >= 0)
			option_set(l->sockets[i].fd, SOL_SOCKET, SO_REUSEADDR, value);
}

/* Binds `fd` to the port of socket 0. SO_REUSEADDR is set only meanwhile, so another program still
 * gets EADDRINUSE. */
static bool port_share(const struct link *l, int fd)
{
	union link_sockaddr name;
	socklen_t bytes = sockaddr_from_wire(&l->address, l->limits.family, &name);

	sharing_set(l, 1);
	option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	bool bound = bind(fd, &name.any, bytes) == 0;
	option_set(fd, SOL_SOCKET, SO_REUSEADDR, 0);
	sharing_set(l, 0);
	return bound;
}

bool socket_connect(struct link *l, struct link_socket *s, const struct udp_address *peer)
{
	union link_sockaddr name;
	socklen_t bytes = sockaddr_from_wire(peer, l->limits.family, &name);
	struct link_socket new = socket_make(l);

	new.named = LINK_NAMED_LOOKS;
	new.peer = *peer;
	if (new.fd < 0 || !port_share(l, new.fd) || connect(new.fd, &name.any, bytes) != 0) {
		socket_close(&new);
		return false;
	}
	*s = new;
	return true;
}

/* 0: unknown. */
static size_t route_mtu(const struct udp_address *to, int family)
{
	union link_sockaddr name;
	socklen_t bytes = sockaddr_from_wire(to, family, &name);
	int mtu = 0, fd = descriptor_raise(socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	if (fd < 0)
		return 0;
	if (connect(fd, &name.any, bytes) == 0)
		mtu = family == AF_INET ? option_get(fd, IPPROTO_IP, IP_MTU)
					: option_get(fd, IPPROTO_IPV6, IPV6_MTU);
	close(fd);
	return (size_t)mtu;
}

size_t link_path_payload(const struct link *l, const struct udp_address *to)
{
	int family = sockaddr_is_v4(to) ? AF_INET : AF_INET6;
	size_t headers_bytes = family == AF_INET ? 20 + 8 : 40 + 8;
	size_t mtu = l->limits.family == AF_INET6 || family == AF_INET ? route_mtu(to, family) : 0;

	if (mtu <= headers_bytes)
		return 1500 - 28;
	return min_u64(mtu - headers_bytes, DATAGRAM_BYTES_MAX);
}
