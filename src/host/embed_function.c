/* SPDX-License-Identifier: BSD-3-Clause */
/* A function of an embedded NIC. It has a window and an engine, as in dxpd, but both are in one
 * process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/embed.h"
#include "host/internal.h"
#include "nic/limits.h"

static struct embedded *embedded_of(const struct dxp_function *f)
{
	return CONTAINER_OF(f, struct embedded, base);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

/* ---- regions ---- */

struct region_call {
	struct embedded *function;
	void *base;
	uint64_t bytes;
	uint32_t rights, key;
};

static int region_register(struct dxp_nic *nic, void *context)
{
	struct region_call *c = context;

	return nic_region_register(node_nic(nic->node), c->function->index, c->base, c->bytes,
				   c->rights, &c->key);
}

static int region_add(struct embedded *e, void *base, uint64_t bytes, uint32_t rights,
		      uint32_t *key)
{
	struct region_call c = {e, base, bytes, rights, 0};
	int status = embed_run(e->nic, region_register, &c);

	if (status == DXP_OK)
		*key = c.key;
	else if (status == DXP_EBUSY)
		error_set(status, "this NIC already has %d regions; revoke some", NIC_REGIONS_MAX);
	else
		error_set(status, "cannot register a region of %llu bytes: %s",
			  (unsigned long long)bytes, dxp_status_text(status));
	return status;
}

/* Registers a memfd. The mapping of the memfd exists as long as the region. */
static int file_add(struct embedded *e, const struct function_region *r, uint32_t *key)
{
	struct function_memory *m = calloc(1, sizeof(*m));
	int status = m ? local_memory_map(r->fd, r->offset, r->bytes, &m->local) : DXP_ENOMEM;

	if (status != DXP_OK) {
		free(m);
		return error_set(status,
				 "cannot register %llu bytes of this file (%s); it must be a memfd "
				 "with F_SEAL_SHRINK, writable, and long enough",
				 (unsigned long long)r->bytes, dxp_status_text(status));
	}
	status = region_add(e, m->local.base, r->bytes, r->rights, &m->key);
	if (status != DXP_OK) {
		function_memories_free(m);
		return status;
	}
	m->next = e->mapped;
	e->mapped = m;
	*key = m->key;
	return DXP_OK;
}

static int embedded_region_add(struct dxp_function *f, const struct function_region *r,
			       uint32_t *key)
{
	struct embedded *e = embedded_of(f);

	if (!r->base)
		return file_add(e, r, key);
	int status = region_add(e, r->base, r->bytes, r->rights, key);
	e->foreign |= status == DXP_OK && r->fd < 0;
	return status;
}

static int region_revoke(struct dxp_nic *nic, void *context)
{
	const struct region_call *c = context;

	return nic_region_revoke(node_nic(nic->node), c->key);
}

static int region_rests(struct dxp_nic *nic, void *context)
{
	const struct region_call *c = context;

	return nic_region_busy(node_nic(nic->node), c->key) ? DXP_EAGAIN : DXP_OK;
}

/* Waits until the NIC no longer uses a region or function, at most for nic->timeout_ns. */
static void rest_wait(struct dxp_nic *nic, int (*rests)(struct dxp_nic *nic, void *context),
		      void *context)
{
	const struct timespec moment = timespec_of(MS_NS / 10);
	uint64_t deadline_ns = clock_now_ns() + nic->timeout_ns;

	while (embed_run(nic, rests, context) == DXP_EAGAIN && clock_now_ns() < deadline_ns)
		if (dxp_nic_poll(nic) == 0)
			nanosleep(&moment, NULL);
}

static struct function_memory *memory_allocate(struct function_memory **link, uint32_t key)
{
	while (*link && (*link)->key != key)
		link = &(*link)->next;
	struct function_memory *m = *link;
	if (m)
		*link = m->next;
	return m;
}

/* Runs in the NIC's thread: adds memory with a revoked key to the list that this thread frees. */
static int memory_hand_over(struct dxp_nic *nic, void *context)
{
	struct function_memory *m = context;

	m->next = nic->freed;
	nic->freed = m;
	return DXP_OK;
}

static int embedded_region_revoke(struct dxp_function *f, uint32_t key)
{
	struct embedded *e = embedded_of(f);
	struct region_call c = {.function = e, .key = key};
	int status = embed_run(e->nic, region_revoke, &c);

	if (status != DXP_OK)
		return error_set(status, "this NIC has no region with key %#x", key);
	struct function_memory *m = memory_allocate(&e->mapped, key);
	if (m)
		embed_run(e->nic, memory_hand_over, m);
	else
		/* the caller owns this memory and may reuse it after the return */
		rest_wait(e->nic, region_rests, &c);
	return DXP_OK;
}

static void embedded_memory_free(struct dxp_function *f, struct function_memory *m)
{
	struct embedded *e = embedded_of(f);
	struct region_call c = {.function = e, .key = m->key};

	embed_run(e->nic, region_revoke, &c);
	if (embed_run(e->nic, memory_hand_over, m) != DXP_OK)
		function_memories_free(m);
}

struct area_call {
	struct embedded *function;
	const struct nic_area *area;
};

static int area_add(struct dxp_nic *nic, void *context)
{
	const struct area_call *c = context;

	return nic_area_add(node_nic(nic->node), c->function->index, c->area);
}

static int embedded_area_add(struct dxp_function *f, const struct nic_area *area)
{
	struct area_call c = {embedded_of(f), area};

	return function_area_error(embed_run(c.function->nic, area_add, &c), area);
}

/* ---- lookup of other functions ---- */

struct find_call {
	const char *label;
	uint8_t qp;
	struct dxp_target target;
};

static int find(struct dxp_nic *nic, void *context)
{
	struct find_call *c = context;
	const struct nic *engine = node_nic(nic->node);
	uint32_t user = nic_user_labelled(engine, c->label);

	if (strcmp(c->label, nic->name) == 0 && nic_user_state(engine, 0) == DXP_FUNCTION_OPEN)
		user = 0;
	if (user < NIC_USERS) {
		uint32_t function = user % NIC_FUNCTIONS, qp = user / NIC_FUNCTIONS + c->qp;
		if (c->qp >= nic_user_qps(engine, user))
			return DXP_ENOENT;
		c->target = (struct dxp_target){.function = (uint8_t)function,
						.qp = (uint8_t)qp,
						.magic = nic_qp_magic(engine, function, qp)};
		return DXP_OK;
	}
	const struct node_table *table = node_table(nic->node);
	const struct node_entry *row = table ? node_table_find_name(table, c->label) : NULL;
	return row ? node_target(nic->node, row->id, &c->target) : DXP_ENOENT;
}

static int embedded_find(struct dxp_function *f, const char *label, uint8_t qp,
			 struct dxp_target *out)
{
	struct find_call c = {.label = label, .qp = qp};
	int status = embed_run(embedded_of(f)->nic, find, &c);

	if (status == DXP_OK)
		*out = c.target;
	return function_find_error(status, label);
}

/* ---- sleep ---- */

static int embedded_arm(struct dxp_function *f, bool on)
{
	node_arm(embedded_of(f)->nic->node, on ? 1 : -1);
	return DXP_OK;
}

static void embedded_ring(struct dxp_function *f)
{
	node_wake(embedded_of(f)->nic->node);
}

static uint32_t embedded_poll(struct dxp_function *f)
{
	return (uint32_t)dxp_nic_poll(embedded_of(f)->nic);
}

/* Sleeps in the node: without a NIC thread, an event can only come from the node's input. */
static void polling_sleep(struct dxp_function *f, uint64_t deadline_ns)
{
	node_wait(embedded_of(f)->nic->node, deadline_ns);
}

static void threaded_sleep(struct dxp_function *f, uint64_t deadline_ns)
{
	function_sleep(f, embedded_of(f)->user_wakeup, -1, deadline_ns);
}

/* ---- open and close ---- */

void embed_free(struct embedded *e)
{
	function_memories_free(e->base.memories);
	function_memories_free(e->mapped);
	free(e->window);
	if (e->user_wakeup >= 0)
		close(e->user_wakeup);
	free(e);
}

static int function_close(struct dxp_nic *nic, void *context)
{
	struct embedded *e = context;
	struct embedded **link = &nic->functions;

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
	if (e->base.armed)
		node_arm(nic->node, -1);
	node_user_fd(nic->node, e->index, -1);
	return nic_user_close(node_nic(nic->node), e->index, DXP_ECLOSED, clock_now_ns());
}

static int function_rests(struct dxp_nic *nic, void *context)
{
	const struct embedded *e = context;

	return nic_user_idle(node_nic(nic->node), e->index) ? DXP_OK : DXP_EAGAIN;
}

static int function_hand_over(struct dxp_nic *nic, void *context)
{
	struct embedded *e = context;

	e->next = nic->closed;
	nic->closed = e;
	return DXP_OK;
}

static void embedded_close(struct dxp_function *f)
{
	struct embedded *e = embedded_of(f);
	struct dxp_nic *nic = e->nic;

	embed_run(nic, function_close, e);
	if (e->foreign)
		/* the caller owns the registered memory and may reuse it after the return */
		rest_wait(nic, function_rests, e);
	if (embed_run(nic, function_hand_over, e) != DXP_OK)
		embed_free(e);
}

static const struct function_ops polling_ops = {
	.region_add = embedded_region_add,
	.region_revoke = embedded_region_revoke,
	.memory_free = embedded_memory_free,
	.area_add = embedded_area_add,
	.find = embedded_find,
	.arm = embedded_arm,
	.ring = embedded_ring,
	.poll = embedded_poll,
	.sleep = polling_sleep,
	.close = embedded_close,
};

static const struct function_ops threaded_ops = {
	.region_add = embedded_region_add,
	.region_revoke = embedded_region_revoke,
	.memory_free = embedded_memory_free,
	.area_add = embedded_area_add,
	.find = embedded_find,
	.arm = embedded_arm,
	.ring = embedded_ring,
	.sleep = threaded_sleep,
	.close = embedded_close,
};

static bool label_used(const struct dxp_nic *nic, const char *label)
{
	struct find_call c = {.label = label};

	return *label && find((struct dxp_nic *)(uintptr_t)nic, &c) != DXP_ENOENT;
}

/* Gives function 0 to its first user. Other nodes find this node by its function 0. */
static int physical_assign(struct dxp_nic *nic, struct embedded *e)
{
	nic->physical_used = true;
	free(e->window);
	e->window = NULL;
	e->base.window = node_window(nic->node);
	return DXP_OK;
}

/* Opens any function that is free. Function 0 is included if its user has closed it. */
static int free_open(struct dxp_nic *nic, struct embedded *e)
{
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		int status = nic_function_open(node_nic(nic->node), i, e->window);
		e->index = i;
		if (status != DXP_EEXIST && status != DXP_EBUSY)
			return status;
	}
	return DXP_EBUSY;
}

static int function_open(struct dxp_nic *nic, void *context)
{
	struct embedded *e = context;

	if (label_used(nic, e->label))
		return DXP_EEXIST;
	int status = nic->physical_used ? free_open(nic, e) : physical_assign(nic, e);
	if (status != DXP_OK)
		return status;
	nic_user_label(node_nic(nic->node), e->index, e->label);
	node_user_fd(nic->node, e->index, e->user_wakeup);
	e->next = nic->functions;
	nic->functions = e;
	return DXP_OK;
}

static int embedded_create(struct dxp_nic *nic, struct embedded **out)
{
	struct embedded *e = calloc(1, sizeof(*e));

	if (!e)
		return error_set(DXP_ENOMEM, "out of memory");
	e->nic = nic;
	e->user_wakeup = -1;
	e->window = aligned_alloc(4096, sizeof(*e->window));
	int status = e->window ? DXP_OK : error_set(DXP_ENOMEM, "out of memory");
	if (status == DXP_OK && nic->threaded)
		status = wakeup_create(&e->user_wakeup);
	if (status != DXP_OK) {
		embed_free(e);
		return status;
	}
	memset(e->window, 0, sizeof(*e->window));
	e->base.window = e->window;
	*out = e;
	return DXP_OK;
}

int dxp_nic_function(struct dxp_nic *nic, const char *label, struct dxp_function **out)
{
	struct embedded *e = NULL;
	int status = function_label_check(label);

	if (status == DXP_OK)
		status = embedded_create(nic, &e);
	if (status != DXP_OK)
		return status;
	function_init(&e->base, nic->threaded ? &threaded_ops : &polling_ops, 0, nic->spin_us);
	snprintf(e->label, sizeof(e->label), "%s", label ? label : "");
	status = embed_run(nic, function_open, e);
	if (status == DXP_OK) {
		*out = &e->base;
		return DXP_OK;
	}
	embed_free(e);
	if (status == DXP_EEXIST)
		return error_set(DXP_EBUSY,
				 "the label '%s' is already the name of another function or node; "
				 "choose another",
				 label);
	if (status == DXP_EBUSY)
		return error_set(status, "all %d functions of this NIC are in use; close one",
				 NIC_FUNCTIONS);
	return error_set(status, "cannot open a function: %s", dxp_status_text(status));
}
