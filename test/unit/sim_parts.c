/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the simulator's queue, alarms, ports, paths and histogram. */
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
#include "sim/alarm.h"
#include "sim/histogram.h"
#include "sim/net.h"
#include "sim/packet.h"
#include "sim/path.h"

#define STEPS 20000

static void packet__queue_orders_by_time_then_by_arrival(void **state)
{
	struct sim_pool pool = {0};
	struct sim_queue queue = {0};
	struct rng r = {1};
	uint64_t last_ns = 0;
	uint32_t pushed = 0, popped = 0, last = 0;

	for (int i = 0; i < STEPS; i++) {
		if (queue.count == 0 || rng_below(&r, 5) < 3) {
			struct sim_packet *p = sim_packet_get(&pool, 64);
			p->time_ns = last_ns + rng_below(&r, 20);
			p->from = pushed++;
			assert_int_equal(sim_queue_push(&queue, p), DXP_OK);
			continue;
		}
		assert_true(sim_queue_next(&queue) >= last_ns);
		struct sim_packet *p = sim_queue_pop(&queue);
		assert_true(p->time_ns > last_ns || p->from > last || popped == 0);
		last_ns = p->time_ns;
		last = p->from;
		popped++;
		sim_packet_put(&pool, p);
	}
	assert_int_equal(queue.count, pushed - popped);
	/* few buffers, so they were reused */
	assert_true(pool.bytes < (uint64_t)pushed * 192 / 2);
	sim_queue_free(&queue);
	sim_pool_free(&pool);
}

/* Two of each length do not overlap; returned memory is reused. */
static void packet__space_for_every_length(void **state)
{
	struct sim_pool pool = {0};
	uint64_t grown = 0;

	for (int round = 0; round < 2; round++) {
		for (uint32_t bytes = 0; bytes <= 9216; bytes += bytes < 2048 ? 1 : 64) {
			struct sim_packet *a = sim_packet_get(&pool, bytes);
			struct sim_packet *b = sim_packet_get(&pool, bytes);
			assert_non_null(a);
			assert_non_null(b);
			const struct sim_packet head_a = *a, head_b = *b;
			memset(a->data, 0xa5, bytes);
			memset(b->data, 0x5a, bytes);
			for (uint32_t i = 0; i < bytes; i++)
				assert_true(a->data[i] == 0xa5 && b->data[i] == 0x5a);
			assert_memory_equal(a, &head_a, offsetof(struct sim_packet, data));
			assert_memory_equal(b, &head_b, offsetof(struct sim_packet, data));
			sim_packet_put(&pool, a);
			sim_packet_put(&pool, b);
		}
		if (round == 0)
			grown = pool.bytes;
	}
	assert_true(grown > 2 * 9216);
	assert_int_equal(pool.bytes, grown);
	sim_pool_free(&pool);
}

static void alarm__first_is_the_earliest(void **state)
{
	enum { HOSTS = 37 };
	struct sim_alarms a;
	struct rng r = {2};

	assert_int_equal(sim_alarms_create(&a, HOSTS), DXP_OK);
	assert_true(sim_alarm_next(&a) == UINT64_MAX);
	for (int i = 0; i < STEPS; i++) {
		uint32_t least = 0;
		sim_alarm_set(&a, (uint32_t)rng_below(&r, HOSTS),
			      rng_below(&r, 4) ? rng_below(&r, 100) : UINT64_MAX);
		for (uint32_t h = 1; h < HOSTS; h++)
			if (a.time_ns[h] < a.time_ns[least])
				least = h;
		assert_int_equal(sim_alarm_first(&a), least);
	}
	sim_alarms_free(&a);
}

static void path__port_serves_in_order_and_drops_what_does_not_fit(void **state)
{
	struct net_port p = {.rate_bps = 8000000000ull, .queue_bytes = 3000, .mark_bytes = 1000};
	bool mark = false;

	/* 1 byte per ns */
	assert_int_equal(net_port_pass(&p, 1000, 1500, &mark), 2500);
	assert_false(mark);
	assert_int_equal(net_port_backlog(&p, 1000), 1500);
	assert_int_equal(net_port_backlog(&p, 2000), 500);
	assert_int_equal(net_port_pass(&p, 1000, 1500, &mark), 4000);
	assert_true(mark);
	assert_true(net_port_pass(&p, 1000, 1, &mark) == UINT64_MAX);
	assert_int_equal(p.dropped, 1);
	assert_int_equal(net_port_below(&p, 1000), 3001);
	mark = false;
	assert_int_equal(net_port_pass(&p, 4000, 100, &mark), 4100);
	assert_false(mark);
	assert_int_equal(p.queue_max, 3000);
	assert_int_equal(p.bytes, 3100);
}

static void path__leads_to_where_it_should(void **state)
{
	const struct net_path_options o = {
		.topology = NET_LEAF_SPINE, .hosts = 10, .leaf_hosts = 4, .spines = 3, .seed = 5};
	bool spine_used[3] = {false};
	struct net_paths p;

	assert_int_equal(net_paths_create(&p, &o), DXP_OK);
	assert_int_equal(p.leaves, 3);
	for (uint32_t from = 0; from < 10; from++) {
		for (uint32_t to = 0; to < 10; to++) {
			uint32_t port = net_path_next(&p, from, to, NET_NO_PORT), before = port;
			uint32_t hops = 1;
			assert_int_equal(port, from);
			while ((port = net_path_next(&p, from, to, port)) != NET_NO_PORT) {
				assert_true(port < p.port_count && hops < 5);
				if (port >= 20 && port < 29)
					spine_used[(port - 20) % 3] = true;
				before = port;
				hops++;
			}
			assert_int_equal(before, 10 + to);
			assert_int_equal(hops, from / 4 == to / 4 ? 2 : 4);
		}
	}
	assert_true(spine_used[0] && spine_used[1] && spine_used[2]);
	net_paths_free(&p);
}

static void histogram__percentiles(void **state)
{
	static struct histogram h;
	uint64_t edge[] = {0, 1, 127, 128, 129, 255, 256, 1000000, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_COUNT(edge); i++) {
		h = (struct histogram){0};
		histogram_add(&h, edge[i]);
		uint64_t is = histogram_at(&h, 500);
		assert_true(is <= edge[i] && edge[i] - is <= edge[i] / 128);
	}
	h = (struct histogram){0};
	for (uint64_t i = 1; i <= 1000; i++)
		histogram_add(&h, i * 1000);
	assert_true(histogram_at(&h, 500) > 490000 && histogram_at(&h, 500) <= 500000);
	assert_true(histogram_at(&h, 999) > 990000 && histogram_at(&h, 999) <= 999000);
}

static void net__bad_options_are_rejected(void **state)
{
	struct net *n;
	struct net_options none = {0}, damage = {.hosts = 2, .headers_only = true},
			   leafless = {.hosts = 4, .topology = NET_LEAF_SPINE};

	damage.faults.truncate_ppm = 1;
	assert_int_equal(net_create(&none, &n), DXP_EINVAL);
	assert_int_equal(net_create(&damage, &n), DXP_EINVAL);
	assert_int_equal(net_create(&leafless, &n), DXP_EINVAL);
}

/* Sends one datagram at its start and records arrivals. */
struct talker {
	struct datagram datagram;
	bool reported;
	uint32_t received;
	uint64_t received_ns, arrived_ns;
	uint8_t ecn;
};

static void talker_receive(void *host, const struct datagram_arrival *a, uint64_t now_ns)
{
	struct talker *t = host;

	t->received++;
	t->received_ns = now_ns;
	t->arrived_ns = a->arrived_ns;
	t->ecn = a->ecn;
}

static size_t talker_send(void *host, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct talker *t = host;

	if (t->reported || t->datagram.header_bytes == 0)
		return 0;
	t->reported = true;
	out[0] = t->datagram;
	return 1;
}

static uint64_t talker_deadline(void *host)
{
	return UINT64_MAX;
}

static const struct net_host_ops talker_ops = {talker_receive, talker_send, talker_deadline};

static struct talker talk(struct net_options *o, void (*prepare)(struct net *n))
{
	static struct talker t[2];
	struct net *n;

	memset(t, 0, sizeof(t));
	assert_int_equal(net_create(o, &n), DXP_OK);
	t[0].datagram = (struct datagram){.header_bytes = 64, .ecn = 2};
	net_address(1, &t[0].datagram.to);
	net_host_set(n, 0, &talker_ops, &t[0]);
	net_host_set(n, 1, &talker_ops, &t[1]);
	if (prepare)
		prepare(n);
	net_run(n, S_NS, NULL, NULL);
	net_destroy(n);
	return t[1];
}

static void net__delay_is_wires_and_bytes(void **state)
{
	struct net_options o = {.hosts = 2, .delay_ns = 1000, .rate_bps = 1000000000ull};

	/* 64 bytes, overhead of 66, 8 ns per byte */
	assert_int_equal(talk(&o, NULL).received_ns - S_NS, 1000 + 1040);
	o.topology = NET_STAR;
	assert_int_equal(talk(&o, NULL).received_ns - S_NS, 2 * (1000 + 1040));
}

static void receiver_stall(struct net *n)
{
	net_stall(n, 1, 30 * MS_NS);
}

static void clock_step(struct net *n)
{
	net_stall(n, 1, 30 * MS_NS);
	net_run(n, 10 * MS_NS, NULL, NULL);
	net_wall_clock(n, 1, (int64_t)(3600 * S_NS), 0);
}

static void clock_step_back(struct net *n)
{
	net_stall(n, 1, 30 * MS_NS);
	net_run(n, 10 * MS_NS, NULL, NULL);
	net_wall_clock(n, 1, -(int64_t)(3600 * S_NS), 0);
}

/* 0 to 1 second for any wall clock, as in link/clock.c. */
static void net__stamps_and_wall_clocks(void **state)
{
	struct net_options o = {.hosts = 2, .delay_ns = 1000};
	struct talker t = talk(&o, receiver_stall);

	assert_int_equal(t.received_ns, S_NS + 30 * MS_NS);
	assert_int_equal(t.arrived_ns, S_NS + 1000);
	t = talk(&o, clock_step);
	assert_int_equal(t.arrived_ns, t.received_ns - DATAGRAM_AGE_NS);
	t = talk(&o, clock_step_back);
	assert_int_equal(t.arrived_ns, t.received_ns);
}

static void blackhole_set(struct net *n)
{
	net_blackhole(n, 0, 1, true);
}

static void mtu_set(struct net *n)
{
	net_mtu(n, 0, 1, 63);
}

static void net__lost_packets_do_not_arrive(void **state)
{
	struct net_options o = {.hosts = 2};

	assert_int_equal(talk(&o, NULL).received, 1);
	assert_int_equal(talk(&o, blackhole_set).received, 0);
	assert_int_equal(talk(&o, mtu_set).received, 0);
	o.faults.drop_nth = 1;
	assert_int_equal(talk(&o, NULL).received, 0);
	o.faults = (struct sim_faults){.duplicate_ppm = 1000000};
	assert_int_equal(talk(&o, NULL).received, 2);
	o.faults = (struct sim_faults){0};
	o.socket_bytes = 63;
	assert_int_equal(talk(&o, NULL).received, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet__queue_orders_by_time_then_by_arrival),
		cmocka_unit_test(packet__space_for_every_length),
		cmocka_unit_test(alarm__first_is_the_earliest),
		cmocka_unit_test(path__port_serves_in_order_and_drops_what_does_not_fit),
		cmocka_unit_test(path__leads_to_where_it_should),
		cmocka_unit_test(histogram__percentiles),
		cmocka_unit_test(net__bad_options_are_rejected),
		cmocka_unit_test(net__delay_is_wires_and_bytes),
		cmocka_unit_test(net__stamps_and_wall_clocks),
		cmocka_unit_test(net__lost_packets_do_not_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
