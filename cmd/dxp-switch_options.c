/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the options of dxp-switch, from the command line and the file. */
#include "cmd/dxp-switch_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/address.h"
#include "base/log.h"
#include "base/privileges.h"
#include "base/util.h"
#include "switch/limits.h"
#include "wire/limits.h"

#define MEMORY_MIN          (1ull << 20)
#define MEMORY_MAX          (1ull << 40)
#define LEASE_MAX_S         86400
#define SPIN_MAX_US         1000000
#define FD_MAX              (1 << 20)
#define SOCKET_PRIORITY_MAX 6 /* higher ones need CAP_NET_ADMIN */

static const char help[] =
	"Usage: dxp-switch --address IP [OPTION]...\n"
	"       dxp-switch list | remove INTERFACE\n"
	"A switch that computes: it sums the contributions of the hosts and switches below it. The "
	"root returns the result;\n"
	"other switches send their partial result to the switch above.\n"
	"\n"
	"      --address IP       own IPv4 address, at which hosts and other switches reach it\n"
	"      --parent IP        a switch above this one; up to 4 times, each group uses one of "
	"them; default none: a root\n"
	"      --plane PLANE      auto (default): short operations in XDP if it loads; user: all "
	"in user space; kernel: XDP or\n"
	"                         exit with status 5\n"
	"      --port INTERFACE   interface to attach XDP to; up to 64 times; default all ports of "
	"the bridge that has the\n"
	"                         address, or the interface that has it\n"
	"      --native           XDP in the interface's driver; default generic, which is faster "
	"on veth\n"
	"      --groups N         groups (communicators) at the same time, 1 to 65536, default "
	"256\n"
	"      --memory SIZE      memory of all aggregators, 1M to 1024G, with K, M or G; default "
	"1G\n"
	"      --lease SECONDS    a group that is not used or renewed for this time is freed, 1 to "
	"86400, default 30\n"
	"      --window N         outstanding segments of a group, 1 to 1024, default 64\n"
	"      --segment BYTES    payload of a packet, 256 to 8912, a multiple of 16; default the "
	"most that the MTU permits\n"
	"      --weights F:C      packets in a row of each class while both wait in user space: F "
	"forwarded (control packets),\n"
	"                         C computed (contributions and results); 1 to 16 each, so that "
	"neither starves; default 1:1\n"
	"      --socket-priority N\n"
	"                         priority of the packets that it sends, by which the queueing "
	"disciplines of its ports may\n"
	"                         prefer them to other traffic (tc-prio, tc-ets); 0 to 6, "
	"default 0: none\n"
	"      --framing ud|rc    RoCEv2 datagrams (default), or the frames of a reliable "
	"connection with acknowledgements\n"
	"      --modes LIST       modes of groups in the compatible format that it accepts, of "
	"node,socket,flat; default all\n"
	"      --no-icrc-check    accept packets with a wrong invariant CRC; sent packets always "
	"have a right one\n"
	"      --name NAME        name that `dxp inc` shows, up to 31 characters; default the host "
	"name\n"
	"      --user NAME        if started as root, the user to become when sockets and XDP are "
	"open; default " PRIVILEGES_USER "\n"
	"      --spin US          approximate time to poll for work before it sleeps; 0 to "
	"1000000; default 20\n"
	"      --config FILE      options from a file, one on each line, without the dashes "
	"(\"address 10.0.0.1\", \"native\");\n"
	"                         '#' starts a comment; options of the command line override the "
	"file\n"
	"      --ready-fd N       when it accepts packets, write a newline to file descriptor N "
	"and close it\n"
	"  -v, --verbose          log each step; same as DXP_LOG=info\n"
	"  -h, --help             this text\n"
	"      --version          version\n"
	"\n"
	"  list                   list the interfaces of this machine that have an XDP program of "
	"dxp-switch\n"
	"  remove INTERFACE       detach that program from INTERFACE; it detaches by itself when "
	"its dxp-switch exits\n"
	"\n"
	"Prints a line when it accepts packets. SIGTERM and SIGINT stop it. SIGUSR1 drains it: it "
	"accepts no new groups and\n"
	"exits after the last one. Hosts whose switch exits complete their operations by ordinary "
	"MPI.\n"
	"Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 UDP port 4791 in "
	"use, 4 address or interface\n"
	"does not exist, 5 XDP is not available.\n";

enum option_code {
	OPTION_ADDRESS = 256,
	OPTION_PARENT,
	OPTION_PLANE,
	OPTION_PORT,
	OPTION_NATIVE,
	OPTION_GROUPS,
	OPTION_MEMORY,
	OPTION_LEASE,
	OPTION_WINDOW,
	OPTION_SEGMENT,
	OPTION_WEIGHTS,
	OPTION_SOCKET_PRIORITY,
	OPTION_FRAMING,
	OPTION_MODES,
	OPTION_NO_ICRC_CHECK,
	OPTION_NAME,
	OPTION_USER,
	OPTION_SPIN,
	OPTION_CONFIG,
	OPTION_READY_FD,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"address", required_argument, NULL, OPTION_ADDRESS},
	{"parent", required_argument, NULL, OPTION_PARENT},
	{"plane", required_argument, NULL, OPTION_PLANE},
	{"port", required_argument, NULL, OPTION_PORT},
	{"native", no_argument, NULL, OPTION_NATIVE},
	{"groups", required_argument, NULL, OPTION_GROUPS},
	{"memory", required_argument, NULL, OPTION_MEMORY},
	{"lease", required_argument, NULL, OPTION_LEASE},
	{"window", required_argument, NULL, OPTION_WINDOW},
	{"segment", required_argument, NULL, OPTION_SEGMENT},
	{"weights", required_argument, NULL, OPTION_WEIGHTS},
	{"socket-priority", required_argument, NULL, OPTION_SOCKET_PRIORITY},
	{"framing", required_argument, NULL, OPTION_FRAMING},
	{"modes", required_argument, NULL, OPTION_MODES},
	{"no-icrc-check", no_argument, NULL, OPTION_NO_ICRC_CHECK},
	{"name", required_argument, NULL, OPTION_NAME},
	{"user", required_argument, NULL, OPTION_USER},
	{"spin", required_argument, NULL, OPTION_SPIN},
	{"config", required_argument, NULL, OPTION_CONFIG},
	{"ready-fd", required_argument, NULL, OPTION_READY_FD},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

int switch_usage(const char *what)
{
	fprintf(stderr, "dxp-switch: %s\nTry 'dxp-switch --help'.\n", what);
	return EXIT_USAGE;
}

static bool option_number_parse(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value < low || value > high)
		return false;
	*out = value;
	return true;
}

/* Parses digits with an optional K, M or G. */
static bool size_parse(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	char digits[24];
	size_t bytes = strlen(text);
	const char *unit = bytes ? strchr(units, text[bytes - 1]) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (bytes == 0 || bytes >= sizeof(digits))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)(bytes - (unit != NULL)), text);
	if (!option_number_parse(digits, 1, MEMORY_MAX >> shift, out))
		return false;
	*out <<= shift;
	return *out >= MEMORY_MIN;
}

/* Parses the IPv4 address of one machine. */
static bool ip_parse(const char *text, uint32_t *out)
{
	struct udp_address a;

	if (strchr(text, ':') || address_parse(text, 0, &a) != DXP_OK)
		return false;
	uint32_t ip = (uint32_t)a.ip[12] << 24 | (uint32_t)a.ip[13] << 16 |
		      (uint32_t)a.ip[14] << 8 | a.ip[15];
	if (ip == 0 || ip >> 28 >= 14)
		return false;
	*out = ip;
	return true;
}

/* Parses an option with a number. Returns NULL, or the error. */
static const char *number_set(int option, const char *text, struct switch_arguments *a)
{
	struct sw_options *core = &a->serve.core;
	uint64_t value = 0;

	switch (option) {
	case OPTION_GROUPS:
		if (!option_number_parse(text, 1, SWITCH_GROUPS_MAX, &value))
			return "--groups is 1 to 65536";
		core->groups_max = (uint32_t)value;
		return NULL;
	case OPTION_LEASE:
		if (!option_number_parse(text, 1, LEASE_MAX_S, &value))
			return "--lease is 1 to 86400 seconds";
		core->lease_ms = (uint32_t)(value * 1000);
		return NULL;
	case OPTION_WINDOW:
		if (!option_number_parse(text, 1, INC_WINDOW_MAX, &value))
			return "--window is 1 to 1024";
		core->window = (uint16_t)value;
		return NULL;
	case OPTION_SEGMENT:
		if (!option_number_parse(text, INC_SHORT_BYTES, SWITCH_SEGMENT_MAX, &value) ||
		    value % 16)
			return "--segment is 256 to 8912, a multiple of 16";
		core->segment_bytes = (uint16_t)value;
		return NULL;
	case OPTION_SOCKET_PRIORITY:
		if (!option_number_parse(text, 0, SOCKET_PRIORITY_MAX, &value))
			return "--socket-priority is 0 to 6";
		a->serve.socket_priority = (int)value;
		return NULL;
	case OPTION_SPIN:
		if (!option_number_parse(text, 0, SPIN_MAX_US, &value))
			return "--spin is 0 to 1000000 us";
		a->serve.spin_ns = value * US_NS;
		return NULL;
	default:
		if (!option_number_parse(text, 0, FD_MAX, &value))
			return "--ready-fd needs the number of a file descriptor";
		a->serve.ready_fd = (int)value;
		return NULL;
	}
}

/* Parses options that may be repeated. Options of the command line replace those of the file. */
static const char *list_parse(int option, const char *text, struct switch_arguments *a)
{
	struct sw_options *core = &a->serve.core;

	if (option == OPTION_PARENT) {
		if (!a->from_file && !a->parents_given) {
			a->parents_given = true;
			core->parent_count = 0;
		}
		if (core->parent_count == INC_PARENTS_MAX)
			return "--parent can be given 4 times";
		if (!ip_parse(text, &core->parents[core->parent_count]))
			return "--parent needs an IPv4 address such as 10.0.0.1";
		core->parent_count++;
		return NULL;
	}
	if (!a->from_file && !a->ports_given) {
		a->ports_given = true;
		a->serve.port_count = 0;
	}
	if (a->serve.port_count == SWITCH_KERNEL_PORTS)
		return "--port can be given 64 times";
	a->ports[a->serve.port_count++] = text;
	return NULL;
}

/* Parses two weights, "F:C". */
static const char *weights_parse(const char *text, uint8_t weights[INPUT_CLASSES])
{
	const char *colon = strchr(text, ':');
	uint64_t forwarded, computed;
	char first[4];

	snprintf(first, sizeof(first), "%.*s", colon ? (int)(colon - text) : 0, text);
	if (!colon || colon - text >= (int)sizeof(first) ||
	    !option_number_parse(first, 1, INPUT_WEIGHT_MAX, &forwarded) ||
	    !option_number_parse(colon + 1, 1, INPUT_WEIGHT_MAX, &computed))
		return "--weights is two numbers from 1 to 16, such as 1:4";
	weights[INPUT_FORWARDED] = (uint8_t)forwarded;
	weights[INPUT_COMPUTED] = (uint8_t)computed;
	return NULL;
}

/* Parses "node,socket,flat" or a part of it. */
static const char *modes_parse(const char *text, uint16_t *modes)
{
	static const char *const names[] = {"node", "socket", "flat"};

	for (*modes = 0;; text++) {
		size_t bytes = strcspn(text, ","), i = 0;

		while (i < ARRAY_COUNT(names) &&
		       (strlen(names[i]) != bytes || memcmp(names[i], text, bytes) != 0))
			i++;
		if (i == ARRAY_COUNT(names))
			return "--modes is a list of node, socket and flat, such as node,socket";
		*modes |= (uint16_t)(1u << i);
		text += bytes;
		if (*text == '\0')
			return NULL;
	}
}

static const char *plane_parse(const char *text, struct switch_arguments *a)
{
	static const char *const names[] = {"auto", "user", "kernel"};

	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			a->serve.plane = (enum serve_plane)i;
			return NULL;
		}
	}
	return "--plane is auto, user or kernel";
}

static const char *name_parse(const char *text, struct switch_arguments *a)
{
	char *name = a->serve.core.name;

	if (*text == '\0' || strlen(text) >= INC_NAME_BYTES)
		return "--name has 1 to 31 characters";
	snprintf(name, INC_NAME_BYTES, "%s", text);
	return NULL;
}

/* Parses any option except those that exit or read the file. Returns NULL, or the error. */
static const char *option_parse(int option, const char *text, struct switch_arguments *a)
{
	struct sw_options *core = &a->serve.core;

	switch (option) {
	case OPTION_ADDRESS:
		return ip_parse(text, &core->ip)
			       ? NULL
			       : "--address needs an IPv4 address such as 10.0.0.1";
	case OPTION_PARENT:
	case OPTION_PORT: return list_parse(option, text, a);
	case OPTION_PLANE: return plane_parse(text, a);
	case OPTION_MODES: return modes_parse(text, &core->modes);
	case OPTION_WEIGHTS: return weights_parse(text, a->serve.weights);
	case OPTION_NAME: return name_parse(text, a);
	case OPTION_USER: a->serve.user = text; return NULL;
	case OPTION_NATIVE: a->serve.native = true; return NULL;
	case OPTION_NO_ICRC_CHECK: core->no_icrc_check = true; return NULL;
	case OPTION_MEMORY:
		return size_parse(text, &core->memory_max)
			       ? NULL
			       : "--memory is 1M to 1024G, such as 256M";
	case OPTION_FRAMING:
		if (strcmp(text, "ud") != 0 && strcmp(text, "rc") != 0)
			return "--framing is ud or rc";
		core->framing = *text == 'r' ? DXP_INC_RC : DXP_INC_UD;
		return NULL;
	default: return number_set(option, text, a);
	}
}

/* ---- configuration file ---- */

/* Splits a line: "NAME", "NAME VALUE" or "NAME = VALUE". Returns false if it has more words. */
static bool line_split(char *line, char **name, char **value)
{
	char *rest;

	line[strcspn(line, "#\r\n")] = '\0';
	*name = strtok_r(line, " \t", &rest);
	*value = *name ? strtok_r(NULL, " \t", &rest) : NULL;
	if (*value && strcmp(*value, "=") == 0)
		*value = strtok_r(NULL, " \t", &rest);
	return !*value || !strtok_r(NULL, " \t", &rest);
}

static const struct option *option_find(const char *name)
{
	for (const struct option *o = long_options; o->name; o++)
		if (o->val <= OPTION_SPIN && o->val >= OPTION_ADDRESS && strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

/* Parses one line. Returns NULL, or the error. */
static const char *line_parse(char *line, struct switch_arguments *a)
{
	char *name, *value;

	if (!line_split(line, &name, &value))
		return "a line has one name and at most one value";
	if (!name)
		return NULL;
	const struct option *o = option_find(name);
	if (!o)
		return "unknown option; `dxp-switch --help` lists all";
	if (o->has_arg == no_argument && value)
		return "this option accepts no value";
	if (o->has_arg != no_argument && !value)
		return "this option needs a value";
	return option_parse(o->val, value, a);
}

static int config_read(const char *path, struct switch_arguments *a)
{
	FILE *f = fopen(path, "re");
	size_t space = 0;
	unsigned number = 0;
	char *text = NULL;
	const char *wrong = NULL;

	if (!f) {
		fprintf(stderr, "dxp-switch: cannot read %s: %m\n", path);
		return EXIT_USAGE;
	}
	ssize_t bytes = getdelim(&text, &space, '\0', f);
	fclose(f);
	a->config = text;
	a->from_file = true;
	for (char *line = bytes > 0 ? text : NULL, *next; line && !wrong; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		wrong = line_parse(line, a);
	}
	a->from_file = false;
	if (!wrong)
		return -1;
	fprintf(stderr, "dxp-switch: %s:%u: %s\n", path, number, wrong);
	return EXIT_USAGE;
}

/* ---- the command line ---- */

/* Reads the file of --config first, since other options override it. Returns -1 to continue,
 * otherwise the program's exit code. */
static int config_parse(int argc, char **argv, struct switch_arguments *a)
{
	int option, code = -1;

	opterr = 0;
	while (code < 0 && (option = getopt_long(argc, argv, "vh", long_options, NULL)) != -1)
		if (option == OPTION_CONFIG)
			code = config_read(optarg, a);
	opterr = 1;
	optind = 1;
	return code;
}

int switch_options_parse(int argc, char **argv, struct switch_arguments *a)
{
	const char *wrong;
	int option, code = config_parse(argc, argv, a);

	if (code >= 0)
		return code;
	while ((option = getopt_long(argc, argv, "vh", long_options, NULL)) != -1) {
		switch (option) {
		case 'v': log_level_set(LOG_LEVEL_INFO); continue;
		case 'h': fputs(help, stdout); return EXIT_GOOD;
		case OPTION_VERSION: puts("dxp-switch " DXP_VERSION); return EXIT_GOOD;
		case OPTION_CONFIG: continue;
		case '?': fprintf(stderr, "Try 'dxp-switch --help'.\n"); return EXIT_USAGE;
		}
		wrong = option_parse(option, optarg, a);
		if (wrong)
			return switch_usage(wrong);
	}
	if (optind < argc)
		return switch_usage(
			"unexpected argument; options, `list` or `remove INTERFACE` are accepted");
	if (a->serve.core.ip == 0)
		return switch_usage("--address is needed");
	for (unsigned i = 0; i < a->serve.core.parent_count; i++) {
		if (a->serve.core.parents[i] == a->serve.core.ip)
			return switch_usage("--parent equals --address; name another switch");
		for (unsigned j = 0; j < i; j++)
			if (a->serve.core.parents[i] == a->serve.core.parents[j])
				return switch_usage("the same --parent is given twice");
	}
	return -1;
}
