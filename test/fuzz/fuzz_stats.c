/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes STATS frames (type byte, body): a decoded one encodes to the same bytes. Then passes the
 * input, sealed with the fabric key, to an answering node and to a reader. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "node/stats_query.h"
#include "node/stats_serve.h"
#include "test/fuzz/fuzz.h"
#include "wire/manage_entry.h"
#include "wire/probe.h"
#include "wire/stats_service.h"

#define NODE       7
#define BODY_BYTES (FABRIC_DATAGRAM_BYTES - WIRE_COMMON_BYTES - MAC_BYTES)

struct target {
	struct mac *mac;
	struct rng rng;
	struct stats_query *query;
	struct stats_serve serve;
	uint8_t frame[FABRIC_DATAGRAM_BYTES], again[FABRIC_DATAGRAM_BYTES];
	size_t frame_bytes, body_bytes;
};

static const struct node_entry node = {.id = NODE, .kind = MANAGE_XPU, .alive = true, .name = "x"};

static void target_open(struct target *t)
{
	struct stats_query_options options = {.nodes = &node,
					      .count = 1,
					      .details = true,
					      .entropy = rng_entropy_rng,
					      .entropy_context = &t->rng};

	*t = (struct target){.rng = {1}};
	if (mac_create(options.key, &t->mac) != DXP_OK ||
	    stats_query_create(&options, 0, &t->query) != DXP_OK)
		abort();
}

static void target_close(struct target *t)
{
	stats_query_destroy(t->query);
	mac_destroy(t->mac);
}

static void frame_make(struct target *t, uint8_t type, const uint8_t *body, size_t bytes)
{
	t->body_bytes = min_u64(bytes, BODY_BYTES);
	memcpy(t->frame + WIRE_COMMON_BYTES, body, t->body_bytes);
	t->frame_bytes = manage_seal(type, NODE, NODE, t->body_bytes, t->mac, t->frame);
}

static void same(const struct target *t, size_t again_bytes)
{
	assert(again_bytes == t->frame_bytes);
	assert(memcmp(t->frame + WIRE_COMMON_BYTES, t->again + WIRE_COMMON_BYTES, t->body_bytes) ==
	       0);
}

static void codecs_try(struct target *t)
{
	static struct stats_page page;
	const struct manage_body body = {t->frame + WIRE_COMMON_BYTES, t->body_bytes};
	struct stats_request request;

	if (stats_request_decode(body, &request) == DXP_OK)
		same(t, stats_request_encode(&request, NODE, t->mac, t->again));
	if (stats_page_decode(body, &page) == DXP_OK)
		same(t, stats_page_encode(&page, NODE, t->mac, t->again));
}

static void service_codecs_try(struct target *t)
{
	static struct stats_service_page page;
	const struct manage_body body = {t->frame + WIRE_COMMON_BYTES, t->body_bytes};
	struct stats_request request;

	if (stats_service_request_decode(body, &request) == DXP_OK)
		same(t, stats_service_request_encode(&request, NODE, NULL, t->mac, t->again));
	if (stats_service_page_decode(body, &page) == DXP_OK)
		same(t, stats_service_page_encode(&page, NODE, t->mac, t->again));
}

static void probe_codecs_try(struct target *t)
{
	const struct manage_body body = {.data = t->frame + WIRE_COMMON_BYTES,
					 .bytes = t->body_bytes};
	struct probe_reply reply;
	uint64_t number;

	if (probe_decode(body, &number) == DXP_OK)
		same(t, probe_encode(number, t->frame_bytes, NODE, NODE, t->mac, t->again));
	if (probe_reply_decode(body, &reply) == DXP_OK)
		same(t, probe_reply_encode(&reply, NODE, NODE, t->mac, t->again));
}

static void node_try(struct target *t)
{
	const struct stats_served served = {.mac = t->mac, .node = NODE};
	const struct datagram_arrival a = {.data = t->frame, .bytes = t->frame_bytes};
	struct datagram out;

	stats_serve_receive(&t->serve, &served, &a, &out, S_NS);
	assert(t->serve.counters.stats_limited == 0 && t->serve.counters.stats_unauthentic == 0);
}

/* The answering node knows nonce and request, so these replace the input's. */
static void reader_try(struct target *t, const uint8_t *body, size_t bytes)
{
	struct datagram out;
	struct rng start = {1};
	uint64_t now_ns = 0;

	if (bytes < 16)
		return;
	frame_make(t, WIRE_STATS_PAGE, body, bytes);
	put_be64(t->frame + WIRE_COMMON_BYTES + 8, rng_next(&start));
	for (uint64_t request = 1; !stats_query_done(t->query); request++) {
		stats_query_send(t->query, &out, 1, now_ns);
		put_be64(t->frame + WIRE_COMMON_BYTES, request);
		manage_seal(WIRE_STATS_PAGE, NODE, NODE, t->body_bytes, t->mac, t->frame);
		stats_query_receive(t->query, t->frame, t->frame_bytes, now_ns);
		now_ns += 100 * MS_NS;
		assert(request < 1000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct target t;

	if (bytes == 0)
		return 0;
	target_open(&t);
	frame_make(&t, data[0] % 2 ? WIRE_STATS : WIRE_STATS_PAGE, data + 1, bytes - 1);
	codecs_try(&t);
	service_codecs_try(&t);
	probe_codecs_try(&t);
	node_try(&t);
	reader_try(&t, data + 1, bytes - 1);
	target_close(&t);
	return 0;
}
