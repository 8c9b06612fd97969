/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of src/link: two endpoints on loopback. */
#ifndef TEST_LINK_PAIR_H
#define TEST_LINK_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "test/unit/capture.h"
#include "link/endpoint.h"

#define PATIENCE_NS (120 * S_NS) /* ns; a datagram that takes longer counts as lost */

struct link_pair {
	struct link *a, *b;
	struct udp_address to_b;
};

static inline struct udp_address address_of(const char *text)
{
	struct udp_address a;

	assert_int_equal(address_parse(text, 0, &a), DXP_OK);
	return a;
}

static inline struct link *open_at(const char *text, struct link_options options)
{
	struct link *l = NULL;

	options.bind = address_of(text);
	assert_int_equal(link_open(&options, &l), DXP_OK);
	assert_non_null(l);
	return l;
}

static inline struct link_pair pair_open(const char *text, struct link_options options)
{
	struct link_pair p = {.a = open_at(text, options), .b = open_at(text, options)};

	link_address(p.b, &p.to_b);
	return p;
}

static inline void pair_close(struct link_pair *p)
{
	link_close(p->a);
	link_close(p->b);
}

/* The header's bytes all equal `mark`. */
static inline struct datagram datagram_of(const struct udp_address *to, uint8_t mark,
					  size_t header_bytes, const void *base, size_t bytes)
{
	struct datagram d = {.to = *to,
			     .header_bytes = (uint16_t)header_bytes,
			     .slice_count = bytes > 0,
			     .slices = {{base, bytes}}};

	memset(d.header, mark, header_bytes);
	return d;
}

static inline void send_all(struct link *l, const struct datagram *d, size_t count)
{
	uint64_t give_up = clock_now_ns() + PATIENCE_NS;

	for (size_t done = 0; done < count;) {
		done += link_send(l, d + done, count - done);
		assert_true(clock_now_ns() < give_up);
	}
}

/* Waits for arrivals and receives up to `count` of them with one call. Returns their number, or 0
 * after PATIENCE_NS. */
static inline size_t receive_some(struct link *l, struct datagram_arrival *arrivals, size_t count)
{
	uint64_t give_up = clock_now_ns() + PATIENCE_NS;

	while (clock_now_ns() < give_up) {
		size_t got = link_receive(l, arrivals, count);
		if (got > 0)
			return got;
		link_wait(l, give_up);
	}
	return 0;
}

static inline struct link_counters counters_of(const struct link *l)
{
	struct link_counters c;

	link_counters(l, &c);
	return c;
}

#endif
