/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes an endpoint, and reads its state. */
#include "link/udp.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/endpoint.h"

#define LEVEL_MAX 31

static int fault_from_environment(uint16_t port, struct fault **out)
{
	const char *text = getenv("DXP_FAULT");
	struct fault_options options;

	if (!text || *text == '\0')
		return DXP_OK;
	int status = fault_parse(text, &options);
	if (status != DXP_OK)
		return status;
	/* Otherwise all endpoints with one DXP_FAULT would drop the same packets. */
	options.seed += (uint64_t)port << 32;
	return fault_open(&options, out);
}

int link_open(const struct link_options *options, struct link **out)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return DXP_ENOMEM;
	spin_init(&l->spin, options->spin_ns);
	int status = fault_from_environment(options->bind.port, &l->fault);
	if (status != DXP_OK)
		goto free_link;
	status =
		link_inbox_open(&l->inbox, options->no_gro ? DATAGRAM_BATCH : LINK_RECEIVE_BUFFERS);
	if (status != DXP_OK)
		goto close_fault;
	l->inbox.frame_bytes = options->frame_bytes;
	status = socket_open(l, options);
	if (status != DXP_OK)
		goto close_inbox;
	status = wait_open(l);
	if (status != DXP_OK)
		goto close_socket;
	l->crossbar = options->crossbar;
	if (l->crossbar)
		status = crossbar_port_add(l->crossbar, l, l->receive_buffer_bytes, &l->port);
	if (status != DXP_OK)
		goto close_wait;
	l->limits.segments = options->no_gso ? 1 : segments_probe();
	l->limits.alone = options->alone;
	*out = l;
	return DXP_OK;

close_wait:
	wait_close(l);
close_socket:
	socket_close(&l->sockets[0]);
close_inbox:
	link_inbox_close(&l->inbox);
close_fault:
	fault_close(l->fault);
free_link:
	free(l);
	return status;
}

void link_close(struct link *l)
{
	if (!l)
		return;
	crossbar_port_remove(l->port);
	wait_close(l);
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		socket_close(&l->sockets[i]);
	link_inbox_close(&l->inbox);
	fault_close(l->fault);
	free(l);
}

void link_address(const struct link *l, struct udp_address *out)
{
	*out = l->address;
}

size_t link_receive_buffer(const struct link *l)
{
	return l->receive_buffer_bytes;
}

void link_tap_set(struct link *l, const struct link_tap *tap)
{
	l->tap = tap;
}

unsigned link_receive_level(const struct link *l)
{
	uint64_t most = 0, level = 0;
	size_t bytes;

	if (l->port)
		level = crossbar_port_waiting(l->port, &bytes) * LEVEL_MAX / bytes;
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		if (l->sockets[i].fd >= 0)
			most = max_u64(most, socket_waiting_bytes(&l->sockets[i]));
	if (l->receive_buffer_bytes > 0)
		level = max_u64(level, most * LEVEL_MAX / l->receive_buffer_bytes);
	return (unsigned)min_u64(LEVEL_MAX, level);
}

void link_counters(const struct link *l, struct link_counters *out)
{
	*out = l->counters;
	if (l->port)
		out->receive_drops += crossbar_port_drops(l->port);
}

int link_socket_fd(const struct link *l)
{
	return l->sockets[0].fd;
}
