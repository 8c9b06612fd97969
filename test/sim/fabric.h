/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates a fabric in virtual time: manager with store in memory, members, and a network that
 * loses, duplicates and delays by seed. Only network and store are not shipped code. Each including
 * test has its own state. */
#ifndef TEST_SIM_FABRIC_H
#define TEST_SIM_FABRIC_H

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

/* Derived from change notifications; must match the member's table. */
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
	bool cut; /* the network carries nothing */
	/* nothing from the member; nothing to it */
	bool mute, deaf;
	bool stopped; /* as by SIGSTOP; its socket keeps arrivals */
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

/* ---- the network ---- */

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

/* ---- the manager and its store ---- */

static void store_apply(struct fabric *f, const struct store_op *op)
{
	size_t i = 0;

	assert_true(op->entry.id < FABRIC_IDS);
	switch (op->kind) {
	case STORE_NODE_PUT:
		for (unsigned id = 0; id < FABRIC_IDS; id++)
			if (f->stored[id] &&
			    memcmp(f->nodes[id].entry.uuid, op->entry.uuid, WIRE_UUID_BYTES) == 0)
				f->stored[id] = false;
		f->nodes[op->entry.id] = *op;
		f->stored[op->entry.id] = true;
		return;
	case STORE_NODE_DELETE: f->stored[op->entry.id] = false; return;
	case STORE_KEY_PUT:
		assert_true(op->index < ARRAY_COUNT(f->keys));
		f->keys[op->index] = *op;
		f->key_count = max_u64(f->key_count, op->index + 1);
		return;
	case STORE_TOKEN_PUT:
		f->tokens[op->index] = *op;
		f->token_count = max_u64(f->token_count, op->index + 1);
		return;
	case STORE_GRANT_PUT:
		assert_true(f->grant_count < ARRAY_COUNT(f->grants));
		f->grants[f->grant_count++] = *op;
		return;
	case STORE_GRANT_DELETE:
		while (i < f->grant_count &&
		       (strcmp(f->grants[i].host, op->host) || strcmp(f->grants[i].xpu, op->xpu)))
			i++;
		assert_true(i < f->grant_count);
		f->grants[i] = f->grants[--f->grant_count];
	}
}

static void fabric_manager_poll(struct fabric *f)
{
	struct datagram out[16];
	struct store_op op;
	size_t count;

	if (!f->registry)
		return;
	do {
		while (registry_next_store(f->registry, &op))
			store_apply(f, &op);
		count = registry_send(f->registry, out, ARRAY_COUNT(out), f->now_ns);
		for (size_t i = 0; i < count; i++) {
			f->manager_datagrams_out++;
			f->manager_bytes_out += out[i].header_bytes + out[i].slices[0].bytes;
			fabric_carry(f, &f->manager, &out[i]);
		}
	} while (count > 0);
}

UNUSED static void fabric_manager_start(struct fabric *f)
{
	assert_null(f->registry);
	assert_int_equal(registry_create(&f->options, &f->registry), DXP_OK);
	for (size_t i = 0; i < f->key_count; i++)
		assert_int_equal(registry_load(f->registry, &f->keys[i]), DXP_OK);
	for (size_t i = 0; i < f->token_count; i++)
		assert_int_equal(registry_load(f->registry, &f->tokens[i]), DXP_OK);
	for (unsigned id = 0; id < FABRIC_IDS; id++)
		if (f->stored[id])
			assert_int_equal(registry_load(f->registry, &f->nodes[id]), DXP_OK);
	for (size_t i = 0; i < f->grant_count; i++)
		assert_int_equal(registry_load(f->registry, &f->grants[i]), DXP_OK);
	registry_start(f->registry, f->now_ns);
}

UNUSED static void fabric_manager_stop(struct fabric *f)
{
	registry_destroy(f->registry);
	f->registry = NULL;
}

UNUSED static void fabric_store_lose(struct fabric *f)
{
	memset(f->stored, 0, sizeof(f->stored));
	f->grant_count = f->key_count = f->token_count = 0;
}

/* ---- members ---- */

/* Named "host-N" or "xpu-N" by its index; does not run yet. */
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
}

UNUSED static void fabric_member_kill(struct fabric_member *member)
{
	member_destroy(member->m);
	member->m = NULL;
	member->deadline_ns = UINT64_MAX;
}

/* Applied to `peers`, as a NIC would; each change must be valid. */
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
	member->deadline_ns = member_deadline(member->m);
	assert_true(member->deadline_ns > f->now_ns);
}

static struct fabric_member *fabric_member_at(struct fabric *f, const struct udp_address *address)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->members[i].m && address_equal(&f->members[i].address, address))
			return &f->members[i];
	return NULL;
}

/* ---- time ---- */

/* A stopped receiver's packet is kept, while `held` has space, as in a socket. */
static bool fabric_held(struct fabric *f, const struct fabric_packet *p)
{
	const struct fabric_member *member = fabric_member_at(f, &p->to);
	bool stopped = member ? member->stopped : f->stopped && address_equal(&p->to, &f->manager);

	if (!stopped)
		return false;
	if (f->held_count < ARRAY_COUNT(f->held))
		f->held[f->held_count++] = *p;
	else
		free(p->data);
	return true;
}

static void fabric_record(struct fabric *f, const struct fabric_packet *p)
{
	struct fabric_packet *copy = &f->records[f->record_count];

	if (!f->recording || f->record_count == ARRAY_COUNT(f->records))
		return;
	*copy = *p;
	copy->data = malloc(p->bytes);
	assert_non_null(copy->data);
	memcpy(copy->data, p->data, p->bytes);
	f->record_count++;
}

/* Sends all recorded datagrams to the manager again, from another address. */
UNUSED static void fabric_replay(struct fabric *f, const struct udp_address *from)
{
	for (size_t i = 0; i < f->record_count; i++)
		registry_receive(f->registry, from, f->records[i].data, f->records[i].bytes,
				 f->now_ns);
}

static void fabric_deliver(struct fabric *f)
{
	struct fabric_packet p = packet_pop(f);
	struct fabric_member *member;

	if (fabric_held(f, &p))
		return;
	if (address_equal(&p.to, &f->manager)) {
		fabric_record(f, &p);
		if (f->registry)
			registry_receive(f->registry, &p.from, p.data, p.bytes, f->now_ns);
		fabric_manager_poll(f);
	} else if (f->channel && address_equal(&p.to, &f->request_address)) {
		channel_receive(f->channel, &p.from, p.data, p.bytes, f->now_ns);
	} else if (f->query && address_equal(&p.to, &f->request_address)) {
		query_receive(f->query, &p.from, p.data, p.bytes, f->now_ns);
	} else if ((member = fabric_member_at(f, &p.to)) != NULL && !member->cut && !member->deaf) {
		member_receive(member->m, &p.from, p.data, p.bytes, f->now_ns);
		fabric_member_poll(f, member);
	}
	free(p.data);
}

static uint64_t fabric_next(const struct fabric *f)
{
	uint64_t next_ns = f->packets ? f->heap[0].due_ns : UINT64_MAX;

	if (f->registry && !f->stopped)
		next_ns = min_u64(next_ns, registry_deadline(f->registry));
	if (f->query)
		next_ns = min_u64(next_ns, query_deadline(f->query));
	if (f->channel)
		next_ns = min_u64(next_ns, channel_deadline(f->channel));
	for (size_t i = 0; i < f->count; i++)
		if (!f->members[i].stopped)
			next_ns = min_u64(next_ns, f->members[i].deadline_ns);
	return next_ns;
}

UNUSED static void fabric_run(struct fabric *f, uint64_t duration_ns)
{
	uint64_t end_ns = f->now_ns + duration_ns, next_ns;
	struct datagram out;

	while ((next_ns = fabric_next(f)) <= end_ns) {
		f->now_ns = max_u64(f->now_ns, next_ns);
		while (f->packets && f->heap[0].due_ns <= f->now_ns)
			fabric_deliver(f);
		if (f->registry && !f->stopped && registry_deadline(f->registry) <= f->now_ns)
			fabric_manager_poll(f);
		if (f->query && query_send(f->query, &out, f->now_ns))
			fabric_carry(f, &f->request_address, &out);
		if (f->channel && channel_send(f->channel, &out, f->now_ns))
			fabric_carry(f, &f->request_address, &out);
		for (size_t i = 0; i < f->count; i++)
			if (f->members[i].deadline_ns <= f->now_ns && !f->members[i].stopped)
				fabric_member_poll(f, &f->members[i]);
	}
	f->now_ns = end_ns;
}

/* NULL: the manager. Afterwards the process reads what its socket kept. */
UNUSED static void fabric_stop(struct fabric *f, uint64_t duration_ns, struct fabric_member *member)
{
	*(member ? &member->stopped : &f->stopped) = true;
	fabric_run(f, duration_ns);
	*(member ? &member->stopped : &f->stopped) = false;
	for (size_t i = 0; i < f->held_count; i++) {
		f->held[i].due_ns = f->now_ns;
		packet_push(f, f->held[i]);
	}
	f->held_count = 0;
}

/* Sends one request to the manager and waits for its completion. Returns the status. `f->query`
 * stays valid, so that tests can read its text and rows. */
UNUSED static int fabric_request(struct fabric *f, enum query_kind kind, const char *host,
				 const char *xpu)
{
	struct query_options options = {.manager = f->manager,
					.kind = kind,
					.host = host,
					.xpu = xpu,
					.identity = f->requester,
					.entropy = rng_entropy_rng,
					.entropy_context = &f->rng};

	/* it has the query's local address */
	channel_destroy(f->channel);
	f->channel = NULL;
	query_destroy(f->query);
	f->query = NULL;
	memcpy(options.key, f->options.key, sizeof(options.key));
	int status = query_create(&options, f->now_ns, &f->query);
	if (status != DXP_OK)
		return status;
	while (!query_done(f->query))
		fabric_run(f, 10 * MS_NS);
	return query_status(f->query);
}

/* Makes one request over a new channel and waits for its completion. Returns the status.
 * `f->channel` stays valid, so that tests can read its text and answer. */
UNUSED static int fabric_channel(struct fabric *f, const struct identity *identity,
				 const struct token *token, const struct channel_request *request)
{
	struct channel_options options = {.manager = f->manager,
					  .token = token,
					  .request = *request,
					  .entropy = rng_entropy_rng,
					  .entropy_context = &f->rng};

	channel_destroy(f->channel);
	f->channel = NULL;
	memcpy(options.manager_key, identity->manager, KEYS_BYTES);
	memcpy(options.private_key, identity->private_key, KEYS_BYTES);
	int status = channel_create(&options, f->now_ns, &f->channel);
	if (status != DXP_OK)
		return status;
	while (!channel_done(f->channel))
		fabric_run(f, 10 * MS_NS);
	return channel_status(f->channel);
}

/* ---- checks ---- */

static bool fabric_granted(const struct fabric *f, const char *host, const char *xpu)
{
	if (f->options.policy == GRANTS_ANY)
		return true;
	for (size_t i = 0; i < f->grant_count; i++)
		if (grants_match(f->grants[i].host, host) && grants_match(f->grants[i].xpu, xpu))
			return true;
	return false;
}

/* The row of a running process is right in every field; other rows may also be missing. */
static void row_check(const struct fabric *f, const struct fabric_member *viewer,
		      const struct fabric_member *subject)
{
	const struct node_entry *row =
		node_table_find_name(member_table(viewer->m), subject->self.name);
	bool hosts = viewer->self.kind == MANAGE_HOST && subject->self.kind == MANAGE_HOST;
	bool visible =
		viewer->self.kind == subject->self.kind
			? viewer == subject || !hosts
			: fabric_granted(f,
					 viewer->self.kind == MANAGE_HOST ? viewer->self.name
									  : subject->self.name,
					 viewer->self.kind == MANAGE_HOST ? subject->self.name
									  : viewer->self.name);
	bool alive = subject->m && member_state(subject->m) == MEMBER_JOINED;

	if (!alive || !visible) {
		assert_true(!row || (visible && !row->alive));
		return;
	}
	assert_non_null(row);
	assert_true(row->alive);
	assert_int_equal(row->id, member_id(subject->m));
	assert_true(row->granted);
	assert_int_equal(row->magic, subject->self.magic);
	assert_true(row->incarnation == subject->self.incarnation);
	assert_true(address_equal(&row->address,
				  subject->self.capabilities & MANAGE_CAPABILITY_ADVERTISED
					  ? &subject->self.address
					  : &subject->address));
	if (subject == viewer)
		return;
	const struct fabric_peer *peer = &viewer->peers[row->id];
	assert_true(peer->alive && peer->granted && peer->incarnation == row->incarnation);
	assert_true(address_equal(&peer->address, &row->address) && peer->magic == row->magic);
}

/* All running members have joined and have exactly the right rows; peers that count as alive
 * exist. */
UNUSED static void fabric_check(const struct fabric *f)
{
	for (size_t v = 0; v < f->count; v++) {
		const struct fabric_member *viewer = &f->members[v];
		size_t alive = 0, believed = 0;
		if (!viewer->m)
			continue;
		if (member_state(viewer->m) != MEMBER_JOINED)
			print_message("%s: %s\n", viewer->self.name, member_text(viewer->m));
		assert_int_equal(member_state(viewer->m), MEMBER_JOINED);
		for (size_t s = 0; s < f->count; s++)
			row_check(f, viewer, &f->members[s]);
		for (size_t i = 0; i < node_table_count(member_table(viewer->m)); i++) {
			const struct node_entry *row = node_table_at(member_table(viewer->m), i);
			alive += row->alive && row->id != member_id(viewer->m);
		}
		for (unsigned id = 0; id < FABRIC_IDS; id++)
			believed += viewer->peers[id].alive;
		assert_int_equal(alive, believed);
	}
}

#endif
