/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes two NICs that exchange operations. The input selects requests, network actions (reorder,
 * lose, duplicate, damage, wait) and restarts. Internal counts are consistent after every step.
 * When the network works again, operations complete exactly once, NAPs arrived at most once and in
 * order. Atomic adds executed at least as often as they succeeded, at most as often as posted.
 * Without a restart, all moved bytes are right. The second host's memory is staged. */
#define FUZZ_NAME "fuzz_pair"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/nic.h"
#include "nic/user.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/network.h"
#include "test/support/invariants.h"
#include "test/support/staged_device.h"

#define REGION_BYTES 16384
#define STEPS_MAX    600
#define POSTS_MAX    64 /* posts by each host */
#define POLLS_MAX    20000
#define PATTERN(at)  ((uint8_t)((at)*7u + 3u))
/* every second NAP has one: 8 bytes that depend on its number */
#define TRAILER(nap) ((nap)&1 ? (nap)*0x0101010101010101ull : 0)
#define ADDITION     UINT64_MAX /* `context` of an atomic add */

/* A NIC with its user. memory[0] always holds the pattern, for the peer's GETs and own PUTs.
 * Operations write memory[1], at the same offsets. */
struct host {
	struct nic *nic;
	struct dxp_window *window;
	uint8_t *memory[2];
	uint32_t keys[2], counter_key;
	uint64_t counter;                /* the peer adds 1 to it */
	uint64_t adds_posted, adds_good; /* to the other host's counter */
	uint64_t incarnation;
	uint32_t posted, completed;
	uint8_t naps_sent;
	int last_nap; /* number; only grows */
};

/* The other host's PUTs and GETs use its device memory, [0] then [1]. */
#define DEVICE_HOST 1

struct scene {
	struct staged_device device;
	uint32_t device_key;
	struct input in;
	uint64_t now_ns;
	struct rng secrets;
	struct host hosts[2];
	struct network net;
};

static void *memory_get(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		die("no memory");
	return memory;
}

/* ---- hosts ---- */

static void host_start(struct scene *s, int which)
{
	struct host *h = &s->hosts[which];
	struct nic_options options = {
		.node = (uint16_t)(which + 1),
		.incarnation = ++h->incarnation,
		.window_packets = 16,
		.entropy = rng_entropy_rng,
		.entropy_context = &s->secrets,
		.token = token_of,
		.token_context = (void *)(uintptr_t)(which + 1),
	};

	memset(h->window, 0, sizeof(*h->window));
	if (nic_create(&options, &h->nic) != DXP_OK ||
	    nic_function_open(h->nic, 0, h->window) != DXP_OK ||
	    nic_region_register(h->nic, 0, h->memory[0], REGION_BYTES, NIC_REMOTE_READ,
				&h->keys[0]) != DXP_OK ||
	    nic_region_register(h->nic, 0, h->memory[1], REGION_BYTES, NIC_REMOTE_WRITE,
				&h->keys[1]) != DXP_OK ||
	    nic_region_register(h->nic, 0, &h->counter, sizeof(h->counter), NIC_REMOTE_ATOMIC,
				&h->counter_key) != DXP_OK)
		die("no memory");
	if (which == DEVICE_HOST) {
		s->device.nic = h->nic;
		if (nic_region_register_staged(h->nic, 0, &staged_device_ops, &s->device,
					       2 * REGION_BYTES, NIC_REMOTE_READ | NIC_REMOTE_WRITE,
					       &s->device_key) != DXP_OK)
			die("no memory");
	}
	h->posted = h->completed = 0;
	h->naps_sent = 0;
	h->last_nap = -1;
}

static void introduce(struct scene *s, int which)
{
	network_introduce(s->hosts[which].nic, which, s->hosts[1 - which].incarnation, s->now_ns);
}

static void user_dequeues(struct scene *s, int which)
{
	struct host *h = &s->hosts[which];
	const struct dxp_nic_event *event;
	struct dxp_nic_event sent;
	const uint8_t *data;

	while (dxp_sent_dequeue(h->window, &sent)) {
		if (++h->completed > h->posted)
			die("more completions than operations");
		h->adds_good += sent.context == ADDITION && sent.status == DXP_OK;
	}
	while ((event = nic_user_received_peek(h->window, &data)) != NULL) {
		if (data && event->bytes == 2) {
			if (data[0] <= h->last_nap)
				die("a NAP twice, or out of order");
			if (data[1] != PATTERN(data[0]))
				die("a NAP with other bytes");
			if (event->context != TRAILER(data[0]))
				die("a NAP with another trailer");
			h->last_nap = data[0];
		}
		dxp_received_release(h->window);
	}
}

static void host_restart(struct scene *s, int which)
{
	/* NAPs in the other host's ring are this process's; the next one starts at 0. */
	user_dequeues(s, 1 - which);
	s->hosts[1 - which].last_nap = -1;
	nic_destroy(s->hosts[which].nic);
	if (which == DEVICE_HOST)
		staged_device_nic_gone(&s->device);
	host_start(s, which);
	introduce(s, which);
	introduce(s, 1 - which);
}

static struct dxp_target target_of(const struct scene *s, int peer)
{
	return (struct dxp_target){.node = (uint16_t)(peer + 1),
				   .magic = s->hosts[peer].window->qp_magic[0]};
}

static void nap_post(struct scene *s, int which)
{
	struct host *h = &s->hosts[which];
	struct dxp_target to = target_of(s, 1 - which);
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, 0, &to, h->posted);
	uint8_t data[2] = {h->naps_sent, PATTERN(h->naps_sent)};

	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = sizeof(data);
	d.trailer = TRAILER(h->naps_sent);
	if (dxp_post(h->window, &d, NULL, data) != DXP_OK)
		return;
	h->posted++;
	h->naps_sent++;
}

static void transfer_post(struct scene *s, int which, bool put)
{
	struct host *h = &s->hosts[which], *peer = &s->hosts[1 - which];
	struct dxp_target to = target_of(s, 1 - which);
	uint64_t offset = take8(&s->in) * 32u;
	uint32_t bytes = 1 + take8(&s->in) * 32u;
	struct dxp_entry own = {offset, bytes, h->keys[put ? 0 : 1]};
	struct dxp_entry other = {offset, bytes, peer->keys[put ? 1 : 0]};
	if (1 - which == DEVICE_HOST)
		other = (struct dxp_entry){offset + (put ? REGION_BYTES : 0), bytes, s->device_key};
	struct nic_lists lists = {&own, &other, 1, 1};
	int status = put ? nic_user_put(h->window, 1, &to, &lists, h->posted)
			 : nic_user_get(h->window, 1, &to, &lists, h->posted);

	h->posted += status == DXP_OK;
}

static void addition_post(struct scene *s, int which)
{
	struct host *h = &s->hosts[which];
	struct dxp_target to = target_of(s, 1 - which);
	const struct dxp_entry at = {0, 8, s->hosts[1 - which].counter_key};

	if (dxp_post_atomic(h->window, 1, &to, DXP_OP_FETCH_ADD, &at, 1, 0, ADDITION) != DXP_OK)
		return;
	h->posted++;
	h->adds_posted++;
}

static void user_posts(struct scene *s, int which)
{
	uint8_t draw = take8(&s->in), how = draw % 4;

	if (s->hosts[which].posted >= POSTS_MAX)
		return;
	if (draw >= 0xe0)
		addition_post(s, which);
	else if (how < 2)
		nap_post(s, which);
	else
		transfer_post(s, which, how == 2);
}

/* ---- the network ---- */

static void poll(struct scene *s, int which)
{
	while (which == DEVICE_HOST && staged_device_poll(&s->device, s->now_ns))
		;
	network_poll(&s->net, s->hosts[which].nic, which, s->now_ns);
}

static void land(struct scene *s, const struct flight *f)
{
	network_land(f, s->hosts[f->to].nic, s->now_ns);
}

/* Delivers, drops, duplicates, damages or truncates the oldest or any datagram. */
static void network_acts(struct scene *s)
{
	uint8_t how = take8(&s->in);

	if (s->net.flying == 0)
		return;
	uint32_t i = how & 0x80 ? take8(&s->in) % s->net.flying : 0;
	struct flight *f = &s->net.flight[i];
	switch (how % 8) {
	case 0: break;
	case 1: land(s, f); return;
	case 2:
		f->data[take8(&s->in) % f->bytes] ^= (uint8_t)(1u << take8(&s->in) % 8);
		land(s, f);
		break;
	case 3:
		f->bytes = take8(&s->in) % f->bytes;
		land(s, f);
		break;
	default: land(s, f);
	}
	network_drop(&s->net, i);
}

/* ---- the run ---- */

static void step(struct scene *s)
{
	uint8_t what = take8(&s->in);
	int which = what >> 7;

	switch (what % 12) {
	case 0:
	case 1: user_posts(s, which); break;
	case 2:
	case 3:
	case 4: poll(s, which); break;
	case 5: user_dequeues(s, which); break;
	case 6: s->now_ns += (uint64_t)(take8(&s->in) + 1) << take8(&s->in) % 20; break;
	case 7:
		if (take8(&s->in) % 8 == 0)
			host_restart(s, which);
		break;
	default: network_acts(s);
	}
}

static void accounts_check(struct scene *s)
{
	for (int i = 0; i < 2; i++) {
		const char *broken = invariants_broken(s->hosts[i].nic);
		if (broken)
			die(broken);
	}
	if (s->device.broken)
		die(s->device.broken);
}

/* Delivers every datagram after 20 us; both sides must become idle without input. */
static void settle(struct scene *s)
{
	struct host *a = &s->hosts[0], *b = &s->hosts[1];

	for (uint32_t polls = 0; a->completed < a->posted || b->completed < b->posted; polls++) {
		for (int i = 0; i < 2; i++) {
			poll(s, i);
			user_dequeues(s, i);
		}
		if (s->net.flying == 0) {
			uint64_t next_ns = min_u64(nic_deadline(a->nic), nic_deadline(b->nic));
			next_ns = min_u64(next_ns, staged_device_next(&s->device));
			if (next_ns != UINT64_MAX)
				s->now_ns = max_u64(s->now_ns, next_ns);
		} else {
			s->now_ns += 20 * US_NS;
		}
		for (uint32_t count = s->net.flying; count > 0; count--) {
			land(s, &s->net.flight[0]);
			network_drop(&s->net, 0);
		}
		accounts_check(s);
		if (polls > POLLS_MAX)
			die("an operation never ends");
	}
}

static void written_check(const uint8_t *read, const uint8_t *written)
{
	for (uint32_t at = 0; at < REGION_BYTES; at++) {
		if (read[at] != PATTERN(at))
			die("memory without a writer has changed");
		if (written[at] != 0 && written[at] != PATTERN(at))
			die("a byte that no sender sent");
	}
}

/* Written bytes have the pattern of their address, others are zero. */
static void memory_check(const struct scene *s)
{
	written_check(s->device.memory, s->device.memory + REGION_BYTES);
	for (int i = 0; i < 2; i++) {
		const struct host *asker = &s->hosts[1 - i];
		if (s->hosts[i].counter < asker->adds_good ||
		    s->hosts[i].counter > asker->adds_posted)
			die("an addition twice, or one that ended well and was none");
		written_check(s->hosts[i].memory[0], s->hosts[i].memory[1]);
	}
}

static void scene_open(struct scene *s, const uint8_t *data, size_t bytes)
{
	*s = (struct scene){.in = {data, data + bytes}, .now_ns = S_NS};
	const struct staged_options device = {.bytes = 2 * REGION_BYTES,
					      .buffers = 3,
					      .buffer_bytes = 2048,
					      .latency_ns = 30 * US_NS};

	s->secrets.state = take8(&s->in);
	if (!staged_device_create(&s->device, &device))
		die("no memory");
	for (uint32_t at = 0; at < REGION_BYTES; at++)
		s->device.memory[at] = PATTERN(at);
	for (int i = 0; i < 2; i++) {
		struct host *h = &s->hosts[i];
		h->window = aligned_alloc(_Alignof(struct dxp_window), sizeof(*h->window));
		if (!h->window)
			die("no memory");
		h->memory[0] = memory_get(REGION_BYTES);
		h->memory[1] = memory_get(REGION_BYTES);
		for (uint32_t at = 0; at < REGION_BYTES; at++)
			h->memory[0][at] = PATTERN(at);
		host_start(s, i);
	}
	introduce(s, 0);
	introduce(s, 1);
}

static void scene_close(struct scene *s)
{
	network_empty(&s->net);
	for (int i = 0; i < 2; i++) {
		nic_destroy(s->hosts[i].nic);
		free(s->hosts[i].window);
		free(s->hosts[i].memory[0]);
		free(s->hosts[i].memory[1]);
	}
	staged_device_nic_gone(&s->device);
	if (s->device.broken)
		die(s->device.broken);
	staged_device_destroy(&s->device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct scene s;

	scene_open(&s, data, bytes);
	for (int i = 0; i < STEPS_MAX && s.in.at < s.in.end; i++) {
		step(&s);
		accounts_check(&s);
	}
	settle(&s);
	memory_check(&s);
	scene_close(&s);
	return 0;
}
