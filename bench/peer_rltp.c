/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures RLTP between two NICs in two processes, without a manager: the ends exchange addresses
 * over the control socket. The far NIC handles NAPs, and serves PUT and GET. The variant is a list
 * of session options (variant.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/peer.h"
#include "bench/variant.h"
#include "nic/limits.h"
#include "node/node.h"

#define NEAR_ID 1
#define FAR_ID  2
#define WAIT_NS (100 * MS_NS)

struct introduction {
	struct udp_address address;
	uint64_t incarnation;
	uint32_t magic[NIC_QPS_PER_FUNCTION], key;
};

struct rltp_end {
	struct node *node;
	struct dxp_window *window;
	struct dxp_target other[NIC_QPS_PER_FUNCTION];
	uint8_t *memory; /* registered memory */
	uint32_t key, other_key;
	uint64_t posted;
};

static int end_open(struct peer_end *e, struct rltp_end *r)
{
	struct node_options options = {
		.static_id = e->far ? FAR_ID : NEAR_ID,
		.bind = e->far ? e->ends->far : e->ends->near,
		.spin_ns = WAIT_SPIN_NS,
		.payload_crc = e->work->payload_crc,
	};

	uint64_t region_bytes = work_region_bytes(e->work);

	struct variant variant;

	options.bind.port = 0;
	if (!variant_parse(e->variant, &variant))
		return DXP_EINVAL;
	options.tuning = variant.tuning;
	options.protect = variant.protect;
	r->memory = mmap(NULL, region_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (r->memory == MAP_FAILED)
		return DXP_ENOMEM;
	int status = node_open(&options, &r->node);
	if (status != DXP_OK)
		return status;
	r->window = node_window(r->node);
	return nic_region_register(node_nic(r->node), 0, r->memory, region_bytes,
				   NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r->key);
}

static int rltp_open(struct peer_end *e)
{
	struct rltp_end *r = calloc(1, sizeof(*r));
	struct introduction own = {0}, theirs;
	uint16_t other = e->far ? NEAR_ID : FAR_ID;

	e->state = r;
	int status = r ? end_open(e, r) : DXP_ENOMEM;
	if (status != DXP_OK)
		return status;
	own.incarnation = node_incarnation(r->node);
	own.key = r->key;
	memcpy(own.magic, r->window->qp_magic, sizeof(own.magic));
	node_address(r->node, &own.address);
	if (!control_write(e->control, &own, sizeof(own)) ||
	    !control_read(e->control, &theirs, sizeof(theirs)))
		return DXP_EIO;
	r->other_key = theirs.key;
	for (uint16_t qp = 0; qp < NIC_QPS_PER_FUNCTION; qp++)
		r->other[qp] =
			(struct dxp_target){.node = other, .qp = qp, .magic = theirs.magic[qp]};
	return node_peer(r->node, other, &theirs.address, theirs.incarnation);
}

static int rltp_post(struct peer_end *e)
{
	struct rltp_end *r = e->state;
	uint32_t bytes = e->work->bytes;
	uint64_t at = work_offset(e->work, r->posted);
	const struct dxp_entry local = {at, bytes, r->key}, remote = {at, bytes, r->other_key};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	uint8_t qp = 0;
	int status;

	switch (e->work->op) {
	case WORK_PUT: status = nic_user_put(r->window, 0, &r->other[0], &lists, 0); break;
	case WORK_GET: status = nic_user_get(r->window, 0, &r->other[0], &lists, 0); break;
	default:
		if (e->work->op == WORK_MESSAGE)
			qp = (uint8_t)(r->posted % NIC_QPS_PER_FUNCTION);
		status = dxp_post_nap(r->window, qp, &r->other[qp], r->memory, bytes, 0, 0);
	}
	if (status == DXP_OK)
		r->posted++;
	/* The doorbell FIFO is shorter than `depth`; emptying it lets later posts join the same
	 * batch. */
	else if (status == DXP_EAGAIN && node_doorbells_accept(r->node) > 0)
		return rltp_post(e);
	return status;
}

/* Spins for the node's spin time, then sleeps, like a program without other work; with work->spin
 * it never sleeps. */
static void poll_or_wait(const struct peer_end *e, struct rltp_end *r)
{
	if (node_poll(r->node) == 0 && !e->work->spin)
		node_wait(r->node, clock_now_ns() + WAIT_NS);
}

static int rltp_poll(struct peer_end *e)
{
	struct rltp_end *r = e->state;
	struct dxp_nic_event event;
	const uint8_t *data;
	int ended = 0;

	poll_or_wait(e, r);
	for (int sent = 0; sent < NIC_EVENTS && dxp_sent_dequeue(r->window, &event); sent++) {
		if (event.status != DXP_OK)
			return event.status;
		ended++;
	}
	if (e->work->op != WORK_PING)
		return ended;
	for (ended = 0; nic_user_received_peek(r->window, &data); ended++)
		dxp_received_release(r->window);
	return ended;
}

static void rltp_serve(struct peer_end *e)
{
	struct rltp_end *r = e->state;
	struct dxp_nic_event sent;
	const uint8_t *data;
	const struct dxp_nic_event *event;

	poll_or_wait(e, r);
	while (dxp_sent_dequeue(r->window, &sent))
		;
	uint64_t counted = 0;
	while ((event = nic_user_received_peek(r->window, &data)) != NULL) {
		if (e->work->op == WORK_PING) {
			if (dxp_post_nap(r->window, 0, &r->other[0], data, event->bytes, event->imm,
					 0) != DXP_OK)
				return;
			dxp_received_release(r->window);
			node_poll(r->node);
			continue;
		}
		dxp_received_release(r->window);
		counted++;
	}
	if (counted > 0)
		e->tally->counted += counted;
}

const struct peer_ops peer_rltp = {rltp_open, rltp_post, rltp_poll, rltp_serve};
