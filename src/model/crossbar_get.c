/* SPDX-License-Identifier: BSD-3-Clause */
/* GETs between two NICs in both directions, and the deadlock (a cycle of waits) of C-22. One packet
 * moves at a time; time is not modelled. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "model/crossbar.h"

#define NICS 2
/* packets in a queue, at most: a mask has one bit for each */
#define QUEUE_MOST 64

/* Kinds of packets; each kind is also the number of its virtual channel. */
enum { DATA, REQUEST };

/* A NIC. A GET that has arrived is `accepted` until the send engine turns it into a PUT. */
struct nic {
	uint32_t gets;     /* this NIC's requests that are not sent yet */
	uint32_t put_left; /* packets left of the PUT that the send engine sends */
	bool accepted;
	/* for each virtual channel's queue, bit i: packet i is a request */
	uint64_t requests[2];
	uint32_t count[2]; /* packets in each queue, at most QUEUE_MOST */
	/* for each virtual channel: a packet is at the receive engine; this packet is a request */
	bool arrived[2], arrived_request[2];
	uint64_t received; /* data packets received */
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

/* Lets the send engine move one packet. The engine works in order. So an accepted GET waits for a
 * request of this NIC that is already in the engine. If requests have a virtual channel of their
 * own, they can overtake data. */
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

/* Moves the first packet of a queue to the receive engine of the peer. */
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

/* Lets the receive engine store data, or pass a request to the send engine of the same NIC. */
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

/* Writes the cycle of waits. The send engine of NIC i waits for space in its queue. The first
 * packet of that queue waits for the peer's receive engine. The request in that engine waits for
 * the peer's send engine. */
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

/* Returns true if NIC i waits for the other NIC, as cycle_write() describes. */
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
