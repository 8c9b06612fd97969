/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxpd_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bridge/limits.h"
#include "cmd/options/context.h"
#include "cmd/options/payload_crc.h"
#include "cmd/options/protect.h"
#include "host/config.h"
#include "inc/where.h"
#include "link/resolve.h"
#include "manager/limits.h"
#include "nic/limits.h"
#include "rltp/cc.h"
#include "worker/limits.h"
#include "xpu/limits.h"

#define DEFAULT_MEMORY (256ull << 20)
#define FIRST_MAX      1000000
/* largest node id of slot 0, so that the ids of all slots stay below WIRE_NODE_LAST */
#define ID_MAX        65000
#define SPIN_US       50
#define SPIN_MAX_US   1000000
#define TIMEOUT_MAX_S 1000000
/* s; the manager keeps rows of dead hosts for this time, so a longer one has no use */
#define KEEP_MAX_S (FABRIC_KEEP_NS / S_NS)
/* characters of a host name in a node's name, to leave space for "-xpu" and a number */
#define HOST_NAME_MOST 20
#define FD_MAX         (1 << 20)
#define NO_FD          UINT64_MAX
#define NO_PORT        UINT64_MAX
#define WRONG          2 /* exit code */

/* Default program of the workers: dxpd itself. */
#define SELF "/proc/self/exe"

struct option_address {
	struct udp_address address;
	bool given;
};

/* The values of the options, as the rows set them. */
static struct {
	struct option_address manager, bind, advertise;
	struct manager_backups other_managers;
	struct node_outside outside;
	const char *directory, *key, *name, *state, *cache, *engine, *worker_program, *switches;
	uint64_t port, slots, first, id, memory, host_memory, hosts, keep_hosts_s;
	struct sandbox_options sandbox;
	uint64_t buffers, buffer_bytes, reads, functions, spin_us, timeout_s, ready_fd;
	bool host_names, share_cache, measure, verbose;
} a = {
	.engine = "ocl",
	.worker_program = SELF,
	.port = NO_PORT,
	.slots = 1,
	.first = 1,
	.memory = DEFAULT_MEMORY,
	.hosts = XPU_HOSTS_DEFAULT,
	.keep_hosts_s = FABRIC_HOST_KEEP_NS / S_NS,
	.buffers = BRIDGE_BUFFERS,
	.functions = NIC_FUNCTIONS - 1,
	.spin_us = SPIN_US,
	.ready_fd = NO_FD,
};

static const char *manager_parse(const char *text, void *to)
{
	struct option_address *out = to;

	out->given = managers_parse(text, WIRE_PORT, &out->address, &a.other_managers) == DXP_OK;
	return out->given ? NULL
			  : "needs an address such as 127.0.0.1:4795 or [::1]:4795, or a host "
			    "name; or several of them, with commas";
}

static const char *bind_parse(const char *text, void *to)
{
	struct option_address *out = to;

	out->given = resolve_address(text, 0, &out->address) == DXP_OK;
	return out->given
		       ? NULL
		       : "needs an address such as 127.0.0.1, 127.0.0.1:5000 or [::1]:5000, or a "
			 "host name";
}

static const char *advertise_parse(const char *text, void *to)
{
	struct option_address *out = to;

	out->given = address_parse(text, 0, &out->address) == DXP_OK;
	return out->given ? NULL
			  : "needs an address such as 203.0.113.7, 203.0.113.7:4796 or "
			    "[2001:db8::7]:4796";
}

static const char *outside_parse(const char *text, void *to)
{
	struct node_outside out = {0};
	char one[UDP_ADDRESS_TEXT_BYTES];

	while (*text) {
		size_t length = strcspn(text, ",");
		if (out.count == NODE_OUTSIDE_MAX)
			return "has more than 16 ranges; use shorter prefixes";
		if (snprintf(one, sizeof(one), "%.*s", (int)length, text) >= (int)sizeof(one) ||
		    address_prefix_parse(one, &out.prefixes[out.count++]) != DXP_OK)
			return "needs ranges such as 10.1.0.0/16,192.168.0.7,[fd00::]/8, with all "
			       "bits after the prefix 0";
		text += length + (text[length] == ',');
	}
	*(struct node_outside *)to = out;
	return NULL;
}

/* Sets the congestion module through an environment variable, which nodes read. */
static const char *cc_set(const char *text, void *to)
{
	enum cc_kind kind;

	if (!cc_parse(text, &kind))
		return "is swift, none, dctcp or reno";
	return setenv("DXP_CC", text, 1) == 0 ? NULL : "does not fit into memory";
}

static const char *run_parse(const char *text, void *to)
{
	if (*text != '/')
		return "needs the full path of a folder, beginning with '/'";
	return setenv("DXP_RUN", text, 1) == 0 ? NULL : "does not fit into memory";
}

static const char *isolation_parse(const char *text, void *to)
{
	const bool process = strcmp(text, "process") == 0;

	if (!process && strcmp(text, "thread") != 0)
		return "is process or thread";
	*(const char **)to = process ? SELF : NULL;
	return NULL;
}

static const char *sandbox_parse(const char *text, void *to)
{
	return sandbox_mode_parse(text, to) ? NULL : "is auto, off or strict";
}

static const char *buffer_bytes_parse(const char *text, void *to)
{
	uint64_t bytes = 0;

	if (strcmp(text, "auto") != 0 &&
	    (!option_bytes_parse(text, &bytes) || bytes < BRIDGE_BUFFER_MIN ||
	     bytes > BRIDGE_BUFFER_MAX || bytes % BRIDGE_BUFFER_MIN != 0))
		return "is auto, or 4K to 16M and a multiple of 4K";
	*(uint64_t *)to = bytes;
	return NULL;
}

/* Parses a size that is 0, or `low` to XPU_MEMORY_MAX bytes. */
static bool size_or_none(const char *text, uint64_t low, uint64_t *to)
{
	uint64_t bytes;

	if (!option_bytes_parse(text, &bytes) ||
	    (bytes != 0 && (bytes < low || bytes > XPU_MEMORY_MAX)))
		return false;
	*to = bytes;
	return true;
}

static const char *host_memory_parse(const char *text, void *to)
{
	return size_or_none(text, XPU_MEMORY_MIN, to)
		       ? NULL
		       : "is 1M to 1024G, such as 64M, or 0 for no limit";
}

static const char *worker_memory_parse(const char *text, void *to)
{
	return size_or_none(text, WORKER_MEMORY_MIN, to)
		       ? NULL
		       : "is 256M to 1024G, such as 2G, or 0 for no limit";
}

/* Checks only the form. Whether this machine is in a network of the list may change later. */
static const char *switch_parse(const char *text, void *to)
{
	uint32_t switch_ip, own_ip;

	if (!*text || inc_switch_find(text, false, &switch_ip, &own_ip) == DXP_EINVAL)
		return "needs an IPv4 address such as 10.0.0.1, or a list such as "
		       "10.0.0.0/24=10.0.0.1";
	*(const char **)to = text;
	return NULL;
}

#define PARSED(function, target, default_text) \
	OPTION_PARSED, (target), .parse = (function), .initial = (default_text)

static const struct option_row rows[] = {
	{"context", "NAME",
	 "a fabric of `dxp context list`, which replaces --manager and --key; default as for dxp: "
	 "DXP_CONTEXT, else that of `dxp context use`",
	 OPTION_PARSED, &a.directory, .parse = option_context_parse},
	{"dir", "FOLDER",
	 "folder that `dxp join` has written, which replaces --manager and --key; default as for "
	 "dxp: DXP_DIR, else that of the context, else /var/lib/dxp",
	 OPTION_TEXT, &a.directory},
	{"manager", "HOST[:PORT][,HOST[:PORT]...]",
	 "address of the fabric's manager, or of each of its managers; default port 4795",
	 PARSED(manager_parse, &a.manager, NULL)},
	{"key", "FILE",
	 "the fabric's key: 64 hexadecimal digits, readable by its owner only (mode 600); the "
	 "files "
	 "of `dxp join` in its folder are used too",
	 OPTION_TEXT, &a.key},
	{"slots", "N", "xPUs of this daemon, 1 to 16, default 1", OPTION_NUMBER, &a.slots, 1,
	 FABRIC_SLOTS_MAX},
	{"name", "BASE",
	 "name of the xPUs: BASE and a number, or only BASE for one slot; default xpu and a number",
	 OPTION_TEXT, &a.name},
	{"host-names", NULL,
	 "without --name, names begin with the host name, such as node7-xpu1, so that they differ "
	 "between machines",
	 OPTION_FLAG, &a.host_names},
	{"first", "K", "number of the first name, 0 to 1000000, default 1", OPTION_NUMBER, &a.first,
	 0, FIRST_MAX},
	{"id", "K",
	 "requested node id, 1 to 65000; slot n requests K + n; the manager assigns another if it "
	 "is in use; default any",
	 OPTION_NUMBER, &a.id, WIRE_NODE_FIRST, ID_MAX},
	{"state", "DIR",
	 "folder of identities, with which xPUs keep their ids over a restart, and of compiled "
	 "kernels; created if it does not exist; without --state, each start is a new xPU, and "
	 "compiled kernels are kept in XDG_CACHE_HOME/dxp or ~/.cache/dxp",
	 OPTION_TEXT, &a.state},
	{"cache", "DIR",
	 "folder of compiled kernels, created if it does not exist; default DXP_CACHE, or "
	 "the folder that --state describes",
	 OPTION_TEXT, &a.cache},
	{"share-cache", NULL,
	 "all hosts share compiled kernels, so each is compiled once: only for hosts that trust "
	 "each other; default: apart for each program name and machine (docs/guide/security.md)",
	 OPTION_FLAG, &a.share_cache},
	{"bind", "ADDR[:PORT]",
	 "own address, default the one with a route to the manager; PORT: as --port",
	 PARSED(bind_parse, &a.bind, NULL)},
	{"port", "P",
	 "UDP port of slot 0; slot n uses P + n; 0: the system chooses; default: the first free "
	 "ports from 4796 to 4859, else the system chooses",
	 OPTION_NUMBER, &a.port, 0, UINT16_MAX},
	{"advertise", "ADDR[:PORT]",
	 "address at which other nodes reach the xPUs, if it is not the one from which their "
	 "packets come: behind NAT, or with several interfaces; slot n: PORT + n; without PORT: "
	 "the own port",
	 PARSED(advertise_parse, &a.advertise, NULL)},
	{"outside", "RANGES",
	 "addresses of nodes outside of the node table, such as xPUs of other managers, that have "
	 "the same key: register mode may send to them by IP address and port, and they may send "
	 "to receive registers, nothing else; up to 16 ranges with ',' between them, such as "
	 "10.1.0.0/16; default none",
	 PARSED(outside_parse, &a.outside, "")},
	{"protect", "MODE",
	 "protection of packets: auto (default): encrypt, but none between processes of one "
	 "machine; encrypt; integrity: a tag, payload in clear; none; peers must have the same; "
	 "also DXP_PROTECT (docs/guide/security.md)",
	 PARSED(option_protect_set, NULL, "auto")},
	{"peer-keys", "MODE",
	 "nodes that prove no key pair, such as those of earlier releases: auto (default): "
	 "sessions with protection refuse them if this daemon joined with a token, but not those "
	 "of --outside; require: refuse all; allow; also DXP_PEER_KEYS (docs/guide/security.md)",
	 PARSED(option_peer_keys_set, NULL, "auto")},
	{"payload-crc", "MODE",
	 "checksum over the payload of packets without a tag: auto (default): yes, but not between "
	 "processes of one machine; always; never; peers may differ; also DXP_PAYLOAD_CRC",
	 PARSED(option_payload_crc_set, NULL, "auto")},
	{"memory", "SIZE", "memory of each slot, 1M to 1024G, with K, M or G; default 256M",
	 OPTION_BYTES, &a.memory, XPU_MEMORY_MIN, XPU_MEMORY_MAX},
	{"host-memory", "SIZE",
	 "part of it that each host may allocate, 1M to 1024G; default 0: all of it",
	 PARSED(host_memory_parse, &a.host_memory, "0")},
	{"hosts", "N", "programs that may open one xPU at the same time, 1 to 2048, default 1024",
	 OPTION_NUMBER, &a.hosts, 1, XPU_HOSTS_MAX},
	{"keep-hosts", "SECONDS",
	 "how long memory of a silent host (stopped, in a debugger, disconnected) is kept, 0 to "
	 "600, default 60, unless another host needs it; 0: until its lease expires",
	 OPTION_NUMBER, &a.keep_hosts_s, 0, KEEP_MAX_S},
	{"isolation", "KIND",
	 "process (default): the kernels of each host run in a process of their own if the engine "
	 "uses the slot's memory (ocl), and a crash fails only that host's commands; thread: "
	 "kernels of all hosts run in one thread of dxpd",
	 PARSED(isolation_parse, &a.worker_program, "process")},
	{"sandbox", "MODE",
	 "what these processes may do, since kernels may hold machine code: auto (default): read "
	 "system folders, write compiled kernels of their program, make the system calls of "
	 "compilers, with the parts that this machine has; strict: no start if a part is missing; "
	 "off: as this user (docs/guide/security.md)",
	 PARSED(sandbox_parse, &a.sandbox.mode, "auto")},
	{"worker-memory", "SIZE",
	 "address space of each of these processes, beyond device memory: 256M to 1024G; default "
	 "0: no limit",
	 PARSED(worker_memory_parse, &a.sandbox.memory_bytes, "0")},
	{"worker-read", "FOLDERS",
	 "more folders that these processes may read, with ':' between them, such as a compiler "
	 "outside of /usr",
	 OPTION_TEXT, &a.sandbox.reads},
	{"engine", "ENGINE",
	 "what runs kernels: ocl (default), cuda, rv32, board or none; see below", OPTION_TEXT,
	 &a.engine},
	{"buffers", "N",
	 "buffers of each of the two rings between network and DMA, for engines whose memory only "
	 "DMA reaches: 1 to 64, default 8",
	 OPTION_NUMBER, &a.buffers, 1, BRIDGE_BUFFERS_MAX},
	{"buffer-bytes", "SIZE",
	 "size of each of these buffers: 4K to 16M, a multiple of 4K; default auto: measured at "
	 "start, the smallest size with at least 97 % of the best bandwidth",
	 PARSED(buffer_bytes_parse, &a.buffer_bytes, "auto")},
	{"reads", "N",
	 "reads that the bridge has outstanding when it pulls bytes from the network: 1 to the "
	 "number "
	 "of buffers, default that number",
	 OPTION_NUMBER, &a.reads, 1, BRIDGE_BUFFERS_MAX},
	{"measure-buffers", NULL,
	 "print the bandwidth of the engine's DMA for each buffer size, and exit; needs no manager",
	 OPTION_FLAG, &a.measure},
	{"functions", "N",
	 "functions of each xPU's NIC for other processes of this user: 0 to 7, default 7 (`dxp "
	 "vf` shows and manages them)",
	 OPTION_NUMBER, &a.functions, 0, NIC_FUNCTIONS - 1},
	{"run", "DIR",
	 "folder for their sockets, NAME.nic/nic and NAME.nic/vf1 ...; same as DXP_RUN; default "
	 "XDG_RUNTIME_DIR/dxp, /run/dxp (root), /run/user/UID/dxp or /tmp/dxp-UID",
	 PARSED(run_parse, NULL, NULL)},
	{"switch", "SWITCH",
	 "switch (dxp-switch) that sums for allreduces of these xPUs: an IPv4 address, or "
	 "NETWORK/BITS=SWITCH,... with the switch of each network (docs/guide/collectives.md); "
	 "default: none",
	 PARSED(switch_parse, &a.switches, NULL)},
	{"spin-us", "N", "time to poll for work before it sleeps, 0 to 1000000 us, default 50",
	 OPTION_NUMBER, &a.spin_us, 0, SPIN_MAX_US},
	{"cc", "NAME", "congestion control: swift (default), none, dctcp or reno; same as DXP_CC",
	 PARSED(cc_set, NULL, "swift")},
	{"timeout", "SECONDS",
	 "exit if no manager answers within this time, 1 to 1000000; default never", OPTION_NUMBER,
	 &a.timeout_s, 1, TIMEOUT_MAX_S},
	{"ready-fd", "N",
	 "when all xPUs have joined, write a newline to file descriptor N and close it",
	 OPTION_NUMBER, &a.ready_fd, 0, FD_MAX},
	{"verbose", NULL, "log each step; same as DXP_LOG=info", OPTION_FLAG, &a.verbose,
	 .letter = 'v'},
};

const struct usage dxpd_usage = {
	.name = "dxpd",
	.arguments = "",
	.text = "A daemon that runs xPUs: each slot is a node of the fabric with memory, registers "
		"and an engine for kernels.\n"
		"It needs --manager and --key, or a fabric that `dxp join` has joined.",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.version = DXP_VERSION,
	.notes = "Engines:\n"
		 "  ocl           OpenCL on PoCL's `basic` device, or else the first CPU device\n"
		 "  ocl:PART      OpenCL on the first device that has PART in its name\n"
		 "  ocl+bridged   as ocl, with device memory that only DMA reaches, as on a GPU; "
		 "also ocl+bridged:PART\n"
		 "  cuda          the first NVIDIA device; cuda:PART: the first with PART in its "
		 "name\n"
		 "  rv32          a RISC-V SIMT processor in software; needs clang-15 and "
		 "libclc-15; also\n"
		 "                rv32:cores=N,warps=N,clock=MHZ,limit=SECONDS,trace=N,... "
		 "(docs/reference/rv32.md)\n"
		 "  board         a board whose memory only two DMA controllers reach, like an "
		 "FPGA's; also board:PRESET\n"
		 "                (pac-a10, fast) or board:FILE, described in "
		 "docs/guide/bridge.md; a preset hides a file of\n"
		 "                that name\n"
		 "  none          memory, registers and transfers only\n"
		 "\n"
		 "Each option is also a key of section [dxpd] in /etc/dxp/dxp.conf, and an "
		 "environment variable such as\n"
		 "DXPD_SPIN_US; flags override variables, and these the file "
		 "(docs/guide/configure.md).\n"
		 "\n"
		 "Prints a line for each xPU that has joined. SIGTERM and SIGINT stop the daemon "
		 "and the kernels that run in\n"
		 "processes; a kernel that runs in a thread completes first.\n"
		 "POCL_DEVICES, if set, is not changed.\n"
		 "Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 address or "
		 "name in use, 4 key unusable,\n"
		 "5 state folder unusable, 6 engine failed, 7 no manager answers.",
};

static struct daemon_options daemon_options(void)
{
	static char base[FABRIC_NAME_BYTES];
	char host[FABRIC_NAME_BYTES];

	if (a.host_names) {
		config_host_name(host);
		snprintf(base, sizeof(base), "%.*s-xpu", HOST_NAME_MOST, host);
	}
	return (struct daemon_options){
		.slots = (uint32_t)a.slots,
		.name = a.name,
		.base = a.host_names ? base : NULL,
		.first = (uint32_t)a.first,
		.id = (uint16_t)a.id,
		.manager = a.manager.address,
		.other_managers = a.other_managers,
		.bind = a.bind.given ? &a.bind.address : NULL,
		.port = a.port == NO_PORT ? 0 : (uint16_t)a.port,
		.standard_ports = a.port == NO_PORT,
		.advertise = a.advertise.given ? &a.advertise.address : NULL,
		.outside = a.outside,
		.state_folder = a.state,
		.cache_folder = a.cache ? a.cache : getenv("DXP_CACHE"),
		.cache_shared = a.share_cache,
		.memory_bytes = a.memory,
		.host_bytes = a.host_memory,
		.hosts_max = (uint32_t)a.hosts,
		.keep_hosts_ns = a.keep_hosts_s * S_NS,
		.engine = a.engine,
		.worker_program = a.worker_program,
		.sandbox = a.sandbox,
		.buffers = (uint32_t)a.buffers,
		.buffer_bytes = (uint32_t)a.buffer_bytes,
		.reads = (uint32_t)a.reads,
		.switches = a.switches,
		.spin_ns = a.spin_us ? (uint32_t)(a.spin_us * US_NS) : UINT32_MAX,
		.functions = (uint32_t)a.functions,
	};
}

int dxpd_options_parse(int argc, char **argv, struct dxpd_arguments *out)
{
	struct arguments args;

	if (!options_read(argc, argv, &dxpd_usage, &args))
		return args.status;
	if (!a.measure && a.manager.given && !a.key) {
		fprintf(stderr, "dxpd: error: --manager needs --key, or `key` in section [dxpd] of "
				"/etc/dxp/dxp.conf; after `dxp join`, neither is needed; see `dxpd "
				"--help`\n");
		return WRONG;
	}
	if (a.port != NO_PORT && a.bind.given && a.bind.address.port) {
		fprintf(stderr, "dxpd: error: --port and the port of --bind exclude each other; "
				"see `dxpd --help`\n");
		return WRONG;
	}
	*out = (struct dxpd_arguments){
		.daemon = daemon_options(),
		.directory = a.directory,
		.manager_given = a.manager.given,
		.key = a.key,
		.timeout_s = a.timeout_s,
		.ready_fd = a.ready_fd == NO_FD ? -1 : (int)a.ready_fd,
		.measure = a.measure,
		.verbose = a.verbose,
	};
	return -1;
}
