/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that writes what it likes into its window. The input is its program: stores of hostile
 * values to any field, descriptors that are wrong in some way or changed after the doorbell,
 * indices that jump, registers, between turns of the engine; its function is closed, opened again
 * and its regions revoked at any time, and its memory is then gone at once. A correspondent on
 * another node answers it by the rules. Beside them an honest pair works: everything that it does
 * must end well.
 *
 * Looked at: the accounts after each step; the bytes around and between regions; the honest pair's
 * operations and memory; that what the correspondent asked ends when the process is gone, and that
 * an honest one can take its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "test/fuzz/fuzz.h"
#include "test/support/invariants.h"

#define REGION       8192
#define GUARD        256 /* before, between and behind regions */
#define PAGE         4096
#define CANARY       0xA5
#define STEPS_MAX    400
#define POSTS_MAX    48 /* of each user, until the end */
#define BATCH        16
#define FLIGHT_MAX   64
#define TURNS_MAX    30000
#define PATTERN(at)  ((uint8_t)((at)*11u + 5u))
#define REGISTERS_AT 0x100000u /* of the hostile device's own addresses */

enum { HONEST, PEER, HOSTILE, FRIEND, USERS };

/* Two regions: [0] is read, [1] is written, at the same offsets. */
struct user {
	struct nic *nic;
	struct dxp_window *window;
	uint8_t *memory; /* both, and the guards */
	uint32_t keys[2];
	uint32_t posted, ended, naps_sent, naps_seen;
	uint8_t host, function;
};

struct flight {
	uint8_t to;
	size_t bytes;
	uint8_t *data;
};

struct scene {
	const uint8_t *at, *end;
	uint64_t now_ns;
	struct rng secrets;
	struct nic *nics[2];
	struct user users[USERS];
	struct flight flight[FLIGHT_MAX];
	uint32_t flying;
	uint32_t old_key, old_magic; /* of the life before */
};

static void die(const char *what)
{
	fprintf(stderr, "fuzz_window: %s\n", what);
	abort();
}

static uint8_t take8(struct scene *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

static uint32_t take32(struct scene *s)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v = v << 8 | take8(s);
	return v;
}

static uint64_t token_of(void *context, uint32_t id)
{
	return (id + (uint64_t)(uintptr_t)context) * 0x9e3779b97f4a7c15ull;
}

static struct wire_address address_of(int host)
{
	return (struct wire_address){
		.port = 2000, .ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = (uint8_t)host}};
}

/* ---- users ---- */

static uint8_t *region_of_user(const struct user *u, int which)
{
	return u->memory + GUARD + (size_t)which * (REGION + GUARD);
}

/* Between pages that nobody may touch; and what was one is not mapped any more. */
static struct dxp_window *window_map(void)
{
	uint8_t *pages = mmap(NULL, sizeof(struct dxp_window) + 2 * PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED ||
	    mprotect(pages + PAGE, sizeof(struct dxp_window), PROT_READ | PROT_WRITE) != 0)
		die("no memory for a window");
	return (struct dxp_window *)(void *)(pages + PAGE);
}

static void window_unmap(struct dxp_window *w)
{
	munmap((uint8_t *)w - PAGE, sizeof(*w) + 2 * PAGE);
}

static void user_open(struct user *u)
{
	const size_t bytes = 2 * REGION + 3 * GUARD;

	u->window = window_map();
	u->memory = malloc(bytes);
	if (!u->memory)
		die("no memory");
	memset(u->memory, CANARY, bytes);
	for (uint32_t at = 0; at < REGION; at++)
		region_of_user(u, 0)[at] = PATTERN(at);
	memset(region_of_user(u, 1), 0, REGION);
	if (nic_function_open(u->nic, u->function, u->window) != DXP_OK ||
	    nic_region_register(u->nic, u->function, region_of_user(u, 0), REGION, NIC_REMOTE_READ,
				&u->keys[0]) != DXP_OK ||
	    nic_region_register(u->nic, u->function, region_of_user(u, 1), REGION,
				NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &u->keys[1]) != DXP_OK)
		die("cannot open a function");
	u->posted = u->ended = u->naps_sent = u->naps_seen = 0;
}

static void guards_check(const struct user *u)
{
	for (int g = 0; u->memory && g < 3; g++)
		for (size_t i = 0; i < GUARD; i++)
			if (u->memory[(size_t)g * (REGION + GUARD) + i] != CANARY)
				die("a byte outside of the regions was written");
}

static void user_free(struct user *u)
{
	guards_check(u);
	if (u->window)
		window_unmap(u->window);
	free(u->memory);
	u->window = NULL;
	u->memory = NULL;
}

static struct dxp_target target_of(const struct scene *s, int which, uint8_t qp)
{
	const struct user *u = &s->users[which];
	const struct nic_function *f = &u->nic->functions[u->function];

	return (struct dxp_target){.node = (uint16_t)(u->host + 1),
				   .function = u->function,
				   .qp = qp,
				   .magic = f->qp_magic[qp]};
}

/* By the rules: one operation from one to another; its number says what. */
static void honest_post(struct scene *s, int from, int to)
{
	struct user *u = &s->users[from], *peer = &s->users[to];
	uint8_t how = take8(s), data[64] = {0};
	uint64_t offset = take8(s) * 24u;
	uint32_t bytes = 1 + take8(s) * 8u;
	struct dxp_target target = target_of(s, to, how >> 2 & 1);
	bool get = how & 1;
	struct dxp_entry own = {offset, bytes, u->keys[get]},
			 other = {offset, bytes, peer->keys[!get]};
	int status;

	if (u->posted >= POSTS_MAX)
		return;
	if (how % 4 < 2) {
		data[0] = (uint8_t)u->naps_sent;
		target.qp = 0; /* in one order */
		target.magic = target_of(s, to, 0).magic;
		status =
			dxp_post_nap(u->window, 0, &target, data, how & 8 ? sizeof(data) : 1, 0, 0);
		u->naps_sent += status == DXP_OK;
	} else if (get) {
		status = dxp_post_get(u->window, 1, &target, &other, &own, 0);
	} else {
		status = dxp_post_put(u->window, 1, &target, &own, &other,
				      how & 8 ? DXP_FLAG_NOTIFY : 0, 0, 0);
	}
	u->posted += status == DXP_OK;
}

static void user_takes(struct scene *s, int which, bool honest)
{
	struct user *u = &s->users[which];
	const struct dxp_nic_event *received;
	struct dxp_nic_event event;

	while (dxp_sent_take(u->window, &event)) {
		if (++u->ended > u->posted)
			die("more completions than operations");
		if (honest && event.status != DXP_OK)
			die("an honest operation failed");
	}
	while ((received = dxp_received_peek(u->window)) != NULL) {
		if (received->type == DXP_EVENT_NAP && honest &&
		    dxp_received_data(u->window, received)[0] != (uint8_t)u->naps_seen++)
			die("NAPs lost, twice or out of order");
		dxp_received_release(u->window);
	}
}

/* ---- the network: all arrives, in order, unless the input says otherwise ---- */

static void fly(struct scene *s, int to, const struct link_datagram *d)
{
	size_t bytes = d->header_bytes;

	for (int i = 0; i < d->slice_count; i++)
		bytes += d->slices[i].bytes;
	if (s->flying == FLIGHT_MAX)
		return;
	struct flight *f = &s->flight[s->flying++];
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

static void turn(struct scene *s, int host)
{
	static struct link_datagram batch[BATCH];
	size_t count, rounds = 0;

	do {
		nic_doorbells(s->nics[host], s->now_ns);
		count = nic_send(s->nics[host], batch, BATCH, s->now_ns);
		for (size_t i = 0; i < count; i++)
			fly(s, 1 - host, &batch[i]);
		if (rounds++ > 1000)
			die("sends for ever at one instant");
	} while (count > 0);
}

static void flight_end(struct scene *s, bool arrives)
{
	struct flight f = s->flight[0];
	struct link_arrival arrival = {.from = address_of(1 - f.to),
				       .data = f.data,
				       .bytes = f.bytes,
				       .arrived_ns = s->now_ns};

	if (arrives)
		nic_receive(s->nics[f.to], &arrival, s->now_ns);
	free(f.data);
	s->flying--;
	memmove(&s->flight[0], &s->flight[1], s->flying * sizeof(s->flight[0]));
}

/* ---- what the hostile one does ---- */

static uint32_t key_take(struct scene *s)
{
	const struct user *u = s->users;
	const uint32_t keys[] = {
		u[HOSTILE].keys[0], u[HOSTILE].keys[1], u[FRIEND].keys[0], u[FRIEND].keys[1],
		u[HONEST].keys[0],  u[HONEST].keys[1],  s->old_key,        0};

	return keys[take8(s) % ARRAY_COUNT(keys)];
}

/* A number in one of its interesting neighbourhoods; `now` is what stands there. */
static uint64_t value_take(struct scene *s, uint64_t now)
{
	static const uint64_t near[] = {
		0,          64,         DXP_NAP_BYTES, DXP_EVENTS, DXP_DOORBELLS, REGION,
		UINT32_MAX, 1ull << 31, 1ull << 32,    1ull << 63, UINT64_MAX,    REGISTERS_AT};
	uint8_t how = take8(s);
	uint64_t delta = (uint64_t)(int64_t)(int8_t)take8(s);

	switch (how & 7) {
	case 0: return key_take(s);
	case 1: return (uint64_t)take32(s) << 32 | take32(s);
	case 2: return now ^ 1ull << (take8(s) & 63);
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

static size_t field_take(struct scene *s)
{
	static const size_t indices[] = {offsetof(struct dxp_window, producer),
					 offsetof(struct dxp_window, sent_consumer),
					 offsetof(struct dxp_window, received_consumer),
					 offsetof(struct dxp_window, buffers_returned),
					 offsetof(struct dxp_window, user_waits)};
	uint8_t which = take8(s), at = take8(s);

	switch (which & 7) {
	case 0:
		return (((size_t)take8(s) << 16 | (size_t)at << 8) + take8(s)) %
		       sizeof(struct dxp_window);
	case 1: return indices[at % ARRAY_COUNT(indices)];
	case 2:
		return offsetof(struct dxp_window, registers) +
		       at * 4u % sizeof(struct dxp_registers);
	case 3: return slot_offset(at, take8(s) % sizeof(struct dxp_descriptor));
	case 4: return slot_offset(at, sizeof(struct dxp_descriptor) + take8(s) * 4u);
	case 5: return offsetof(struct dxp_window, buffers) + 2u * at;
	case 6: return at & 1 ? 4096 + at : at; /* what the engine writes */
	default: return slot_offset(at, offsetof(struct dxp_descriptor, lap));
	}
}

static void hostile_store(struct scene *s)
{
	uint8_t *window = (uint8_t *)s->users[HOSTILE].window;
	size_t bytes = (size_t)1 << (take8(s) & 3), at = field_take(s) / bytes * bytes;
	uint64_t value = 0;

	if (at + bytes > sizeof(struct dxp_window))
		return;
	memcpy(&value, window + at, bytes);
	value = value_take(s, value);
	memcpy(window + at, &value, bytes);
}

/* Almost a good descriptor, at the place that is looked at next. */
static void hostile_post(struct scene *s)
{
	static const uint8_t ops[] = {DXP_OP_NAP,       DXP_OP_PUT,         DXP_OP_PUT,
				      DXP_OP_GET,       DXP_OP_CFG_READ,    DXP_OP_CFG_WRITE,
				      DXP_OP_FETCH_ADD, DXP_OP_COMPARE_SWAP};
	static const uint8_t others[] = {FRIEND, FRIEND, FRIEND, HOSTILE, HONEST, PEER};
	struct user *u = &s->users[HOSTILE];
	uint32_t index = u->nic->functions[u->function].consumer;
	struct dxp_slot *slot = dxp_slot(u->window, index);
	uint8_t how = take8(s), whom = others[take8(s) % ARRAY_COUNT(others)];
	struct dxp_target to = target_of(s, whom, how >> 5 & 1);
	struct dxp_descriptor head = dxp_head(ops[how % ARRAY_COUNT(ops)], how >> 6, &to, 0);

	/* A key and a magic are all that one needs: of the honest ones they are not known. */
	if (whom == HONEST || whom == PEER)
		head.dst_magic ^= 1;
	head.flags = take8(s) & 3;
	head.src_count = take8(s) % 6;
	head.dst_count = take8(s) % 6;
	head.inline_bytes = (uint16_t)value_take(s, 32);
	head.imm = how;
	head.lap = dxp_lap(index, DXP_DOORBELLS);
	uint32_t count = (uint32_t)head.src_count + head.dst_count;
	struct dxp_entry *entries = (struct dxp_entry *)(void *)slot->body;
	for (uint32_t i = 0; i < count; i++)
		entries[i] = (struct dxp_entry){
			.offset = take8(s) * 8u, .bytes = 8 + take8(s) * 8u, .key = key_take(s)};
	if (count > 0 && how & 0x10)
		entries[0].bytes = (uint32_t)value_take(s, REGION);
	if (count > 0 && how & 0x08)
		entries[count - 1].offset = value_take(s, REGION);
	slot->head = head;
}

static void hostile_closes(struct scene *s)
{
	struct user *u = &s->users[HOSTILE];

	s->old_key = u->keys[1];
	s->old_magic = target_of(s, HOSTILE, 0).magic;
	if (nic_function_close(u->nic, u->function, DXP_ECLOSED, s->now_ns) != DXP_OK)
		die("cannot close a function");
	if (u->window->error == 0 || u->window->state != DXP_FUNCTION_CLOSED)
		die("a closed window that does not say so");
	if (!nic_function_idle(u->nic, u->function))
		die("a closed function that is not idle");
	user_free(u);
}

static void hostile_region(struct scene *s)
{
	struct user *u = &s->users[HOSTILE];
	uint8_t how = take8(s);
	uint32_t *key = &u->keys[how >> 2 & 1];
	struct nic_area area = {.vaddr = REGISTERS_AT, .bytes = REGION, .key = *key};

	switch (how & 3) {
	case 0: nic_region_revoke(u->nic, *key); break;
	case 1: nic_region_deregister(u->nic, *key); break;
	case 2: nic_area_add(u->nic, u->function, &area); break;
	default:
		nic_region_register(u->nic, u->function, region_of_user(u, how >> 2 & 1), REGION,
				    how >> 4 & 7, key);
	}
}

/* ---- the whole ---- */

static void introduce(struct scene *s, int host)
{
	struct rltp_peer_info peer = {.node = (uint16_t)(2 - host),
				      .address = address_of(1 - host),
				      .incarnation = 1,
				      .payload_bytes = 1408};

	if (nic_peer_set(s->nics[host], &peer, s->now_ns) != DXP_OK)
		die("no memory for a peer");
}

static uint8_t registers_refuse(void *context, uint16_t node, uint32_t first, uint32_t count,
				uint32_t *values)
{
	memset(values, 0, 4 * count);
	return 0;
}

static uint8_t registers_take(void *context, uint16_t node, uint32_t first, uint32_t count,
			      const uint32_t *values)
{
	return 0;
}

static void scene_open(struct scene *s, const uint8_t *data, size_t bytes)
{
	static const struct nic_cfg_ops cfg = {registers_refuse, registers_take};
	static const uint8_t functions[USERS] = {0, 0, 1, 2};

	*s = (struct scene){.at = data, .end = data + bytes, .now_ns = S_NS};
	s->secrets.state = take8(s);
	for (int i = 0; i < 2; i++) {
		const struct nic_options options = {
			.node = (uint16_t)(i + 1),
			.incarnation = 1,
			.window_packets = 16,
			.entropy = entropy_rng,
			.entropy_context = &s->secrets,
			.token = token_of,
			.token_context = (void *)(uintptr_t)(i + 1),
			.receive_slots = 32,
			.cfg = &cfg,
		};
		if (nic_create(&options, &s->nics[i]) != DXP_OK)
			die("no memory");
	}
	introduce(s, 0);
	introduce(s, 1);
	for (int i = 0; i < USERS; i++) {
		s->users[i] = (struct user){
			.nic = s->nics[i % 2], .host = (uint8_t)(i % 2), .function = functions[i]};
		user_open(&s->users[i]);
	}
}

static void accounts_check(struct scene *s)
{
	for (int i = 0; i < 2; i++) {
		const char *broken = invariants_broken_but(
			s->nics[i], i == 0 ? 1u << s->users[HOSTILE].function : 0);
		if (broken)
			die(broken);
	}
}

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
		if (take8(s) % 4 == 0)
			hostile_closes(s);
	}
}

static void step(struct scene *s)
{
	uint8_t what = take8(s);
	int host = what >> 7;

	switch (what % 16) {
	case 0: honest_post(s, host ? PEER : HONEST, host ? HONEST : PEER); break;
	case 1:
		if (s->users[HOSTILE].window)
			honest_post(s, FRIEND, HOSTILE);
		break;
	case 2:
	case 3: turn(s, host); break;
	case 4:
		for (uint32_t n = s->flying; n > 0; n--)
			flight_end(s, true);
		break;
	case 5:
		if (s->flying > 0)
			flight_end(s, take8(s) % 4 != 0);
		break;
	case 6: s->now_ns += (uint64_t)(take8(s) + 1) << take8(s) % 20; break;
	case 7:
		user_takes(s, host ? PEER : HONEST, true);
		user_takes(s, FRIEND, false);
		break;
	default: hostile_step(s, take8(s));
	}
}

/* One round of all, and time passes where nothing else happens. */
static void round_of_all(struct scene *s)
{
	turn(s, 0);
	turn(s, 1);
	if (s->flying == 0) {
		uint64_t due_ns = min_u64(nic_deadline(s->nics[0]), nic_deadline(s->nics[1]));
		s->now_ns = max_u64(s->now_ns + US_NS, due_ns == UINT64_MAX ? 0 : due_ns);
	}
	for (uint32_t n = s->flying; n > 0; n--)
		flight_end(s, true);
	accounts_check(s);
}

/* Runs until what these two posted has ended. */
static void settle(struct scene *s, int a, int b, bool honest)
{
	for (uint32_t turns = 0;; turns++) {
		user_takes(s, a, honest);
		user_takes(s, b, honest);
		if (s->users[a].ended == s->users[a].posted &&
		    s->users[b].ended == s->users[b].posted)
			return;
		round_of_all(s);
		if (turns > TURNS_MAX)
			die("an operation never ends");
	}
}

static bool under_way(const struct scene *s)
{
	bool any = s->flying > 0;

	for (int i = 0; i < 2; i++) {
		const struct rltp_session *session = s->nics[i]->peers->session;
		any = any || rltp_session_busy(session) || session->partial > 0;
	}
	return any;
}

/* What was on its way when its sender was closed may arrive yet: not to be taken for what comes
 * from the next one there. */
static void remains_settle(struct scene *s)
{
	for (uint32_t turns = 0; under_way(s); turns++) {
		round_of_all(s);
		user_takes(s, FRIEND, false);
		if (turns > TURNS_MAX)
			die("what a closed function sent is under way for ever");
	}
}

static void memory_check(const struct scene *s)
{
	for (int which = 0; which < 2; which++)
		for (uint32_t at = 0; at < REGION; at++) {
			if (region_of_user(&s->users[which], 0)[at] != PATTERN(at))
				die("memory that nobody may write has changed");
			uint8_t byte = region_of_user(&s->users[which], 1)[at];
			if (byte != 0 && byte != PATTERN(at))
				die("a byte that nobody sent");
		}
}

/* An honest process takes the place of the hostile one, with the same correspondent. */
static void successor_works(struct scene *s)
{
	static const uint8_t program[] = {0, 0, 0, 2, 0, 80, 3, 0, 80, 10, 20, 90, 8, 0, 0};
	struct user *u = &s->users[FRIEND];

	user_open(&s->users[HOSTILE]);
	u->posted = u->ended = 0;
	s->users[HOSTILE].naps_seen = u->naps_sent;
	u->naps_seen = 0;
	s->at = program;
	s->end = program + sizeof(program);
	while (s->at < s->end)
		honest_post(s, FRIEND, HOSTILE);
	s->at = program;
	while (s->at < s->end)
		honest_post(s, HOSTILE, FRIEND);
	settle(s, FRIEND, HOSTILE, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct scene s;

	scene_open(&s, data, bytes);
	for (int i = 0; i < STEPS_MAX && s.at < s.end; i++) {
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
	while (s.flying > 0) {
		free(s.flight[--s.flying].data);
	}
	for (int i = 0; i < USERS; i++)
		user_free(&s.users[i]);
	return 0;
}
