/* SPDX-License-Identifier: BSD-3-Clause */
/* Register mode (P-02 .. P-06): a device starts operations by storing words. A stored `send_go`
 * makes a PUT with WIRE_KEY_REGISTERS, one at a time. PUTs of peers with this key fill the receive
 * area that the device named, one behind the other. Every register is copied once before use.
 *
 * A receiver without space rejects the PUT at once, because a wait would delay other messages; the
 * sender's engine retries for NIC_REGISTERS_BUSY_NS. */
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

/* WIRE_NODE_NONE: none. */
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

/* Finds the memory to send, in one area with a valid key. Looked up at each attempt, because both
 * may change. */
static int send_source(struct nic_user *u, struct dxp_entry *out)
{
	const struct dxp_registers *o = &u->registers->order;
	dxp_u64 offset;

	if (o->send_bytes == 0 || o->send_bytes > NIC_MESSAGE_BYTES_MAX)
		return DXP_EINVAL;
	int status = area_find(u, o->send_vaddr, o->send_bytes, &out->key, &offset);
	if (status != DXP_OK) {
		miss_count(u);
		return status;
	}
	out->offset = offset;
	out->bytes = o->send_bytes;
	return DXP_OK;
}

/* Staged memory goes through a bounce, as one message of at most NIC_BOUNCE_BYTES. */
static int send_pieces(struct nic_request *r)
{
	struct dxp_entry entries[2] = {{0}};
	int status = send_source(r->user, &entries[0]);

	if (status != DXP_OK)
		return status;
	entries[1].bytes = entries[0].bytes;
	entries[1].key = WIRE_KEY_REGISTERS;
	if (region_find(r->user, entries[0].key)->staged)
		return entries[0].bytes > NIC_BOUNCE_BYTES ? DXP_ERANGE : chain_staged(r, entries);
	status = doorbell_piece(r->user, &entries[0], &r->local[0]);
	if (status != DXP_OK)
		return status;
	r->total = entries[0].bytes;
	r->local_count = r->remote_count = 1;
	r->remote = r->local + 1;
	r->remote[0] = (struct nic_piece){.bytes = entries[1].bytes, .key = entries[1].key};
	return DXP_OK;
}

/* DXP_EAGAIN: no space for a request now. */
static int send_request(struct nic_user *u)
{
	struct dxp_descriptor head = {.op = DXP_OP_PUT, .src_count = 1, .dst_count = 1};

	int status = send_target(u, &head);
	if (status != DXP_OK)
		return status;
	if (u->function->queues[head.qp].outstanding >= NIC_OUTSTANDING_MAX)
		return DXP_EAGAIN;
	struct nic_request *r = pool_request_get(u->nic);
	if (!r)
		return DXP_EAGAIN;
	r->user = u;
	r->function = u->function;
	r->head = head;
	r->registers = true;
	status = send_pieces(r);
	if (status != DXP_OK) {
		pool_request_put(u->nic, r);
		return status;
	}
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
	/* To a device, DXP_ENOENT would mean that the lookup table has no entry; here the peer is
	 * unknown. */
	else
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

/* Gives up what peers write into an area of staged memory. DMA may still write there for some
 * time. */
static void area_leave(struct nic_user *u)
{
	struct nic_registers *g = u->registers;
	const struct nic_region *region = g->recv_bytes ? region_find(u, g->recv_key) : NULL;

	if (!region || !region->staged)
		return;
	g->left = (struct nic_area){
		.bytes = g->recv_bytes, .offset = g->recv_offset, .key = g->recv_key};
	staged_registers_end(u->nic, &g->left);
}

/* DMA may still write the area before the present one. */
static bool area_touched(const struct nic_user *u)
{
	const struct nic_area *left = &u->registers->left;
	const struct nic_region *region = left->bytes ? region_find(u, left->key) : NULL;

	return region &&
	       region->staged->write_touches(region->staged_context, left->offset, left->bytes);
}

static void area_adopt(struct nic_user *u, uint32_t go)
{
	struct nic_registers *g = u->registers;
	struct dxp_registers *r = words(u);
	uint64_t vaddr = *(const volatile uint64_t *)&r->recv_vaddr;

	g->recv_go = go;
	g->recv_bytes = *(const volatile uint32_t *)&r->recv_bytes;
	g->recv_used = 0;
	g->recv_status = DXP_OK;
	if (++g->arming == 0)
		g->arming = 1; /* 0 means no area */
	if (g->recv_bytes > 0)
		g->recv_status = area_find(u, vaddr, g->recv_bytes, &g->recv_key, &g->recv_offset);
	if (g->recv_status != DXP_OK) {
		g->recv_bytes = 0;
		miss_count(u);
	}
}

/* Adopts a new receive area. Called before each write into the present one. */
static void receive_look(struct nic_user *u)
{
	struct nic_registers *g = u->registers;
	struct dxp_registers *r = words(u);
	/* Pairs with the device's release of address and length. */
	uint32_t go = dxp_load_acquire(&r->recv_go);

	if (go == g->recv_go && g->left.bytes == 0)
		return;
	if (go != g->recv_go) {
		if (g->left.bytes == 0)
			area_leave(u);
		area_adopt(u, go);
	}
	if (area_touched(u)) {
		u->nic->registers_ns =
			min_u64(u->nic->registers_ns, u->nic->now_ns + NIC_STAGED_RETRY_US * US_NS);
		return;
	}
	g->left.bytes = 0;
	dxp_store_release(&r->recv_used, 0);
	dxp_store_release(&r->recv_error, (uint32_t)-g->recv_status);
	/* Publishes both fields, and that nothing writes into the old area any more. Pairs with the
	 * device's acquire. */
	dxp_store_release(&r->recv_done, go);
}

int registers_reserve(struct nic_user *u, uint32_t bytes, struct nic_register_range *out)
{
	struct nic_registers *g = u->registers;

	if (!g)
		return DXP_EACCESS;
	receive_look(u);
	if (g->recv_bytes == 0 || g->left.bytes > 0)
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

void registers_unreserve(struct nic_user *u, const struct nic_register_range *range, uint32_t bytes)
{
	struct nic_registers *g = u->registers;

	if (range->arming != g->arming || range->at + bytes != g->recv_used)
		return;
	g->recv_used -= bytes;
	dxp_store_release(&words(u)->recv_used, g->recv_used);
}

bool registers_place(struct nic_user *u, const struct nic_register_range *range,
		     struct nic_place *out)
{
	struct nic_registers *g = u->registers;

	if (!g || range->arming == 0)
		return false;
	receive_look(u);
	if (range->arming != g->arming)
		return false;
	out->region = region_find(u, g->recv_key);
	out->offset = g->recv_offset + range->at;
	return out->region != NULL;
}

void registers_poll(struct nic_user *u)
{
	/* `send_go` first: if the device replaced the area before it sent, the answer must not go
	 * into the old one. Pairs with the device's release. */
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
