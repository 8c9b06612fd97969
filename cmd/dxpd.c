/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxpd: command line and exit codes around src/xpu/daemon.h. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "base/log.h"
#include "base/program.h"
#include "base/service.h"
#include "base/util.h"
#include "xpu/daemon.h"
#include "worker/zygote.h"

#include "base/clock.h"
#include "cmd/dxpd_measure.h"
#include "manager/limits.h"
#include "nic/limits.h"
#include "xpu/limits.h"

#define DEFAULT_MEMORY (256ull << 20)
#define FIRST_MAX      1000000
#define ID_MAX         65000 /* leaves ids for all slots of a daemon, up to WIRE_NODE_LAST */
#define SPIN_MAX_US    1000000
#define TIMEOUT_MAX_S  1000000
/* s: the manager keeps rows of dead hosts this long */
#define KEEP_MAX_S (FABRIC_KEEP_NS / S_NS)
#define FD_MAX     (1 << 20)

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_BUSY = 3,
	EXIT_KEY = 4,
	EXIT_STATE = 5,
	EXIT_ENGINE = 6,
	EXIT_SILENT = 7,
};

static const char help[] =
	"Usage: dxpd --manager ADDR[:PORT] --key FILE [OPTION]...\n"
	"A daemon that runs xPUs: each slot is a node of the fabric with memory, registers and an "
	"engine for kernels.\n"
	"\n"
	"      --manager ADDR[:PORT]  address of the fabric's manager; default port 4795\n"
	"      --key FILE             the fabric's key: 64 hexadecimal digits, readable by its "
	"owner only (mode 600)\n"
	"      --slots N              xPUs of this daemon, 1 to 16, default 1\n"
	"      --name BASE            name of the xPUs: BASE and a number, or only BASE for one "
	"slot; default xpu and a number\n"
	"      --first K              number of the first name, 0 to 1000000, default 1\n"
	"      --id K                 requested node id, 1 to 65000; slot n requests K + n; the "
	"manager assigns another if it is\n"
	"                             in use; default any\n"
	"      --state DIR            folder of identities, with which xPUs keep their ids over a "
	"restart, and of compiled\n"
	"                             kernels; created if it does not exist; without --state, each "
	"start is a new xPU, and\n"
	"                             compiled kernels are kept in XDG_CACHE_HOME/dxp or "
	"~/.cache/dxp\n"
	"      --cache DIR            folder of compiled kernels, created if it does not exist; "
	"same "
	"as DXP_CACHE\n"
	"      --share-cache          all hosts share compiled kernels, so each is compiled once: "
	"only for hosts that trust each\n"
	"                             other; default: apart for each program name and machine "
	"(docs/guide/security.md)\n"
	"      --bind ADDR[:PORT]     own address, default the one with a route to the manager; "
	"slot n uses PORT + n,\n"
	"                             without PORT the system chooses\n"
	"      --memory SIZE          memory of each slot, 1M to 1024G, with K, M or G; default "
	"256M\n"
	"      --host-memory SIZE     part of it that each host may allocate, 1M to 1024G; default "
	"0: all of it\n"
	"      --hosts N              programs that may open one xPU at the same time, 1 to 2048, "
	"default 1024\n"
	"      --keep-hosts SECONDS   how long memory of a silent host (stopped, in a debugger, "
	"disconnected) is kept, 0 to 600,\n"
	"                             default 60, unless another host needs it; 0: until its lease "
	"expires\n"
	"      --isolation KIND       process (default): the kernels of each host run in a process "
	"of their own if the engine\n"
	"                             uses the slot's memory (ocl), and a crash fails only that "
	"host's commands; thread:\n"
	"                             kernels of all hosts run in one thread of dxpd\n"
	"      --sandbox MODE         what these processes may do, since kernels may hold machine "
	"code: "
	"auto (default): read\n"
	"                             system folders, write compiled kernels of their program, "
	"make "
	"the "
	"system calls of compilers,\n"
	"                             with the parts that this machine has; strict: no start if a "
	"part is missing; off: as this\n"
	"                             user (docs/guide/security.md)\n"
	"      --worker-memory SIZE   address space of each of these processes, beyond device "
	"memory: "
	"256M to 1024G; default 0:\n"
	"                             no limit\n"
	"      --worker-read FOLDERS  more folders that these processes may read, with ':' between "
	"them, such as a compiler\n"
	"                             outside of /usr\n"
	"      --engine ocl           OpenCL on PoCL's `basic` device, or else the first CPU "
	"device (default)\n"
	"      --engine ocl:PART      OpenCL on the first device that has PART in its name\n"
	"      --engine ocl+bridged   as ocl, with device memory that only DMA reaches, as on a "
	"GPU;\n"
	"                             also ocl+bridged:PART\n"
	"      --engine cuda          the first NVIDIA device; cuda:PART: the first with PART in "
	"its name\n"
	"      --engine rv32          a RISC-V SIMT processor in software; needs clang-15 and "
	"libclc-15;\n"
	"                             also rv32:cores=N,warps=N,clock=MHZ,limit=SECONDS,"
	"trace=N,...\n"
	"                             (docs/reference/rv32.md)\n"
	"      --engine board         a board whose memory only two DMA controllers reach, like an "
	"FPGA's; also board:PRESET\n"
	"                             (pac-a10, fast) or board:FILE, described in "
	"docs/guide/bridge.md; a preset hides a file of that name\n"
	"      --engine none          memory, registers and transfers only\n"
	"      --buffers N            buffers of each of the two rings between network and DMA, "
	"for engines whose memory only\n"
	"                             DMA reaches: 1 to 64, default 8\n"
	"      --buffer-bytes SIZE    size of each of these buffers: 4K to 16M, a multiple of 4K; "
	"default auto: measured at\n"
	"                             start, the smallest size with at least 97 % of the best "
	"bandwidth\n"
	"      --measure-buffers      print the bandwidth of the engine's DMA for each buffer "
	"size, and exit; needs no manager\n"
	"      --functions N          functions of each xPU's NIC for other processes of this "
	"user: 0 to 7, default 7\n"
	"                             (`dxp vf` shows and manages them)\n"
	"      --run DIR              folder for their sockets, NAME.nic/nic and NAME.nic/vf1 ...; "
	"same as DXP_RUN; default\n"
	"                             XDG_RUNTIME_DIR/dxp, /run/dxp (root), /run/user/UID/dxp or "
	"/tmp/dxp-UID\n"
	"      --spin-us N            time to poll for work before it sleeps, 0 to 1000000 us, "
	"default 50\n"
	"      --cc NAME              congestion control: swift (default), none, dctcp or reno; "
	"same as DXP_CC\n"
	"      --timeout SECONDS      exit if no manager answers within this time, 1 to 1000000; "
	"default never\n"
	"      --ready-fd N           when all xPUs have joined, write a newline to file "
	"descriptor N and close it\n"
	"  -v, --verbose              log each step; same as DXP_LOG=info\n"
	"  -h, --help                 this text\n"
	"      --version              version\n"
	"\n"
	"Prints a line for each xPU that has joined. SIGTERM and SIGINT stop the daemon and the "
	"kernels that run in processes;\n"
	"a kernel that runs in a thread completes first.\n"
	"POCL_DEVICES, if set, is not changed.\n"
	"Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 address or name in "
	"use, 4 key unusable,\n"
	"5 state folder unusable, 6 engine failed, 7 no manager answers.\n";

struct arguments {
	struct daemon_options daemon;
	struct udp_address bind;
	const char *key;
	uint64_t timeout_s; /* 0: never */
	int ready_fd;       /* -1: none */
	bool manager_given;
	bool measure; /* only measure buffers */
};

static _Atomic int stop;

static void on_signal(int number)
{
	stop = 1;
}

static int usage(const char *what)
{
	fprintf(stderr, "dxpd: %s\nTry 'dxpd --help'.\n", what);
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

/* Parses digits with an optional K, M or G, in the range `low` to `high`. */
static bool size_parse(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	static const char units[] = "KMG";
	char digits[24];
	size_t bytes = strlen(text);
	const char *unit = bytes ? strchr(units, text[bytes - 1]) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (bytes == 0 || bytes >= sizeof(digits))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)(bytes - (unit != NULL)), text);
	if (!option_number_parse(digits, 1, high >> shift, out))
		return false;
	*out <<= shift;
	return *out >= low;
}

enum option_code {
	OPTION_MANAGER = 256,
	OPTION_KEY,
	OPTION_SLOTS,
	OPTION_NAME,
	OPTION_FIRST,
	OPTION_ID,
	OPTION_STATE,
	OPTION_CACHE,
	OPTION_SHARE_CACHE,
	OPTION_BIND,
	OPTION_MEMORY,
	OPTION_HOST_MEMORY,
	OPTION_HOSTS,
	OPTION_KEEP_HOSTS,
	OPTION_ISOLATION,
	OPTION_SANDBOX,
	OPTION_WORKER_MEMORY,
	OPTION_WORKER_READ,
	OPTION_ENGINE,
	OPTION_BUFFERS,
	OPTION_BUFFER_BYTES,
	OPTION_MEASURE,
	OPTION_FUNCTIONS,
	OPTION_RUN,
	OPTION_SPIN,
	OPTION_CC,
	OPTION_TIMEOUT,
	OPTION_READY_FD,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"manager", required_argument, NULL, OPTION_MANAGER},
	{"key", required_argument, NULL, OPTION_KEY},
	{"slots", required_argument, NULL, OPTION_SLOTS},
	{"name", required_argument, NULL, OPTION_NAME},
	{"first", required_argument, NULL, OPTION_FIRST},
	{"id", required_argument, NULL, OPTION_ID},
	{"state", required_argument, NULL, OPTION_STATE},
	{"cache", required_argument, NULL, OPTION_CACHE},
	{"share-cache", no_argument, NULL, OPTION_SHARE_CACHE},
	{"bind", required_argument, NULL, OPTION_BIND},
	{"memory", required_argument, NULL, OPTION_MEMORY},
	{"host-memory", required_argument, NULL, OPTION_HOST_MEMORY},
	{"hosts", required_argument, NULL, OPTION_HOSTS},
	{"keep-hosts", required_argument, NULL, OPTION_KEEP_HOSTS},
	{"isolation", required_argument, NULL, OPTION_ISOLATION},
	{"sandbox", required_argument, NULL, OPTION_SANDBOX},
	{"worker-memory", required_argument, NULL, OPTION_WORKER_MEMORY},
	{"worker-read", required_argument, NULL, OPTION_WORKER_READ},
	{"engine", required_argument, NULL, OPTION_ENGINE},
	{"buffers", required_argument, NULL, OPTION_BUFFERS},
	{"buffer-bytes", required_argument, NULL, OPTION_BUFFER_BYTES},
	{"measure-buffers", no_argument, NULL, OPTION_MEASURE},
	{"functions", required_argument, NULL, OPTION_FUNCTIONS},
	{"run", required_argument, NULL, OPTION_RUN},
	{"spin-us", required_argument, NULL, OPTION_SPIN},
	{"cc", required_argument, NULL, OPTION_CC},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"ready-fd", required_argument, NULL, OPTION_READY_FD},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

/* Parses an option with a number. Returns NULL, or the error. */
static const char *number_set(int option, struct arguments *a)
{
	uint64_t value = 0;

	switch (option) {
	case OPTION_SLOTS:
		if (!option_number_parse(optarg, 1, FABRIC_SLOTS_MAX, &value))
			return "--slots is 1 to 16";
		a->daemon.slots = (uint32_t)value;
		return NULL;
	case OPTION_FIRST:
		if (!option_number_parse(optarg, 0, FIRST_MAX, &value))
			return "--first is 0 to 1000000";
		a->daemon.first = (uint32_t)value;
		return NULL;
	case OPTION_ID:
		if (!option_number_parse(optarg, WIRE_NODE_FIRST, ID_MAX, &value))
			return "--id is 1 to 65000";
		a->daemon.id = (uint16_t)value;
		return NULL;
	case OPTION_BUFFERS:
		if (!option_number_parse(optarg, 1, BRIDGE_BUFFERS_MAX, &value))
			return "--buffers is 1 to 64";
		a->daemon.buffers = (uint32_t)value;
		return NULL;
	case OPTION_HOSTS:
		if (!option_number_parse(optarg, 1, XPU_HOSTS_MAX, &value))
			return "--hosts is 1 to 2048";
		a->daemon.hosts_max = (uint32_t)value;
		return NULL;
	case OPTION_FUNCTIONS:
		if (!option_number_parse(optarg, 0, NIC_FUNCTIONS - 1, &value))
			return "--functions is 0 to 7";
		a->daemon.functions = (uint32_t)value;
		return NULL;
	case OPTION_SPIN:
		if (!option_number_parse(optarg, 0, SPIN_MAX_US, &value))
			return "--spin-us is 0 to 1000000";
		a->daemon.spin_ns = value ? (uint32_t)(value * US_NS) : UINT32_MAX;
		return NULL;
	case OPTION_KEEP_HOSTS:
		if (!option_number_parse(optarg, 0, KEEP_MAX_S, &value))
			return "--keep-hosts is 0 to 600 seconds";
		a->daemon.keep_hosts_ns = value * S_NS;
		return NULL;
	case OPTION_TIMEOUT:
		return option_number_parse(optarg, 1, TIMEOUT_MAX_S, &a->timeout_s)
			       ? NULL
			       : "--timeout is 1 to 1000000 seconds";
	default:
		if (!option_number_parse(optarg, 0, FD_MAX, &value))
			return "--ready-fd needs the number of a file descriptor";
		a->ready_fd = (int)value;
		return NULL;
	}
}

/* Sets congestion control, which nodes read from the environment; the option overrides it. */
static const char *cc_set(const char *text)
{
	enum cc_kind kind;

	if (!cc_parse(text, &kind))
		return "--cc is swift, none, dctcp or reno";
	return setenv("DXP_CC", text, 1) == 0 ? NULL : "not enough memory";
}

static const char *run_parse(const char *text)
{
	if (*text != '/')
		return "--run needs the full path of a folder, beginning with '/'";
	return setenv("DXP_RUN", text, 1) == 0 ? NULL : "not enough memory";
}

/* dxpd also starts the workers. */
#define SELF "/proc/self/exe"

static const char *isolation_parse(const char *text, struct arguments *a)
{
	bool process = strcmp(text, "process") == 0;

	if (!process && strcmp(text, "thread") != 0)
		return "--isolation is process or thread";
	a->daemon.worker_program = process ? SELF : NULL;
	return NULL;
}

static const char *buffer_bytes_parse(const char *text, struct arguments *a)
{
	uint64_t bytes = 0;

	if (strcmp(text, "auto") != 0 &&
	    (!size_parse(text, BRIDGE_BUFFER_MIN, BRIDGE_BUFFER_MAX, &bytes) ||
	     bytes % BRIDGE_BUFFER_MIN != 0))
		return "--buffer-bytes is auto, or 4K to 16M and a multiple of 4K";
	a->daemon.buffer_bytes = (uint32_t)bytes;
	return NULL;
}

static const char *host_memory_parse(const char *text, struct arguments *a)
{
	a->daemon.host_bytes = 0;
	if (strcmp(text, "0") == 0 ||
	    size_parse(text, XPU_MEMORY_MIN, XPU_MEMORY_MAX, &a->daemon.host_bytes))
		return NULL;
	return "--host-memory is 1M to 1024G, such as 64M, or 0 for no limit";
}

static const char *worker_memory_parse(const char *text, struct arguments *a)
{
	a->daemon.sandbox.memory_bytes = 0;
	if (strcmp(text, "0") == 0 ||
	    size_parse(text, WORKER_MEMORY_MIN, XPU_MEMORY_MAX, &a->daemon.sandbox.memory_bytes))
		return NULL;
	return "--worker-memory is 256M to 1024G, such as 2G, or 0 for no limit";
}

/* Parses an option with an address, size or name. Returns NULL, or the error. */
static const char *text_parse(int option, struct arguments *a)
{
	switch (option) {
	case OPTION_MANAGER:
		a->manager_given = true;
		return address_parse(optarg, WIRE_PORT, &a->daemon.manager) == DXP_OK
			       ? NULL
			       : "--manager needs an address such as 127.0.0.1:4795 or [::1]:4795";
	case OPTION_BIND:
		a->daemon.bind = &a->bind;
		return address_parse(optarg, 0, &a->bind) == DXP_OK
			       ? NULL
			       : "--bind needs an address such as 127.0.0.1, 127.0.0.1:5000 or "
				 "[::1]:5000";
	case OPTION_MEMORY:
		return size_parse(optarg, XPU_MEMORY_MIN, XPU_MEMORY_MAX, &a->daemon.memory_bytes)
			       ? NULL
			       : "--memory is 1M to 1024G, such as 256M";
	case OPTION_HOST_MEMORY: return host_memory_parse(optarg, a);
	case OPTION_ISOLATION: return isolation_parse(optarg, a);
	case OPTION_SANDBOX:
		return sandbox_mode_parse(optarg, &a->daemon.sandbox.mode)
			       ? NULL
			       : "--sandbox is auto, off or strict";
	case OPTION_WORKER_MEMORY: return worker_memory_parse(optarg, a);
	case OPTION_WORKER_READ: a->daemon.sandbox.reads = optarg; return NULL;
	case OPTION_BUFFER_BYTES: return buffer_bytes_parse(optarg, a);
	case OPTION_CC: return cc_set(optarg);
	case OPTION_RUN: return run_parse(optarg);
	case OPTION_KEY: a->key = optarg; return NULL;
	case OPTION_NAME: a->daemon.name = optarg; return NULL;
	case OPTION_STATE: a->daemon.state_folder = optarg; return NULL;
	case OPTION_CACHE: a->daemon.cache_folder = optarg; return NULL;
	default: a->daemon.engine = optarg; return NULL;
	}
}

/* Parses one option. Returns -1 to continue, otherwise the program's exit code. */
static int option_parse(int option, struct arguments *a)
{
	const char *wrong;

	switch (option) {
	case 'v': log_level_set(LOG_LEVEL_INFO); return -1;
	case 'h': fputs(help, stdout); return EXIT_GOOD;
	case OPTION_VERSION: puts("dxpd " DXP_VERSION); return EXIT_GOOD;
	case OPTION_MEASURE: a->measure = true; return -1;
	case OPTION_SHARE_CACHE: a->daemon.cache_shared = true; return -1;
	case OPTION_SLOTS:
	case OPTION_BUFFERS:
	case OPTION_FIRST:
	case OPTION_ID:
	case OPTION_FUNCTIONS:
	case OPTION_HOSTS:
	case OPTION_SPIN:
	case OPTION_KEEP_HOSTS:
	case OPTION_TIMEOUT:
	case OPTION_READY_FD: wrong = number_set(option, a); break;
	case '?': fprintf(stderr, "Try 'dxpd --help'.\n"); return EXIT_USAGE;
	default: wrong = text_parse(option, a);
	}
	return wrong ? usage(wrong) : -1;
}

static int arguments_parse(int argc, char **argv, struct arguments *a)
{
	int option, code;

	while ((option = getopt_long(argc, argv, "vh", long_options, NULL)) != -1) {
		code = option_parse(option, a);
		if (code >= 0)
			return code;
	}
	if (optind < argc)
		return usage("unexpected argument; only options are accepted");
	if (!a->measure && (!a->manager_given || !a->key))
		return usage("--manager and --key are needed");
	return -1;
}

static int open_exit_code(int status)
{
	switch (status) {
	case DXP_EBUSY: return EXIT_BUSY;
	case DXP_EINVAL: return EXIT_USAGE;
	case DXP_EACCESS:
	case DXP_EMALFORMED: return EXIT_STATE;
	case DXP_EUNSUPPORTED: return EXIT_ENGINE;
	case DXP_ENOMEM: log_error("not enough memory; use a smaller --memory"); return EXIT_FAILED;
	default: return EXIT_FAILED;
	}
}

static int join_exit_code(int status)
{
	switch (status) {
	case DXP_ECLOSED: return EXIT_GOOD;
	case DXP_EAUTH: return EXIT_KEY;
	case DXP_EBUSY: return EXIT_BUSY;
	case DXP_ETIMEDOUT: return EXIT_SILENT;
	default: return EXIT_FAILED;
	}
}

/* Raises the limit of descriptors to the hard limit: each host of an xPU needs one. */
static void descriptors_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void signals_set(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

static int daemon_serve(struct daemon *b, const struct arguments *a)
{
	uint64_t deadline_ns = a->timeout_s ? clock_now_ns() + a->timeout_s * S_NS : UINT64_MAX;
	int status = daemon_join(b, deadline_ns);

	if (status != DXP_OK)
		return join_exit_code(status);
	service_ready(a->ready_fd, "\n");
	status = daemon_run(b);
	return status == DXP_OK ? EXIT_GOOD : join_exit_code(status);
}

int main(int argc, char **argv)
{
	struct arguments a = {
		.daemon = {.slots = 1,
			   .first = 1,
			   .memory_bytes = DEFAULT_MEMORY,
			   .keep_hosts_ns = FABRIC_HOST_KEEP_NS,
			   .engine = "ocl",
			   .cache_folder = getenv("DXP_CACHE"),
			   .worker_program = SELF,
			   .functions = NIC_FUNCTIONS - 1,
			   .stop = &stop},
		.ready_fd = -1,
	};
	uint8_t key[FABRIC_KEY_BYTES];
	struct daemon *daemon;

	program_begin("dxpd");
	if (argc > 1 && strcmp(argv[1], ZYGOTE_ARGUMENT) == 0)
		return zygote_main(argc - 2, argv + 2);
	int code = arguments_parse(argc, argv, &a);
	if (code >= 0)
		return code;
	if (a.measure) {
		int status = dxpd_measure(a.daemon.engine, a.daemon.memory_bytes);
		return status == DXP_OK ? EXIT_GOOD : open_exit_code(status);
	}
	if (keyfile_read(a.key, key) != DXP_OK)
		return EXIT_KEY;
	a.daemon.fabric_key = key;
	signals_set();
	descriptors_raise_limit();
	int status = daemon_open(&a.daemon, &daemon);
	if (status != DXP_OK)
		return open_exit_code(status);
	code = daemon_serve(daemon, &a);
	daemon_close(daemon);
	return code;
}
