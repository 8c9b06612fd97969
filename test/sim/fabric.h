/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates a fabric in virtual time: manager with store in memory, members, and a network that
 * loses, duplicates and delays by seed. Only network and store are not shipped code. Each including
 * test has its own state. */
#ifndef TEST_SIM_FABRIC_H
#define TEST_SIM_FABRIC_H

#include "test/sim/fabric_checks.h"
#include "test/sim/fabric_manager.h"
#include "test/sim/fabric_members.h"

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

/* Stops a process; NULL: the manager. Afterwards the process reads what its socket kept. */
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

#endif
