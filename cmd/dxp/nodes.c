/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp nodes`: prints the manager's whole node table, regardless of grants. */
#include "cmd/dxp/nodes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/session.h"
#include "wire/manage.h"
#include "xpu/cfg.h"

/* ---- traffic ----
 *
 * Reads the traffic counters from the registers of all xPUs in parallel, so that unreachable xPUs
 * cost one timeout in total. */

struct traffic {
	bool known;
	uint64_t in_bytes, out_bytes;
};

#define THREADS_MAX 32 /* threads: rarely are more xPUs unreachable at once */

/* SENT_LO, SENT_HI, RECEIVED_LO and RECEIVED_HI are adjacent. */
#define COUNTERS 4

struct inquest {
	struct dxp_fabric *fabric;
	const struct node_entry *nodes;
	struct traffic *out;
	size_t count;
	_Atomic size_t next; /* index of the next node to read */
};

static void read_one(struct dxp_fabric *fabric, const char *name, struct traffic *out)
{
	struct dxp_xpu *xpu;
	uint32_t words[COUNTERS];

	if (dxp_xpu_open(fabric, name, &xpu) != DXP_OK)
		return;
	if (dxp_reg_read(xpu, CFG_SENT_LO, words, COUNTERS) == DXP_OK) {
		out->out_bytes = words[0] | (uint64_t)words[1] << 32;
		out->in_bytes = words[2] | (uint64_t)words[3] << 32;
		out->known = true;
	}
	dxp_xpu_close(xpu);
}

static void *read_some(void *context)
{
	struct inquest *q = context;
	size_t i;

	while ((i = atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed)) < q->count) {
		if (q->nodes[i].kind == MANAGE_XPU && q->nodes[i].alive)
			read_one(q->fabric, q->nodes[i].name, &q->out[i]);
	}
	return NULL;
}

static void read_all(struct inquest *q)
{
	size_t wanted = min_u64(q->count, THREADS_MAX), started = 0;
	pthread_t threads[THREADS_MAX];

	while (started + 1 < wanted && pthread_create(&threads[started], NULL, read_some, q) == 0)
		started++;
	read_some(q); /* this thread reads too, and alone if no other started */
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

/* Returns one entry for each node; the caller frees the array. `known` is false for hosts, dead
 * nodes and nodes that this host may not use. Returns NULL if out of memory. */
static struct traffic *traffic_read(const struct session_options *options,
				    const struct node_entry *nodes, size_t count)
{
	struct traffic *all = calloc(count + 1, sizeof(*all));
	struct inquest q = {.nodes = nodes, .out = all, .count = count};

	/* A host that may not join still gets the table. */
	if (!all || dxp_fabric_open(&options->fabric, &q.fabric) != DXP_OK)
		return all;
	read_all(&q);
	dxp_fabric_close(q.fabric);
	return all;
}

const char *nodes_bytes_format(uint64_t bytes, char out[16])
{
	static const char units[] = " KMGTPE";
	unsigned unit = 0;
	double value = (double)bytes;

	while (value >= 1024 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	if (unit == 0)
		snprintf(out, 16, "%llu", (unsigned long long)bytes);
	else
		snprintf(out, 16, value < 10 && value != (double)(int)value ? "%.1f%c" : "%.0f%c",
			 value, units[unit]);
	return out;
}

/* Returns how the network reaches the node's memory; "" for a host. */
static const char *memory_kind(const struct node_entry *row)
{
	if (row->kind != MANAGE_XPU)
		return "";
	return row->capabilities & MANAGE_CAPABILITY_BRIDGED ? "bridged" : "direct";
}

json_t *node_json(const struct node_entry *row, const struct traffic *traffic)
{
	char address[UDP_ADDRESS_TEXT_BYTES];
	json_t *node = json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "id", row->id, "name", row->name,
		"kind", row->kind == MANAGE_XPU ? "xpu" : "host", "engine", row->engine, "device",
		row->device, "memory_bytes", (json_int_t)row->memory_bytes, "memory_kind",
		memory_kind(row), "state", row->alive ? "alive" : "dead", "address",
		address_format(&row->address, address));

	if (node && traffic && traffic->known) {
		json_object_set_new(node, "in_bytes", json_integer((json_int_t)traffic->in_bytes));
		json_object_set_new(node, "out_bytes",
				    json_integer((json_int_t)traffic->out_bytes));
	}
	return node;
}

static void print_row(const struct node_entry *row, const struct traffic *traffic)
{
	char address[UDP_ADDRESS_TEXT_BYTES], memory[16] = "", in[16] = "", out[16] = "";

	if (row->memory_bytes)
		nodes_bytes_format(row->memory_bytes, memory);
	if (traffic->known) {
		nodes_bytes_format(traffic->in_bytes, in);
		nodes_bytes_format(traffic->out_bytes, out);
	}
	printf("%5u  %-16s %-5s %-8s %7s  %-7s  %-5s  %-22s %8s %8s\n", row->id, row->name,
	       row->kind == MANAGE_XPU ? "xpu" : "host", row->engine, memory, memory_kind(row),
	       row->alive ? "alive" : "dead", address_format(&row->address, address), in, out);
}

static int print_table(const struct node_entry *rows, const struct traffic *traffic, size_t count)
{
	printf("%5s  %-16s %-5s %-8s %7s  %-7s  %-5s  %-22s %8s %8s\n", "ID", "NAME", "KIND",
	       "ENGINE", "MEMORY", "VIA", "STATE", "ADDRESS", "IN", "OUT");
	for (size_t i = 0; i < count; i++)
		print_row(&rows[i], &traffic[i]);
	return EXIT_DONE;
}

static int print_json(const struct node_entry *rows, const struct traffic *traffic, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, node_json(&rows[i], &traffic[i]));
	return print_json_text(all);
}

int command_nodes(int argc, char **argv)
{
	struct session_options o = {0};
	struct inquiry q = {.fabric = &o.fabric, .kind = QUERY_NODES};
	struct query *a;
	const struct node_entry *nodes;
	const struct option_row rows[] = {SESSION_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {"nodes",
				    "",
				    "Lists the nodes of the fabric. VIA is how the network reaches "
				    "an xPU's memory: direct, or bridged\n"
				    "through DMA engines (`dxp bridge`). IN counts the bytes PUT "
				    "into the xPU since it started, OUT the bytes that it\n"
				    "PUT elsewhere; both are blank for xPUs that this host may not "
				    "use or cannot reach.",
				    rows,
				    ARRAY_COUNT(rows),
				    0,
				    0};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	size_t count = query_nodes(a, &nodes);
	struct traffic *traffic = traffic_read(&o, nodes, count);
	int status = !traffic ? print_fail("out of memory")
			      : (o.json ? print_json : print_table)(nodes, traffic, count);
	free(traffic);
	query_destroy(a);
	return status;
}
