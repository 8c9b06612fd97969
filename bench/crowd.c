/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls all peers in one loop. Only peers in the list `busy` cost time. */
#include "bench/crowd.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/util.h"
#include "bench/peer.h"
#include "link/udp.h"
#include "rltp/endpoint.h"
#include "rltp/user.h"

#define PAYLOAD_BYTES   1408
#define WINDOW_PACKETS  16
#define DST_NODE_OFFSET 10 /* in the common header: docs/reference/wire.md */
#define LOOK_ROUNDS     1024
#define SCAN_NS         (10 * MS_NS)

struct crowd {
	const struct crowd_options *options;
	struct link *link;
	struct rltp_endpoint *endpoints[CROWD_MAX];
	bool listed[CROWD_MAX];
	uint32_t busy[CROWD_MAX], busy_count; /* peers that must send soon */
	uint64_t due_ns[CROWD_MAX];           /* next deadlines of peers not in `busy` */
	uint64_t scan_ns;                     /* next scan of peers not in `busy` */
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	struct datagram batch[DATAGRAM_BATCH];
	size_t batched;
};

static void fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		 struct rltp_packet *out)
{
}

static void done(void *user, struct rltp_session *s, struct rltp_message *m, int status)
{
}

static struct rltp_verdict deliver(void *user, struct rltp_session *s,
				   const struct wire_header *header, const uint8_t *payload)
{
	return (struct rltp_verdict){0};
}

static const struct rltp_user_ops ops = {
	.fill = fill,
	.done = done,
	.deliver = deliver,
	.aborted = rltp_user_aborted,
	.reset = rltp_user_reset,
	.rest = rltp_user_rest,
	.grants = rltp_user_no_credits,
	.granted = rltp_user_credit,
	.wants = rltp_user_no_credits,
	.requested = rltp_user_credit,
};

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static int endpoint_open(struct crowd *c, uint32_t i)
{
	const struct crowd_options *o = c->options;
	struct rltp_endpoint_options options = {
		.node = (uint16_t)(CROWD_FIRST_ID + i),
		.incarnation = CROWD_INCARNATION,
		.window_packets = WINDOW_PACKETS,
		.ops = &ops,
		.entropy = rng_entropy_kernel,
		.token = token,
	};
	const struct rltp_peer_info peer = {.node = o->near_id,
					    .address = o->near,
					    .incarnation = o->near_incarnation,
					    .payload_bytes = PAYLOAD_BYTES};
	c->due_ns[i] = UINT64_MAX;
	int status = rltp_endpoint_create(&options, &c->endpoints[i]);

	return status == DXP_OK ? rltp_endpoint_peer(c->endpoints[i], &peer, clock_now_ns())
				: status;
}

static void flush(struct crowd *c)
{
	size_t sent = 0;

	while (sent < c->batched)
		sent += link_send(c->link, c->batch + sent, c->batched - sent);
	c->batched = 0;
}

static void list(struct crowd *c, uint32_t i)
{
	if (!c->listed[i])
		c->busy[c->busy_count++] = i;
	c->listed[i] = true;
}

static void run_one(struct crowd *c, const struct datagram_arrival *a, uint64_t now_ns)
{
	uint32_t i;

	if (a->bytes < WIRE_COMMON_BYTES)
		return;
	i = get_be16(a->data + DST_NODE_OFFSET) - (uint32_t)CROWD_FIRST_ID;
	if (i >= c->options->count)
		return;
	rltp_endpoint_receive(c->endpoints[i], a, now_ns);
	list(c, i);
}

/* Moves peers with timers due soon to `busy`. Only this scan finds distant timers, such as an idle
 * session's. */
static void scan(struct crowd *c, uint64_t now_ns)
{
	if (now_ns < c->scan_ns)
		return;
	c->scan_ns = now_ns + SCAN_NS;
	for (uint32_t i = 0; i < c->options->count; i++)
		if (!c->listed[i] && c->due_ns[i] <= c->scan_ns)
			list(c, i);
}

static void answer(struct crowd *c, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < c->busy_count; k++) {
		struct rltp_endpoint *e = c->endpoints[c->busy[k]];
		c->batched += rltp_endpoint_send(e, c->batch + c->batched,
						 DATAGRAM_BATCH - c->batched, now_ns);
		if (c->batched == DATAGRAM_BATCH)
			flush(c);
		uint32_t i = c->busy[k];
		c->due_ns[i] = rltp_endpoint_deadline(e);
		c->listed[i] = c->due_ns[i] <= now_ns + SCAN_NS;
		if (c->listed[i])
			c->busy[kept++] = i;
	}
	c->busy_count = kept;
	flush(c);
}

static void serve(struct crowd *c, int control)
{
	char byte;

	for (uint32_t round = 1;; round++) {
		size_t count = link_receive(c->link, c->arrivals, DATAGRAM_BATCH);
		uint64_t now_ns = clock_now_ns();
		for (size_t i = 0; i < count; i++)
			run_one(c, &c->arrivals[i], now_ns);
		scan(c, now_ns);
		answer(c, now_ns);
		if (count == 0 && c->busy_count == 0)
			link_wait(c->link, c->scan_ns);
		if (round % LOOK_ROUNDS == 0 && recv(control, &byte, 1, MSG_DONTWAIT) == 0)
			return;
	}
}

static void crowd_main(int control, void *context)
{
	struct crowd *c = calloc(1, sizeof(*c));
	struct udp_address address;
	int status = c ? DXP_OK : DXP_ENOMEM;

	if (!c)
		return;
	c->options = context;
	const struct link_options link = {.bind = c->options->bind, .spin_ns = WAIT_SPIN_NS};
	status = link_open(&link, &c->link);
	for (uint32_t i = 0; i < c->options->count && status == DXP_OK; i++)
		status = endpoint_open(c, i);
	if (status != DXP_OK) {
		log_error("cannot open %u endpoints: %s", c->options->count,
			  dxp_status_text(status));
		return;
	}
	link_address(c->link, &address);
	if (control_write(control, &address, sizeof(address)))
		serve(c, control);
}

int crowd_start(const struct crowd_options *options, struct child *child,
		struct udp_address *address)
{
	struct crowd_options copy = *options;
	int status = child_spawn(crowd_main, &copy, child);

	if (status != DXP_OK)
		return status;
	if (control_read(child->control, address, sizeof(*address)))
		return DXP_OK;
	child_end(child);
	return DXP_EIO;
}
