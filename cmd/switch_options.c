/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/switch_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/address.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "base/privileges.h"
#include "base/util.h"
#include "switch/limits.h"
#include "wire/limits.h"

#define MEMORY_MIN   (1ull << 20)
#define MEMORY_MAX   (1ull << 40)
#define LEASE_MAX_S  86400
#define SPIN_MAX_US  1000000
#define FD_MAX       (1 << 20)
#define NO_FD        UINT64_MAX
#define PRIORITY_MAX 6 /* Linux permits higher priorities only with CAP_NET_ADMIN */

/* us; roughly the cost of a wakeup. base/spin.h adapts it. The spin yields the processor between
 * polls, so 20 us cost little even on few processors; 200 us would cost more. */
#define SPIN_US 20

/* The values of the options, as the rows set them. 0 means the default of the switch. */
static struct {
	uint32_t ip; /* 0: not given */
	struct option_list parents, ports;
	enum serve_plane plane;
	const char *name, *user, *key_file;
	uint8_t key[FABRIC_KEY_BYTES];
	uint8_t weights[INPUT_CLASSES];
	uint16_t modes;
	uint64_t groups, memory, lease_s, window, segment, spin_us, ready_fd, socket_priority;
	uint64_t stats_port;
	bool native, no_icrc_check, list_any, verbose;
} a = {
	.groups = SWITCH_GROUPS_DEFAULT,
	.memory = SWITCH_MEMORY_DEFAULT,
	.lease_s = 30,
	.window = SWITCH_WINDOW_DEFAULT,
	.spin_us = SPIN_US,
	.ready_fd = NO_FD,
	.stats_port = WIRE_SWITCH_PORT,
};

/* Parses the IPv4 address of one machine. */
static bool ip_parse(const char *text, uint32_t *out)
{
	struct udp_address address;

	if (strchr(text, ':') || address_parse(text, 0, &address) != DXP_OK)
		return false;
	const uint8_t *byte = address.ip + 12;
	uint32_t ip = (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 |
		      byte[3];
	if (ip == 0 || ip >> 28 >= 14)
		return false;
	*out = ip;
	return true;
}

static const char *address_set(const char *text, void *to)
{
	return ip_parse(text, to) ? NULL : "needs an IPv4 address such as 10.0.0.1";
}

static const char *plane_parse(const char *text, void *to)
{
	static const char *const names[] = {"auto", "user", "kernel"};

	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*(enum serve_plane *)to = (enum serve_plane)i;
			return NULL;
		}
	}
	return "is auto, user or kernel";
}

static const char *segment_parse(const char *text, void *to)
{
	uint64_t bytes;

	if (!option_number_parse(text, &bytes) || bytes < INC_SHORT_BYTES ||
	    bytes > SWITCH_SEGMENT_MAX || bytes % 16)
		return "is 256 to 8912, a multiple of 16";
	*(uint64_t *)to = bytes;
	return NULL;
}

static const char *list_parse(const char *text, void *to)
{
	*(bool *)to = strcmp(text, "any") == 0;
	return *(bool *)to || strcmp(text, "members") == 0 ? NULL : "is members or any";
}

static const char *name_parse(const char *text, void *to)
{
	if (*text == '\0' || strlen(text) >= INC_NAME_BYTES)
		return "has 1 to 31 characters";
	*(const char **)to = text;
	return NULL;
}

/* Parses two weights, such as "3:1". */
static const char *weights_parse(const char *text, void *to)
{
	const char *colon = strchr(text, ':');
	uint64_t forwarded, computed;
	uint8_t *weights = to;
	char first[4];

	snprintf(first, sizeof(first), "%.*s", colon ? (int)(colon - text) : 0, text);
	if (!colon || colon - text >= (int)sizeof(first) ||
	    !option_number_parse(first, &forwarded) || !option_number_parse(colon + 1, &computed) ||
	    forwarded < 1 || forwarded > INPUT_WEIGHT_MAX || computed < 1 ||
	    computed > INPUT_WEIGHT_MAX)
		return "is two numbers from 1 to 16, such as 1:4";
	weights[INPUT_FORWARDED] = (uint8_t)forwarded;
	weights[INPUT_COMPUTED] = (uint8_t)computed;
	return NULL;
}

/* Parses one or more of the words "node", "socket" and "flat", separated by commas. */
static const char *modes_parse(const char *text, void *to)
{
	static const char *const names[] = {"node", "socket", "flat"};
	uint16_t *modes = to;

	for (*modes = 0;; text++) {
		size_t bytes = strcspn(text, ","), i = 0;

		while (i < ARRAY_COUNT(names) &&
		       (strlen(names[i]) != bytes || memcmp(names[i], text, bytes) != 0))
			i++;
		if (i == ARRAY_COUNT(names))
			return "is a list of node, socket and flat, such as node,socket";
		*modes |= (uint16_t)(1u << i);
		text += bytes;
		if (*text == '\0')
			return NULL;
	}
}

static const struct option_row rows[] = {
	{"address", "IP", "own IPv4 address, at which hosts and other switches reach it",
	 OPTION_PARSED, &a.ip, .parse = address_set},
	{"parent", "IP",
	 "a switch above this one; up to 4 times, each group uses one of them; default none: a "
	 "root",
	 OPTION_LIST, &a.parents},
	{"plane", "PLANE",
	 "auto (default): short operations in XDP if it loads; user: all in user space; kernel: "
	 "XDP or exit with status 5",
	 OPTION_PARSED, &a.plane, .parse = plane_parse, .initial = "auto"},
	{"port", "INTERFACE",
	 "interface to attach XDP to; up to 64 times; default all ports of the bridge that has the "
	 "address, or the interface that has it",
	 OPTION_LIST, &a.ports},
	{"native", NULL, "XDP in the interface's driver; default generic, which is faster on veth",
	 OPTION_FLAG, &a.native},
	{"groups", "N", "groups (communicators) at the same time, 1 to 65536, default 256",
	 OPTION_NUMBER, &a.groups, 1, SWITCH_GROUPS_MAX},
	{"memory", "SIZE", "memory of all aggregators, 1M to 1024G, with K, M or G; default 1G",
	 OPTION_BYTES, &a.memory, MEMORY_MIN, MEMORY_MAX},
	{"lease", "SECONDS",
	 "a group that is not used or renewed for this time is freed, 1 to 86400, default 30",
	 OPTION_NUMBER, &a.lease_s, 1, LEASE_MAX_S},
	{"window", "N", "outstanding segments of a group, 1 to 1024, default 64", OPTION_NUMBER,
	 &a.window, 1, INC_WINDOW_MAX},
	{"segment", "BYTES",
	 "payload of a packet, 256 to 8912, a multiple of 16; default the most that the MTU "
	 "permits",
	 OPTION_PARSED, &a.segment, .parse = segment_parse},
	{"weights", "F:C",
	 "packets in a row of each class while both wait in user space: F forwarded (control "
	 "packets), C computed (contributions and results); 1 to 16 each, so that neither starves; "
	 "default 1:1",
	 OPTION_PARSED, a.weights, .parse = weights_parse, .initial = "1:1"},
	{"socket-priority", "N",
	 "priority of the packets that it sends, by which the queueing disciplines of its ports "
	 "may prefer them to other traffic (tc-prio, tc-ets); 0 to 6, default 0: none",
	 OPTION_NUMBER, &a.socket_priority, 0, PRIORITY_MAX},
	{"modes", "LIST",
	 "modes of groups in the compatible format that it accepts, of node,socket,flat; default "
	 "all",
	 OPTION_PARSED, &a.modes, .parse = modes_parse, .initial = "node,socket,flat"},
	{"no-icrc-check", NULL,
	 "accept packets with a wrong invariant CRC; sent packets always have a right one",
	 OPTION_FLAG, &a.no_icrc_check},
	{"list", "WHO",
	 "who reads the groups and refusals of this switch by `dxp inc`: members (default): this "
	 "machine all, another one the groups of which it has members or a switch, and refusals "
	 "without the address and group of others; any: all programs read all",
	 OPTION_PARSED, &a.list_any, .parse = list_parse, .initial = "members"},
	{"name", "NAME", "name that `dxp inc` shows, up to 31 characters; default the host name",
	 OPTION_PARSED, &a.name, .parse = name_parse},
	{"key", "FILE",
	 "file of a fabric's key; who has it may read this switch's counters, as `dxp top --fabric "
	 "--switch IP` does; default none",
	 OPTION_TEXT, &a.key_file},
	{"stats-port", "PORT", "UDP port for these requests, 1 to 65535, default 4794",
	 OPTION_NUMBER, &a.stats_port, 1, UINT16_MAX},
	{"user", "NAME",
	 "if started as root, the user to become when sockets and XDP are open; "
	 "default " PRIVILEGES_USER,
	 OPTION_TEXT, &a.user},
	{"spin", "US",
	 "approximate time to poll for work before it sleeps; 0 to 1000000; default 20",
	 OPTION_NUMBER, &a.spin_us, 0, SPIN_MAX_US},
	{"ready-fd", "N",
	 "when it accepts packets, write a newline to file descriptor N and close it",
	 OPTION_NUMBER, &a.ready_fd, 0, FD_MAX},
	{"verbose", NULL, "log each step; same as DXP_LOG=info", OPTION_FLAG, &a.verbose,
	 .letter = 'v'},
};

const struct usage switch_usage = {
	.name = "dxp-switch",
	.arguments = "",
	.text = "A switch that computes: it sums the contributions of the hosts and switches below "
		"it. The root returns the result;\n"
		"other switches send their partial result to the switch above. It needs --address, "
		"or is called as\n"
		"\n"
		"  dxp-switch list                list the interfaces of this machine that have an "
		"XDP program of dxp-switch\n"
		"  dxp-switch remove INTERFACE    detach that program from INTERFACE; it detaches "
		"by itself when its dxp-switch exits",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.version = DXP_VERSION,
	.notes = "Each option is also a key of section [dxp-switch] in /etc/dxp/dxp.conf, and an "
		 "environment variable such as\n"
		 "DXP_SWITCH_ADDRESS; flags override variables, and these the file "
		 "(docs/guide/configure.md).\n"
		 "\n"
		 "Prints a line when it accepts packets. SIGTERM and SIGINT stop it. SIGUSR1 "
		 "drains it: it accepts no new groups and\n"
		 "exits after the last one. Hosts whose switch exits complete their operations by "
		 "ordinary MPI.\n"
		 "Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 UDP port "
		 "4791 in use, 4 address or interface\n"
		 "does not exist, 5 XDP is not available, 6 the key file is unusable.",
};

int switch_options_refuse(const char *what)
{
	fprintf(stderr, "dxp-switch: error: %s; see `dxp-switch --help`\n", what);
	return SWITCH_EXIT_USAGE;
}

/* Copies the addresses of --parent. Returns -1, or an exit code after a message. */
static int parents_set(struct sw_options *core)
{
	if (a.parents.count > INC_PARENTS_MAX)
		return switch_options_refuse("--parent can be given 4 times");
	for (unsigned i = 0; i < a.parents.count; i++) {
		uint32_t ip = 0;
		if (!ip_parse(a.parents.values[i], &ip))
			return switch_options_refuse(
				"--parent needs an IPv4 address such as 10.0.0.1");
		if (ip == a.ip)
			return switch_options_refuse(
				"--parent equals --address; name another switch");
		for (unsigned j = 0; j < i; j++)
			if (core->parents[j] == ip)
				return switch_options_refuse("the same --parent is given twice");
		core->parents[i] = ip;
	}
	core->parent_count = (uint8_t)a.parents.count;
	return -1;
}

static void name_set(struct sw_options *core)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(core->name, sizeof(core->name), "%.*s", INC_NAME_BYTES - 1,
		 a.name ? a.name : host);
}

int switch_options_parse(int argc, char **argv, struct serve_options *out)
{
	struct arguments args;

	if (!options_read(argc, argv, &switch_usage, &args))
		return args.status;
	if (a.ip == 0)
		return switch_options_refuse(
			"--address is needed, or `address` in section [dxp-switch] of "
			"/etc/dxp/dxp.conf");
	if (a.verbose)
		log_level_set(LOG_LEVEL_INFO);
	if (a.key_file && keyfile_read(a.key_file, a.key) != DXP_OK)
		return SWITCH_EXIT_KEY;
	*out = (struct serve_options){
		.core = {.ip = a.ip,
			 .groups_max = (uint32_t)a.groups,
			 .memory_max = a.memory,
			 .lease_ms = (uint32_t)(a.lease_s * 1000),
			 .window = (uint16_t)a.window,
			 .segment_bytes = (uint16_t)a.segment,
			 .modes = a.modes,
			 .no_icrc_check = a.no_icrc_check,
			 .list_any = a.list_any},
		.plane = a.plane,
		.ports = a.ports.values,
		.port_count = a.ports.count,
		.native = a.native,
		.weights = {a.weights[0], a.weights[1]},
		.socket_priority = (int)a.socket_priority,
		.user = a.user,
		.key = a.key_file ? a.key : NULL,
		.stats_port = (uint16_t)a.stats_port,
		.spin_ns = a.spin_us * US_NS,
		.ready_fd = a.ready_fd == NO_FD ? -1 : (int)a.ready_fd,
		.wake_fd = -1,
	};
	name_set(&out->core);
	return parents_set(&out->core);
}
