/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "host/config.h"
#include "node/limits.h"

/* ns from a node's death until the manager's table lists it as dead: the lease, and 0.5 s for a
 * late timer */
#define SETTLED_NS (FABRIC_LEASE_NS + S_NS / 2)
/* first of the ports that Linux assigns by default if a program requests none */
#define CHOSEN_PORT_FIRST 32768
#define WHY_BYTES         512

bool reach_silent(int status)
{
	return status == DXP_ETIMEDOUT || status == DXP_EPEERLOST;
}

static void sleep_until(uint64_t deadline_ns)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	const struct timespec left = {.tv_sec = (time_t)(left_ns / S_NS),
				      .tv_nsec = (long)(left_ns % S_NS)};

	nanosleep(&left, NULL);
}

static int table_query(const struct dxp_fabric_options *fabric, struct query **out)
{
	struct inquiry q = {.fabric = fabric, .kind = QUERY_NODES};

	return inquiry_run(&q, out);
}

int reach_table_settled(const struct dxp_fabric_options *fabric, uint64_t since_ns,
			struct query **out)
{
	sleep_until(since_ns + SETTLED_NS);
	return table_query(fabric, out);
}

const struct node_entry *reach_row(const struct query *table, const char *name)
{
	const struct node_entry *rows;
	const size_t count = query_nodes(table, &rows);
	char *end;
	const unsigned long id = strtoul(name, &end, 10);
	const bool number = end != name && *end == '\0';

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	for (size_t i = 0; number && i < count; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

const char *reach_rule(const struct udp_address *port, char out[REACH_RULE_BYTES])
{
	char text[UDP_ADDRESS_TEXT_BYTES];

	address_format(port, text);
	*strrchr(text, ':') = '\0';
	snprintf(out, REACH_RULE_BYTES,
		 "if a firewall blocks it, run on %s: nft insert rule inet filter input udp dport "
		 "%u accept%s",
		 text, port->port,
		 port->port >= CHOSEN_PORT_FIRST ? " (`dxpd --port` fixes the port)" : "");
	return out;
}

const char *reach_node_rule(const struct node_entry *row, char out[REACH_RULE_BYTES])
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (!(row->capabilities & MANAGE_CAPABILITY_ADVERTISED))
		return reach_rule(&row->address, out);
	snprintf(out, REACH_RULE_BYTES,
		 "the node advertises this address (`dxpd --advertise`): check that NAT forwards "
		 "UDP %s to the node's own port, and that no firewall blocks it",
		 address_format(&row->address, address));
	return out;
}

static int manager_report(const struct reach_failure *f, const char *why)
{
	char rule[REACH_RULE_BYTES];
	struct config config;

	if (config_resolve(&f->options->fabric, &config) != DXP_OK)
		return print_fail("manager unreachable: %s", why);
	return print_fail("manager unreachable: %s; %s", why, reach_rule(&config.manager, rule));
}

static int table_report(const struct reach_failure *f, const char *why)
{
	struct query *table;

	if (table_query(&f->options->fabric, &table) != DXP_OK)
		return print_fail("node table: %s", why);
	const bool listed = reach_row(table, f->xpu) != NULL;
	query_destroy(table);
	return print_fail("%s: %s", listed ? "not granted" : "not in the node table", why);
}

static int silence_report(const struct reach_failure *f, const char *why)
{
	char address[UDP_ADDRESS_TEXT_BYTES], rule[REACH_RULE_BYTES];
	struct query *table;

	if (reach_table_settled(&f->options->fabric, f->since_ns, &table) != DXP_OK)
		return print_fail("neither the manager nor the node answers: %s", why);
	const struct node_entry *row = reach_row(table, f->xpu);
	if (!row || !row->alive)
		print_fail("node dead: %s", why);
	else
		print_fail("data path blocked: xPU '%s' is alive for the manager, but does not "
			   "answer on its data port, UDP %s; %s",
			   row->name, address_format(&row->address, address),
			   reach_node_rule(row, rule));
	query_destroy(table);
	return EXIT_FAILED;
}

int reach_report(const struct reach_failure *f)
{
	char why[WHY_BYTES];

	snprintf(why, sizeof(why), "%s", dxp_fabric_error(NULL));
	if (!f->joined)
		return f->status == DXP_ETIMEDOUT ? manager_report(f, why) : print_fail("%s", why);
	if (f->status == DXP_ENOENT)
		return table_report(f, why);
	return reach_silent(f->status) ? silence_report(f, why) : print_fail("%s", why);
}
