/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams between two NICs: host 0 with id 1, host 1 with id 2. Define FUZZ_NAME before
 * including. */
#ifndef TEST_FUZZ_NETWORK_H
#define TEST_FUZZ_NETWORK_H

#include <string.h>

#include <dxp/status.h>

#include "nic/nic.h"
#include "test/fuzz/input.h"

#define FLIGHT_MAX 64 /* further ones are lost */
#define BATCH      16

struct flight {
	uint8_t to; /* index of the receiving host */
	size_t bytes;
	uint8_t *data;
};

struct network {
	struct flight flight[FLIGHT_MAX]; /* the oldest datagram is first */
	uint32_t flying;
};

static inline uint64_t token_of(void *context, uint32_t id)
{
	return (id + (uint64_t)(uintptr_t)context) * 0x9e3779b97f4a7c15ull;
}

static inline struct udp_address address_of(int host)
{
	return (struct udp_address){
		.port = 2000, .ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = (uint8_t)host}};
}

/* Sets the peer's address and incarnation, as the node table does. */
static inline void network_introduce(struct nic *nic, int host, uint64_t incarnation,
				     uint64_t now_ns)
{
	struct rltp_peer_info peer = {.node = (uint16_t)(2 - host),
				      .address = address_of(1 - host),
				      .incarnation = incarnation,
				      .payload_bytes = 1408};

	if (nic_peer_set(nic, &peer, now_ns) != DXP_OK)
		die("no memory for a peer");
}

static inline void network_dequeue(struct network *n, int to, const struct datagram *d)
{
	size_t bytes = d->header_bytes;

	for (int i = 0; i < d->slice_count; i++)
		bytes += d->slices[i].bytes;
	if (n->flying == FLIGHT_MAX)
		return;
	struct flight *f = &n->flight[n->flying++];
	*f = (struct flight){(uint8_t)to, bytes, malloc(bytes)};
	if (!f->data)
		die("no memory");
	memcpy(f->data, d->header, d->header_bytes);
	size_t at = d->header_bytes;
	for (int i = 0; i < d->slice_count; i++) {
		memcpy(f->data + at, d->slices[i].base, d->slices[i].bytes);
		at += d->slices[i].bytes;
	}
}

/* Polls until there is nothing more to send. */
static inline void network_poll(struct network *n, struct nic *nic, int host, uint64_t now_ns)
{
	static struct datagram batch[BATCH];
	size_t count, rounds = 0;

	do {
		nic_doorbells(nic, now_ns);
		count = nic_send(nic, batch, BATCH, now_ns);
		for (size_t i = 0; i < count; i++)
			network_dequeue(n, 1 - host, &batch[i]);
		if (rounds++ > 1000)
			die("sends for ever at one instant");
	} while (count > 0);
}

/* The datagram stays in flight until network_drop. */
static inline void network_land(const struct flight *f, struct nic *nic, uint64_t now_ns)
{
	struct datagram_arrival arrival = {.from = address_of(1 - f->to),
					   .data = f->data,
					   .bytes = f->bytes,
					   .arrived_ns = now_ns};

	nic_receive(nic, &arrival, now_ns);
}

static inline void network_drop(struct network *n, uint32_t i)
{
	free(n->flight[i].data);
	n->flying--;
	memmove(&n->flight[i], &n->flight[i + 1], (n->flying - i) * sizeof(n->flight[0]));
}

static inline void network_empty(struct network *n)
{
	while (n->flying > 0)
		network_drop(n, n->flying - 1);
}

#endif
