/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the sockets of a group member. */
#include "bench/inc_end.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "link/udp.h"

static struct sockaddr_in address_of(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(ip), .sin_port = htons(port)};
}

static bool option_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/* Sets Don't Fragment; an unconnected socket then sends Identification 0. Disables the UDP
 * checksum, because the ICRC protects more. */
static int socket_open(uint32_t ip, uint16_t port)
{
	struct sockaddr_in own = address_of(ip, port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (!option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
	    !option_set(fd, SOL_SOCKET, SO_NO_CHECK, 1) ||
	    !option_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int inc_end_open(uint32_t ip, uint16_t port, uint32_t switch_ip, uint32_t multicast_ip,
		 struct inc_end *out)
{
	struct sockaddr_in to = address_of(switch_ip, port);
	struct ip_mreq join = {.imr_multiaddr.s_addr = htonl(multicast_ip),
			       .imr_interface.s_addr = htonl(ip)};

	*out = (struct inc_end){.ip = ip, .switch_ip = switch_ip, .port = port};
	out->out = socket_open(ip, port);
	out->in = socket_open(ip, ROCE_PORT);
	out->shared = socket_open(multicast_ip, ROCE_PORT);
	if (out->out >= 0 && out->in >= 0 && out->shared >= 0 &&
	    connect(out->in, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    setsockopt(out->shared, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof(join)) == 0)
		return DXP_OK;
	log_error("cannot open the sockets of a member: %m; check with `ss -lun` that port %u is "
		  "free",
		  ROCE_PORT);
	inc_end_close(out);
	return DXP_EIO;
}

void inc_end_close(struct inc_end *e)
{
	const int all[] = {e->out, e->in, e->shared};

	for (int i = 0; i < 3; i++)
		if (all[i] >= 0)
			close(all[i]);
}

void inc_end_make(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes, struct inc_ready *out)
{
	struct roce_path path = {e->ip, e->switch_ip, e->port, ROCE_PORT};
	uint8_t trailer[INC_TRAILER_BYTES];
	struct datagram d = {0};

	inc_packet_encode(h, ROCE_UD_SEND_ONLY, qkey, INC_QP, INC_QP, &path, payload, bytes, &d,
			  trailer);
	memcpy(out->data, d.header, d.header_bytes);
	out->bytes = d.header_bytes;
	for (unsigned i = 0; i < d.slice_count; i++) {
		memcpy(out->data + out->bytes, d.slices[i].base, d.slices[i].bytes);
		out->bytes += d.slices[i].bytes;
	}
}

void inc_end_give(const struct inc_end *e, const struct inc_ready *packet)
{
	struct sockaddr_in to = address_of(e->switch_ip, ROCE_PORT);

	while (sendto(e->out, packet->data, packet->bytes, 0, (struct sockaddr *)&to, sizeof(to)) <
		       0 &&
	       errno == EINTR)
		;
}

void inc_end_send(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes)
{
	struct inc_ready packet;

	inc_end_make(e, h, qkey, payload, bytes, &packet);
	inc_end_give(e, &packet);
}

static bool receive(struct inc_end *e, int fd, int flags, struct inc_packet *out)
{
	struct sockaddr_in from;
	socklen_t from_bytes = sizeof(from);
	ssize_t n = recvfrom(fd, e->buffer, sizeof(e->buffer), flags, (struct sockaddr *)&from,
			     &from_bytes);
	struct roce_path path = {.to_port = ROCE_PORT};

	if (n < 0)
		return false;
	path.from_ip = ntohl(from.sin_addr.s_addr);
	path.from_port = ntohs(from.sin_port);
	path.to_ip = e->ip;
	if (fd == e->shared) {
		struct sockaddr_in own;
		socklen_t own_bytes = sizeof(own);

		getsockname(fd, (struct sockaddr *)&own, &own_bytes);
		path.to_ip = ntohl(own.sin_addr.s_addr);
	}
	return path.from_ip == e->switch_ip && roce_icrc_right(&path, e->buffer, (size_t)n) &&
	       inc_packet_decode(e->buffer, (size_t)n, out) == DXP_OK;
}

bool inc_end_receive(struct inc_end *e, bool shared_first, uint64_t timeout_ns,
		     struct inc_packet *out)
{
	int first = shared_first ? e->shared : e->in, second = shared_first ? e->in : e->shared;
	struct pollfd fds[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
	uint64_t end_ns = clock_now_ns() + timeout_ns, now_ns;

	do {
		if (receive(e, first, MSG_DONTWAIT, out) || receive(e, second, MSG_DONTWAIT, out))
			return true;
		now_ns = clock_now_ns();
		if (now_ns >= end_ns)
			return false;
		struct timespec left = {0, (long)(end_ns - now_ns) % 1000000000};
		ppoll(fds, 2, &left, NULL);
	} while (1);
}
