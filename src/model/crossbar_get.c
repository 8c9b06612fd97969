/* SPDX-License-Identifier: BSD-3-Clause */
/* GETs between two NICs in both directions, and the deadlock (a cycle of waits) of C-22. One packet
 * moves at a time; time is not modelled. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "model/crossbar.h"

#define NICS 2
/* packets per queue, one bit each in a mask */
#define QUEUE_MOST 64

/* Kinds of packets, which are also numbers of virtual channels. */
enum { DATA, REQUEST };

/* A GET is `accepted` until the send engine turns it into a PUT. */
struct nic {
	uint32_t gets;     /* own requests not sent yet */
	uint32_t put_left; /* packets of the PUT in the send engine */
	bool accepted;
	/* by virtual channel; bit i: packet i is a request */
	uint64_t requests[2];
	uint32_t count[2]; /* per queue, at most QUEUE_MOST */
	/* by virtual channel: a packet is at the receive engine; it is a request */
	bool arrived[2], arrived_request[2];
	uint64_t received; /* data packets */
};

struct exchange {
	struct nic nics[NICS];
	uint32_t depth, put_packets;
	bool own_channel;
};

static unsigned request_channel(const struct exchange *e)
{
	return e->own_channel ? REQUEST : DATA;
}

static bool queue_add(const struct exchange *e, struct nic *n, unsigned channel, bool request)
{
	if (n->count[channel] == e->depth)
		return false;
	n->requests[channel] |= (uint64_t)request << n->count[channel]++;
	return true;
}

/* Moves one packet, in order: an accepted GET waits for a request already in the engine. With their
 * own virtual channel, requests can overtake data. */
static bool engine_move(const struct exchange *e, struct nic *n)
{
	if (n->put_left > 0) {
		if (queue_add(e, n, DATA, false)) {
			n->put_left--;
			return true;
		}
		return e->own_channel && n->gets && queue_add(e, n, REQUEST, true) && n->gets--;
	}
	if (n->gets && queue_add(e, n, request_channel(e), true)) {
		n->gets--;
		return true;
	}
	if (n->accepted && (e->own_channel || !n->gets || n->count[DATA] < e->depth)) {
		n->accepted = false;
		n->put_left = e->put_packets;
		return true;
	}
	return false;
}

/* Moves the first packet to the peer's receive engine. */
static bool queue_move(struct nic *n, struct nic *peer, unsigned channel)
{
	if (n->count[channel] == 0 || peer->arrived[channel])
		return false;
	peer->arrived[channel] = true;
	peer->arrived_request[channel] = n->requests[channel] & 1;
	n->requests[channel] >>= 1;
	n->count[channel]--;
	return true;
}

/* Stores data, or passes a request to this NIC's send engine. */
static bool receive_move(struct nic *n, unsigned channel)
{
	if (!n->arrived[channel] || (n->arrived_request[channel] && n->accepted))
		return false;
	if (n->arrived_request[channel])
		n->accepted = true;
	else
		n->received++;
	n->arrived[channel] = false;
	return true;
}

static bool move_all(struct exchange *e)
{
	bool moved = false;

	for (unsigned i = 0; i < NICS; i++) {
		struct nic *n = &e->nics[i], *peer = &e->nics[!i];
		moved |= engine_move(e, n);
		for (unsigned c = 0; c < 2; c++) {
			moved |= queue_move(n, peer, c);
			moved |= receive_move(n, c);
		}
	}
	return moved;
}

/* Writes the cycle: the send engine waits for space in its queue, that queue's first packet for the
 * peer's receive engine, and the request in there for the peer's send engine. */
static void cycle_write(char *text, size_t text_bytes)
{
	size_t at = 0;

	for (unsigned i = 0; i <= NICS && at < text_bytes; i++)
		at += (size_t)snprintf(text + at, text_bytes - at,
				       i < NICS ? "send engine %u -> queue %u -> receive engine %u "
						  "-> "
						: "send engine %u",
				       i % NICS, i % NICS, (i + 1) % NICS);
}

/* Returns true if NIC i waits as cycle_write() describes. */
static bool waits(const struct exchange *e, unsigned i)
{
	const struct nic *n = &e->nics[i], *peer = &e->nics[!i];

	return (n->put_left || n->gets) && n->count[DATA] == e->depth && peer->arrived[DATA] &&
	       peer->arrived_request[DATA] && peer->accepted;
}

int model_crossbar_deadlock(const struct model_parameters *p, uint32_t gets, char *text,
			    size_t text_bytes)
{
	struct exchange e = {
		.depth = (uint32_t)min_u64((uint64_t)p->depth, QUEUE_MOST),
		.put_packets = (uint32_t)p->message_packets,
		.own_channel = p->get_channel == 0,
	};

	for (unsigned i = 0; i < NICS; i++)
		e.nics[i].gets = gets;
	while (move_all(&e))
		;
	text[0] = '\0';
	unsigned complete = 0, waiting = 0;
	for (unsigned i = 0; i < NICS; i++) {
		complete += e.nics[i].received == (uint64_t)gets * e.put_packets;
		waiting += waits(&e, i);
	}
	if (complete == NICS)
		return 0;
	if (waiting < NICS)
		return -1;
	cycle_write(text, text_bytes);
	return 1;
}
