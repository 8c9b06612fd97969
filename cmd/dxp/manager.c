/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp manager init`: a manager that admits machines by token, with this user as its
 * operator. Everything but run/ stays after `dxp down`, so that a later start continues with the
 * same keys, tokens and nodes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/folder.h"
#include "cmd/dxp/join.h"
#include "cmd/dxp/session.h"
#include "cmd/dxp/token.h"
#include "host/config.h"
#include "link/resolve.h"
#include "link/udp.h"
#include "wire/limits.h"

#define READY_NS (30 * S_NS)
#define LOOK_NS  (10 * MS_NS)
/* An address that a machine with a network has a route to (RFC 5737); nothing is sent there. */
#define OUTSIDE "192.0.2.1:9"

struct init {
	const char *directory, *bind, *grants, *name, *role;
	uint64_t port, uses, seconds;
	bool json, running; /* running: the manager already ran before this command */
	struct folder folder;
	char address[UDP_ADDRESS_TEXT_BYTES]; /* where the manager listens */
};

/* Chooses the address to listen on: as given, else the one that other machines reach. */
static bool bind_choose(struct init *i, char out[UDP_ADDRESS_TEXT_BYTES])
{
	struct udp_address address, outside;

	address_parse(OUTSIDE, 0, &outside);
	if (i->bind && resolve_address(i->bind, 0, &address) != DXP_OK) {
		print_fail("'%s' is not an address, and no machine has this name; write one of "
			   "this machine, such as 10.0.0.1",
			   i->bind);
		return false;
	}
	if (!i->bind && link_address_towards(&outside, &address) != DXP_OK) {
		print_fail("this machine has no route to others; choose its address with --bind");
		return false;
	}
	address.port = (uint16_t)i->port;
	address_format(&address, out);
	return true;
}

/* Reads the address from the manager's log once it listens. Returns false after a message if the
 * manager exits or is not ready in time. */
static bool listening_wait(struct init *i, const struct process *process, const char *log)
{
	const uint64_t deadline_ns = clock_now_ns() + READY_NS;
	const struct timespec look = {.tv_nsec = LOOK_NS};
	static const char mark[] = "listening on ";
	char text[2048] = "";

	for (;;) {
		const char *line = file_tail(log, text, sizeof(text)) ? strstr(text, mark) : NULL;
		if (line && strchr(line, '\n')) {
			line += sizeof(mark) - 1;
			snprintf(i->address, sizeof(i->address), "%.*s", (int)strcspn(line, "\n"),
				 line);
			return true;
		}
		if (!process_alive(process) || clock_now_ns() >= deadline_ns)
			break;
		nanosleep(&look, NULL);
	}
	print_fail("the manager is not ready; last lines of its log:\n%s", text);
	return false;
}

static bool manager_start(struct init *i)
{
	struct folder *p = &i->folder;
	struct process *process = &p->processes[0];
	char state[PATH_BYTES], key[PATH_BYTES], log[PATH_BYTES], program[PATH_BYTES];
	char bind[UDP_ADDRESS_TEXT_BYTES];

	if (!bind_choose(i, bind) || !folder_path(p, "registry", state) ||
	    !folder_path(p, "fabric.key", key) || !folder_path(p, "run/manager.log", log))
		return false;
	process_program("dxp-manager", program, sizeof(program));
	const char *argv[] = {program,   "--key",  key,  "--new-key", "--state",
			      state,     "--bind", bind, "--grants",  i->grants,
			      "--admit", "token",  NULL};
	snprintf(process->name, sizeof(process->name), "manager");
	if (!process_start(argv, log, process))
		return false;
	p->count = 1;
	return folder_save(p) && listening_wait(i, process, log);
}

/* Reads the operator token that the manager wrote at its first start. */
static bool operator_token_read(const struct init *i, struct token *out)
{
	char path[PATH_BYTES], text[TOKEN_TEXT_BYTES + 1];

	if (!folder_path(&i->folder, "registry/operator.token", path))
		return false;
	if (!file_head(path, text, sizeof(text))) {
		print_fail("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	text[strcspn(text, "\n")] = '\0';
	if (token_parse(text, out))
		return true;
	print_fail("%s does not hold a token; restart the manager with --operator-token", path);
	return false;
}

/* Makes this user the operator, unless it is one already. */
static bool operator_ensure(struct init *i)
{
	struct joining j = {.folder = i->folder.folder, .host = i->address, .name = i->name};
	char pinned[PATH_BYTES], path[PATH_BYTES];

	if (!folder_path(&i->folder, "manager.pub", pinned) ||
	    !folder_path(&i->folder, "manager", path))
		return false;
	if (access(pinned, F_OK) == 0) {
		FILE *file = fopen(path, "we");
		bool written = file && fprintf(file, "%s\n", i->address) > 0;
		written = file && fclose(file) == 0 && written;
		if (!written)
			print_fail("cannot write %s: %s", path, strerror(errno));
		return written;
	}
	return operator_token_read(i, &j.token) && join_run(&j);
}

static int report(struct init *i)
{
	const struct dxp_fabric_options fabric = {.directory = i->folder.folder};
	struct control q = {0};
	char text[TOKEN_TEXT_BYTES];

	if (control_find(&fabric, &q) != DXP_OK ||
	    token_create(&q, i->role, (uint32_t)i->uses, i->seconds, text) != DXP_OK)
		return print_fail("%s", q.text);
	keys_erase(q.private_key, sizeof(q.private_key));
	if (i->json)
		return print_json_text(json_pack("{s:s, s:s, s:s}", "directory", i->folder.folder,
						 "manager", i->address, "token", text));
	printf("The manager listens on %s, and this user is its operator. Run on the other "
	       "machine:\n\n"
	       "  dxp join %s %s\n\n"
	       "`dxp token create` makes more tokens, `dxp down` stops the manager.\n",
	       i->address, i->address, text);
	return EXIT_DONE;
}

/* Prepares the folder: one of an earlier `dxp manager init`, or one that no fabric uses. Sets
 * i->running if the manager still runs. Returns false after a message if another fabric uses the
 * folder. */
static bool folder_prepare(struct init *i)
{
	struct folder *p = &i->folder;
	char path[PATH_BYTES];

	if (!folder_path(p, "manager.pub", path))
		return false;
	const bool own = access(path, F_OK) == 0;
	if (folder_load(p) && folder_alive(p)) {
		if (!own)
			print_fail("a fabric is already up in %s; stop it with `dxp down`, or "
				   "choose another folder with --dir",
				   p->folder);
		i->running = own;
		return own;
	}
	if (!folder_path(p, "registry", path))
		return false;
	if (own && access(path, F_OK) != 0) {
		print_fail("%s belongs to the fabric of another manager; choose another folder "
			   "with --dir",
			   p->folder);
		return false;
	}
	if (own && folder_path(p, "manager", path))
		unlink(path);
	p->count = 0;
	return folder_vacant(p) && folder_acquire(p);
}

static int init_run(struct init *i)
{
	if (setenv("DXP_CONFIG", "", 1) != 0)
		return print_fail("out of memory");
	if (!folder_prepare(i))
		return EXIT_FAILED;
	/* The key stays after `dxp down`: other machines have it. */
	i->folder.key_created = false;
	if (i->running) {
		char path[PATH_BYTES];
		if (!folder_path(&i->folder, "manager", path) ||
		    !file_head(path, i->address, sizeof(i->address)))
			return print_fail("cannot read %s", path);
		i->address[strcspn(i->address, "\n")] = '\0';
		return report(i);
	}
	if (manager_start(i) && operator_ensure(i))
		return report(i);
	folder_clear(&i->folder);
	return EXIT_FAILED;
}

int command_manager(int argc, char **argv)
{
	static struct init i = {.grants = "explicit",
				.role = "xpu",
				.port = WIRE_PORT,
				.uses = 1,
				.seconds = 24 * 3600};
	const struct option_row rows[] = {
		DIRECTORY_ROW(i.directory),
		{"bind", "ADDRESS",
		 "address of this machine that the others reach (default: the one with a route to "
		 "them)",
		 OPTION_TEXT, &i.bind},
		{"port", "P", "UDP port, 0 for any free one (default 4795)", OPTION_NUMBER, &i.port,
		 0, UINT16_MAX},
		{"grants", "any|explicit",
		 "hosts that may use xPUs: explicit (default): as `dxp grant` permits; any",
		 OPTION_TEXT, &i.grants},
		{"name", "NAME", "name of this user in the fabric (default: the host name)",
		 OPTION_TEXT, &i.name},
		{"uses", "N", "machines that the printed token admits (default 1)", OPTION_NUMBER,
		 &i.uses, 1, 100000},
		{"expires", "TIME", "how long it is valid, such as 30m, 1h or 7d (default 24h)",
		 OPTION_PARSED, &i.seconds, .parse = token_expires_parse, .initial = "24h"},
		{"role", "ROLE", "role that it gives: host, xpu (default) or operator", OPTION_TEXT,
		 &i.role},
		JSON_ROW(i.json)};
	const struct usage usage = {
		"manager",
		"init",
		"Starts a manager that admits machines by token, makes this user its operator, and "
		"prints the line that another\n"
		"machine runs to join. Run again, it starts the manager if needed and prints "
		"another line. `dxp down` stops it.",
		rows,
		ARRAY_COUNT(rows),
		1,
		1};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	if (strcmp(argv[first], "init") != 0 || channel_role_parse(i.role) == ROLE_NONE ||
	    (strcmp(i.grants, "any") != 0 && strcmp(i.grants, "explicit") != 0)) {
		print_fail("write `dxp manager init`; --grants is any or explicit, --role is host, "
			   "xpu or operator");
		return EXIT_USAGE;
	}
	if (!process_table_check() || !folder_open(&i.folder, i.directory, true))
		return EXIT_FAILED;
	int status = init_run(&i);
	folder_close(&i.folder);
	return status;
}
