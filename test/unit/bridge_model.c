/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the bridge moves every byte once and frees all buffers, while random steps of many
 * transfers complete, fail, return or stall. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "bridge/bridge.h"

#define TRANSFERS       24
#define BYTES_MAX       (300u << 10)
#define OUTSTANDING_MAX 256
#define BUFFER_BYTES    16384u
#define STALL_NS        (100 * MS_NS)
#define FEEDS_MAX       160
#define ROUNDS          150

enum fate { FATE_WELL, FATE_FAILS, FATE_HANGS };

/* The bytes of `source` must arrive at `sink`, each plus 1 if they pass the core. */
struct user {
	struct bridge_transfer *t;
	struct bridge_order order;
	uint8_t *source, *sink;
	uint8_t *moves; /* per byte: last steps that moved it */
	uint64_t core_at;
	uint32_t packet_bytes, packets;
	uint8_t fed[FEEDS_MAX];
	int expect; /* first failure injected here; DXP_OK: none */
	bool over;
	struct bridge_end end;
};

struct model {
	struct rng rng;
	struct bridge_options o;
	struct bridge *b;
	uint8_t *rings[2];
	struct user users[TRANSFERS];
	uint32_t begun, over;
	struct bridge_action outstanding[OUTSTANDING_MAX];
	enum fate fates[OUTSTANDING_MAX];
	bool stalled[OUTSTANDING_MAX];
	uint32_t count;
	uint32_t steps[BRIDGE_STEPS];
	uint32_t fail_ppm, hang_ppm, later_ppm, cancel_ppm;
	struct user *core; /* whose stream is in the core */
	uint64_t now_ns;
};

static uint64_t below(struct model *m, uint64_t bound)
{
	return rng_below(&m->rng, bound);
}

static void user_begin(struct model *m, struct user *u)
{
	static const uint32_t odd[] = {0, 1, 4095, 4096, 4097, 16384, 16385};
	struct bridge_order *o = &u->order;

	*u = (struct user){0};
	o->path = (uint8_t)below(m, BRIDGE_PATHS);
	o->mode = below(m, 5) == 0 ? BRIDGE_SEQUENTIAL : BRIDGE_PIPELINED;
	o->fed = o->path == BRIDGE_IN && o->mode == BRIDGE_PIPELINED && m->o.buffers > 1 &&
		 below(m, 2);
	o->core = o->path == BRIDGE_DIRECT && below(m, 2);
	o->bytes = below(m, 3) ? below(m, BYTES_MAX) : odd[below(m, ARRAY_COUNT(odd))];
	if (!o->fed && below(m, 3) == 0)
		o->piece_bytes = 4096 + (uint32_t)below(m, BUFFER_BYTES - 4096 + 1);
	o->context = u;
	u->source = malloc(o->bytes + 1);
	u->sink = calloc(1, o->bytes + 1);
	u->moves = calloc(1, o->bytes + 1);
	assert_true(u->source && u->sink && u->moves);
	for (uint64_t i = 0; i < o->bytes; i++)
		u->source[i] = (uint8_t)(rng_next(&m->rng) >> 32);
	u->packet_bytes = (uint32_t)(o->bytes / (FEEDS_MAX - 1)) + 1 + (uint32_t)below(m, 6000);
	u->packets = (uint32_t)((o->bytes + u->packet_bytes - 1) / u->packet_bytes);
	assert_int_equal(bridge_begin(m->b, o, m->now_ns, &u->t), DXP_OK);
	m->begun++;
}

static void user_free(struct user *u)
{
	free(u->source);
	free(u->sink);
	free(u->moves);
}

static void limits_hold(const struct model *m)
{
	const uint32_t *n = m->steps;
	uint32_t to, from;

	bridge_buffers_used(m->b, &to, &from);
	assert_true(to <= m->o.buffers && from <= m->o.buffers);
	assert_true(n[BRIDGE_FILL] <= m->o.fills);
	assert_true(n[BRIDGE_DMA_IN] + n[BRIDGE_DMA_THROUGH] <= m->o.dmas);
	assert_true(n[BRIDGE_DMA_OUT] + n[BRIDGE_DMA_THROUGH] <= m->o.dmas);
}

/* The core gets whole streams, one after another and in order. */
static void core_sees(struct model *m, const struct bridge_action *a)
{
	struct user *u = a->context;

	if (m->core != u) {
		assert_int_equal(a->at, 0);
		assert_int_equal(u->core_at, 0);
		m->core = u;
	}
	assert_int_equal(a->at, u->core_at);
	u->core_at += a->bytes;
}

static void buffers_are_right(const struct model *m, const struct bridge_action *a)
{
	bool in =
		a->step == BRIDGE_FILL || a->step == BRIDGE_DMA_IN || a->step == BRIDGE_DMA_THROUGH;
	bool out = a->step == BRIDGE_DMA_OUT || a->step == BRIDGE_DRAIN ||
		   a->step == BRIDGE_DMA_THROUGH;

	assert_int_equal(a->in != NULL, in);
	assert_int_equal(a->out != NULL, out);
	for (uint32_t i = 0; i < m->count; i++) {
		assert_true(!in || m->outstanding[i].in != a->in);
		assert_true(!out || m->outstanding[i].out != a->out);
	}
}

static bool is_core(const struct bridge_action *a)
{
	const struct user *u = a->context;

	return a->step == BRIDGE_DMA_THROUGH || (a->step == BRIDGE_DMA_DIRECT && u->order.core);
}

static void act(struct bridge_action *a)
{
	struct user *u = a->context;
	bool last =
		a->step == BRIDGE_DMA_IN || a->step == BRIDGE_DMA_DIRECT || a->step == BRIDGE_DRAIN;

	switch (a->step) {
	case BRIDGE_FILL: memcpy(a->in, u->source + a->at, a->bytes); break;
	case BRIDGE_DMA_IN: memcpy(u->sink + a->at, a->in, a->bytes); break;
	case BRIDGE_DMA_OUT: memcpy(a->out, u->source + a->at, a->bytes); break;
	case BRIDGE_DMA_THROUGH:
		for (uint32_t i = 0; i < a->bytes; i++)
			a->out[i] = (uint8_t)(a->in[i] + 1);
		break;
	case BRIDGE_DMA_DIRECT: memcpy(u->sink + a->at, u->source + a->at, a->bytes); break;
	default: memcpy(u->sink + a->at, a->out, a->bytes);
	}
	for (uint32_t i = 0; last && i < a->bytes; i++)
		u->moves[a->at + i]++;
}

static void actions_run(struct model *m)
{
	struct bridge_action a;

	while (bridge_next(m->b, m->now_ns, &a)) {
		struct user *u = a.context;
		assert_ptr_equal(a.transfer, u->t);
		assert_true(a.bytes > 0 && a.at + a.bytes <= u->order.bytes);
		buffers_are_right(m, &a);
		if (rng_chance_ppm(&m->rng, m->later_ppm)) {
			bridge_later(m->b, a.id);
			continue;
		}
		if (is_core(&a))
			core_sees(m, &a);
		if (u->order.mode == BRIDGE_SEQUENTIAL) {
			for (uint32_t i = 0; i < m->count; i++)
				assert_ptr_not_equal(m->outstanding[i].context, u);
		}
		assert_true(m->count < OUTSTANDING_MAX);
		m->stalled[m->count] = false;
		m->fates[m->count] = rng_chance_ppm(&m->rng, m->fail_ppm)   ? FATE_FAILS
				     : rng_chance_ppm(&m->rng, m->hang_ppm) ? FATE_HANGS
									    : FATE_WELL;
		m->outstanding[m->count++] = a;
		m->steps[a.step]++;
		limits_hold(m);
	}
}

static void finish(struct model *m, uint32_t i, int status)
{
	struct bridge_action a = m->outstanding[i];
	struct user *u = a.context;

	if (status == DXP_OK)
		act(&a);
	else if (u->expect == DXP_OK)
		u->expect = status;
	m->count--;
	m->outstanding[i] = m->outstanding[m->count];
	m->fates[i] = m->fates[m->count];
	m->stalled[i] = m->stalled[m->count];
	m->steps[a.step]--;
	uint64_t stale = bridge_counters(m->b)->stale;
	bridge_done(m->b, a.id, status, m->now_ns);
	assert_int_equal(bridge_counters(m->b)->stale, stale);
	if (below(m, 20) == 0) { /* a second interrupt of this step */
		bridge_done(m->b, a.id, DXP_OK, m->now_ns);
		assert_int_equal(bridge_counters(m->b)->stale, stale + 1);
	}
}

static bool finish_any(struct model *m)
{
	for (uint32_t tries = 0; tries < 2 * m->count; tries++) {
		uint32_t i = (uint32_t)below(m, m->count);
		if (m->fates[i] == FATE_HANGS)
			continue;
		finish(m, i, m->fates[i] == FATE_FAILS ? DXP_EDEVICE : DXP_OK);
		return true;
	}
	return false;
}

/* Each fed transfer is a stream; packets overtake others, and rejected ones are retried. Returns
 * whether any was accepted. */
static bool feed_some(struct model *m, bool first_only)
{
	bool any = false;

	for (uint32_t i = 0; i < TRANSFERS; i++) {
		struct user *u = &m->users[i];
		uint32_t first = 0;
		if (!u->order.fed || u->over || i >= m->begun)
			continue;
		while (first < u->packets && u->fed[first])
			first++;
		uint32_t k = first_only ? first : first + (uint32_t)below(m, 40);
		if (k >= u->packets || u->fed[k])
			continue;
		uint64_t at = (uint64_t)k * u->packet_bytes;
		uint32_t bytes = (uint32_t)min_u64(u->packet_bytes, u->order.bytes - at);
		int status =
			bridge_feed(m->b, u->t, at, u->source + at, bytes, k == first, m->now_ns);
		if (status == DXP_OK)
			u->fed[k] = 1;
		any = any || status == DXP_OK;
		if (status != DXP_OK && status != DXP_EAGAIN)
			assert_int_equal(status, u->expect);
	}
	return any;
}

/* Advances the time to the next deadline. Steps that stall are then reset, or complete late. */
static void wait_for_deadline(struct model *m)
{
	uint64_t deadline = bridge_deadline(m->b);
	uint64_t stalls = bridge_counters(m->b)->stalls;

	assert_true(deadline != UINT64_MAX);
	m->now_ns = max_u64(m->now_ns, deadline);
	for (uint32_t i = 0; i < m->count; i++)
		m->stalled[i] = true;
	bool reset = bridge_expire(m->b, m->now_ns);
	if (bridge_counters(m->b)->stalls == stalls)
		return;
	/* Only injected stalls occur: blocks never wait for each other forever. */
	assert_true(m->hang_ppm > 0);
	for (uint32_t i = 0; i < TRANSFERS && i < m->begun; i++) {
		struct user *u = &m->users[i];
		if (!u->over && u->expect == DXP_OK)
			u->expect = bridge_settled(u->t) == DXP_ETIMEDOUT ? DXP_ETIMEDOUT : DXP_OK;
	}
	for (uint32_t i = m->count; i-- > 0;) {
		bool network = m->outstanding[i].step == BRIDGE_FILL ||
			       m->outstanding[i].step == BRIDGE_DRAIN;
		if (m->fates[i] == FATE_HANGS && (reset || network))
			finish(m, i, network ? DXP_EPEERLOST : DXP_EDEVICE);
	}
}

static void result_is_right(struct user *u)
{
	uint64_t n = u->end.bytes;

	assert_int_equal(u->end.status, u->expect);
	assert_true(n <= u->order.bytes);
	if (u->expect == DXP_OK)
		assert_int_equal(n, u->order.bytes);
	uint8_t add = u->order.path == BRIDGE_THROUGH;
	uint64_t wrong = 0;
	for (uint64_t i = 0; i < u->order.bytes; i++) {
		wrong += u->moves[i] > 1;
		wrong += i < n && u->moves[i] != 1;
		wrong += i < n && u->sink[i] != (uint8_t)(u->source[i] + add);
	}
	assert_int_equal(wrong, 0);
	/* The reported number of bytes is exact. */
	if (u->expect != DXP_OK && !u->order.fed && n < u->order.bytes)
		assert_int_equal(u->moves[n], 0);
}

static void dequeue_ends(struct model *m)
{
	struct bridge_end end;

	while (bridge_ended(m->b, &end)) {
		struct user *u = end.context;
		assert_ptr_equal(end.transfer, u->t);
		assert_false(u->over);
		for (uint32_t i = 0; i < m->count; i++)
			assert_ptr_not_equal(m->outstanding[i].context, u);
		u->over = true;
		u->end = end;
		m->over++;
		result_is_right(u);
	}
}

static void cancel_one(struct model *m)
{
	struct user *u = &m->users[below(m, m->begun)];

	if (u->over || bridge_settled(u->t) != DXP_EAGAIN)
		return;
	bridge_cancel(m->b, u->t, DXP_ECLOSED);
	u->expect = DXP_ECLOSED;
}

static void model_open(struct model *m, uint64_t seed)
{
	*m = (struct model){.rng = {seed}};
	m->o.buffers = 1 + (uint32_t)below(m, 9);
	m->o.buffer_bytes = BUFFER_BYTES;
	m->o.fills = 1 + (uint32_t)below(m, m->o.buffers);
	m->o.dmas = 1 + (uint32_t)below(m, 3);
	m->o.stall_ns = STALL_NS;
	for (int i = 0; i < 2; i++) {
		m->rings[i] = malloc((size_t)m->o.buffers * BUFFER_BYTES);
		assert_non_null(m->rings[i]);
	}
	m->o.to_device = m->rings[0];
	m->o.from_device = m->rings[1];
	bool faults = below(m, 2);
	m->fail_ppm = faults ? 5000 : 0;
	m->hang_ppm = faults ? 5000 : 0;
	m->cancel_ppm = faults ? 2000 : 0;
	m->later_ppm = below(m, 2) ? 100000 : 0;
	assert_int_equal(bridge_create(&m->o, &m->b), DXP_OK);
}

static void model_close(struct model *m)
{
	uint32_t to, from;

	bridge_buffers_used(m->b, &to, &from);
	assert_int_equal(to, 0);
	assert_int_equal(from, 0);
	assert_int_equal(bridge_transfers(m->b), 0);
	assert_int_equal(bridge_counters(m->b)->transfers, TRANSFERS);
	bridge_destroy(m->b);
	for (int i = 0; i < 2; i++)
		free(m->rings[i]);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		user_free(&m->users[i]);
}

static void model_run(uint64_t seed)
{
	struct model m;

	model_open(&m, seed);
	while (m.over < TRANSFERS) {
		if (m.begun < TRANSFERS && below(&m, 4) == 0)
			user_begin(&m, &m.users[m.begun]);
		if (m.begun > 0 && rng_chance_ppm(&m.rng, m.cancel_ppm))
			cancel_one(&m);
		bool fed = feed_some(&m, false);
		actions_run(&m);
		dequeue_ends(&m);
		bool ended = finish_any(&m);
		dequeue_ends(&m);
		m.now_ns += below(&m, 500);
		if (fed || ended || m.begun < TRANSFERS || m.over == TRANSFERS)
			continue;
		/* No step is outstanding, so a first packet, a new step or a deadline must make
		 * progress. */
		if (!feed_some(&m, true) && m.over < TRANSFERS)
			wait_for_deadline(&m);
	}
	model_close(&m);
}

static void bridge__moves_each_byte_once(void **state)
{
	const char *given = getenv("DXP_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 1;

	for (uint64_t last = given ? seed : seed + ROUNDS - 1; seed <= last; seed++) {
		print_message("DXP_SEED=%llu\n", (unsigned long long)seed);
		model_run(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge__moves_each_byte_once),
	};

	return cmocka_run_group_tests_name("bridge_model", tests, NULL, NULL);
}
