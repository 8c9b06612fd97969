/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements a host that can be silent or late, without the host library. Include cmocka.h first;
 * each including file has its own copy. */
#ifndef TEST_RUDE_HOST_H
#define TEST_RUDE_HOST_H

#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "node/node.h"
#include "test/support/daemons.h"
#include "wire/command.h"

struct rude {
	struct node *node;
	struct dxp_target to; /* the xPU */
	uint32_t key, memory_key;
	uint64_t address; /* of RUDE_BYTES on the xPU */
	/* RUDE_BYTES that the xPU may access with `key` */
	uint8_t *memory;
};
#define RUDE_BYTES (4u << 20)

static inline void rude_poll(struct rude *r)
{
	if (node_poll(r->node) == 0)
		node_wait(r->node, clock_now_ns() + MS_NS);
}

static inline void rude_post(struct rude *r, const struct command *c)
{
	uint8_t data[COMMAND_BYTES_MAX];
	int bytes = command_encode(c, data);

	assert_true(bytes > 0);
	while (dxp_post_nap(node_window(r->node), 0, &r->to, data, (uint32_t)bytes, 0, 1) != DXP_OK)
		rude_poll(r);
}

static inline void rude_reply(struct rude *r, struct command_reply *reply)
{
	const struct dxp_nic_event *e;
	const uint8_t *data;

	while (!(e = nic_user_received_peek(node_window(r->node), &data)))
		rude_poll(r);
	assert_int_equal(command_reply_decode(data, e->bytes, reply), DXP_OK);
	dxp_received_release(node_window(r->node));
}

/* Joins the fabric, opens the xPU with this node id, and allocates memory on it. */
static inline void rude_open(struct rude *r, const struct daemons *w, uint16_t xpu)
{
	static uint32_t number;
	char name[16];
	struct node_options options = {
		.name = name, .manager = w->address, .fabric_key = w->key, .bind = w->address};
	static struct command_reply reply;

	snprintf(name, sizeof(name), "rude%u", number++);
	*r = (struct rude){.memory = calloc(1, RUDE_BYTES)};
	options.bind.port = 0;
	assert_int_equal(node_open(&options, &r->node), DXP_OK);
	assert_int_equal(node_join(r->node, clock_now_ns() + DAEMONS_WAIT_NS), DXP_OK);
	while (node_target(r->node, xpu, &r->to) != DXP_OK)
		rude_poll(r);
	assert_int_equal(nic_region_register(node_nic(r->node), 0, r->memory, RUDE_BYTES,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r->key),
			 DXP_OK);
	rude_post(r, &(struct command){
			     .op = COMMAND_OPEN,
			     .sequence = 1,
			     .reply_magic = nic_qp_magic(node_nic(r->node), 0, NODE_SERVICE_QP)});
	rude_reply(r, &reply);
	assert_int_equal(reply.status, DXP_OK);
	r->memory_key = reply.memory_key;
	do { /* a DMA of the board may fail */
		rude_post(r, &(struct command){
				     .op = COMMAND_ALLOC, .sequence = 2, .bytes = RUDE_BYTES});
		rude_reply(r, &reply);
	} while (reply.status == DXP_EDEVICE);
	assert_int_equal(reply.status, DXP_OK);
	r->address = reply.address;
}

static inline void rude_close(struct rude *r)
{
	node_close(r->node);
	free(r->memory);
}

#endif
