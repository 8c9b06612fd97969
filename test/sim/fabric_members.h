/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of the simulated fabric. */
#ifndef TEST_SIM_FABRIC_MEMBERS_H
#define TEST_SIM_FABRIC_MEMBERS_H

#include "test/sim/fabric_network.h"

/* Adds a member named "host-N" or "xpu-N" by its index; it does not run yet. */
UNUSED static struct fabric_member *fabric_member_add(struct fabric *f, enum manage_kind kind)
{
	unsigned n = (unsigned)f->count++;
	struct fabric_member *member = &f->members[n];

	assert_true(n < FABRIC_MEMBERS_MAX);
	member->address = fabric_address(n);
	member->self = (struct node_entry){
		.kind = (uint8_t)kind, .memory_bytes = 1 << 30, .engine = "ocl", .device = "test"};
	snprintf(member->self.name, sizeof(member->self.name), "%s-%u",
		 kind == MANAGE_HOST ? "host" : "xpu", n);
	snprintf((char *)member->self.uuid, sizeof(member->self.uuid), "uuid of %u", n);
	member->peers = calloc(FABRIC_IDS, sizeof(*member->peers));
	member->deadline_ns = UINT64_MAX;
	return member;
}

/* Starts a process of this member. Its incarnation is larger than before, and its magic is new. */
UNUSED static void fabric_member_start(struct fabric *f, struct fabric_member *member)
{
	struct member_options options = {.manager = f->manager,
					 .entropy = rng_entropy_rng,
					 .entropy_context = &f->rng,
					 .identity = member->keyed ? &member->identity : NULL,
					 .join_timeout_ns = UINT64_MAX};

	assert_null(member->m);
	member->self.incarnation = f->now_ns;
	member->self.magic = (uint32_t)rng_next(&f->rng);
	memcpy(options.key, f->options.key, sizeof(options.key));
	options.self = member->self;
	assert_int_equal(member_create(&options, f->now_ns, &member->m), DXP_OK);
	memset(member->peers, 0, (FABRIC_IDS) * sizeof(*member->peers));
	member->deadline_ns = f->now_ns;
	member->rekeys = 0;
	member->rekey = (struct member_rekey){0};
}

UNUSED static void fabric_member_kill(struct fabric_member *member)
{
	member_destroy(member->m);
	member->m = NULL;
	member->deadline_ns = UINT64_MAX;
}

/* Applies changes to `peers`, as a NIC would; each change must be valid. */
static void changes_follow(struct fabric_member *member)
{
	struct table_change change;

	while (node_table_next_change(member_table(member->m), &change)) {
		struct fabric_peer *peer = &member->peers[change.entry.id];
		assert_true(change.entry.id != member_id(member->m) || change.what == TABLE_LOST);
		assert_int_not_equal(change.what, 0);
		if (change.what & TABLE_JOINED)
			assert_false(peer->alive);
		else
			assert_true(peer->alive);
		if (change.what & TABLE_JOINED)
			assert_int_equal(change.what, TABLE_JOINED);
		/* no other change, except a revoked grant */
		if (change.what & TABLE_LOST)
			assert_int_equal(change.what & ~TABLE_GRANT, TABLE_LOST);
		*peer = (struct fabric_peer){!(change.what & TABLE_LOST), change.entry.granted,
					     change.entry.incarnation, change.entry.address,
					     change.entry.magic};
	}
}

static void fabric_member_poll(struct fabric *f, struct fabric_member *member)
{
	struct datagram out[4];
	size_t count;

	if (!member->m)
		return;
	while ((count = member_send(member->m, out, ARRAY_COUNT(out), f->now_ns)) > 0)
		for (size_t i = 0; i < count && !member->cut && !member->mute; i++)
			fabric_carry(f, &member->address, &out[i]);
	changes_follow(member);
	if (member_rekeyed(member->m, &member->rekey)) {
		member->rekeys++;
		member->rekey_ns = f->now_ns;
	}
	member->deadline_ns = member_deadline(member->m);
	assert_true(member->deadline_ns > f->now_ns);
}

static struct fabric_member *fabric_member_at(struct fabric *f, const struct udp_address *address)
{
	for (size_t i = 0; i < f->count; i++) {
		struct fabric_member *m = &f->members[i];
		if (m->m && (address_equal(&m->address, address) ||
			     (m->forwarded && address_equal(&m->self.address, address))))
			return m;
	}
	return NULL;
}

#endif
