/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/manager_options.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/resolve.h"
#include "manager/limits.h"
#include "wire/limits.h"

#define DEFAULT_BIND "127.0.0.1:4795"
#define FD_MAX       (1 << 20)
#define NO_FD        UINT64_MAX
#define WRONG        2 /* exit code */
#define CHOOSE       (-1)

/* The values of the options, as the rows set them. */
static struct {
	const char *key, *state, *announce, *export_file, *import_file;
	struct etcd_tls tls;
	struct etcd_place etcd;             /* count 0: the store is SQLite */
	struct udp_address bind, advertise; /* port 0 and ip 0: not given */
	bool bind_given;
	int policy, admission; /* enum grants_policy, enum admission, or CHOOSE */
	bool new_key, operator_token, verbose;
	uint64_t ready_fd, events;
} a = {.policy = CHOOSE, .admission = CHOOSE, .ready_fd = NO_FD, .events = FABRIC_EVENTS};

static const char *bind_parse(const char *text, void *to)
{
	a.bind_given = resolve_address(text, WIRE_PORT, to) == DXP_OK;
	return a.bind_given
		       ? NULL
		       : "needs an address such as 127.0.0.1:4795 or [::1]:4795, or a host name";
}

static const char *admit_parse(const char *text, void *to)
{
	if (strcmp(text, "auto") == 0)
		*(int *)to = CHOOSE;
	else if (strcmp(text, "key") == 0)
		*(int *)to = ADMIT_KEY;
	else if (strcmp(text, "token") == 0)
		*(int *)to = ADMIT_TOKEN;
	else
		return "is auto, key or token";
	return NULL;
}

static const char *store_parse(const char *text, void *to)
{
	struct etcd_place *place = to;

	if (strcmp(text, "sqlite") == 0)
		place->count = 0;
	else if (etcd_place_parse(text, place) != DXP_OK)
		return "is sqlite or etcd://HOST:PORT[,HOST:PORT...][/FABRIC], with at most 8 "
		       "hosts; etcds:// uses TLS";
	return NULL;
}

static const char *advertise_parse(const char *text, void *to)
{
	struct udp_address address;

	if (address_parse(text, 0, &address) != DXP_OK)
		return "needs an address such as 203.0.113.7, 203.0.113.7:4795 or "
		       "[2001:db8::7]:4795";
	if (address_unreachable(&address))
		return "needs an address that the nodes reach; this one is unspecified, "
		       "multicast, reserved or link-local";
	*(struct udp_address *)to = address;
	return NULL;
}

static const char *grants_parse(const char *text, void *to)
{
	if (strcmp(text, "auto") == 0)
		*(int *)to = CHOOSE;
	else if (strcmp(text, "any") == 0)
		*(int *)to = GRANTS_ANY;
	else if (strcmp(text, "explicit") == 0)
		*(int *)to = GRANTS_EXPLICIT;
	else
		return "is auto, any or explicit";
	return NULL;
}

static const struct option_row rows[] = {
	{"key", "FILE",
	 "the fabric's key: 64 hexadecimal digits, readable by its owner only (mode 600)",
	 OPTION_TEXT, &a.key},
	{"new-key", NULL, "create FILE with a new key if it does not exist", OPTION_FLAG,
	 &a.new_key},
	{"state", "DIR", "folder of the registry (manager.db); created if it does not exist",
	 OPTION_TEXT, &a.state},
	{"store", "sqlite|etcd://HOST:PORT[,HOST:PORT...][/FABRIC]",
	 "sqlite (default): the registry is manager.db in DIR; etcd://: it is in this etcd, for "
	 "several managers with the same key, of which one is active; etcds:// uses TLS; FABRIC "
	 "(default dxp) separates fabrics in one etcd",
	 OPTION_PARSED, &a.etcd, .parse = store_parse, .initial = "sqlite"},
	{"store-ca", "FILE", "with etcds://, certificates that sign those of etcd (PEM)",
	 OPTION_TEXT, &a.tls.ca},
	{"store-cert", "FILE", "with etcds://, certificate of this manager (PEM)", OPTION_TEXT,
	 &a.tls.certificate},
	{"store-key", "FILE", "with etcds://, private key of that certificate (PEM)", OPTION_TEXT,
	 &a.tls.key},
	{"bind", "ADDR[:PORT]",
	 "address to listen on, default " DEFAULT_BIND
	 "; port 0 lets the system choose; other machines reach the manager only at an address of "
	 "this machine",
	 OPTION_PARSED, &a.bind, .parse = bind_parse, .initial = DEFAULT_BIND},
	{"advertise", "ADDR[:PORT]",
	 "address at which the nodes reach the manager, if it is not the one of --bind: behind "
	 "NAT, or if --bind is 0.0.0.0 or [::]; it is printed and written in the place of that "
	 "one; without PORT: the own port",
	 OPTION_PARSED, &a.advertise, .parse = advertise_parse},
	{"grants", "any|explicit",
	 "any: any host may use any xPU; explicit: a host may use the xPUs that `dxp grant HOST "
	 "XPU` permits; auto (default): any if --bind and --advertise are loopback addresses and "
	 "--admit is key, else explicit; grants are kept in DIR",
	 OPTION_PARSED, &a.policy, .parse = grants_parse, .initial = "auto"},
	{"admit", "key|token",
	 "key: machines with the fabric key may join; token: only machines that a token admitted "
	 "(`dxp join`), and the first start makes a token for an operator, DIR/operator.token; "
	 "auto (default): key if --bind and --advertise are loopback addresses, else token",
	 OPTION_PARSED, &a.admission, .parse = admit_parse, .initial = "auto"},
	{"operator-token", NULL,
	 "with --admit token, make another token for an operator at this start, for example if "
	 "the operator's key is lost",
	 OPTION_FLAG, &a.operator_token},
	{"events", "N",
	 "events that the log keeps in DIR and in memory (300 bytes each), 100 to 1000000, default "
	 "10000; older ones are removed",
	 OPTION_NUMBER, &a.events, FABRIC_EVENTS_MIN, FABRIC_EVENTS_MAX},
	{"announce", "FILE",
	 "when ready, write the address to FILE, in which programs of this machine find it "
	 "(/var/lib/dxp/manager)",
	 OPTION_TEXT, &a.announce},
	{"export", "FILE",
	 "write the registry to a new FILE (mode 600; it has the secrets of the fabric), and exit; "
	 "no manager of the fabric may run",
	 OPTION_TEXT, &a.export_file},
	{"import", "FILE",
	 "read the registry from a FILE of --export into an empty store, and exit", OPTION_TEXT,
	 &a.import_file},
	{"ready-fd", "N",
	 "when ready, write the address and a newline to file descriptor N and close it; without "
	 "this option, print \"listening on ADDRESS\" to standard output",
	 OPTION_NUMBER, &a.ready_fd, 0, FD_MAX},
	{"verbose", NULL, "log each step; same as DXP_LOG=info", OPTION_FLAG, &a.verbose,
	 .letter = 'v'},
};

const struct usage manager_usage = {
	.name = "dxp-manager",
	.arguments = "",
	.text = "The manager of a fabric: assigns node ids, keeps the node table, and decides "
		"which host may use which xPU.\n"
		"It needs --key and --state.",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.version = DXP_VERSION,
	.notes = "Each option is also a key of section [dxp-manager] in /etc/dxp/dxp.conf, and an "
		 "environment variable such as\n"
		 "DXP_MANAGER_BIND; flags override variables, and these the file "
		 "(docs/guide/configure.md).\n"
		 "\n"
		 "SIGTERM and SIGINT stop it; nodes continue without the manager and reconnect "
		 "when it is back.\n"
		 "Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 address "
		 "or state folder in use,\n"
		 "4 key file unusable, 5 state folder unusable.",
};

/* Returns whether only this machine reaches the manager. An advertised address on another machine
 * means that something forwards from there. */
static bool only_here(const struct manager_arguments *o)
{
	static const struct udp_address none;

	return address_loopback(&o->bind) &&
	       (address_equal(&o->advertise, &none) || address_loopback(&o->advertise));
}

/* Chooses admission and policy if they were not given. A manager that other machines reach demands
 * tokens. Such a manager, and any that demands tokens, demands explicit grants. */
static void access_choose(struct manager_arguments *out)
{
	const bool local = only_here(out);

	out->admission = a.admission != CHOOSE ? (enum admission)a.admission
			 : local               ? ADMIT_KEY
					       : ADMIT_TOKEN;
	out->policy = a.policy != CHOOSE                     ? (enum grants_policy)a.policy
		      : local && out->admission == ADMIT_KEY ? GRANTS_ANY
							     : GRANTS_EXPLICIT;
	out->chosen = !local && (a.admission == CHOOSE || a.policy == CHOOSE);
}

int manager_options_parse(int argc, char **argv, struct manager_arguments *out)
{
	struct arguments args;

	if (!options_read(argc, argv, &manager_usage, &args))
		return args.status;
	if (!a.key || !a.state) {
		fprintf(stderr, "dxp-manager: error: --key and --state are needed, or `key` and "
				"`state` in section [dxp-manager] of /etc/dxp/dxp.conf; see "
				"`dxp-manager --help`\n");
		return WRONG;
	}
	if (a.export_file && a.import_file) {
		fprintf(stderr, "dxp-manager: error: --export and --import exclude each other\n");
		return WRONG;
	}
	*out = (struct manager_arguments){
		.key = a.key,
		.state = a.state,
		.announce = a.announce,
		.export_file = a.export_file,
		.import_file = a.import_file,
		.etcd = a.etcd.count ? &a.etcd : NULL,
		.tls = a.tls,
		.bind = a.bind_given ? a.bind : address_v4(0x7f000001, WIRE_PORT),
		.advertise = a.advertise,
		.operator_token = a.operator_token,
		.new_key = a.new_key,
		.verbose = a.verbose,
		.events = (uint32_t)a.events,
		.ready_fd = a.ready_fd == NO_FD ? -1 : (int)a.ready_fd,
	};
	access_choose(out);
	return -1;
}
