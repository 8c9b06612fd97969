/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the simulated fabric (fabric.h), and its network, which loses, duplicates and delays
 * datagrams by seed. */
#ifndef TEST_SIM_FABRIC_NETWORK_H
#define TEST_SIM_FABRIC_NETWORK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/limits.h"
#include "manager/registry.h"
#include "node/channel.h"
#include "node/query.h"
#include "node/member.h"

#define FABRIC_MANAGER_PORT 4795
#define FABRIC_PACKETS_MAX  65536
#define FABRIC_MEMBERS_MAX  512
#define FABRIC_IDS          8192 /* more than any test assigns */

struct fabric_packet {
	uint64_t due_ns, order;
	struct udp_address from, to;
	uint16_t bytes;
	uint8_t *data;
};

/* State of a peer, as change notifications reported it to a member. It must match the member's
 * node table. */
struct fabric_peer {
	bool alive, granted;
	uint64_t incarnation;
	struct udp_address address;
	uint32_t magic;
};

struct fabric_member {
	struct member *m; /* NULL: no process runs */
	struct udp_address address;
	struct node_entry self;
	bool keyed; /* joins with `identity` instead of the fabric key */
	struct identity identity;
	/* the last new fabric key, when it came, and how many there were in this process */
	struct member_rekey rekey;
	uint64_t rekey_ns;
	unsigned rekeys;
	unsigned repins; /* new keys of the manager, in all processes */
	bool cut;        /* the network carries nothing */
	/* nothing from the member; nothing to it */
	bool mute, deaf;
	bool forwarded; /* it also gets what is sent to the address that it advertises */
	bool stopped;   /* as by SIGSTOP; its socket keeps arrivals */
	uint64_t deadline_ns;
	struct fabric_peer *peers; /* by node id */
};

struct fabric {
	struct rng rng;
	uint64_t now_ns;
	uint32_t loss_ppm, duplicate_ppm;
	uint64_t delay_min_ns, delay_max_ns;
	struct registry_options options;
	struct registry *registry; /* NULL: no manager runs */
	struct udp_address manager;
	struct fabric_member members[FABRIC_MEMBERS_MAX];
	size_t count;
	/* of fabric_request; NULL: the fabric key */
	const struct identity *requester;
	struct query *query;
	struct channel *channel;
	uint64_t wall_s; /* the manager's */
	struct udp_address request_address;
	/* by id; kind is NODE_PUT if valid */
	struct store_op nodes[FABRIC_IDS];
	bool stored[FABRIC_IDS];
	struct store_op grants[64];
	size_t grant_count;
	/* only the first `key_count` and `token_count` are valid */
	struct store_op keys[64], tokens[FABRIC_TOKENS_MAX];
	size_t key_count, token_count;
	struct fabric_row fabric;
	struct manager_row manager_row;
	struct fabric_packet *heap;
	size_t packets;
	bool stopped; /* the manager; its socket keeps arrivals */
	struct fabric_packet held[64];
	size_t held_count;
	uint64_t order;
	uint64_t manager_bytes_out, manager_datagrams_out;
	/* Datagrams to the manager while `recording`, for replays like an attacker's. */
	bool recording;
	struct fabric_packet records[64];
	size_t record_count;
};

static struct udp_address fabric_address(unsigned n)
{
	struct udp_address a = {.ip = {[10] = 0xff, [11] = 0xff, [12] = 10}, .port = 5000};

	a.ip[14] = (uint8_t)(n >> 8);
	a.ip[15] = (uint8_t)n;
	return a;
}

static uint64_t fabric_wall(void *context)
{
	return ((struct fabric *)context)->wall_s * 1000;
}

UNUSED static struct fabric *fabric_create(uint64_t seed, enum grants_policy policy)
{
	struct fabric *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->rng.state = seed;
	f->now_ns = 1000 * S_NS;
	f->delay_min_ns = f->delay_max_ns = 20 * US_NS;
	f->manager = fabric_address(0xffff);
	f->manager.port = FABRIC_MANAGER_PORT;
	f->request_address = fabric_address(0xfffe);
	f->heap = calloc(FABRIC_PACKETS_MAX, sizeof(*f->heap));
	f->wall_s = 1000000;
	f->options = (struct registry_options){.key = "the key of this fabric",
					       .private_key = "the manager's private key",
					       .wall_ms = fabric_wall,
					       .wall_context = f,
					       .policy = policy,
					       .entropy = rng_entropy_rng,
					       .entropy_context = &f->rng};
	return f;
}

UNUSED static void fabric_destroy(struct fabric *f)
{
	registry_destroy(f->registry);
	query_destroy(f->query);
	channel_destroy(f->channel);
	for (size_t i = 0; i < f->count; i++) {
		member_destroy(f->members[i].m);
		free(f->members[i].peers);
	}
	while (f->packets > 0)
		free(f->heap[--f->packets].data);
	while (f->record_count > 0)
		free(f->records[--f->record_count].data);
	free(f->heap);
	free(f);
}

static bool packet_before(const struct fabric_packet *a, const struct fabric_packet *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void packet_push(struct fabric *f, struct fabric_packet packet)
{
	size_t at = f->packets++;

	assert_true(f->packets <= FABRIC_PACKETS_MAX);
	while (at > 0 && packet_before(&packet, &f->heap[(at - 1) / 2])) {
		f->heap[at] = f->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	f->heap[at] = packet;
}

static struct fabric_packet packet_pop(struct fabric *f)
{
	struct fabric_packet first = f->heap[0], last = f->heap[--f->packets];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < f->packets) {
		if (child + 1 < f->packets && packet_before(&f->heap[child + 1], &f->heap[child]))
			child++;
		if (!packet_before(&f->heap[child], &last))
			break;
		f->heap[at] = f->heap[child];
		at = child;
	}
	f->heap[at] = last;
	return first;
}

static void fabric_carry(struct fabric *f, const struct udp_address *from, const struct datagram *d)
{
	unsigned copies = rng_chance_ppm(&f->rng, f->duplicate_ppm) ? 2 : 1;

	if (rng_chance_ppm(&f->rng, f->loss_ppm))
		return;
	for (unsigned i = 0; i < copies; i++) {
		struct fabric_packet p = {
			.from = *from, .to = d->to, .order = f->order++, .bytes = d->header_bytes};
		p.due_ns = f->now_ns + f->delay_min_ns +
			   rng_below(&f->rng, f->delay_max_ns - f->delay_min_ns + 1);
		p.data = malloc(FABRIC_DATAGRAM_BYTES);
		assert_non_null(p.data);
		memcpy(p.data, d->header, d->header_bytes);
		for (unsigned s = 0; s < d->slice_count; s++) {
			assert_true(p.bytes + d->slices[s].bytes <= FABRIC_DATAGRAM_BYTES);
			memcpy(p.data + p.bytes, d->slices[s].base, d->slices[s].bytes);
			p.bytes = (uint16_t)(p.bytes + d->slices[s].bytes);
		}
		packet_push(f, p);
	}
}

#endif
