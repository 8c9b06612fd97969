/* SPDX-License-Identifier: BSD-3-Clause */
/* Membership in a fabric: join, leave, node table. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/abandon.h"
#include "host/config.h"
#include "host/internal.h"
#include "host/join.h"
#include "host/move.h"

const char *dxp_fabric_error(const struct dxp_fabric *fabric)
{
	return error_text();
}

static int locks_create(struct dxp_fabric *f)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&f->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&f->progress, &monotonic);
	pthread_cond_init(&f->progress_wake, &monotonic);
	pthread_cond_init(&f->lost, &monotonic);
	pthread_condattr_destroy(&monotonic);
	f->leader_wakeup = f->progress_wakeup = -1;
	int status = wakeup_create(&f->leader_wakeup);
	return status == DXP_OK ? wakeup_create(&f->progress_wakeup) : status;
}

static void destroy(struct dxp_fabric *f)
{
	progress_stop(f);
	node_close(f->node);
	moves_destroy(f);
	executor_destroy(f);
	completions_destroy(f);
	if (f->leader_wakeup >= 0)
		close(f->leader_wakeup);
	if (f->progress_wakeup >= 0)
		close(f->progress_wakeup);
	pthread_cond_destroy(&f->progress);
	pthread_cond_destroy(&f->progress_wake);
	pthread_cond_destroy(&f->lost);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static bool table_complete(void *context)
{
	struct dxp_fabric *f = context;

	return join_complete(f->node);
}

static int open_node(struct dxp_fabric *f, const struct dxp_fabric_options *options,
		     const struct config *config)
{
	const struct node_options node = {.name = config->name,
					  .manager = config->manager,
					  .other_managers = config->other_managers,
					  .fabric_key = config->key,
					  .identity = config->keyed ? &config->identity : NULL,
					  .identity_file = config->identity_file,
					  .bind = config->bind,
					  .follow_address = !options->bind,
					  /* calls that wait spin themselves, so the node need
					   * not */
					  .spin_ns = UINT32_MAX,
					  .payload_crc = options->no_payload_crc ? "never" : NULL,
					  .changed = watch_changed,
					  .session_ended = watch_session_ended,
					  .changed_context = f};
	int status = join_open(&node, &f->node);

	if (status == DXP_OK)
		f->window = node_window(f->node);
	return status;
}

static int join(struct dxp_fabric *f)
{
	uint64_t deadline = clock_now_ns() + f->timeout_ns;
	int status = join_wait(f->node, f->manager, f->timeout_ns);

	if (status != DXP_OK)
		return status;
	if (host_fabric_wait(f, table_complete, f, deadline) != DXP_OK)
		return join_incomplete(f->manager);
	status = nic_region_register(node_nic(f->node), 0, &f->probe_word, sizeof(f->probe_word),
				     NIC_LOCAL, &f->probe_key);
	return status == DXP_OK ? DXP_OK
				: error_set(status, "cannot register a memory region: %s",
					    dxp_status_text(status));
}

int dxp_fabric_open(const struct dxp_fabric_options *options, struct dxp_fabric **out)
{
	static const struct dxp_fabric_options defaults;
	struct config config;
	int status = config_resolve(options ? options : &defaults, &config);

	if (status != DXP_OK)
		return status;
	options = options ? options : &defaults;
	struct dxp_fabric *f = calloc(1, sizeof(*f));
	if (!f) {
		keys_erase(&config, sizeof(config));
		return error_set(DXP_ENOMEM, "out of memory");
	}
	spin_init(&f->spin, options->spin_us == UINT32_MAX ? 0
			    : options->spin_us
				    ? (uint32_t)(min_u64(options->spin_us, S_NS / US_NS) * US_NS)
				    : WAIT_SPIN_NS);
	f->timeout_ns = (options->timeout_ms ? options->timeout_ms : HOST_TIMEOUT_MS) * MS_NS;
	f->watch_ns = UINT64_MAX;
	f->event_base = 1;
	executor_init(f);
	address_format(&config.manager, f->manager);
	status = locks_create(f);
	if (status == DXP_OK)
		status = open_node(f, options, &config);
	keys_erase(&config, sizeof(config));
	if (status == DXP_OK) {
		host_fabric_enter(f);
		status = join(f);
		host_fabric_leave(f);
	}
	if (status == DXP_OK)
		status = progress_start(f);
	if (status != DXP_OK) {
		destroy(f);
		return status;
	}
	use_remember(f);
	*out = f;
	return DXP_OK;
}

void dxp_fabric_close(struct dxp_fabric *fabric)
{
	if (!fabric)
		return;
	assert(!fabric->xpus && "xPUs of the fabric are still open; close them first");
	use_forget(fabric);
	destroy(fabric);
}

void fabric_abandon(struct dxp_fabric *fabric)
{
	host_fabric_enter(fabric);
	node_leave(fabric->node);
	host_fabric_leave(fabric);
}

static enum dxp_memory_kind memory_kind(const struct node_entry *row)
{
	if (row->kind != MANAGE_XPU)
		return DXP_MEMORY_NONE;
	return row->capabilities & MANAGE_CAPABILITY_BRIDGED ? DXP_MEMORY_BRIDGED
							     : DXP_MEMORY_DIRECT;
}

static void describe(const struct node_entry *row, struct dxp_node_info *out)
{
	*out = (struct dxp_node_info){.id = row->id,
				      .kind = row->kind == MANAGE_XPU ? DXP_NODE_XPU
								      : DXP_NODE_HOST,
				      .granted = row->granted,
				      .alive = row->alive,
				      .memory_bytes = row->memory_bytes,
				      .memory_kind = memory_kind(row)};
	snprintf(out->name, sizeof(out->name), "%s", row->name);
	snprintf(out->engine, sizeof(out->engine), "%s", row->engine);
	address_format(&row->address, out->address);
}

int dxp_fabric_nodes_sized(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count,
			   size_t row_bytes)
{
	struct dxp_node_info row;

	host_fabric_enter(fabric);
	host_fabric_poll(fabric);
	const struct node_table *table = node_table(fabric->node);
	size_t nodes = node_table_count(table);
	for (size_t i = 0; i < nodes && i < count; i++) {
		describe(node_table_at(table, i), &row);
		host_copy_sized((char *)out + i * row_bytes, row_bytes, &row, sizeof(row));
	}
	host_fabric_leave(fabric);
	return (int)nodes;
}

/* For programs that were built with a release without dxp_fabric_nodes_sized: returns the struct as
 * it was in that release. */
#undef dxp_fabric_nodes
int dxp_fabric_nodes(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count)
{
	return dxp_fabric_nodes_sized(fabric, out, count,
				      HOST_STRUCT_BYTES(struct dxp_node_info, memory_kind));
}

int dxp_fabric_traffic(struct dxp_fabric *fabric, uint16_t node, struct dxp_link_bytes *out)
{
	host_fabric_enter(fabric);
	node_traffic(fabric->node, node, &out->sent_bytes, &out->received_bytes);
	host_fabric_leave(fabric);
	return DXP_OK;
}
