/* SPDX-License-Identifier: BSD-3-Clause */
/* A forger that sends HELLOs in the name of node 0, from its address. It sees no packet and has no
 * key. */
#ifndef TEST_SIM_FORGER_H
#define TEST_SIM_FORGER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rltp/endpoint_internal.h"
#include "test/sim/rig.h"

/* Node 1 is the victim; the forger acts for node 0. */
struct forger {
	struct rig *r;
	struct rng rng;
	uint32_t rate; /* per second */
	uint8_t frame[WIRE_HELLO_SEALED_FRAME];
	size_t bytes;
	struct wire_hello hello; /* last one */
};

static const struct rltp_endpoint_counters *counters(struct rig *r, uint32_t node)
{
	return rltp_endpoint_counters(r->nodes[node].endpoint);
}

static void hello_draw(struct forger *f)
{
	f->hello = (struct wire_hello){.incarnation = 1ull << 40 | rng_below(&f->rng, 1u << 30),
				       .epoch = (uint32_t)rng_next(&f->rng) | 1,
				       .session = (uint32_t)rng_next(&f->rng) | 1,
				       .psn = (uint32_t)rng_next(&f->rng),
				       .rwnd = 100,
				       .payload_bytes = 1408,
				       .features = WIRE_FEATURES,
				       .protect = f->r ? f->r->nodes[1].protect : 0};
	memset(f->hello.tag, (int)rng_below(&f->rng, 256), sizeof(f->hello.tag));
}

/* Delivers f->hello with this cookie to an endpoint, from the address of a host. */
static void endpoint_give(struct forger *f, struct rltp_endpoint *e, uint64_t cookie, uint32_t host,
			  uint64_t now_ns)
{
	const struct wire_header h = {.type = WIRE_HELLO,
				      .header_bytes = WIRE_COMMON_BYTES,
				      .src_node = 1,
				      .dst_node = 2};
	struct datagram_arrival a = {.data = f->frame, .arrived_ns = now_ns};

	f->hello.echo_session = (uint32_t)(cookie >> 32);
	f->hello.echo_psn = (uint32_t)cookie;
	f->bytes =
		f->hello.protect ? WIRE_HELLO_SEALED_FRAME : WIRE_COMMON_BYTES + WIRE_HELLO_BYTES;
	a.bytes = f->bytes;
	memset(f->frame, 0x5a, sizeof(f->frame));
	wire_header_encode(&h, f->frame);
	wire_hello_encode(&f->hello, f->frame + WIRE_COMMON_BYTES);
	wire_control_seal(f->frame, f->bytes);
	net_address(host, &a.from);
	rltp_endpoint_receive(e, &a, now_ns);
}

static void hello_give(struct forger *f, uint64_t cookie, uint32_t host, uint64_t now_ns)
{
	endpoint_give(f, f->r->nodes[1].endpoint, cookie, host, now_ns);
	net_touch(f->r->net, f->r->nodes[1].host_index);
}

static void forge(struct forger *f)
{
	hello_draw(f);
	hello_give(f, rng_below(&f->rng, 2) ? rng_next(&f->rng) : 0, f->r->nodes[0].host_index,
		   net_now(f->r->net));
}

static void allowance_use_up(struct forger *f)
{
	for (int i = 0; i <= RLTP_HANDSHAKES_PEER_PER_S; i++)
		forge(f);
}

/* Forges at the given rate until all messages of node 0 have completed. */
static bool flooded_finish(struct forger *f, uint64_t limit_ns)
{
	const uint64_t end_ns = net_now(f->r->net) + limit_ns;

	while (net_now(f->r->net) < end_ns) {
		if (rig_finish(f->r, 0, S_NS / f->rate))
			return true;
		forge(f);
	}
	return false;
}

static struct forger forger_make(uint64_t seed, const struct sim_faults *faults)
{
	static const uint32_t rates[] = {33, 100, 1000, 10000};
	struct forger f = {.rng = {seed * 7919}, .rate = rates[seed / 2 % 4]};

	rig_protect = seed % 2 ? WIRE_PROTECT_NONE : WIRE_PROTECT_ENCRYPT;
	f.r = rig_create(2, seed, faults, 1408);
	assert_non_null(f.r);
	rig_run(f.r, rng_below(&f.rng, 2 * S_NS));
	return f;
}

#endif
