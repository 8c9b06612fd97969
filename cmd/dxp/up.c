/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp up`: a whole fabric on this machine, one process for each part. An incomplete
 * start is undone. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/address.h"
#include "base/clock.h"
#include "cmd/dxp/authority.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/nodes.h"
#include "cmd/dxp/session.h"
#include "cmd/dxp/up.h"
#include "link/resolve.h"
#include "node/stats_folder.h"
#include "xpu/limits.h"

/* ns without progress after which the start fails; the exit of a process fails it at once */
#define READY_NS     (60 * S_NS)
#define READY_XPU_NS (2 * S_NS) /* ns added for each starting xPU, since they share the CPUs */
#define LOOK_NS      (10 * MS_NS)

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

static void pause_briefly(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};

	nanosleep(&look, NULL);
}

bool up_part_start(struct up *u, const char *name, const char *argv[])
{
	struct folder *p = &u->folder;
	struct process *process = &p->processes[p->count];
	char program[PATH_BYTES], log[PATH_BYTES], file[PROCESS_NAME_BYTES + 16];

	snprintf(file, sizeof(file), "run/%s.log", name);
	if (!folder_path(p, file, log))
		return false;
	process_program(argv[0], program, sizeof(program));
	argv[0] = program;
	snprintf(process->name, sizeof(process->name), "%s", name);
	if (!process_start(argv, log, process))
		return false;
	p->count++;
	return folder_save(p);
}

/* Reads the last lines of a part's log; "" if empty. */
static void text_printed(const struct up *u, const struct process *process, char *tail,
			 size_t bytes)
{
	char path[PATH_BYTES], file[PROCESS_NAME_BYTES + 16];

	snprintf(file, sizeof(file), "run/%s.log", process->name);
	if (!folder_path(&u->folder, file, path) || !file_tail(path, tail, bytes))
		tail[0] = '\0';
	size_t length = strlen(tail);
	while (length && tail[length - 1] == '\n')
		tail[--length] = '\0';
}

/* Prints how a part exited and the last lines of its log. */
static void part_ended(const struct up *u, const struct process *process)
{
	char how[96], tail[1024];

	process_end_text(process, how, sizeof(how));
	/* the log is complete, because the process has exited */
	text_printed(u, process, tail, sizeof(tail));
	print_fail("%s exited before the fabric was up%s%s; %s%s", process->name, *how ? ": " : "",
		   how, *tail ? "last lines of its log:\n" : "its log is empty", tail);
}

void up_patience_renew(struct up *u)
{
	u->wait_ns = READY_NS + (u->started - u->joined) * READY_XPU_NS;
	u->deadline_ns = clock_now_ns() + u->wait_ns;
}

/* Returns whether any process of the fabric has exited. All are children, so one call checks them
 * all. */
static bool child_ended(void)
{
	siginfo_t info = {0};

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

static bool parts_run(struct up *u)
{
	for (unsigned i = 0; i < u->folder.count; i++) {
		const struct process *process = &u->folder.processes[i];
		if (process_alive(process))
			continue;
		progress_end(&u->progress);
		part_ended(u, process);
		return false;
	}
	return true;
}

static void late_report(const struct up *u, const char *waiting_for)
{
	char tail[1024] = "";

	if (u->folder.count)
		text_printed(u, &u->folder.processes[u->folder.count - 1], tail, sizeof(tail));
	print_fail("%s is not ready after %" PRIu64 " s%s%s", waiting_for,
		   (uint64_t)(u->wait_ns / S_NS),
		   *tail ? "; last lines of the log:\n" : "; set DXP_LOG=info to log each step",
		   tail);
}

/* Returns whether all started processes run and time is left; otherwise prints the reason. */
static bool going(struct up *u, const char *waiting_for)
{
	if (child_ended() && !parts_run(u))
		return false;
	if (interrupted) {
		progress_end(&u->progress);
		print_fail("interrupted; all processes were stopped");
		return false;
	}
	if (clock_now_ns() < u->deadline_ns)
		return true;
	progress_end(&u->progress);
	late_report(u, waiting_for);
	return false;
}

static bool bind_text(const struct up *u, char out[UDP_ADDRESS_TEXT_BYTES])
{
	struct udp_address address;

	if (resolve_address(u->bind, (uint16_t)u->port, &address) != DXP_OK) {
		print_fail("'%s' is not an address; write one of this machine, such as 127.0.0.1",
			   u->bind);
		return false;
	}
	address.port = (uint16_t)u->port;
	address_format(&address, out);
	return true;
}

static bool manager_keyed_start(struct up *u, const char *bind)
{
	char state[PATH_BYTES];

	if (!folder_path(&u->folder, "run", state))
		return false;
	const char *argv[] = {"dxp-manager", "--key",   u->key, "--new-key", "--state",
			      state,         "--bind",  bind,   "--admit",   "key",
			      "--grants",    u->grants, NULL};
	if (!up_part_start(u, "manager", argv))
		return false;
	while (!folder_manager_listens(&u->folder, u->manager)) {
		if (!going(u, "the manager"))
			return false;
		pause_briefly();
	}
	return folder_manager_write(&u->folder, u->manager);
}

/* Starts a manager that admits by token. This user is its operator and may use all its xPUs. */
static bool manager_token_start(struct up *u, const char *bind)
{
	struct authority a = {
		.folder = &u->folder, .bind = bind, .grants = u->grants, .name = u->name};

	if (!authority_start(&a) ||
	    (strcmp(u->grants, "explicit") == 0 && !authority_grant_own(&a, u->user)))
		return false;
	snprintf(u->manager, sizeof(u->manager), "%s", a.address);
	return true;
}

static bool manager_start(struct up *u)
{
	char bind[UDP_ADDRESS_TEXT_BYTES];

	return bind_text(u, bind) && folder_path(&u->folder, "fabric.key", u->key) &&
	       (u->token ? manager_token_start(u, bind) : manager_keyed_start(u, bind));
}

bool up_loopback(const struct up *u)
{
	struct udp_address address;

	return resolve_address(u->bind, 0, &address) == DXP_OK && address_loopback(&address);
}

/* Starts the manager, then daemons in parallel, and waits for all xPUs. */
static bool fabric_start(struct up *u, struct query **nodes)
{
	bool all = false;

	up_patience_renew(u);
	if (!manager_start(u))
		return false;
	progress_begin(&u->progress, "up", 0);
	while (!all) {
		if (!up_daemons_start(u) || !going(u, "an xPU"))
			break;
		all = up_daemons_look(u, nodes);
		if (!all)
			pause_briefly();
	}
	progress_end(&u->progress);
	return all;
}

/* Prints how another machine gets access. */
static void token_report(const struct up *u)
{
	printf("To admit another machine:\n"
	       "  here:   dxp token create --role host\n"
	       "  there:  dxp join %s TOKEN --name NAME\n",
	       u->manager);
	if (*u->user)
		printf("  here:   dxp grant NAME XPU      (%s, this user, may use all xPUs)\n",
		       u->user);
}

static int report(const struct up *u, const struct query *a)
{
	const struct node_entry *rows;
	size_t count = query_nodes(a, &rows);

	if (u->json) {
		json_t *nodes = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(nodes, node_json(&rows[i], NULL));
		return print_json_text(json_pack("{s:s, s:s, s:o}", "directory", u->folder.folder,
						 "manager", u->manager, "nodes", nodes));
	}
	printf("A fabric of %llu xPUs is up, its manager at %s.\n"
	       "`dxp nodes` lists its nodes, `dxp down` stops it.\n",
	       (unsigned long long)u->xpus, u->manager);
	if (u->token)
		token_report(u);
	return EXIT_DONE;
}

/* Chooses admission and policy if they were not given. If other machines reach the manager, or the
 * folder is that of a fabric with tokens, it demands tokens and explicit grants. */
static void access_choose(struct up *u)
{
	const bool open = up_loopback(u) && !authority_exists(&u->folder);

	u->token = strcmp(u->admit, "token") == 0 || (strcmp(u->admit, "auto") == 0 && !open);
	if (strcmp(u->grants, "auto") == 0)
		u->grants = up_loopback(u) && !u->token ? "any" : "explicit";
}

/* Sets the folder in which the xPUs keep their identities, which the manager remembers. */
static bool state_choose(struct up *u)
{
	if (!u->token || u->state)
		return true;
	u->state = u->xpus_state;
	return folder_path(&u->folder, "xpus", u->xpus_state);
}

/* Acquires the folder; removes the files of a dead fabric. */
static bool up_folder_acquire(struct up *u)
{
	struct folder *p = &u->folder;
	const bool folder_created = p->folder_created;
	char pinned[PATH_BYTES];

	if (u->token)
		return authority_acquire(p);
	if (!folder_path(p, "manager.pub", pinned))
		return false;
	if (access(pinned, F_OK) == 0) {
		print_fail("%s belongs to a fabric that admits by token; start it with `dxp up "
			   "--admit token`, or choose another folder with --dir",
			   p->folder);
		return false;
	}
	if (!folder_load(p))
		return folder_vacant(p) && folder_acquire(p);
	if (folder_alive(p)) {
		print_fail("a fabric is already up in %s; `dxp nodes` lists its nodes, `dxp down` "
			   "stops "
			   "it",
			   p->folder);
		return false;
	}
	bool cleared = folder_clear(p);
	p->folder_created |= folder_created;
	return cleared && folder_acquire(p);
}

/* Prints a warning if the daemons cannot offer functions; the daemons themselves only log this. */
static void run_folder_check(void)
{
	char path[STATS_PATH_BYTES];
	int fd, status = stats_run_folder_open(&fd, path);

	if (status == DXP_OK)
		close(fd);
	else if (status != DXP_EUNSUPPORTED)
		fprintf(stderr, "dxp: warning: other processes cannot use NIC functions of these "
				"xPUs, because there is no folder for the sockets; set DXP_RUN to "
				"a folder that you own, mode 700\n");
}

static int up_run(struct up *u)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct query *nodes = NULL;

	access_choose(u);
	if (!state_choose(u))
		return EXIT_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* The processes get their options from their command lines. Configuration files are for
	 * services, so they are disabled here. */
	if (setenv("DXP_CONFIG", "", 1) != 0)
		return print_fail("out of memory");
	if (!up_folder_acquire(u))
		return EXIT_FAILED;
	if (!fabric_start(u, &nodes)) {
		folder_clear(&u->folder);
		return EXIT_FAILED;
	}
	int status = report(u, nodes);
	run_folder_check();
	query_destroy(nodes);
	return status;
}

static bool word_among(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static bool options_valid(const struct up *u)
{
	if (!word_among(u->grants, "auto", "any", "explicit")) {
		print_fail("--grants is 'auto', 'any' or 'explicit', not '%s'", u->grants);
		return false;
	}
	if (!word_among(u->admit, "auto", "key", "token")) {
		print_fail("--admit is 'auto', 'key' or 'token', not '%s'", u->admit);
		return false;
	}
	if (u->node_port && u->node_port + u->xpus - 1 > UINT16_MAX) {
		print_fail("%llu xPUs from --node-port %llu on exceed port 65535; choose a lower "
			   "port",
			   (unsigned long long)u->xpus, (unsigned long long)u->node_port);
		return false;
	}
	return true;
}

static struct up given = {.engine = "ocl",
			  .bind = "127.0.0.1",
			  .admit = "auto",
			  .grants = "auto",
			  .xpus = 2,
			  .slots = 1,
			  .memory = 256ull << 20,
			  .port = WIRE_PORT};
static const struct option_row up_rows[] = {
	DIRECTORY_NEW_ROWS(given.directory),
	{"xpus", "N", "number of xPUs (default 2)", OPTION_NUMBER, &given.xpus, 1,
	 FOLDER_PROCESSES_MAX - 1},
	{"slots-per-daemon", "M", "xPUs in each dxpd process (default 1)", OPTION_NUMBER,
	 &given.slots, 1, FABRIC_SLOTS_MAX},
	{"slots-per-box", "M", NULL, OPTION_NUMBER, &given.slots, 1, FABRIC_SLOTS_MAX},
	{"memory", "BYTES", "memory of each xPU (default 256M)", OPTION_BYTES, &given.memory,
	 1u << 20, 1ull << 40},
	{"host-memory", "BYTES",
	 "part of that memory that each host may allocate (default: all of it)", OPTION_BYTES,
	 &given.host_memory, 1u << 20, 1ull << 40},
	{"engine", "NAME", "engine that runs kernels, as for `dxpd --engine` (default ocl)",
	 OPTION_TEXT, &given.engine, 0, 0},
	{"buffers", "N", "buffers of each ring of the bridge, as for `dxpd --buffers`", OPTION_TEXT,
	 &given.buffers, 0, 0},
	{"buffer-bytes", "SIZE", "size of each of these buffers, as for `dxpd --buffer-bytes`",
	 OPTION_TEXT, &given.buffer_bytes, 0, 0},
	{"reads", "N", "reads that the bridge has outstanding, as for `dxpd --reads`", OPTION_TEXT,
	 &given.reads, 0, 0},
	{"keep-hosts", "SECONDS",
	 "how long the memory of a silent host is kept, as for `dxpd --keep-hosts`", OPTION_TEXT,
	 &given.keep_hosts, 0, 0},
	{"bind", "ADDRESS",
	 "address of this machine to use (default 127.0.0.1, which other machines do not "
	 "reach)",
	 OPTION_TEXT, &given.bind, 0, 0},
	{"port", "P", "UDP port of the manager, 0 for any free one (default 4795)", OPTION_NUMBER,
	 &given.port, 0, UINT16_MAX},
	{"node-port", "P",
	 "UDP port of the first xPU, of the second P + 1 and so on; 0 for any free ones "
	 "(default 0)",
	 OPTION_NUMBER, &given.node_port, 0, UINT16_MAX},
	{"state", "DIR",
	 "folder of files that outlive the fabric: identities of the xPUs, compiled kernels "
	 "(default with tokens: xpus in FOLDER)",
	 OPTION_TEXT, &given.state, 0, 0},
	{"admit", "key|token",
	 "who may join: key: who has the fabric key; token: as `dxp manager init`, with "
	 "this user as operator; auto (default): key if ADDRESS is a loopback address, "
	 "else token",
	 OPTION_TEXT, &given.admit, 0, 0},
	{"grants", "any|explicit",
	 "hosts that may use the xPUs: any, or explicit (as granted); auto (default): any "
	 "if ADDRESS is a loopback address and --admit is key, else explicit",
	 OPTION_TEXT, &given.grants, 0, 0},
	{"name", "NAME", "with tokens: name of this user in the fabric (default: the host name)",
	 OPTION_TEXT, &given.name, 0, 0},
	JSON_ROW(given.json)};

int command_up(int argc, char **argv)
{
	struct up *u = &given;
	const struct usage usage = {
		"up", "",
		"Starts a fabric on this machine: a manager, and daemons (dxpd) that run xPUs. "
		"Returns when all xPUs have\n"
		"joined; on failure, stops what it started and prints the reason.",
		ACCEPTS(up_rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (!options_valid(u))
		return EXIT_USAGE;
	if (!process_table_check() || !folder_open(&u->folder, u->directory, true))
		return EXIT_FAILED;
	int status = up_run(u);
	folder_close(&u->folder);
	return status;
}
