/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs register mode (P-02 .. P-06): a device starts operations by storing words. A GO becomes a
 * PUT with WIRE_KEY_REGISTERS, one at a time. PUTs of peers with that key fill the receive area
 * that the device named, one behind the other. Every word is copied once before use.
 *
 * A receiver without space rejects at once, since a wait would delay others. The sender's engine
 * retries for NIC_REGISTERS_BUSY_NS. */
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"
#include "wire/ids.h"

static struct dxp_registers *words(const struct nic_user *u)
{
	return &u->window->registers;
}

static void miss_count(struct nic_user *u)
{
	u->counts.lookup_misses++;
	u->counted = true;
}

/* ---- send ---- */

static void send_end(struct nic_user *u, int status)
{
	struct nic_registers *g = u->registers;

	g->sending = false;
	g->again_ns = 0;
	g->send_done = g->order.send_go;
	dxp_store_release(&words(u)->send_error, (uint32_t)-status);
	/* Publishes the error; pairs with the device's acquire. */
	dxp_store_release(&words(u)->send_done, g->send_done);
}

static void send_put_off(struct nic_user *u)
{
	struct nic_registers *g = u->registers;

	g->sending = false;
	g->again_ns = u->nic->now_ns + g->pause_ns;
	g->pause_ns = (uint32_t)min_u64(2ull * g->pause_ns, NIC_REGISTERS_PAUSE_MAX_NS);
	u->nic->registers_ns = min_u64(u->nic->registers_ns, g->again_ns);
}

/* Returns the node with this IPv4 address and port, in the node table or outside of it, or
 * WIRE_NODE_NONE. */
static uint16_t node_at(struct nic_user *u, uint32_t ip, uint32_t port)
{
	struct nic_registers *g = u->registers;
	const struct udp_address a = address_v4(ip, (uint16_t)port);
	const struct nic_peer *p = nic_peer_find(u->nic, g->found_node);

	if (p && address_equal(rltp_session_address(p->session), &a))
		return g->found_node;
	for (p = u->nic->peers; p; p = p->next) {
		if (address_equal(rltp_session_address(p->session), &a)) {
			g->found_node = p->node;
			return g->found_node;
		}
	}
	return outside_node(u->nic, &a);
}

static int send_target(struct nic_user *u, struct dxp_descriptor *head)
{
	const struct dxp_registers *o = &u->registers->order;

	if (o->qp >= u->qp_count || o->queue > UINT16_MAX || o->node > UINT16_MAX ||
	    (o->node == 0 && (o->port == 0 || o->port > UINT16_MAX)))
		return DXP_EINVAL;
	head->qp = (uint8_t)(u->first_qp + o->qp);
	head->dst_function = (uint8_t)(o->queue >> 8);
	head->dst_qp = o->queue & 0xff;
	head->dst_magic = o->magic;
	head->dst_node = (uint16_t)o->node;
	if (o->node == 0)
		head->dst_node = node_at(u, o->ip, o->port);
	else if (o->node == u->nic->options.node)
		head->dst_node = 0;
	return o->node == 0 && head->dst_node == WIRE_NODE_NONE ? DXP_EPEERLOST : DXP_OK;
}

/* The range must lie in one area with a valid region; both are looked up for each attempt. */
static int send_source(struct nic_user *u, struct nic_piece *piece)
{
	const struct dxp_registers *o = &u->registers->order;
	uint64_t offset;

	if (o->send_bytes == 0 || o->send_bytes > NIC_MESSAGE_BYTES_MAX)
		return DXP_EINVAL;
	int status = area_find(u, o->send_vaddr, o->send_bytes, &piece->key, &offset);
	if (status != DXP_OK) {
		miss_count(u);
		return status;
	}
	piece->region = region_find(u, piece->key);
	piece->base = piece->region->base + offset;
	piece->bytes = o->send_bytes;
	piece->region->uses++;
	return DXP_OK;
}

/* Posts the PUT of a GO. DXP_EAGAIN: no space for a request now. */
static int send_request(struct nic_user *u)
{
	struct dxp_descriptor head = {.op = DXP_OP_PUT, .src_count = 1, .dst_count = 1};
	struct nic_piece piece = {0};

	int status = send_target(u, &head);
	if (status != DXP_OK)
		return status;
	if (u->function->queues[head.qp].outstanding >= NIC_OUTSTANDING_MAX)
		return DXP_EAGAIN;
	struct nic_request *r = pool_request_get(u->nic);
	if (!r)
		return DXP_EAGAIN;
	status = send_source(u, &piece);
	if (status != DXP_OK) {
		pool_request_put(u->nic, r);
		return status;
	}
	r->user = u;
	r->function = u->function;
	r->head = head;
	r->registers = true;
	r->total = piece.bytes;
	r->local_count = r->remote_count = 1;
	r->remote = r->local + 1;
	r->local[0] = piece;
	r->remote[0] = (struct nic_piece){.bytes = piece.bytes, .key = WIRE_KEY_REGISTERS};
	u->registers->sending = true;
	request_queue(r);
	return DXP_OK;
}

static void send_try(struct nic_user *u)
{
	int status = send_request(u);

	if (status == DXP_EAGAIN)
		send_put_off(u);
	else if (status != DXP_OK)
		send_end(u, status);
}

void registers_sent(struct nic_user *u, int status)
{
	const struct nic_registers *g = u->registers;

	if (!g || !g->sending)
		return;
	if (status == DXP_EBUSY && !u->stopped && u->nic->now_ns < g->give_up_ns)
		send_put_off(u);
	else /* DXP_ENOENT means that the lookup table has no entry; here the peer was not found */
		send_end(u, status == DXP_ENOENT ? DXP_EPEERLOST : status);
}

static void send_poll(struct nic_user *u, uint32_t go)
{
	struct nic_registers *g = u->registers;

	if (g->sending)
		return;
	if (g->again_ns != 0) {
		if (u->nic->now_ns >= g->again_ns)
			send_try(u);
		else
			u->nic->registers_ns = min_u64(u->nic->registers_ns, g->again_ns);
		return;
	}
	if (go == g->send_done)
		return;
	window_copy(&g->order, words(u), offsetof(struct dxp_registers, send_go));
	g->order.send_go = go;
	g->pause_ns = NIC_REGISTERS_PAUSE_NS;
	g->give_up_ns = u->nic->now_ns + NIC_REGISTERS_BUSY_NS;
	send_try(u);
}

/* ---- receive ---- */

/* Adopts a new receive area, if there is one. Called before each write into the old one. */
static void receive_look(struct nic_user *u)
{
	struct nic_registers *g = u->registers;
	struct dxp_registers *r = words(u);
	/* Pairs with the device's release: address and length are valid. */
	uint32_t go = dxp_load_acquire(&r->recv_go);
	int status = DXP_OK;

	if (go == g->recv_go)
		return;
	uint64_t vaddr = *(const volatile uint64_t *)&r->recv_vaddr;
	g->recv_go = go;
	g->recv_bytes = *(const volatile uint32_t *)&r->recv_bytes;
	g->recv_used = 0;
	if (++g->arming == 0)
		g->arming = 1; /* 0 means no area */
	if (g->recv_bytes > 0)
		status = area_find(u, vaddr, g->recv_bytes, &g->recv_key, &g->recv_offset);
	if (status != DXP_OK) {
		g->recv_bytes = 0;
		miss_count(u);
	}
	dxp_store_release(&r->recv_used, 0);
	dxp_store_release(&r->recv_error, (uint32_t)-status);
	/* Publishes both fields, and that the old area is not written any more; pairs with the
	 * device's acquire. */
	dxp_store_release(&r->recv_done, go);
}

int registers_reserve(struct nic_user *u, uint32_t bytes, struct nic_register_range *out)
{
	struct nic_registers *g = u->registers;

	if (!g)
		return DXP_EACCESS;
	receive_look(u);
	if (g->recv_bytes == 0)
		return DXP_EBUSY;
	if (!region_find(u, g->recv_key)) {
		g->recv_bytes = 0;
		miss_count(u);
		dxp_store_release(&words(u)->recv_error, (uint32_t)-DXP_ENOENT);
		return DXP_EBUSY;
	}
	if (bytes > g->recv_bytes) {
		dxp_store_release(&words(u)->recv_error, (uint32_t)-DXP_ERANGE);
		return DXP_ERANGE;
	}
	if (bytes > g->recv_bytes - g->recv_used)
		return DXP_EBUSY;
	*out = (struct nic_register_range){.arming = g->arming, .at = g->recv_used};
	g->recv_used += bytes;
	dxp_store_release(&words(u)->recv_used, g->recv_used);
	return DXP_OK;
}

uint8_t *registers_address(struct nic_user *u, const struct nic_register_range *p)
{
	struct nic_registers *g = u->registers;

	if (!g || p->arming == 0)
		return NULL;
	receive_look(u);
	if (p->arming != g->arming)
		return NULL;
	const struct nic_region *region = region_find(u, g->recv_key);
	return region ? region->base + g->recv_offset + p->at : NULL;
}

/* ---- both ---- */

void registers_poll(struct nic_user *u)
{
	/* Reads `send_go` before the receive area: the answer to a send must not go into an area
	 * that the device replaced before it. Pairs with the device's release: the order is
	 * complete. */
	uint32_t go = dxp_load_acquire(&words(u)->send_go);
	receive_look(u);
	send_poll(u, go);
}

bool registers_ready(const struct nic_user *u)
{
	const struct nic_registers *g = u->registers;
	bool idle = !g->sending && g->again_ns == 0;

	return (idle && dxp_load_acquire(&words(u)->send_go) != g->send_done) ||
	       dxp_load_acquire(&words(u)->recv_go) != g->recv_go;
}
