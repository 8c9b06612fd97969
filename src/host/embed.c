/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, polls, offers and closes a NIC inside this program, alone or as a node of a fabric. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/config.h"
#include "host/embed.h"
#include "host/internal.h"
#include "host/join.h"
#include "nic/limits.h"

#define ALONE_ID      1
#define POLLS_PER_RUN 64

static int alone_open(struct dxp_nic *nic, const struct dxp_nic_options *o)
{
	struct node_options options = {.name = nic->name, .static_id = ALONE_ID, .qps = o->qps};

	if (o->directory || o->manager || o->key_file || o->bind)
		return error_set(DXP_EINVAL, "fabric, manager, key and address are for a NIC that "
					     "joins; set `join`, or leave them NULL");
	if (o->name && !manage_name_valid(o->name))
		return error_set(
			DXP_EINVAL,
			"'%.64s' is not a valid node name; use 1 to %d of A-Z a-z 0-9 . _ -",
			o->name, FABRIC_NAME_BYTES - 1);
	if (o->name)
		snprintf(nic->name, sizeof(nic->name), "%s", o->name);
	else
		config_default_name(nic->name);
	address_parse("127.0.0.1", 0, &options.bind);
	/* the program that calls dxp_nic_poll() spins, so the node need not */
	options.spin_ns = UINT32_MAX;
	return join_open(&options, &nic->node);
}

static int table_wait(struct dxp_nic *nic, uint64_t deadline_ns, const char *manager)
{
	while (!join_complete(nic->node)) {
		if (clock_now_ns() >= deadline_ns)
			return join_incomplete(manager);
		if (node_poll(nic->node) == 0)
			node_wait(nic->node, deadline_ns);
	}
	return DXP_OK;
}

static int fabric_join(struct dxp_nic *nic, const struct dxp_nic_options *o)
{
	const struct dxp_fabric_options where = {.directory = o->directory,
						 .manager = o->manager,
						 .key_file = o->key_file,
						 .bind = o->bind,
						 .name = o->name};
	uint64_t deadline_ns = clock_now_ns() + nic->timeout_ns;
	char manager[UDP_ADDRESS_TEXT_BYTES];
	struct config config;
	int status = config_resolve(&where, &config);

	if (status != DXP_OK)
		return status;
	snprintf(nic->name, sizeof(nic->name), "%s", config.name);
	address_format(&config.manager, manager);
	const struct node_options options = {.name = config.name,
					     .manager = config.manager,
					     .other_managers = config.other_managers,
					     .fabric_key = config.key,
					     .identity = config.keyed ? &config.identity : NULL,
					     .identity_file = config.identity_file,
					     .key_file = config.key_file,
					     .bind = config.bind,
					     .follow_address = !o->bind,
					     .qps = o->qps,
					     .spin_ns = UINT32_MAX};
	status = join_open(&options, &nic->node);
	keys_erase(&config, sizeof(config));
	if (status == DXP_OK)
		status = join_wait(nic->node, manager, nic->timeout_ns);
	return status == DXP_OK ? table_wait(nic, deadline_ns, manager) : status;
}

static void nic_free(struct dxp_nic *nic)
{
	embed_thread_stop(nic);
	/* Stops the NIC first. After this, nothing uses the memory that is freed below. */
	node_close(nic->node);
	for (struct embedded *e = nic->closed, *next; e; e = next) {
		next = e->next;
		embed_free(e);
	}
	function_memories_free(nic->freed);
	pthread_cond_destroy(&nic->ended);
	pthread_mutex_destroy(&nic->lock);
	free(nic);
}

int dxp_nic_open(const struct dxp_nic_options *options, struct dxp_nic **out)
{
	static const struct dxp_nic_options defaults;
	const struct dxp_nic_options *o = options ? options : &defaults;
	struct dxp_nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return error_set(DXP_ENOMEM, "out of memory");
	if (o->qps > DXP_QPS) {
		free(nic);
		return error_set(DXP_EINVAL, "function 0 has %d queue pairs, not %u; use 0 for all",
				 DXP_QPS, o->qps);
	}
	nic->timeout_ns = (o->timeout_ms ? o->timeout_ms : HOST_TIMEOUT_MS) * MS_NS;
	nic->spin_us = o->spin_us;
	pthread_mutex_init(&nic->lock, NULL);
	pthread_cond_init(&nic->ended, NULL);
	int status = o->join ? fabric_join(nic, o) : alone_open(nic, o);
	if (status == DXP_OK && o->thread)
		status = embed_thread_start(nic);
	if (status != DXP_OK) {
		nic_free(nic);
		return status;
	}
	*out = nic;
	return DXP_OK;
}

void dxp_nic_close(struct dxp_nic *nic)
{
	if (!nic)
		return;
	assert(!nic->functions && "functions of the NIC are still open; close them first");
	nic_free(nic);
}

/* Frees closed functions and memory that the NIC no longer uses; returns how many. */
static uint32_t leftovers_free(struct dxp_nic *nic)
{
	struct nic *engine = node_nic(nic->node);
	uint32_t count = 0;

	for (struct embedded **link = &nic->closed, *e; (e = *link);) {
		if (!nic_user_idle(engine, e->index)) {
			link = &e->next;
			continue;
		}
		*link = e->next;
		embed_free(e);
		count++;
	}
	for (struct function_memory **link = &nic->freed, *m; (m = *link);) {
		if (nic_region_busy(engine, m->key)) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		m->next = NULL;
		function_memories_free(m);
		count++;
	}
	return count;
}

uint32_t embed_after_poll(struct dxp_nic *nic)
{
	return nic->closed || nic->freed ? leftovers_free(nic) : 0;
}

int dxp_nic_poll(struct dxp_nic *nic)
{
	if (nic->threaded)
		return 0; /* the NIC has its own thread, which polls */
	return (int)(node_poll(nic->node) + embed_after_poll(nic));
}

struct serve_call {
	const char *path;
	uint32_t functions;
};

static int serve(struct dxp_nic *nic, void *context)
{
	const struct serve_call *c = context;

	return node_offer(nic->node, c->functions, c->path);
}

int dxp_nic_serve(struct dxp_nic *nic, const char *path)
{
	struct serve_call c = {path, NIC_FUNCTIONS - 1};
	const char *where = path ? path : nic->name;
	int status = embed_run(nic, serve, &c);

	switch (status) {
	case DXP_OK: return status;
	case DXP_EEXIST:
		return error_set(DXP_EBUSY,
				 "this NIC is already served; call dxp_nic_serve() once");
	case DXP_EBUSY:
		return error_set(status,
				 "another program serves at %s, or the path is another file; "
				 "choose another path or name",
				 where);
	case DXP_ENOENT:
		return error_set(status, "the folder of %s does not exist; create it first", where);
	case DXP_EACCESS:
		return error_set(
			status,
			path ? "this user may not create the socket %s; choose another path"
			     : "%s has no folder for its sockets; set DXP_RUN to a folder that you "
			       "own, mode 700",
			where);
	case DXP_EUNSUPPORTED:
		return error_set(status, "DXP_RUN is empty, which turns serving off; set it to a "
					 "folder, or give a path");
	default: return error_set(status, "cannot serve at %s: %s", where, dxp_status_text(status));
	}
}
