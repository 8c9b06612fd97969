/* SPDX-License-Identifier: BSD-3-Clause */
/* Scene of fuzz_window: two NICs, two correct users, a hostile process and its correspondent, with
 * valid operations and checks. Define FUZZ_NAME before including. */
#ifndef TEST_FUZZ_WINDOW_SCENE_H
#define TEST_FUZZ_WINDOW_SCENE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "test/fuzz/network.h"
#include "test/support/invariants.h"

#define REGION       8192
#define GUARD        256 /* before, between and behind regions */
#define PAGE         4096
#define CANARY       0xA5
#define POSTS_MAX    48 /* per user */
#define PATTERN(at)  ((uint8_t)((at)*11u + 5u))
#define REGISTERS_AT 0x100000u /* device address in the hostile process */

enum { HONEST, PEER, HOSTILE, FRIEND, USERS };

/* Operations read region [0] and write region [1], at the same offsets. */
struct user {
	struct nic *nic;
	struct dxp_window *window;
	uint8_t *memory; /* both regions with their guards */
	uint32_t keys[2];
	uint32_t posted, ended, naps_sent, naps_seen;
	uint8_t host, index, qps; /* `index` as in nic.h */
};

struct scene {
	struct input in;
	uint64_t now_ns;
	struct rng secrets;
	struct nic *nics[2];
	struct user users[USERS];
	struct network net;
	uint32_t old_key, old_magic; /* of the previous process */
};

/* ---- users ---- */

static inline uint8_t *region_of_user(const struct user *u, int which)
{
	return u->memory + GUARD + (size_t)which * (REGION + GUARD);
}

/* Maps a window between inaccessible pages, so accesses outside crash. A closed window is
 * unmapped. */
static inline struct dxp_window *window_map(void)
{
	uint8_t *pages = mmap(NULL, sizeof(struct dxp_window) + 2 * PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED ||
	    mprotect(pages + PAGE, sizeof(struct dxp_window), PROT_READ | PROT_WRITE) != 0)
		die("no memory for a window");
	return (struct dxp_window *)(void *)(pages + PAGE);
}

static inline void window_unmap(struct dxp_window *w)
{
	munmap((uint8_t *)w - PAGE, sizeof(*w) + 2 * PAGE);
}

static inline void user_open(struct user *u)
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
	if (nic_user_open(u->nic, u->index, u->qps, u->window) != DXP_OK ||
	    nic_region_register(u->nic, u->index, region_of_user(u, 0), REGION, NIC_REMOTE_READ,
				&u->keys[0]) != DXP_OK ||
	    nic_region_register(u->nic, u->index, region_of_user(u, 1), REGION,
				NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &u->keys[1]) != DXP_OK)
		die("cannot open a function");
	u->posted = u->ended = u->naps_sent = u->naps_seen = 0;
}

static inline void guards_check(const struct user *u)
{
	for (int g = 0; u->memory && g < 3; g++)
		for (size_t i = 0; i < GUARD; i++)
			if (u->memory[(size_t)g * (REGION + GUARD) + i] != CANARY)
				die("a byte outside of the regions was written");
}

static inline void user_free(struct user *u)
{
	guards_check(u);
	if (u->window)
		window_unmap(u->window);
	free(u->memory);
	u->window = NULL;
	u->memory = NULL;
}

static inline struct dxp_target target_of(const struct scene *s, int which, uint8_t qp)
{
	const struct user *u = &s->users[which];
	const struct nic_function *f = &u->nic->functions[u->index % NIC_FUNCTIONS];

	qp = (uint8_t)(qp + u->index / NIC_FUNCTIONS);
	return (struct dxp_target){.node = (uint16_t)(u->host + 1),
				   .function = (uint8_t)f->index,
				   .qp = qp,
				   .magic = f->qp_magic[qp]};
}

/* One valid operation; an input byte selects its kind. */
static inline void honest_post(struct scene *s, int from, int to)
{
	struct user *u = &s->users[from], *peer = &s->users[to];
	uint8_t how = take8(&s->in), data[64] = {0};
	uint64_t offset = take8(&s->in) * 24u;
	uint32_t bytes = 1 + take8(&s->in) * 8u;
	struct dxp_target target = target_of(s, to, how >> 2 & 1);
	bool get = how & 1;
	struct dxp_entry own = {offset, bytes, u->keys[get]},
			 other = {offset, bytes, peer->keys[!get]};
	int status;

	if (u->posted >= POSTS_MAX)
		return;
	if (how % 4 < 2) {
		data[0] = (uint8_t)u->naps_sent;
		/* one queue pair keeps a user's NAPs in order */
		target = target_of(s, to, 0);
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

static inline void user_dequeues(struct scene *s, int which, bool honest)
{
	struct user *u = &s->users[which];
	const struct dxp_nic_event *received;
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(u->window, &event)) {
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

/* ---- the network: all datagrams in order, unless the input selects otherwise ---- */

static inline void poll(struct scene *s, int host)
{
	network_poll(&s->net, s->nics[host], host, s->now_ns);
}

static inline void flight_end(struct scene *s, bool arrives)
{
	const struct flight *f = &s->net.flight[0];

	if (arrives)
		network_land(f, s->nics[f->to], s->now_ns);
	network_drop(&s->net, 0);
}

/* ---- the scene ---- */

static inline uint8_t registers_reject(void *context, uint16_t node, uint32_t first, uint32_t count,
				       uint32_t *values)
{
	memset(values, 0, 4 * count);
	return 0;
}

static inline uint8_t registers_read(void *context, uint16_t node, uint32_t first, uint32_t count,
				     const uint32_t *values)
{
	return 0;
}

static inline void scene_open(struct scene *s, const uint8_t *data, size_t bytes)
{
	static const struct nic_cfg_ops cfg = {registers_reject, registers_read};
	/* Users have whole functions, or the hostile process shares one with a correct user, two
	 * queue pairs each. */
	static const uint8_t whole[USERS] = {0, 0, 1, 2}, beside[USERS] = {0, 0, NIC_USER(0, 2), 2};

	*s = (struct scene){.in = {data, data + bytes}, .now_ns = S_NS};
	s->secrets.state = take8(&s->in);
	bool split = s->secrets.state >> 7;
	for (int i = 0; i < 2; i++) {
		const struct nic_options options = {
			.node = (uint16_t)(i + 1),
			.incarnation = 1,
			.window_packets = 16,
			.entropy = rng_entropy_rng,
			.entropy_context = &s->secrets,
			.token = token_of,
			.token_context = (void *)(uintptr_t)(i + 1),
			.receive_entries = 32,
			.cfg = &cfg,
		};
		if (nic_create(&options, &s->nics[i]) != DXP_OK)
			die("no memory");
	}
	network_introduce(s->nics[0], 0, 1, s->now_ns);
	network_introduce(s->nics[1], 1, 1, s->now_ns);
	for (int i = 0; i < USERS; i++) {
		s->users[i] = (struct user){.nic = s->nics[i % 2],
					    .host = (uint8_t)(i % 2),
					    .index = split ? beside[i] : whole[i],
					    .qps = split && i % 2 == 0 ? 2 : NIC_QPS_PER_FUNCTION};
		user_open(&s->users[i]);
	}
}

static inline void accounts_check(struct scene *s)
{
	for (int i = 0; i < 2; i++) {
		const char *broken = invariants_broken_but(
			s->nics[i], i == 0 ? 1u << s->users[HOSTILE].index : 0);
		if (broken)
			die(broken);
	}
}

#endif
