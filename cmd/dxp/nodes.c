/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp nodes`: prints the manager's whole node table, regardless of grants. */
#include "cmd/dxp/nodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/fabric_stats.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/parallel.h"
#include "cmd/dxp/reach.h"
#include "cmd/dxp/services.h"
#include "cmd/dxp/session.h"
#include "cmd/dxp/top.h"
#include "host/path.h"
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
	bool blocked; /* the node still held a lease later, so its port is blocked */
	bool dead;
	uint64_t in_bytes, out_bytes;
	bool refused; /* for another protection, or for the lack of a key pair */
	/* protection of packets between this host and the node; NULL: unknown */
	const char *protect;
	bool keyed; /* the session proves the key pairs of both sides */
	/* check of the payload of packets that this host sends to the node */
	const char *payload_check;
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
	struct rltp_view view;

	if (q->nodes[i].kind != MANAGE_XPU || !q->nodes[i].alive)
		return;
	int status = dxp_xpu_open(q->fabric, q->nodes[i].name, &xpu);
	if (status == DXP_OK) {
		status = dxp_reg_read(xpu, CFG_SENT_LO, words, COUNTERS);
		if (status == DXP_OK && path_view(q->fabric, q->nodes[i].id, &view) == DXP_OK) {
			out->protect = wire_protect_name(view.protect);
			out->keyed = view.keyed;
			out->payload_check = view.protect       ? "tag"
					     : view.payload_crc ? "crc"
								: "none";
		}
		dxp_xpu_close(xpu);
	}
	out->refused = status == DXP_EPROTECT;
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

	bool alive = false;

	for (size_t i = 0; i < count; i++)
		alive |= nodes[i].kind == MANAGE_XPU && nodes[i].alive;
	/* A join takes a node id, so the fabric is joined only to reach an xPU. Without a fabric
	 * that can be joined, the table is printed without traffic. */
	if (!all || !alive || dxp_fabric_open(&options->fabric, &q.fabric) != DXP_OK)
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

json_t *node_json(const struct node_entry *row, const struct traffic *traffic)
{
	char address[UDP_ADDRESS_TEXT_BYTES], version[MANAGE_RELEASE_BYTES];
	json_t *node =
		json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "id", row->id, "name",
			  row->name, "kind", row->kind == MANAGE_XPU ? "xpu" : "host", "engine",
			  row->engine, "device", row->device, "memory_bytes",
			  (json_int_t)row->memory_bytes, "memory_kind", manage_memory_text(row),
			  "state", row->alive && !(traffic && traffic->dead) ? "alive" : "dead",
			  "address", address_format(&row->address, address));

	if (node)
		json_object_set_new(node, "version",
				    json_string(manage_release_format(row->capabilities, version)));
	if (node)
		json_object_set_new(node, "advertised",
				    json_boolean(row->capabilities & MANAGE_CAPABILITY_ADVERTISED));
	if (node && traffic && (traffic->known || traffic->blocked))
		json_object_set_new(node, "data_path",
				    json_string(traffic->known ? "open" : "blocked"));
	if (node && traffic && traffic->refused)
		json_object_set_new(node, "data_path", json_string("refused"));
	if (node && traffic && traffic->known) {
		json_object_set_new(node, "in_bytes", json_integer((json_int_t)traffic->in_bytes));
		json_object_set_new(node, "out_bytes",
				    json_integer((json_int_t)traffic->out_bytes));
		if (traffic->protect) {
			json_object_set_new(node, "protect", json_string(traffic->protect));
			json_object_set_new(node, "key_pairs", json_boolean(traffic->keyed));
		}
		if (traffic->payload_check)
			json_object_set_new(node, "payload_check",
					    json_string(traffic->payload_check));
	}
	return node;
}

static const char *state_text(const struct node_entry *row, const struct traffic *traffic)
{
	if (!row->alive || traffic->dead)
		return "dead";
	return traffic->blocked ? STATE_BLOCKED : "alive";
}

/* The rows to print, with the counters that some columns show. */
struct listing {
	const struct node_entry *rows;
	const struct traffic *traffic;
	size_t count;
	struct stats_list wide; /* counters for --wide; otherwise empty */
};

static double repeats_percent(const uint64_t *totals)
{
	const uint64_t repeats = totals[STATS_SESSION_retransmitted_gap] +
				 totals[STATS_SESSION_retransmitted_probe] +
				 totals[STATS_SESSION_retransmitted_timeout] +
				 totals[STATS_SESSION_retransmitted_busy];
	const uint64_t sent = totals[STATS_SESSION_sent_packets];

	return sent ? 100.0 * (double)repeats / (double)sent : 0;
}

static void print_wide(const struct stats_view *v)
{
	const uint64_t *totals = v->node.totals, *values = v->node.values;
	const uint64_t up_ns = v->node.published_ns - v->node.started_ns + v->age_ns;
	char sent[16], received[16];

	if (v->missing) {
		printf("  %s", v->missing);
		return;
	}
	printf("  %9.0f %7u %5u %8s %8s %6.2f %6llu  %s", (double)up_ns / S_NS, v->pid,
	       v->node.session_count,
	       nodes_bytes_format(values[STATS_LINK_received_bytes], received),
	       nodes_bytes_format(values[STATS_LINK_sent_bytes], sent), repeats_percent(totals),
	       (unsigned long long)values[STATS_LINK_receive_drops], v->node.program);
}

/* Prints the row of node `i`. `width` is the width of column STATE in characters. */
static void print_row(const struct listing *l, size_t i, int width)
{
	const struct node_entry *row = &l->rows[i];
	const struct traffic *traffic = &l->traffic[i];
	char address[UDP_ADDRESS_TEXT_BYTES], memory[16] = "", in[16] = "", out[16] = "";
	char version[MANAGE_RELEASE_BYTES];

	if (row->memory_bytes)
		nodes_bytes_format(row->memory_bytes, memory);
	if (traffic->known) {
		nodes_bytes_format(traffic->in_bytes, in);
		nodes_bytes_format(traffic->out_bytes, out);
	}
	printf("%5u  %-16s %-5s %-8s %7s  %-7s  %-*s  %-22s %-7s %8s %8s  %-9s", row->id, row->name,
	       row->kind == MANAGE_XPU ? "xpu" : "host", row->engine, memory,
	       manage_memory_text(row), width, state_text(row, traffic),
	       address_format(&row->address, address),
	       manage_release_format(row->capabilities, version), in, out,
	       traffic->protect   ? traffic->protect
	       : traffic->refused ? "refused"
				  : "");
	if (l->wide.count)
		print_wide(&l->wide.views[i]);
	putchar('\n');
}

static int print_table(const struct listing *l)
{
	int width = sizeof("alive") - 1;

	for (size_t i = 0; i < l->count; i++)
		width = l->traffic[i].blocked ? (int)sizeof(STATE_BLOCKED) - 1 : width;
	printf("%5s  %-16s %-5s %-8s %7s  %-7s  %-*s  %-22s %-7s %8s %8s  %-9s", "ID", "NAME",
	       "KIND", "ENGINE", "MEMORY", "VIA", width, "STATE", "ADDRESS", "VERSION", "IN", "OUT",
	       "PROTECT");
	if (l->wide.count)
		printf("  %9s %7s %5s %8s %8s %6s %6s  %s", "UP s", "PID", "SESS", "RECEIVED",
		       "SENT", "RTX%", "DROPS", "PROGRAM");
	putchar('\n');
	for (size_t i = 0; i < l->count; i++)
		print_row(l, i, width);
	return EXIT_DONE;
}

static int print_json(const struct listing *l)
{
	json_t *all = json_array();

	for (size_t i = 0; i < l->count; i++) {
		json_t *node = node_json(&l->rows[i], &l->traffic[i]);
		if (l->wide.count)
			json_object_set_new(node, "counters", top_node_json(&l->wide.views[i]));
		json_array_append_new(all, node);
	}
	return print_json_text(all);
}

static int services_print(struct fabric_stats *source, const struct option_list *switches)
{
	struct fabric_services services = {0};

	if (fabric_services_read(source, switches->values, switches->count, &services) != DXP_OK)
		return print_fail("%s", source->text);
	putchar('\n');
	services_table(stdout, &services, 0);
	fabric_services_free(&services);
	return EXIT_DONE;
}

/* Prints the table. With `wide` also reads and prints the nodes' own counters. */
static int listing_print(const struct session_options *o, struct listing *l, bool wide,
			 const struct option_list *switches)
{
	struct fabric_stats source = {.fabric = &o->fabric, .details = o->json};

	if (wide && fabric_stats_read(&source, l->rows, l->count, &l->wide) != DXP_OK)
		return print_fail("%s", source.text);
	int status = (o->json ? print_json : print_table)(l);
	stats_list_free(&l->wide);
	if (wide && status == EXIT_DONE && !o->json)
		status = services_print(&source, switches);
	return status;
}

int command_nodes(int argc, char **argv)
{
	struct session_options o = {0};
	struct inquiry q = {.fabric = &o.fabric, .kind = QUERY_NODES};
	struct query *a;
	const struct node_entry *nodes;
	struct option_list switches = {0};
	bool wide = false;
	const struct option_row rows[] = {SESSION_ROWS(o),
					  {"wide", NULL,
					   "show counters of each node, from the node itself",
					   OPTION_FLAG, &wide, 0, 0},
					  {"switch", "IP",
					   "with --wide, also this switch, if its dxp-switch has "
					   "--key; IP or IP:PORT; may be repeated",
					   OPTION_LIST, &switches, 0, 0},
					  JSON_ROW(o.json)};
	const struct usage usage = {"nodes", "",
				    "Lists the nodes of the fabric. VIA is how the network reaches "
				    "an xPU's memory: direct, or bridged\n"
				    "through DMA engines (`dxp bridge`). IN counts the bytes PUT "
				    "into the xPU since it started, OUT the bytes that it\n"
				    "PUT elsewhere; both are blank for xPUs that this host may not "
				    "use or cannot reach. VERSION is blank if a\n"
				    "node does not report it.\n"
				    "STATE is alive, dead, or \"alive, data path blocked\": the "
				    "manager hears from the xPU, but it does not answer\n"
				    "this host; `dxp doctor --to NAME` shows why. PROTECT is the "
				    "protection of packets between this host and the xPU, or\n"
				    "\"refused\": the log has the reason.\n"
				    "With --wide, each node answers with its counters: the bytes "
				    "of its socket, with headers, the share of retransmitted\n"
				    "packets, and datagrams dropped because its receive buffer was "
				    "full. Otherwise the reason is shown, such as \"no answer\". "
				    "The manager, and the switches of --switch with those above "
				    "and below, follow below the\n"
				    "table; they are not in the JSON, but in that of `dxp top "
				    "--fabric --json`.",
				    ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (switches.count && !wide) {
		print_fail("--switch needs --wide");
		return EXIT_USAGE;
	}
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	size_t count = query_nodes(a, &nodes);
	struct traffic *traffic = traffic_read(&o, nodes, count);
	struct listing listing = {.rows = nodes, .traffic = traffic, .count = count};
	int status = !traffic ? print_fail("out of memory")
			      : listing_print(&o, &listing, wide, &switches);
	free(traffic);
	query_destroy(a);
	return status;
}
