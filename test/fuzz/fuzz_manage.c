/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes bytes to a registry and a member, sealed with the fabric key to reach the decoders behind.
 * Input: records of type, sender, length (2 bytes) and body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/limits.h"
#include "manager/registry.h"
#include "node/member.h"
#include "test/fuzz/fuzz.h"
#include "wire/manage_entry.h"

struct target {
	struct rng rng;
	struct mac *mac;
	struct registry *registry;
	struct member *member;
	struct udp_address manager, node;
	uint64_t now_ns;
};

static void target_open(struct target *t)
{
	struct registry_options registry = {
		.policy = GRANTS_EXPLICIT, .entropy = rng_entropy_rng, .entropy_context = &t->rng};
	struct member_options member = {.self = {.kind = MANAGE_XPU, .name = "x", .incarnation = 1},
					.entropy = rng_entropy_rng,
					.entropy_context = &t->rng};

	*t = (struct target){.rng = {1}, .now_ns = S_NS, .manager.port = 1, .node.port = 2};
	member.manager = t->manager;
	if (mac_create(registry.key, &t->mac) != DXP_OK ||
	    registry_create(&registry, &t->registry) != DXP_OK ||
	    member_create(&member, t->now_ns, &t->member) != DXP_OK)
		abort();
	registry_start(t->registry, t->now_ns);
}

static void target_close(struct target *t)
{
	member_destroy(t->member);
	registry_destroy(t->registry);
	mac_destroy(t->mac);
}

static size_t flatten(const struct datagram *d, uint8_t *out)
{
	memcpy(out, d->header, d->header_bytes);
	memcpy(out + d->header_bytes, d->slices[0].base, d->slices[0].bytes);
	return d->header_bytes + d->slices[0].bytes;
}

/* Delivers all datagrams in both directions. */
static void exchange(struct target *t)
{
	struct datagram out[DATAGRAM_BATCH];
	struct table_change change;
	struct store_op op;
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	size_t count = member_send(t->member, out, DATAGRAM_BATCH, t->now_ns);

	for (size_t i = 0; i < count; i++)
		registry_receive(t->registry, &t->node, frame, flatten(&out[i], frame), t->now_ns);
	while (registry_next_store(t->registry, &op))
		;
	count = registry_send(t->registry, out, DATAGRAM_BATCH, t->now_ns);
	for (size_t i = 0; i < count; i++) {
		size_t bytes = flatten(&out[i], frame);
		member_receive(t->member, &t->manager, frame, bytes, t->now_ns);
	}
	while (node_table_next_change(member_table(t->member), &change))
		;
}

/* Forges a frame of a peer with the key. Zeros in place of the member's nonce become the nonce,
 * because such a peer knows it. */
static void forge(struct target *t, uint8_t type, uint8_t sender, const uint8_t *body, size_t bytes)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES] = {0};
	bool to_member = sender & 0x80;

	memcpy(frame + WIRE_COMMON_BYTES, body, bytes);
	size_t frame_bytes = manage_seal(type, to_member ? WIRE_NODE_MANAGER : sender,
					 to_member ? member_id(t->member) : WIRE_NODE_MANAGER,
					 bytes, t->mac, frame);
	if (to_member) {
		struct rng start = {1};
		rng_next(&start); /* the registry drew its epoch from this number */
		uint64_t nonce = rng_next(&start);
		if (bytes >= 16 && memcmp(body + 8, &(uint64_t){0}, 8) == 0) {
			put_be64(frame + WIRE_COMMON_BYTES + 8, nonce);
			frame_bytes = manage_seal(type, WIRE_NODE_MANAGER, member_id(t->member),
						  bytes, t->mac, frame);
		}
		member_receive(t->member, &t->manager, frame, frame_bytes, t->now_ns);
	} else {
		registry_receive(t->registry, &t->node, frame, frame_bytes, t->now_ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct target t;

	target_open(&t);
	/* without a seal */
	registry_receive(t.registry, &t.node, data, bytes, t.now_ns);
	member_receive(t.member, &t.manager, data, bytes, t.now_ns);
	exchange(&t);
	while (bytes >= 4) {
		size_t body_bytes =
			min_u64(get_be16(data + 2), min_u64(bytes - 4, FABRIC_DATAGRAM_BYTES - 48));
		uint8_t type = (uint8_t)(WIRE_JOIN + data[0] % (WIRE_ANSWER - WIRE_JOIN + 1));
		if (data[0] == 0xff)
			type = WIRE_GRANTS;
		else if (data[0] == 0xfe)
			type = WIRE_EVENTS;
		else if (data[0] == 0xfd)
			type = WIRE_REPORT;
		t.now_ns += (uint64_t)(data[0] >> 4) * 50 * MS_NS;
		forge(&t, type, data[1], data + 4, body_bytes);
		exchange(&t);
		data += 4 + body_bytes;
		bytes -= 4 + body_bytes;
	}
	target_close(&t);
	return 0;
}
