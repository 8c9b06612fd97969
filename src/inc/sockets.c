/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the sockets of an endpoint: docs/reference/inc.md "Endpoints and sockets". */
#include <dxp/status.h>

#include "base/log.h"
#include "inc/endpoint.h"
#include "inc/limits.h"

void inc_port_close(struct port *p)
{
	if (p->link)
		link_close(p->link);
	p->link = NULL;
}

static int port_open(struct port *p, const struct link_options *o)
{
	int status = link_open(o, &p->link);

	if (status != DXP_OK)
		p->link = NULL;
	return status;
}

static int out_open(struct dxp_inc *inc)
{
	for (unsigned k = 0; k < ROCE_SOURCE_PORTS; k++) {
		uint16_t number = (uint16_t)(ROCE_SOURCE_PORT + k);
		struct link_options o = {.bind = address_v4(inc->own.ip, number),
					 .whole = true,
					 .unconnected = true,
					 .alone = inc_packet_alone,
					 .choosy = true};
		int status = port_open(&inc->out, &o);
		if (status == DXP_EBUSY)
			continue;
		inc->own.port = inc->out.number = number;
		return status;
	}
	log_error("all %u source ports from %u on are in use on this host; stop some of the "
		  "programs that use in-network computing (\"ss -ulnp\" lists them)",
		  ROCE_SOURCE_PORTS, ROCE_SOURCE_PORT);
	return DXP_EBUSY;
}

/* Returns the bytes of the longest segment in a UDP payload of `space` bytes. With RC, a message
 * must fit in one of InfiniBand's path MTUs. */
static uint16_t segment_bytes_of(size_t space, enum dxp_inc_framing framing)
{
	size_t mtu = 256;

	if (framing != DXP_INC_RC)
		return (uint16_t)(min_u64(space - INC_UD_BYTES - INC_TRAILER_BYTES,
					  INC_SEGMENT_MAX) &
				  ~15ull);
	while (mtu < 4096 && 2 * mtu + ROCE_BTH_BYTES + ROCE_ICRC_BYTES <= space)
		mtu *= 2;
	return (uint16_t)(mtu - INC_HEADER_BYTES);
}

int sockets_open(struct dxp_inc *inc)
{
	struct udp_address sw = address_v4(inc->switch_ip, ROCE_PORT);
	int status = out_open(inc);

	if (status != DXP_OK)
		return status;
	struct link_options o = {.bind = address_v4(inc->own.ip, ROCE_PORT),
				 .peer = address_v4(inc->switch_ip, inc->own.port),
				 .shared = true,
				 .whole = true,
				 .unconnected = true,
				 .block_us = INC_BLOCK_US};
	status = port_open(&inc->in, &o);
	if (status != DXP_OK) {
		inc_port_close(&inc->out);
		return status;
	}
	inc->out.ip = inc->in.ip = inc->own.ip;
	inc->in.number = ROCE_PORT;
	inc->segment_bytes =
		segment_bytes_of(link_path_payload(inc->out.link, &sw), inc->o.framing);
	return DXP_OK;
}

bool sockets_multicast_open(struct dxp_inc *inc, struct port *p, uint32_t group_id)
{
	uint32_t ip = INC_MULTICAST_IP | (group_id & INC_MULTICAST_MASK);
	struct link_options o = {.bind = address_v4(ip, ROCE_PORT),
				 .shared = true,
				 .whole = true,
				 .unconnected = true,
				 .group_on = inc->own.ip,
				 .block_us = INC_BLOCK_US};

	*p = (struct port){.ip = ip, .number = ROCE_PORT};
	return port_open(p, &o) == DXP_OK;
}
