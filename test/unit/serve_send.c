/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how a switch sends: from the named port, in order per child, also if another socket has the
 * port. */
#include "switch/serve_send.h"

#include "base/clock.h"
#include "switch/limits.h"
#include "test/unit/link_pair.h"

#define COUNT 96 /* alternately to two children */

struct scene {
	struct link *main, *children[2];
	struct senders *senders;
	struct datagram datagrams[COUNT];
	uint16_t from_ports[COUNT];
	struct inc_batch batch;
};

static void scene_open(struct scene *s, uint16_t first_port)
{
	const struct link_options options = {0};

	memset(s, 0, sizeof(*s));
	s->main = open_at("127.0.0.1", options);
	assert_int_equal(serve_senders_open(0x7f000001, 0, s->main, &s->senders), DXP_OK);
	for (unsigned i = 0; i < 2; i++)
		s->children[i] = open_at("127.0.0.1", options);
	for (unsigned i = 0; i < COUNT; i++) {
		struct udp_address to;
		link_address(s->children[i % 2], &to);
		s->datagrams[i] = datagram_of(&to, (uint8_t)i, 64, NULL, 0);
		s->from_ports[i] = (uint16_t)(first_port + i % 2);
	}
	s->batch = (struct inc_batch){.datagrams = s->datagrams,
				      .from_ports = s->from_ports,
				      .count = COUNT,
				      .space = COUNT};
}

static void scene_close(struct scene *s)
{
	serve_senders_close(s->senders);
	link_close(s->main);
	link_close(s->children[0]);
	link_close(s->children[1]);
}

static void send__each_childs_in_order_from_its_port(void **state)
{
	struct senders_counters c;
	struct scene s;

	scene_open(&s, ROCE_SOURCE_PORT + 0x2100);
	serve_senders_send(s.senders, &s.batch, clock_now_ns());
	for (unsigned child = 0; child < 2; child++) {
		for (unsigned next = child; next < COUNT;) {
			struct datagram_arrival arrivals[COUNT];
			size_t got = receive_some(s.children[child], arrivals, COUNT);
			assert_true(got > 0);
			for (size_t i = 0; i < got; i++, next += 2) {
				assert_int_equal(arrivals[i].data[0], next);
				assert_int_equal(arrivals[i].from.port, s.from_ports[child]);
			}
		}
	}
	serve_senders_counters(s.senders, &c);
	assert_int_equal(c.lost, 0);
	assert_int_equal(c.open, 2);
	serve_senders_tidy(s.senders, clock_now_ns() + 2 * SERVE_SENDER_IDLE_NS);
	serve_senders_counters(s.senders, &c);
	assert_int_equal(c.open, 0);
	scene_close(&s);
}

/* Rejections for a port scan open only a few sockets. */
static void send__rejections_open_few_ports(void **state)
{
	struct senders_counters c;
	struct scene s;

	scene_open(&s, ROCE_SOURCE_PORT);
	for (uint16_t i = 0; i < 100; i++) {
		struct datagram *d = &s.datagrams[0];
		d->header_bytes = INC_UD_BYTES;
		d->header[INC_UD_BYTES - INC_HEADER_BYTES + INC_OFF_KIND] = INC_REFUSED;
		s.from_ports[0] = (uint16_t)(ROCE_SOURCE_PORT + 0x2200 + i);
		s.batch.count = 1;
		serve_senders_send(s.senders, &s.batch, clock_now_ns());
	}
	serve_senders_counters(s.senders, &c);
	assert_in_range(c.open, 1, SERVE_SENDERS_REJECTED);
	scene_close(&s);
}

static void send__a_port_in_use(void **state)
{
	struct senders_counters c;
	struct scene s;

	struct link *other = open_at("127.0.0.1:60100", (struct link_options){0});

	scene_open(&s, 60100);
	serve_senders_send(s.senders, &s.batch, clock_now_ns());
	serve_senders_counters(s.senders, &c);
	assert_int_equal(c.lost, COUNT / 2);
	assert_int_equal(c.open, 1);
	/* after SERVE_REPORT_NS the port is tried again */
	link_close(other);
	serve_senders_tidy(s.senders, clock_now_ns() + SERVE_REPORT_NS + 1);
	serve_senders_send(s.senders, &s.batch, clock_now_ns());
	serve_senders_counters(s.senders, &c);
	assert_int_equal(c.lost, COUNT / 2);
	assert_int_equal(c.open, 2);
	scene_close(&s);
}

static void send__no_port_of_a_host(void **state)
{
	struct senders_counters c;
	struct scene s;

	scene_open(&s, 1000);
	serve_senders_send(s.senders, &s.batch, clock_now_ns());
	serve_senders_counters(s.senders, &c);
	assert_int_equal(c.lost, COUNT);
	assert_int_equal(c.open, 0);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send__each_childs_in_order_from_its_port),
		cmocka_unit_test(send__rejections_open_few_ports),
		cmocka_unit_test(send__a_port_in_use),
		cmocka_unit_test(send__no_port_of_a_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
