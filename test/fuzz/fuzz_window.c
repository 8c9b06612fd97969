/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a hostile process that stores any values into its window, changes descriptors after the
 * doorbell, and jumps indices, while its function is reopened or its regions revoked and unmapped.
 * Two correct users of the same NICs must succeed; in half of the runs one shares its function,
 * with two queue pairs each. Checked: counts after each step; bytes around regions; the correct
 * users; the correspondent's operations after closing; a correct successor on the function. */
#define FUZZ_NAME "fuzz_window"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "rltp/internal.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/window_scene.h"

#define STEPS_MAX 400
#define POLLS_MAX 30000

/* ---- the hostile process ---- */

static uint32_t key_read(struct scene *s)
{
	const struct user *u = s->users;
	const uint32_t keys[] = {
		u[HOSTILE].keys[0], u[HOSTILE].keys[1], u[FRIEND].keys[0], u[FRIEND].keys[1],
		u[HONEST].keys[0],  u[HONEST].keys[1],  s->old_key,        0};

	return keys[take8(&s->in) % ARRAY_COUNT(keys)];
}

/* Returns a number near an edge value or `now`, the field's value. */
static uint64_t value_draw(struct scene *s, uint64_t now)
{
	static const uint64_t near[] = {
		0,          64,         DXP_NAP_BYTES, DXP_EVENTS, DXP_DOORBELLS, REGION,
		UINT32_MAX, 1ull << 31, 1ull << 32,    1ull << 63, UINT64_MAX,    REGISTERS_AT};
	uint8_t how = take8(&s->in);
	uint64_t delta = (uint64_t)(int64_t)(int8_t)take8(&s->in);

	switch (how & 7) {
	case 0: return key_read(s);
	case 1: return (uint64_t)take32(&s->in) << 32 | take32(&s->in);
	case 2: return now ^ 1ull << (take8(&s->in) & 63);
	case 3:
	case 4: return now + delta;
	default: return near[(how >> 3) % ARRAY_COUNT(near)] + delta;
	}
}

static size_t slot_offset(uint8_t which, size_t within)
{
	return offsetof(struct dxp_window, slots) +
	       which % DXP_DOORBELLS * sizeof(struct dxp_slot) + within;
}

static size_t field_read(struct scene *s)
{
	static const size_t indices[] = {offsetof(struct dxp_window, producer),
					 offsetof(struct dxp_window, sent_consumer),
					 offsetof(struct dxp_window, received_consumer),
					 offsetof(struct dxp_window, buffers_returned),
					 offsetof(struct dxp_window, user_waits)};
	uint8_t which = take8(&s->in), at = take8(&s->in);

	switch (which & 7) {
	case 0:
		return (((size_t)take8(&s->in) << 16 | (size_t)at << 8) + take8(&s->in)) %
		       sizeof(struct dxp_window);
	case 1: return indices[at % ARRAY_COUNT(indices)];
	case 2:
		return offsetof(struct dxp_window, registers) +
		       at * 4u % sizeof(struct dxp_registers);
	case 3: return slot_offset(at, take8(&s->in) % sizeof(struct dxp_descriptor));
	case 4: return slot_offset(at, sizeof(struct dxp_descriptor) + take8(&s->in) * 4u);
	case 5: return offsetof(struct dxp_window, buffers) + 2u * at;
	case 6: return at & 1 ? 4096 + at : at; /* fields that the engine writes */
	default: return slot_offset(at, offsetof(struct dxp_descriptor, lap));
	}
}

static void hostile_store(struct scene *s)
{
	uint8_t *window = (uint8_t *)s->users[HOSTILE].window;
	size_t bytes = (size_t)1 << (take8(&s->in) & 3), at = field_read(s) / bytes * bytes;
	uint64_t value = 0;

	if (at + bytes > sizeof(struct dxp_window))
		return;
	memcpy(&value, window + at, bytes);
	value = value_draw(s, value);
	memcpy(window + at, &value, bytes);
}

/* Writes a nearly valid descriptor where the engine reads next. */
static void hostile_post(struct scene *s)
{
	static const uint8_t ops[] = {DXP_OP_NAP,       DXP_OP_PUT,         DXP_OP_PUT,
				      DXP_OP_GET,       DXP_OP_CFG_READ,    DXP_OP_CFG_WRITE,
				      DXP_OP_FETCH_ADD, DXP_OP_COMPARE_SWAP};
	static const uint8_t others[] = {FRIEND, FRIEND, FRIEND, HOSTILE, HONEST, PEER};
	struct user *u = &s->users[HOSTILE];
	uint32_t index = u->nic->users[u->index].consumer;
	struct dxp_slot *slot = dxp_slot(u->window, index);
	uint8_t how = take8(&s->in), peer = others[take8(&s->in) % ARRAY_COUNT(others)];
	struct dxp_target to = target_of(s, peer, how >> 5 & 1);
	struct dxp_descriptor head = dxp_head(ops[how % ARRAY_COUNT(ops)], how >> 6, &to, 0);

	/* Keys and magics are the only protection, and the hostile process does not know those of
	 * correct users: a right guess is made wrong. */
	if (peer == HONEST || peer == PEER)
		head.dst_magic ^= 1;
	head.flags = take8(&s->in) & 3;
	head.src_count = take8(&s->in) % 6;
	head.dst_count = take8(&s->in) % 6;
	head.inline_bytes = (uint16_t)value_draw(s, 32);
	head.imm = how;
	head.lap = dxp_lap(index, DXP_DOORBELLS);
	uint32_t count = (uint32_t)head.src_count + head.dst_count;
	struct dxp_entry *entries = (struct dxp_entry *)(void *)slot->body;
	for (uint32_t i = 0; i < count; i++)
		entries[i] = (struct dxp_entry){.offset = take8(&s->in) * 8u,
						.bytes = 8 + take8(&s->in) * 8u,
						.key = key_read(s)};
	if (count > 0 && how & 0x10)
		entries[0].bytes = (uint32_t)value_draw(s, REGION);
	if (count > 0 && how & 0x08)
		entries[count - 1].offset = value_draw(s, REGION);
	slot->head = head;
}

/* Posts a nearly valid descriptor by reference, in the hostile process's first region. */
static void hostile_reference(struct scene *s)
{
	static const uint8_t ops[] = {DXP_OP_PUT, DXP_OP_GET, DXP_OP_PUT, DXP_OP_NAP};
	struct user *u = &s->users[HOSTILE];
	uint32_t index = u->nic->users[u->index].consumer;
	struct dxp_slot *slot = dxp_slot(u->window, index);
	uint8_t how = take8(&s->in);
	struct dxp_target to = target_of(s, how & 4 ? FRIEND : HOSTILE, how >> 3 & 1);
	struct dxp_descriptor head = dxp_head(ops[how & 3], 0, &to, 0);
	uint32_t src = 1 + take8(&s->in) % 150u, dst = 1 + take8(&s->in) % 150u;
	if (how & 0x10)
		dst = src;
	struct dxp_chain *chain = (void *)region_of_user(u, 0);
	struct dxp_entry *entries = (void *)(chain + 1);
	struct dxp_entry at = {.bytes = (uint32_t)dxp_chain_bytes(src, dst), .key = u->keys[0]};

	head.flags = how & 0x20 ? DXP_FLAG_NOTIFY : 0;
	dxp_chain_store(chain, &head, src, dst);
	for (uint32_t i = 0; i < src + dst; i++)
		entries[i] = (struct dxp_entry){
			.offset = 8 * i,
			.bytes = 8,
			.key = s->users[i < src ? HOSTILE : FRIEND].keys[i >= src]};
	if (how & 0x40)
		entries[take8(&s->in) % (src + dst)].offset = value_draw(s, REGION);
	if (how & 0x80)
		at.bytes = (uint32_t)value_draw(s, at.bytes);
	memcpy(slot->body, &at, sizeof(at));
	slot->head = (struct dxp_descriptor){.flags = DXP_FLAG_REFERENCE,
					     .qp = how & 3,
					     .src_count = 1,
					     .lap = dxp_lap(index, DXP_DOORBELLS)};
}

static void hostile_closes(struct scene *s)
{
	struct user *u = &s->users[HOSTILE];

	s->old_key = u->keys[1];
	s->old_magic = target_of(s, HOSTILE, 0).magic;
	if (nic_user_close(u->nic, u->index, DXP_ECLOSED, s->now_ns) != DXP_OK)
		die("cannot close a function");
	if (u->window->error == 0 || u->window->state != DXP_FUNCTION_CLOSED)
		die("a closed window without the state CLOSED");
	if (!nic_user_idle(u->nic, u->index))
		die("a closed function that is not idle");
	user_free(u);
}

static void hostile_region(struct scene *s)
{
	struct user *u = &s->users[HOSTILE];
	uint8_t how = take8(&s->in);
	uint32_t *key = &u->keys[how >> 2 & 1];
	struct nic_area area = {.vaddr = REGISTERS_AT, .bytes = REGION, .key = *key};

	switch (how & 3) {
	case 0: nic_region_revoke(u->nic, *key); break;
	case 1: nic_region_deregister(u->nic, *key); break;
	case 2: nic_area_add(u->nic, u->index, &area); break;
	default:
		nic_region_register(u->nic, u->index, region_of_user(u, how >> 2 & 1), REGION,
				    how >> 4 & 7, key);
	}
}

/* ---- the run ---- */

static void hostile_step(struct scene *s, uint8_t what)
{
	struct user *u = &s->users[HOSTILE];

	if (!u->window) {
		if (what % 4 == 0)
			user_open(u);
		return;
	}
	switch (what % 8) {
	case 0:
	case 1:
	case 2:
	case 3: hostile_store(s); break;
	case 4:
	case 5: hostile_post(s); break;
	case 6: hostile_region(s); break;
	default:
		what = take8(&s->in);
		if (what % 4 == 0)
			hostile_closes(s);
		else if (what % 4 == 1)
			hostile_reference(s);
	}
}

static void step(struct scene *s)
{
	uint8_t what = take8(&s->in);
	int host = what >> 7;

	switch (what % 16) {
	case 0: honest_post(s, host ? PEER : HONEST, host ? HONEST : PEER); break;
	case 1:
		if (s->users[HOSTILE].window)
			honest_post(s, FRIEND, HOSTILE);
		break;
	case 2:
	case 3: poll(s, host); break;
	case 4:
		for (uint32_t n = s->net.flying; n > 0; n--)
			flight_end(s, true);
		break;
	case 5:
		if (s->net.flying > 0)
			flight_end(s, take8(&s->in) % 4 != 0);
		break;
	case 6: s->now_ns += (uint64_t)(take8(&s->in) + 1) << take8(&s->in) % 20; break;
	case 7:
		user_dequeues(s, host ? PEER : HONEST, true);
		user_dequeues(s, FRIEND, false);
		break;
	default: hostile_step(s, take8(&s->in));
	}
}

/* Time advances only if no datagram is in flight. */
static void round_of_all(struct scene *s)
{
	poll(s, 0);
	poll(s, 1);
	if (s->net.flying == 0) {
		uint64_t due_ns = min_u64(nic_deadline(s->nics[0]), nic_deadline(s->nics[1]));
		s->now_ns = max_u64(s->now_ns + US_NS, due_ns == UINT64_MAX ? 0 : due_ns);
	}
	for (uint32_t n = s->net.flying; n > 0; n--)
		flight_end(s, true);
	accounts_check(s);
}

/* Runs until all operations of users `a` and `b` have completed. */
static void settle(struct scene *s, int a, int b, bool honest)
{
	for (uint32_t polls = 0;; polls++) {
		user_dequeues(s, a, honest);
		user_dequeues(s, b, honest);
		if (s->users[a].ended == s->users[a].posted &&
		    s->users[b].ended == s->users[b].posted)
			return;
		round_of_all(s);
		if (polls > POLLS_MAX)
			die("an operation never ends");
	}
}

static bool outstanding(const struct scene *s)
{
	bool any = s->net.flying > 0;

	for (int i = 0; i < 2; i++) {
		const struct rltp_session *session = s->nics[i]->peers->session;
		any = any || rltp_session_busy(session) || session->partial > 0;
	}
	return any;
}

/* Delivers a closed sender's datagrams in flight, which could be confused with its successor's. */
static void remains_settle(struct scene *s)
{
	for (uint32_t polls = 0; outstanding(s); polls++) {
		round_of_all(s);
		user_dequeues(s, FRIEND, false);
		if (polls > POLLS_MAX)
			die("a message of a closed function stays outstanding");
	}
}

static void memory_check(const struct scene *s)
{
	for (int which = 0; which < 2; which++)
		for (uint32_t at = 0; at < REGION; at++) {
			if (region_of_user(&s->users[which], 0)[at] != PATTERN(at))
				die("memory without a writer has changed");
			uint8_t byte = region_of_user(&s->users[which], 1)[at];
			if (byte != 0 && byte != PATTERN(at))
				die("a byte that no sender sent");
		}
}

/* Runs a correct process on the hostile one's function, with the same correspondent. */
static void successor_works(struct scene *s)
{
	static const uint8_t program[] = {0, 0, 0, 2, 0, 80, 3, 0, 80, 10, 20, 90, 8, 0, 0};
	struct user *u = &s->users[FRIEND];

	user_open(&s->users[HOSTILE]);
	u->posted = u->ended = 0;
	s->users[HOSTILE].naps_seen = u->naps_sent;
	u->naps_seen = 0;
	s->in.at = program;
	s->in.end = program + sizeof(program);
	while (s->in.at < s->in.end)
		honest_post(s, FRIEND, HOSTILE);
	s->in.at = program;
	while (s->in.at < s->in.end)
		honest_post(s, HOSTILE, FRIEND);
	settle(s, FRIEND, HOSTILE, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct scene s;

	scene_open(&s, data, bytes);
	for (int i = 0; i < STEPS_MAX && s.in.at < s.in.end; i++) {
		step(&s);
		accounts_check(&s);
	}
	settle(&s, HONEST, PEER, true);
	if (s.users[HOSTILE].window)
		hostile_closes(&s);
	settle(&s, FRIEND, FRIEND, false);
	remains_settle(&s);
	successor_works(&s);
	memory_check(&s);
	nic_destroy(s.nics[0]);
	nic_destroy(s.nics[1]);
	network_empty(&s.net);
	for (int i = 0; i < USERS; i++)
		user_free(&s.users[i]);
	return 0;
}
