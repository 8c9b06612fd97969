/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the network path to xPUs: node table, grant, data port. For xPUs that answer, also checks
 * version, round trip, path MTU, loss and interface. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/checks.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/parallel.h"
#include "cmd/dxp/reach.h"
#include "host/path.h"
#include "wire/frame.h"
#include "wire/manage.h"
#include "xpu/cfg.h"

#define PATH_CHECKS  9 /* of one xPU: node table, data port, and those of path_measure() */
#define READS        100
#define PUT_BYTES    (1u << 20)
#define PUT_PACKETS  1000u /* packets: one lost packet is 0.1 % */
#define PUTS_MAX     10
#define SEARCH_NS    (2 * S_NS) /* ns that a search for the path MTU may last */
#define WHY_BYTES    512
#define HEADER_BYTES 48 /* bytes of the IPv6 and UDP headers */

struct path {
	const struct node_entry *row;
	struct dxp_xpu *xpu; /* NULL: not open */
	int status;          /* status of the attempt to open the xPU */
	char why[WHY_BYTES];
};

struct paths {
	const struct session_options *options;
	struct dxp_fabric *fabric;
	/* node table now, and after a lease; `settled` is NULL if no node was silent */
	struct query *table, *settled;
	struct path *all;
	size_t count;
	struct check_list *out;
	size_t space; /* of out->checks */
};

static struct check *check_add(struct paths *p, const struct node_entry *row)
{
	assert(p->out->count < p->space);
	struct check *c = &p->out->checks[p->out->count++];

	memset(c, 0, sizeof(*c));
	snprintf(c->node, sizeof(c->node), "%s", row ? row->name : "");
	return c;
}

/* ---- reach the node ---- */

static void path_open(void *context, size_t index)
{
	struct paths *p = context;
	struct path *path = &p->all[index];

	if (!path->row->alive)
		return; /* check_row reports it */
	path->status = dxp_xpu_open(p->fabric, path->row->name, &path->xpu);
	if (path->status != DXP_OK)
		snprintf(path->why, sizeof(path->why), "%s", dxp_fabric_error(NULL));
}

static void check_silent(struct check *c, const struct paths *p, const struct path *path)
{
	const struct node_entry *later = p->settled ? reach_row(p->settled, path->row->name) : NULL;
	char address[UDP_ADDRESS_TEXT_BYTES], rule[REACH_RULE_BYTES];

	if (!later || !later->alive)
		check_set(c, CHECK_FAIL, "data port", "start its dxpd again",
			  "the node has just died: %s", path->why);
	else
		check_set(c, CHECK_FAIL, "data port", reach_node_rule(path->row, rule),
			  "blocked: UDP %s does not answer, although the node is alive for the "
			  "manager",
			  address_format(&path->row->address, address));
}

static void check_port(struct check *c, const struct paths *p, const struct path *path)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (path->status == DXP_OK)
		check_set(c, CHECK_OK, "data port", NULL, "UDP %s answers",
			  address_format(&path->row->address, address));
	else if (reach_silent(path->status))
		check_silent(c, p, path);
	else if (path->status == DXP_ENOENT)
		check_set(c, CHECK_FAIL, "permission", "permit this host with `dxp grant`",
			  "this host may not use the xPU");
	else
		check_set(c, CHECK_FAIL, "data port", NULL, "%s", path->why);
}

static void check_row(struct check *c, const struct node_entry *row)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (row->alive)
		check_set(c, CHECK_OK, "node table", NULL, "node %u at %s%s, engine %s", row->id,
			  address_format(&row->address, address),
			  row->capabilities & MANAGE_CAPABILITY_ADVERTISED ? " (advertised)" : "",
			  row->engine);
	else
		check_set(c, CHECK_FAIL, "node table",
			  "on that machine, start dxpd again (`systemctl restart dxpd`, or `dxp "
			  "up`); "
			  "its log has the reason",
			  "node %u at %s is dead: its lease expired", row->id,
			  address_format(&row->address, address));
}

/* ---- measure ---- */

static void check_version(struct check *c, const struct path *path)
{
	struct dxp_xpu *xpu = path->xpu;
	char release[MANAGE_RELEASE_BYTES];
	uint32_t words[2];

	if (dxp_reg_read(xpu, CFG_MAGIC, words, 2) != DXP_OK)
		check_set(c, CHECK_FAIL, "version", NULL, "%s", dxp_fabric_error(NULL));
	else if (words[0] != CFG_MAGIC_VALUE || words[1] != CFG_VERSION_VALUE)
		check_set(c, CHECK_WARN, "version",
			  "install the same release on both machines; `dxp version` prints it",
			  "its registers have version %u, this program expects %u", words[1],
			  CFG_VERSION_VALUE);
	else
		check_set(c, CHECK_OK, "version", NULL,
			  "wire %d, registers %u, as here; its release is %s", WIRE_VERSION,
			  words[1],
			  *manage_release_format(path->row->capabilities, release) ? release
										   : "unknown");
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void check_round_trip(struct check *c, struct dxp_xpu *xpu)
{
	uint64_t times_ns[READS];
	uint32_t word;

	for (unsigned i = 0; i < READS; i++) {
		const uint64_t begin_ns = clock_now_ns();
		if (dxp_reg_read(xpu, CFG_MAGIC, &word, 1) != DXP_OK) {
			check_set(c, CHECK_FAIL, "round trip", NULL, "%s", dxp_fabric_error(NULL));
			return;
		}
		times_ns[i] = clock_now_ns() - begin_ns;
	}
	qsort(times_ns, READS, sizeof(times_ns[0]), by_size);
	check_set(c, CHECK_OK, "round trip", NULL, "median %.0f us, longest %.0f us, of %d",
		  (double)times_ns[READS / 2] / 1e3, (double)times_ns[READS - 1] / 1e3, READS);
}

/* Excludes tail probes, which a late acknowledgement also causes. */
static uint64_t lost_packets(const struct rltp_counters *c)
{
	const uint64_t again = (uint64_t)c->retransmitted_gap + c->retransmitted_timeout;

	return again > c->spurious ? again - c->spurious : 0;
}

/* PUTs zeros to `address` until enough packets are sent. */
static int packets_send(const struct paths *p, const struct path *path, uint64_t address,
			uint64_t *sent, uint64_t *lost)
{
	struct rltp_view before = {0}, after = {0};
	void *zeros = calloc(1, PUT_BYTES);
	int status = zeros ? path_view(p->fabric, path->row->id, &before) : DXP_ENOMEM;

	*sent = *lost = 0;
	for (unsigned i = 0; status == DXP_OK && *sent < PUT_PACKETS && i < PUTS_MAX; i++) {
		status = dxp_mem_write(path->xpu, address, zeros, PUT_BYTES);
		if (status == DXP_OK)
			status = path_view(p->fabric, path->row->id, &after);
		*sent = after.counters.sent_packets - before.counters.sent_packets;
	}
	const uint64_t first = lost_packets(&before.counters), last = lost_packets(&after.counters);
	*lost = last > first ? last - first : 0;
	free(zeros);
	return status;
}

static void check_loss(struct check *c, const struct paths *p, const struct path *path)
{
	uint64_t address, sent, lost;

	if (dxp_mem_alloc(path->xpu, PUT_BYTES, &address) != DXP_OK) {
		check_set(c, CHECK_OK, "loss", NULL, "not measured: the xPU has no free memory");
		return;
	}
	const int status = packets_send(p, path, address, &sent, &lost);
	dxp_mem_free(path->xpu, address);
	if (status != DXP_OK) {
		check_set(c, CHECK_FAIL, "loss", NULL, "%s", dxp_fabric_error(NULL));
		return;
	}
	sent += lost; /* adds the retransmissions: each lost packet was sent a second time */
	const bool high = lost * PUT_PACKETS > sent;
	check_set(c, high ? CHECK_WARN : CHECK_OK, "loss",
		  high ? "compare `ip -s link` and `ethtool -S` on both machines and the counters "
			 "of the switches between them"
		       : NULL,
		  "%llu of %llu packets to the node (%.2f %%)", (unsigned long long)lost,
		  (unsigned long long)sent, sent ? 100.0 * (double)lost / (double)sent : 0.0);
}

/* Waits for the end of the search for the path MTU, which needs traffic. */
static int path_search(const struct paths *p, const struct path *path, struct rltp_view *out)
{
	const struct timespec pause = {.tv_nsec = 5 * MS_NS};
	const uint64_t until_ns = clock_now_ns() + SEARCH_NS;
	uint32_t word;
	int status;

	while ((status = path_view(p->fabric, path->row->id, out)) == DXP_OK && out->searching &&
	       clock_now_ns() < until_ns) {
		status = dxp_reg_read(path->xpu, CFG_MAGIC, &word, 1);
		if (status != DXP_OK)
			return status;
		nanosleep(&pause, NULL);
	}
	return status;
}

static void check_mtu(struct check *c, const struct paths *p, const struct path *path)
{
	struct rltp_view view;

	if (path_search(p, path, &view) != DXP_OK) {
		check_set(c, CHECK_FAIL, "path MTU", NULL, "%s", dxp_fabric_error(NULL));
		return;
	}
	const unsigned tag = view.protect ? WIRE_SEAL_BYTES : 0;
	const unsigned mtu = view.unit + WIRE_DATA_BYTES + tag + HEADER_BYTES;
	if (view.unit < view.agreed)
		check_set(c, CHECK_WARN, "path MTU",
			  "set the same MTU on all interfaces and switches of the path",
			  "about %u, but the interfaces at both ends have %u: packets carry %u "
			  "bytes of payload, not %u",
			  mtu, view.agreed + WIRE_DATA_BYTES + tag + HEADER_BYTES, view.unit,
			  view.agreed);
	else
		check_set(c, CHECK_OK, "path MTU", NULL,
			  "at least %u: packets carry %u bytes of payload", mtu, view.unit);
}

static void check_protection(struct check *c, const struct paths *p, const struct path *path)
{
	struct rltp_view view;

	if (path_view(p->fabric, path->row->id, &view) != DXP_OK)
		check_set(c, CHECK_FAIL, "protection", NULL, "%s", dxp_fabric_error(NULL));
	else if (view.protect == WIRE_PROTECT_ENCRYPT)
		check_set(c, CHECK_OK, "protection", NULL, "encrypt: AES-128-GCM, %s",
			  view.keyed                ? "key pairs of both sides proven"
			  : view.state == RLTP_OPEN ? "only the fabric key proven"
						    : "but the session has closed");
	else if (view.protect == WIRE_PROTECT_INTEGRITY)
		check_set(c, CHECK_OK, "protection", NULL,
			  "integrity: anybody on the path can read the packets, but not change "
			  "them");
	else if (address_loopback(&path->row->address))
		check_set(c, CHECK_OK, "protection", NULL,
			  "none: the packets do not leave this machine");
	else
		check_set(c, CHECK_WARN, "protection",
			  "start dxpd and programs with --protect encrypt if the path leaves this "
			  "machine",
			  "none: anybody on the path can read and change the packets");
}

static void check_payload(struct check *c, const struct paths *p, const struct path *path)
{
	struct rltp_view view;

	if (path_view(p->fabric, path->row->id, &view) != DXP_OK)
		check_set(c, CHECK_FAIL, "payload check", NULL, "%s", dxp_fabric_error(NULL));
	else if (view.protect)
		check_set(c, CHECK_OK, "payload check", NULL, "the tag of each packet");
	else if (view.payload_crc)
		check_set(c, CHECK_OK, "payload check", NULL, "CRC-32C of each packet");
	else
		check_set(c, CHECK_OK, "payload check", NULL,
			  "none in sent packets: the path has no wire, or --payload-crc is never");
}

static void path_measure(struct paths *p, const struct path *path)
{
	check_version(check_add(p, path->row), path);
	check_round_trip(check_add(p, path->row), path->xpu);
	check_protection(check_add(p, path->row), p, path);
	check_payload(check_add(p, path->row), p, path);
	check_mtu(check_add(p, path->row), p, path);
	check_loss(check_add(p, path->row), p, path);
	check_interface(check_add(p, path->row), &path->row->address);
}

/* ---- all nodes ---- */

static bool paths_choose(struct paths *p, const char *name)
{
	const struct node_entry *rows, *row = name ? reach_row(p->table, name) : NULL;
	const size_t count = query_nodes(p->table, &rows);

	if (name && (!row || row->kind != MANAGE_XPU)) {
		check_set(check_add(p, NULL), CHECK_FAIL, "node table",
			  row ? "name an xPU; hosts open no port" : "`dxp nodes` lists the names",
			  row ? "'%s' is a host" : "the manager has no node named '%s'", name);
		return false;
	}
	p->all = calloc(count + 1, sizeof(*p->all));
	for (size_t i = 0; p->all && i < count; i++)
		if (rows[i].kind == MANAGE_XPU && (!name || &rows[i] == row))
			p->all[p->count++].row = &rows[i];
	if (p->all && p->count == 0)
		check_set(check_add(p, NULL), CHECK_FAIL, "node table",
			  "on a machine with devices, `dxp join` and start dxpd (`systemctl start "
			  "dxpd`, or `dxp up`)",
			  "the fabric has no xPU");
	return p->all != NULL;
}

/* Joins the fabric, but not if no xPU is alive: a join takes a node id. Returns false after a check
 * that failed. */
static bool paths_join(struct paths *p)
{
	bool alive = false;

	for (size_t i = 0; i < p->count; i++)
		alive |= p->all[i].row->alive;
	if (!alive || dxp_fabric_open(&p->options->fabric, &p->fabric) == DXP_OK)
		return true;
	check_set(check_add(p, NULL), CHECK_FAIL, "join", NULL, "%s", dxp_fabric_error(NULL));
	return false;
}

static void paths_open(struct paths *p)
{
	const uint64_t since_ns = clock_now_ns();
	bool silent = false;

	parallel_run(p->count, path_open, p);
	for (size_t i = 0; i < p->count; i++)
		silent |= reach_silent(p->all[i].status);
	if (silent && reach_table_settled(&p->options->fabric, since_ns, &p->settled) != DXP_OK)
		p->settled = NULL;
}

static void paths_check(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct path *path = &p->all[i];
		check_row(check_add(p, path->row), path->row);
		if (path->row->alive)
			check_port(check_add(p, path->row), p, path);
		if (path->xpu)
			path_measure(p, path);
	}
}

static void paths_close(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		dxp_xpu_close(p->all[i].xpu);
	dxp_fabric_close(p->fabric);
	free(p->all);
	query_destroy(p->settled);
	query_destroy(p->table);
}

int checks_paths(const struct session_options *options, const char *name, struct check_list *out)
{
	struct paths p = {.options = options, .out = out};
	struct inquiry q = {.fabric = &options->fabric, .kind = QUERY_NODES};
	const struct node_entry *rows;

	if (inquiry_run(&q, &p.table) != DXP_OK)
		return DXP_OK; /* the check of the manager has reported this failure */
	p.space = PATH_CHECKS * query_nodes(p.table, &rows) + 1;
	out->checks = calloc(p.space, sizeof(*out->checks));
	if (!out->checks) {
		query_destroy(p.table);
		return DXP_ENOMEM;
	}
	if (paths_choose(&p, name) && paths_join(&p)) {
		paths_open(&p);
		paths_check(&p);
	}
	paths_close(&p);
	return DXP_OK;
}
