/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a NIC against a hostile peer with an open session. The input selects its frames (right
 * checksum, plausible numbers), the user's requests and time. After every step counts are
 * consistent and bytes outside the regions unchanged. Finally the peer is silent, and every
 * operation completes exactly once. */
#define FUZZ_NAME "fuzz_session"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/user.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/session_peer.h"
#include "test/support/invariants.h"

#define CANARY         0xC7
#define GUARD          9000 /* bytes around a region; more than a packet's payload */
#define WINDOW_PACKETS 32
#define STEPS_MAX      400
#define BATCH          16
#define SILENCE_NS     (600 * S_NS)
#define POLLS_MAX      40000 /* with a silent peer; a NIC that spins needs more */

static _Alignas(8) uint8_t memory[2][GUARD + REGION_BYTES + GUARD];

static uint8_t cfg_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			uint32_t *values)
{
	memset(values, 0x11, 4 * count);
	return first > 1000 ? WIRE_NACK_BOUNDS : 0;
}

static uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	return first > 1000 ? WIRE_NACK_BOUNDS : 0;
}

/* ---- posts of the user ---- */

static void entry_read(struct scene *s, struct dxp_entry *e, uint32_t key)
{
	*e = (struct dxp_entry){take8(&s->in), 1 + take8(&s->in) * 16u, key};
}

static void lists_post(struct scene *s, bool put, uint8_t qp, const struct dxp_target *to)
{
	struct dxp_entry local[3], remote[3];
	uint16_t count = 1 + take8(&s->in) % 3;

	for (uint16_t i = 0; i < count; i++) {
		entry_read(s, &local[i], s->keys[1]);
		remote[i] = local[i];
	}
	struct nic_lists lists = {local, remote, count, count};
	int status = put ? nic_user_put(&window, qp, to, &lists, s->posted)
			 : nic_user_get(&window, qp, to, &lists, s->posted);
	s->posted += status == DXP_OK;
}

static void user_posts(struct scene *s)
{
	uint8_t how = take8(&s->in), qp = how >> 6, data[300] = {how};
	struct dxp_target to = {.node = PEER, .magic = 1, .qp = how >> 4 & 3};
	struct dxp_entry local = {0, 4u + 4u * (how & 15), s->keys[1]};
	uint32_t values[16] = {how};
	int status = DXP_EAGAIN;

	switch (take8(&s->in) % 5) {
	case 0: status = dxp_post_nap(&window, qp, &to, data, sizeof(data), how, s->posted); break;
	case 1: lists_post(s, true, qp, &to); break;
	case 2: lists_post(s, false, qp, &to); break;
	case 3: status = nic_user_cfg_read(&window, qp, &to, how, &local, s->posted); break;
	default:
		status = nic_user_cfg_write(&window, qp, &to, how, values, 1 + how % 16, s->posted);
	}
	s->posted += status == DXP_OK;
}

static void user_posts_atomic(struct scene *s)
{
	uint8_t how = take8(&s->in);
	struct dxp_target to = {.node = PEER, .magic = 1, .qp = how >> 4 & 3};
	struct dxp_descriptor d =
		dxp_head((uint8_t)(DXP_OP_FETCH_ADD + how % 8), how >> 6, &to, s->posted);
	struct dxp_entry entries[2] = {{how, 8, s->keys[1]}, {8u * how, 8, s->keys[0]}};

	d.dst_count = 1;
	d.src_count = how & 1;
	d.imm = how;
	int status = dxp_post(&window, &d, d.src_count ? entries : entries + 1, NULL);
	s->posted += status == DXP_OK;
}

static void user_dequeues(struct scene *s)
{
	struct dxp_nic_event event;
	const uint8_t *data;

	while (dxp_sent_dequeue(&window, &event)) {
		s->completed++;
		if (s->completed > s->posted)
			die("more completions than operations");
	}
	while (nic_user_received_peek(&window, &data))
		dxp_received_release(&window);
}

/* ---- time ---- */

static void datagrams_touch(const struct datagram *d, size_t count)
{
	volatile uint8_t sum = 0;

	for (; count > 0; d++, count--)
		for (int i = 0; i < d->slice_count; i++)
			sum = (uint8_t)(sum + crc32c(0, d->slices[i].base, d->slices[i].bytes));
}

/* Polls until there is nothing more to send. */
static void poll(struct scene *s)
{
	static struct datagram batch[BATCH];
	size_t count, rounds = 0;

	do {
		nic_doorbells(s->nic, s->now_ns);
		count = nic_send(s->nic, batch, BATCH, s->now_ns);
		datagrams_touch(batch, count);
		if (rounds++ > 1000)
			die("sends for ever at one instant");
	} while (count > 0);
}

static void step(struct scene *s)
{
	switch (take8(&s->in) % 20) {
	case 0: handshake_give(s, false); break;
	case 1: handshake_give(s, true); break;
	case 2: ack_give(s); break;
	case 3: ack_all_give(s); break;
	case 4: nack_give(s); break;
	case 5: reset_give(s); break;
	case 6:
	case 7:
	case 8:
	case 9: data_give(s, 0); break;
	case 10:
	case 11: user_posts(s); break;
	case 12: user_dequeues(s); break;
	case 13: s->now_ns += (uint64_t)take8(&s->in) << take8(&s->in) % 24; break;
	case 14:
		if (take8(&s->in) % 4 == 0)
			nic_peer_lost(s->nic, PEER, DXP_EPEERLOST);
		peer_introduce(s);
		break;
	case 16: credit_give(s); break;
	case 17: control_give(s); break;
	case 18: data_give(s, take8(&s->in) & 1 ? WIRE_ATOMIC : WIRE_ATOMIC_RSP); break;
	case 19: user_posts_atomic(s); break;
	default: poll(s);
	}
}

static void guards_check(void)
{
	for (int r = 0; r < 2; r++)
		for (int i = 0; i < GUARD; i++)
			if (memory[r][i] != CANARY || memory[r][GUARD + REGION_BYTES + i] != CANARY)
				die("a byte outside the regions was written");
}

static void scene_open(struct scene *s, const uint8_t *data, size_t bytes)
{
	static const struct nic_cfg_ops cfg = {cfg_read, cfg_write};
	struct nic_options options = {
		.node = US,
		.incarnation = 1,
		.window_packets = WINDOW_PACKETS,
		.entropy = rng_entropy_rng,
		.entropy_context = &s->secrets,
		.token = token_of,
		.cfg = &cfg,
	};

	*s = (struct scene){
		.in = {data, data + bytes}, .now_ns = S_NS, .incarnation = 3, .epoch = 1};
	s->secrets.state = take8(&s->in);
	memset(&window, 0, offsetof(struct dxp_window, nap));
	for (int i = 0; i < DXP_DOORBELLS; i++)
		window.slots[i].head.lap = 0;
	memset(memory, CANARY, sizeof(memory));
	if (nic_create(&options, &s->nic) != DXP_OK ||
	    nic_function_open(s->nic, 0, &window) != DXP_OK)
		die("no memory");
	nic_region_register(s->nic, 0, memory[0] + GUARD, REGION_BYTES,
			    NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &s->keys[0]);
	nic_region_register(s->nic, 0, memory[1] + GUARD, REGION_BYTES, NIC_LOCAL, &s->keys[1]);
	peer_introduce(s);
}

/* Lets time pass without a frame of the peer. Requests to the peer must complete without further
 * input, and the NIC must not spin meanwhile. */
static void silence(struct scene *s)
{
	uint64_t end_ns = s->now_ns + SILENCE_NS, deadline_ns;
	uint32_t polls = 0;

	do {
		poll(s);
		user_dequeues(s);
		deadline_ns = nic_deadline(s->nic);
		if (deadline_ns != UINT64_MAX)
			s->now_ns = max_u64(s->now_ns, deadline_ns);
		if (polls++ > POLLS_MAX)
			die("the deadline is now for ever");
	} while (deadline_ns < end_ns || nic_doorbell_ready(s->nic));
	if (s->completed != s->posted)
		die("an operation never ends");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct scene s;

	scene_open(&s, data, bytes);
	for (int i = 0; i < STEPS_MAX && s.in.at < s.in.end; i++) {
		step(&s);
		const char *broken = invariants_broken(s.nic);
		if (broken)
			die(broken);
	}
	silence(&s);
	guards_check();
	nic_peer_lost(s.nic, PEER, DXP_EPEERLOST);
	if (nic_region_deregister(s.nic, s.keys[0]) != DXP_OK ||
	    nic_region_deregister(s.nic, s.keys[1]) != DXP_OK)
		die("a region stays in use");
	nic_destroy(s.nic);
	return 0;
}
