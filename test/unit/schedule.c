/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the queue of ready sessions and the heap of deadlines with a full search; also with ten
 * thousand idle sessions. */
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
#include "rltp/endpoint_internal.h"

#define SESSIONS 300
#define MANY     10000

struct model {
	struct schedule q;
	struct rltp_session sessions[SESSIONS];
	/* UINT64_MAX: not in the heap */
	uint64_t due_ns[SESSIONS];
};

static uint64_t model_first(const struct model *m)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < SESSIONS; i++)
		first = min_u64(first, m->due_ns[i]);
	return first;
}

static void heap_check(const struct model *m)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < SESSIONS; i++) {
		uint32_t at = m->sessions[i].heap_index;
		assert_true((at != 0) == (m->due_ns[i] != UINT64_MAX));
		if (at == 0)
			continue;
		count++;
		assert_ptr_equal(m->q.heap[at - 1].session, &m->sessions[i]);
		assert_true(m->q.heap[at - 1].due_ns == m->due_ns[i]);
	}
	assert_int_equal(m->q.count, count);
}

static void schedule__as_the_model(void **state)
{
	static struct model m;
	struct rng r = {.state = 3};

	memset(&m, 0, sizeof(m));
	memset(m.due_ns, 0xff, sizeof(m.due_ns));
	assert_int_equal(schedule_reserve(&m.q, SESSIONS), DXP_OK);
	for (uint32_t step = 0; step < 30000; step++) {
		uint32_t i = (uint32_t)rng_below(&r, SESSIONS);
		struct rltp_session *s = &m.sessions[i];
		switch (rng_below(&r, 8)) {
		case 0:
			schedule_forget(&m.q, s);
			m.due_ns[i] = UINT64_MAX;
			assert_false(s->ready);
			break;
		case 1: schedule_ready(&m.q, s); break;
		case 2:
			s = schedule_dequeue(&m.q);
			assert_true(!s || !s->ready);
			break;
		case 3: {
			uint64_t now_ns = rng_below(&r, 200);
			schedule_due(&m.q, now_ns);
			for (uint32_t k = 0; k < SESSIONS; k++) {
				if (m.due_ns[k] > now_ns)
					continue;
				assert_true(m.sessions[k].ready);
				m.due_ns[k] = UINT64_MAX;
			}
			break;
		}
		default:
			m.due_ns[i] = rng_below(&r, 6) ? rng_below(&r, 1000) : UINT64_MAX;
			schedule_at(&m.q, s, m.due_ns[i]);
		}
		heap_check(&m);
		assert_true(schedule_deadline(&m.q) == (m.q.first ? 0 : model_first(&m)));
	}
	schedule_free(&m.q);
}

static void schedule__first_come_first_served(void **state)
{
	struct schedule q = {0};
	struct rltp_session a = {0}, b = {0}, c = {0};

	assert_int_equal(schedule_reserve(&q, 3), DXP_OK);
	schedule_ready(&q, &a);
	schedule_ready(&q, &b);
	schedule_ready(&q, &a); /* stays in its position */
	schedule_ready(&q, &c);
	schedule_forget(&q, &b);
	assert_ptr_equal(schedule_dequeue(&q), &a);
	schedule_ready(&q, &a);
	assert_ptr_equal(schedule_dequeue(&q), &c);
	assert_ptr_equal(schedule_dequeue(&q), &a);
	assert_null(schedule_dequeue(&q));
	schedule_ready(&q, &c);
	schedule_ready(&q, &b);
	schedule_forget(&q, &b); /* b was the last */
	schedule_ready(&q, &a);
	assert_ptr_equal(schedule_dequeue(&q), &c);
	assert_ptr_equal(schedule_dequeue(&q), &a);
	schedule_free(&q);
}

/* ---- ten thousand ---- */

static void nothing(void *user, struct rltp_session *s)
{
}

static const struct rltp_user_ops ops = {.rest = nothing};

static void entropy(void *context, void *out, uint64_t bytes)
{
	memset(out, 1, bytes);
}

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static struct udp_address address_of(uint16_t node)
{
	return (struct udp_address){.ip = {[14] = (uint8_t)(node >> 8), [15] = (uint8_t)node},
				    .port = 1000};
}

static void hello_give(struct rltp_endpoint *e, uint16_t node, uint64_t now_ns)
{
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_HELLO_BYTES];
	struct wire_header h = {.type = WIRE_HELLO,
				.header_bytes = WIRE_COMMON_BYTES,
				.src_node = node,
				.dst_node = MANY + 1};
	struct wire_hello hello = {
		.incarnation = 5, .epoch = 1, .session = node, .rwnd = 100, .payload_bytes = 1408};
	struct datagram_arrival a = {
		.data = frame, .bytes = sizeof(frame), .from = address_of(node)};

	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
	wire_control_seal(frame, sizeof(frame));
	assert_int_equal(rltp_endpoint_receive(e, &a, now_ns), DXP_OK);
}

static size_t send_all(struct rltp_endpoint *e, uint64_t now_ns)
{
	struct datagram out[DATAGRAM_BATCH];
	size_t n, total = 0;

	while ((n = rltp_endpoint_send(e, out, DATAGRAM_BATCH, now_ns)) > 0)
		total += n;
	return total;
}

static void schedule__ten_thousand_sessions(void **state)
{
	const struct rltp_endpoint_options options = {.node = MANY + 1,
						      .incarnation = 5,
						      .ops = &ops,
						      .entropy = entropy,
						      .token = token};
	struct rltp_endpoint *e;
	uint64_t now_ns = S_NS;

	assert_int_equal(rltp_endpoint_create(&options, &e), DXP_OK);
	for (uint16_t node = 1; node <= MANY; node++) {
		struct rltp_peer_info peer = {
			.node = node, .address = address_of(node), .payload_bytes = 1408};
		assert_int_equal(rltp_endpoint_peer(e, &peer, now_ns), DXP_OK);
		hello_give(e, node, now_ns);
	}
	assert_int_equal(send_all(e, now_ns), MANY); /* one answer each */
	assert_int_equal(e->shared.active, MANY);
	/* to become idle */
	assert_int_equal(e->schedule.count, MANY);
	now_ns += RLTP_REST_NS + 1;
	assert_int_equal(send_all(e, now_ns), 0);
	assert_int_equal(e->shared.active, 0);
	assert_true(rltp_endpoint_deadline(e) == UINT64_MAX);
	/* no other session is visited */
	hello_give(e, 77, now_ns);
	assert_true(e->schedule.first == rltp_endpoint_session(e, 77));
	assert_true(e->schedule.first == e->schedule.last);
	assert_int_equal(send_all(e, now_ns), 1);
	/* per idle peer */
	assert_true(sizeof(struct rltp_session) + sizeof(struct schedule_entry) + sizeof(void *) <=
		    512);
	rltp_endpoint_destroy(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schedule__as_the_model),
		cmocka_unit_test(schedule__first_come_first_served),
		cmocka_unit_test(schedule__ten_thousand_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
