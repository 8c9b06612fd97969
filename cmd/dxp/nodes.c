/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp nodes`: prints the manager's whole node table, regardless of grants. */
#include "cmd/dxp/nodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/parallel.h"
#include "cmd/dxp/reach.h"
#include "cmd/dxp/session.h"
#include "wire/manage.h"
#include "xpu/cfg.h"

#define STATE_BLOCKED "alive, data path blocked"

/* ---- traffic ----
 *
 * Reads the traffic counters from the registers of all xPUs in parallel, so that unreachable xPUs
 * cost one timeout in total. */

struct traffic {
	bool known;
	bool silent;  /* no answer, although the table listed the node as alive */
	bool blocked; /* still alive after the lease that it held then */
	bool dead;
	uint64_t in_bytes, out_bytes;
};

/* SENT_LO, SENT_HI, RECEIVED_LO and RECEIVED_HI are adjacent. */
#define COUNTERS 4

struct inquest {
	struct dxp_fabric *fabric;
	const struct node_entry *nodes;
	struct traffic *out;
};

static void read_one(void *context, size_t i)
{
	struct inquest *q = context;
	struct traffic *out = &q->out[i];
	struct dxp_xpu *xpu;
	uint32_t words[COUNTERS];

	if (q->nodes[i].kind != MANAGE_XPU || !q->nodes[i].alive)
		return;
	int status = dxp_xpu_open(q->fabric, q->nodes[i].name, &xpu);
	if (status == DXP_OK) {
		status = dxp_reg_read(xpu, CFG_SENT_LO, words, COUNTERS);
		dxp_xpu_close(xpu);
	}
	out->silent = reach_silent(status);
	out->known = status == DXP_OK;
	if (!out->known)
		return;
	out->out_bytes = words[0] | (uint64_t)words[1] << 32;
	out->in_bytes = words[2] | (uint64_t)words[3] << 32;
}

/* Distinguishes silent nodes that hold a lease from dead ones. */
static void silent_judge(const struct session_options *options, const struct inquest *q,
			 size_t count, uint64_t since_ns)
{
	struct query *later;
	size_t silent = 0;

	for (size_t i = 0; i < count; i++)
		silent += q->out[i].silent;
	if (silent == 0 || reach_table_settled(&options->fabric, since_ns, &later) != DXP_OK)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct node_entry *row = reach_row(later, q->nodes[i].name);
		q->out[i].dead = q->out[i].silent && !(row && row->alive);
		q->out[i].blocked = q->out[i].silent && !q->out[i].dead;
	}
	query_destroy(later);
}

/* Returns one entry for each node; the caller frees the array. `known` is false for hosts, dead
 * nodes and nodes that this host may not use. Returns NULL if out of memory. */
static struct traffic *traffic_read(const struct session_options *options,
				    const struct node_entry *nodes, size_t count)
{
	struct traffic *all = calloc(count + 1, sizeof(*all));
	struct inquest q = {.nodes = nodes, .out = all};
	const uint64_t since_ns = clock_now_ns();

	/* A host that may not join still gets the table. */
	if (!all || dxp_fabric_open(&options->fabric, &q.fabric) != DXP_OK)
		return all;
	parallel_run(count, read_one, &q);
	dxp_fabric_close(q.fabric);
	silent_judge(options, &q, count, since_ns);
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
	json_t *node =
		json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "id", row->id, "name",
			  row->name, "kind", row->kind == MANAGE_XPU ? "xpu" : "host", "engine",
			  row->engine, "device", row->device, "memory_bytes",
			  (json_int_t)row->memory_bytes, "memory_kind", memory_kind(row), "state",
			  row->alive && !(traffic && traffic->dead) ? "alive" : "dead", "address",
			  address_format(&row->address, address));

	if (node && traffic && (traffic->known || traffic->blocked))
		json_object_set_new(node, "data_path",
				    json_string(traffic->known ? "open" : "blocked"));
	if (node && traffic && traffic->known) {
		json_object_set_new(node, "in_bytes", json_integer((json_int_t)traffic->in_bytes));
		json_object_set_new(node, "out_bytes",
				    json_integer((json_int_t)traffic->out_bytes));
	}
	return node;
}

static const char *state_text(const struct node_entry *row, const struct traffic *traffic)
{
	if (!row->alive || traffic->dead)
		return "dead";
	return traffic->blocked ? STATE_BLOCKED : "alive";
}

/* `width`: of column STATE. */
static void print_row(const struct node_entry *row, const struct traffic *traffic, int width)
{
	char address[UDP_ADDRESS_TEXT_BYTES], memory[16] = "", in[16] = "", out[16] = "";

	if (row->memory_bytes)
		nodes_bytes_format(row->memory_bytes, memory);
	if (traffic->known) {
		nodes_bytes_format(traffic->in_bytes, in);
		nodes_bytes_format(traffic->out_bytes, out);
	}
	printf("%5u  %-16s %-5s %-8s %7s  %-7s  %-*s  %-22s %8s %8s\n", row->id, row->name,
	       row->kind == MANAGE_XPU ? "xpu" : "host", row->engine, memory, memory_kind(row),
	       width, state_text(row, traffic), address_format(&row->address, address), in, out);
}

static int print_table(const struct node_entry *rows, const struct traffic *traffic, size_t count)
{
	int width = sizeof("alive") - 1;

	for (size_t i = 0; i < count; i++)
		width = traffic[i].blocked ? (int)sizeof(STATE_BLOCKED) - 1 : width;
	printf("%5s  %-16s %-5s %-8s %7s  %-7s  %-*s  %-22s %8s %8s\n", "ID", "NAME", "KIND",
	       "ENGINE", "MEMORY", "VIA", width, "STATE", "ADDRESS", "IN", "OUT");
	for (size_t i = 0; i < count; i++)
		print_row(&rows[i], &traffic[i], width);
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
				    "use or cannot reach.\n"
				    "STATE is alive, dead, or \"alive, data path blocked\": the "
				    "manager hears from the xPU, but it does not answer\n"
				    "this host; `dxp doctor --to NAME` shows why.",
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
