/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: NIC functions of kernels. A host gets the highest free virtual function until it leaves,
 * with its device memory in the lookup table. A function that the NIC stopped is replaced at the
 * next request. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "nic/limits.h"
#include "xpu/slot_internal.h"

_Static_assert(COMMAND_QPS == DXP_QPS, "a reply names every queue pair");
_Static_assert(XPU_WINDOWS_MAX * sizeof(struct dxp_window) <= WORKER_TAIL_BYTES,
	       "windows fit behind device memory");

/* Administrators assign the lower functions by hand. */
static int function_open(struct slot *s, struct port *p)
{
	struct nic *n = node_nic(s->node);
	int status = DXP_EBUSY;

	for (p->function = NIC_FUNCTIONS - 1; p->function > 0; p->function--) {
		status = nic_function_open(n, p->function, p->window);
		if (status != DXP_EEXIST && status != DXP_EBUSY)
			break;
	}
	return status == DXP_EEXIST ? DXP_EBUSY : status;
}

/* Where windows begin: in the tenant's own memory, if it has some. */
static uint8_t *window_tail(const struct tenant *t)
{
	const struct arena *a = t->slot->arena;

	return t->memory->base ? t->memory->base + arena_bytes(a) : arena_tail(a);
}

/* Chooses a window behind the tenant's device memory, so that its worker maps it. False: all
 * windows are in use. */
static bool window_choose(const struct tenant *t, struct port *p)
{
	struct slot *s = t->slot;
	uint32_t i = 0;

	while (i < XPU_WINDOWS_MAX && s->windows >> i & 1)
		i++;
	if (i == XPU_WINDOWS_MAX)
		return false;
	s->windows |= 1u << i;
	p->index = i;
	p->address = arena_bytes(s->arena) + i * sizeof(*p->window);
	p->window = (struct dxp_window *)(window_tail(t) + i * sizeof(*p->window));
	memset(p->window, 0, sizeof(*p->window));
	return true;
}

static void port_free(struct slot *s, struct port *p)
{
	s->windows &= ~(1u << p->index);
	if (p->tenant) {
		tenant_memory_window_free(p->tenant, p->address, sizeof(*p->window));
		p->tenant->busy--;
	}
	free(p);
}

/* Adds the area for register mode with device addresses (P-01). */
static int port_area_add(struct slot *s, const struct port *p)
{
	const struct nic_area area = {.bytes = arena_bytes(s->arena), .key = p->key};

	return nic_area_add(node_nic(s->node), p->function, &area);
}

static int port_create(struct tenant *t, struct port **out)
{
	struct slot *s = t->slot;
	struct port *p = calloc(1, sizeof(*p));

	if (!p)
		return DXP_ENOMEM;
	if (!window_choose(t, p)) {
		free(p);
		return DXP_EBUSY;
	}
	int status = function_open(s, p);
	if (status != DXP_OK) {
		tenant_memory_window_free(t, p->address, sizeof(*p->window));
		port_free(s, p);
		return status;
	}
	/* Now, while no other process has the window. */
	memcpy(p->qp_magic, p->window->qp_magic, sizeof(p->qp_magic));
	p->tenant = t;
	p->next = s->ports;
	s->ports = p;
	t->busy++; /* until port_free() */
	nic_user_cfg_node(node_nic(s->node), p->function, t->host);
	status = key_of_port(t, p->function, &p->key);
	if (status == DXP_OK)
		status = port_area_add(s, p);
	if (status != DXP_OK) {
		port_close(s, p, status); /* ports_reap() frees the port */
		return status;
	}
	worker_map(t, p->address, sizeof(*p->window));
	*out = p;
	return DXP_OK;
}

void port_close(struct slot *s, struct port *p, int status)
{
	if (!p || p->closed)
		return;
	p->closed = true;
	worker_unmap_port(p);
	nic_user_close(node_nic(s->node), p->function, status, clock_now_ns());
}

/* Kernels can change this value; a false one harms only their host. */
static int port_error(const struct port *p)
{
	return dxp_error(p->window);
}

static uint32_t closed_free(struct slot *s)
{
	struct port **at = &s->ports, *p;
	uint32_t freed = 0;

	while ((p = *at)) {
		if (!p->closed || p->launches > 0 || p->mappings > 0 ||
		    !nic_user_idle(node_nic(s->node), p->function)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		port_free(s, p);
		freed++;
	}
	return freed;
}

/* True: a function becomes free soon: an evicted host's, when its work has completed; not one used
 * by kernels on the slot's own thread, which may run for any time. */
static bool port_comes(const struct slot *s)
{
	const struct port *p = s->ports;

	while (p && (!p->closed || !p->tenant->given_up || (p->launches > 0 && !p->tenant->worker)))
		p = p->next;
	return p != NULL;
}

/* Evicts at most one silent host. DXP_EAGAIN: a function becomes free soon. */
static int port_make(struct tenant *t)
{
	struct slot *s = t->slot;
	int status = port_create(t, &t->port);

	if (status != DXP_EBUSY || port_comes(s) || !tenants_make_space(s, NEED_FUNCTION))
		return status == DXP_EBUSY && port_comes(s) ? DXP_EAGAIN : status;
	/* The port stays while a process maps its window or a kernel uses it. */
	closed_free(s);
	status = port_create(t, &t->port);
	return status == DXP_EBUSY && port_comes(s) ? DXP_EAGAIN : status;
}

/* Statuses of port_make(). */
static int port_get(struct tenant *t)
{
	if (!t->slot->about.reaches_host)
		return DXP_EUNSUPPORTED;
	if (t->port && port_error(t->port) == DXP_OK)
		return DXP_OK;
	/* Kernels that still use a stopped port read the error. */
	port_close(t->slot, t->port, DXP_ECLOSED);
	t->port = NULL;
	return port_make(t);
}

/* Replies now, or when a function is free. */
static void port_answer(struct tenant *t, uint32_t sequence)
{
	struct command_reply r = {.op = COMMAND_NIC, .sequence = sequence};

	r.status = port_get(t);
	t->port_waits = r.status == DXP_EAGAIN;
	t->port_sequence = sequence;
	if (t->port_waits)
		return;
	if (r.status == DXP_OK) {
		r.function = (uint8_t)t->port->function;
		r.memory_key = t->port->key;
		memcpy(r.qp_magic, t->port->qp_magic, sizeof(r.qp_magic));
	}
	reply_send(t, &r);
}

void port_open(struct tenant *t, const struct command *c)
{
	if (t->port_waits)
		reply_status(t, COMMAND_NIC, c->sequence, DXP_EBUSY);
	else
		port_answer(t, c->sequence);
}

void port_hold(struct slot *s, struct port *p)
{
	p->launches++;
	node_arm(s->node, 1);
}

void port_drop(struct slot *s, struct port *p)
{
	p->launches--;
	node_arm(s->node, -1);
}

void port_complain(struct tenant *t, const struct port *p, const char *kernel)
{
	int status = port_error(p);

	if (status != DXP_OK && !p->closed)
		tenant_complain(t, "kernel '%s': NIC function %u is closed (%s)", kernel,
				p->function, dxp_status_text(status));
}

uint32_t ports_reap(struct slot *s)
{
	uint32_t freed = closed_free(s);

	for (struct tenant *t = s->tenants; freed > 0 && t; t = t->next)
		if (t->port_waits && !t->leaving)
			port_answer(t, t->port_sequence);
	return freed;
}

void ports_close(struct slot *s)
{
	for (struct port *p = s->ports; p; p = p->next)
		port_close(s, p, DXP_ECLOSED);
}

void ports_free(struct slot *s)
{
	struct port *p;

	while ((p = s->ports)) {
		s->ports = p->next;
		port_free(s, p);
	}
}
