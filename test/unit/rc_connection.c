/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects two sides through a network that drops, duplicates and reorders, over IPv4 and IPv6;
 * rc_checker watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/util.h"
#include "rc/connection.h"
#include "test/support/rc_capture.h"
#include "test/support/rc_checker.h"

#define MESSAGE_BYTES 256
#define WINDOW        16
#define FLIGHT        256 /* packets in the network */
#define FRAME_BYTES   512
#define BATCH         8
#define DELAY_NS      5000

struct flying {
	uint8_t frame[FRAME_BYTES];
	size_t bytes;
	unsigned to; /* receiving side */
	uint64_t at_ns, number;
};

struct side {
	struct rc_connection *c; /* NULL: no REQ has arrived */
	struct udp_address address;
	uint32_t id, number, first_psn;
	uint32_t posted, delivered;
};

/* Packets in a million; busy: messages that find no buffer. */
struct faults {
	uint32_t drop_ppm, repeat_ppm, late_ppm, busy_ppm;
	uint64_t drop; /* packet that is lost, from 1; 0: none */
};

static struct {
	uint64_t now_ns, packets, flown;
	struct faults faults;
	bool cut;
	struct rng rng;
	struct side sides[2];
	struct flying flying[FLIGHT];
	unsigned count, headers;
	struct rc_checker checker;
} net;

static const struct {
	const char *name;
	struct udp_address a, b;
	unsigned headers; /* of IP and UDP */
} families[] = {
	{"ipv4",
	 {.ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}, .port = 0xc001},
	 {.ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2}, .port = 0xc001},
	 28},
	{"ipv6",
	 {.ip = {0xfd, 0x0d, [15] = 1}, .port = 0xc001},
	 {.ip = {0xfd, 0x0d, [15] = 2}, .port = 0xc001},
	 48},
};

/* ---- the network ---- */

static struct roce_ends ends_of(unsigned side)
{
	struct roce_ends ends = {net.sides[side].address, net.sides[!side].address};

	ends.to.port = ROCE_PORT;
	return ends;
}

static void fly(unsigned from, const struct datagram *d)
{
	const struct roce_ends ends = ends_of(from);
	struct rc_frame_path path = {.from_port = ends.from.port, .to_port = ends.to.port};
	uint8_t data[FRAME_BYTES];
	struct flying f = {.to = !from, .at_ns = net.now_ns + DELAY_NS};
	size_t bytes = d->header_bytes;

	memcpy(path.from, ends.from.ip, 16);
	memcpy(path.to, ends.to.ip, 16);
	memcpy(data, d->header, bytes);
	for (unsigned i = 0; i < d->slice_count; i++) {
		assert_true(bytes + d->slices[i].bytes <= FRAME_BYTES - RC_FRAME_HEADERS);
		memcpy(data + bytes, d->slices[i].base, d->slices[i].bytes);
		bytes += d->slices[i].bytes;
	}
	assert_true(roce_ends_icrc_right(&ends, data, bytes));
	f.bytes = rc_frame_make(&path, data, bytes, f.frame);
	assert_true(roce_icrc_right_ip(f.frame, f.bytes));
	rc_checker_sent(&net.checker, f.frame, f.bytes, net.now_ns);
	rc_capture_write(f.frame, f.bytes, net.now_ns);
	if (++net.packets == net.faults.drop || net.cut ||
	    rng_chance_ppm(&net.rng, net.faults.drop_ppm))
		return;
	if (rng_chance_ppm(&net.rng, net.faults.late_ppm))
		f.at_ns += rng_below(&net.rng, 20 * DELAY_NS);
	unsigned copies = 1 + rng_chance_ppm(&net.rng, net.faults.repeat_ppm);
	for (; copies > 0; copies--) {
		assert_true(net.count < FLIGHT);
		f.number = net.flown++;
		net.flying[net.count++] = f;
		f.at_ns += rng_below(&net.rng, 20 * DELAY_NS);
	}
}

static void side_send(unsigned i)
{
	struct datagram datagrams[BATCH];
	uint8_t trailers[BATCH][INC_TRAILER_BYTES];
	uint16_t ports[BATCH];
	bool more = net.sides[i].c;

	while (more) {
		struct inc_batch out = {datagrams, trailers, ports, 0, BATCH};

		more = rc_send(net.sides[i].c, &out, net.now_ns);
		for (size_t k = 0; k < out.count; k++)
			fly(i, &datagrams[k]);
		more &= out.count == BATCH;
	}
}

static struct rc_options options_of(unsigned i)
{
	const struct side *s = &net.sides[i];

	return (struct rc_options){.ends = ends_of(i),
				   .id = s->id,
				   .number = s->number,
				   .first_psn = s->first_psn,
				   .window = WINDOW,
				   .message_bytes = MESSAGE_BYTES,
				   .private_data = "who asks"};
}

static void request_receive(unsigned i, const struct rc_cm_message *m)
{
	struct rc_options o = options_of(i);

	assert_int_equal(m->service, RC_CM_SERVICE);
	assert_string_equal((const char *)m->private_data, "who asks");
	if (!net.sides[i].c)
		assert_int_equal(rc_accept(&o, m, &net.sides[i].c), DXP_OK);
	else
		assert_true(rc_request_again(net.sides[i].c, m));
}

static size_t message_make(unsigned side, uint32_t number, uint8_t *out)
{
	/* at least our header, as tshark guesses from the payload: a small number is an Ethernet
	 * type, a short message a truncated one */
	size_t bytes = INC_HEADER_BYTES + number * 7 % (MESSAGE_BYTES - INC_HEADER_BYTES);

	put_be32(out, INC_TAG);
	put_be32(out + 4, number);
	for (size_t i = 8; i < bytes; i++)
		out[i] = (uint8_t)(number * 31 + i + side);
	return bytes;
}

static void side_receive(unsigned i, const struct flying *f)
{
	struct side *s = &net.sides[i];
	const uint8_t *data = f->frame + net.headers;
	uint8_t expected[MESSAGE_BYTES];
	struct rc_cm_message m;
	size_t bytes = f->bytes - net.headers, message_bytes;

	rc_checker_arrived(&net.checker, f->frame, f->bytes, net.now_ns);
	assert_true(rc_packet(data, bytes));
	if (rc_cm_packet_decode(data, bytes, &m) == DXP_OK && m.kind == RC_CM_REQ) {
		request_receive(i, &m);
	} else if (s->c && rc_owns(s->c, data, bytes)) {
		bool ready = !rng_chance_ppm(&net.rng, net.faults.busy_ppm);
		const uint8_t *message =
			rc_receive(s->c, data, bytes, ready, net.now_ns, &message_bytes);

		if (message) {
			assert_int_equal(message_make(!i, s->delivered++, expected), message_bytes);
			assert_memory_equal(message, expected, message_bytes);
		}
	}
	side_send(i);
}

static bool earlier(const struct flying *a, const struct flying *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

/* false: no event is left. */
static bool step(void)
{
	uint64_t at_ns = UINT64_MAX;
	unsigned first = 0;

	for (unsigned i = 0; i < 2; i++)
		side_send(i);
	for (unsigned i = 0; i < net.count; i++)
		if (earlier(&net.flying[i], &net.flying[first]))
			first = i;
	for (unsigned i = 0; i < 2; i++)
		if (net.sides[i].c)
			at_ns = min_u64(at_ns, rc_deadline(net.sides[i].c));
	if (net.count > 0 && net.flying[first].at_ns <= at_ns) {
		struct flying f = net.flying[first];

		net.flying[first] = net.flying[--net.count];
		net.now_ns = max_u64(net.now_ns, f.at_ns);
		side_receive(f.to, &f);
		return true;
	}
	if (at_ns == UINT64_MAX)
		return false;
	net.now_ns = max_u64(net.now_ns + 1, at_ns);
	return true;
}

/* ---- exchanges ---- */

static void open(unsigned family, const char *name, struct faults faults, uint64_t seed)
{
	char file[64];
	struct rc_options o;

	memset(&net, 0, sizeof(net));
	net.now_ns = S_NS;
	net.faults = faults;
	net.rng.state = seed;
	net.headers = families[family].headers;
	net.sides[0] = (struct side){NULL, families[family].a, 77, 0x445850, 0xfffff8, 0, 0};
	net.sides[1] = (struct side){NULL, families[family].b, 78, 0x000011, 0x000005, 0, 0};
	snprintf(file, sizeof(file), "%s-%s", name, families[family].name);
	rc_capture_open(file);
	o = options_of(0);
	assert_int_equal(rc_connect(&o, net.now_ns, &net.sides[0].c), DXP_OK);
}

static void post(unsigned i, uint32_t count)
{
	struct side *s = &net.sides[i];
	uint8_t message[MESSAGE_BYTES];

	while (s->posted < count) {
		size_t bytes = message_make(i, s->posted, message);

		if (rc_post(s->c, message, 4, message + 4, bytes - 4) != DXP_OK)
			return;
		s->posted++;
	}
}

/* The passive side starts after its first arrival. */
static void exchange(uint32_t count)
{
	bool more = true;

	while (more && net.packets < 100000) {
		post(0, count);
		if (net.sides[1].delivered > 0)
			post(1, count);
		more = step() || net.sides[1].posted < count;
	}
	rc_checker_finish(&net.checker);
	assert_int_equal(rc_checker_report(&net.checker), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(rc_failed(net.sides[i].c));
		assert_int_equal(net.sides[i].delivered, count);
	}
}

static void finish(void)
{
	rc_capture_close();
	for (unsigned i = 0; i < 2; i++)
		rc_close(net.sides[i].c);
}

static void rc__without_faults(void **state)
{
	for (unsigned f = 0; f < ARRAY_COUNT(families); f++) {
		open(f, "plain", (struct faults){0}, 1);
		exchange(50);
		assert_int_equal(rc_counters(net.sides[0].c).repeated, 0);
		assert_int_equal(net.checker.connection_count, 1);
		finish();
	}
}

/* Including those that open the connection. */
static void rc__each_packet_lost_once(void **state)
{
	uint64_t packets = 1;

	for (uint64_t k = 1; k <= packets; k++) {
		open(k % 2, "once", (struct faults){.drop = k}, 1);
		exchange(12);
		packets = net.packets;
		finish();
	}
	assert_true(packets > 24);
}

static void rc__drops_duplicates_reorders(void **state)
{
	const struct faults faults[] = {
		{.drop_ppm = 30000},
		{.repeat_ppm = 100000},
		{.late_ppm = 100000},
		{.busy_ppm = 100000},
		{.drop_ppm = 30000, .repeat_ppm = 50000, .late_ppm = 50000, .busy_ppm = 20000},
	};

	for (unsigned f = 0; f < 2; f++)
		for (unsigned i = 0; i < ARRAY_COUNT(faults); i++)
			for (uint64_t seed = 1; seed <= 20; seed++) {
				open(f, i == 4 ? "faults" : "fault", faults[i], seed);
				exchange(200);
				finish();
			}
}

/* Errors come after the negotiated retries, not before. */
static void rc__retries_end(void **state)
{
	open(0, "retries", (struct faults){0}, 1);
	exchange(3);
	net.cut = true;
	post(0, 4);
	while (step())
		;
	assert_true(rc_failed(net.sides[0].c));
	assert_int_equal(rc_counters(net.sides[0].c).repeated, 7);
	assert_int_equal(rc_post(net.sides[0].c, "x", 1, NULL, 0), DXP_EPEERLOST);
	assert_int_equal(rc_checker_report(&net.checker), 0);
	finish();
}

static void rc__no_answer_to_requests(void **state)
{
	open(0, "silent", (struct faults){0}, 1);
	net.cut = true;
	while (step())
		;
	assert_true(rc_failed(net.sides[0].c));
	assert_int_equal(net.packets, 7);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc__without_faults),
		cmocka_unit_test(rc__each_packet_lost_once),
		cmocka_unit_test(rc__drops_duplicates_reorders),
		cmocka_unit_test(rc__retries_end),
		cmocka_unit_test(rc__no_answer_to_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
