/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp manager init`: a manager that admits machines by token, with this user as its
 * operator; and selects `export` and `import`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/authority.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/manager_move.h"
#include "cmd/dxp/session.h"
#include "cmd/dxp/token.h"
#include "host/config.h"
#include "link/resolve.h"
#include "link/udp.h"
#include "wire/limits.h"

/* An address to which a machine with a network has a route (RFC 5737). Nothing is sent to it. */
#define OUTSIDE   "192.0.2.1:9"
#define PORT_NONE UINT64_MAX

struct init {
	const char *directory, *bind, *grants, *name, *role;
	uint64_t port, uses, seconds;
	bool json;
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

/* Makes a token for another machine. Returns a status; if that is not DXP_OK, writes the reason. */
static int token_make(const struct init *i, char token[TOKEN_TEXT_BYTES],
		      char reason[CONTROL_TEXT_BYTES])
{
	const struct dxp_fabric_options fabric = {.directory = i->folder.folder};
	struct control q = {0};
	int status = control_find(&fabric, &q);

	if (status == DXP_OK)
		status = token_create(&q, i->role, (uint32_t)i->uses, i->seconds, token);
	snprintf(reason, CONTROL_TEXT_BYTES, "%s", q.text);
	keys_erase(q.private_key, sizeof(q.private_key));
	return status;
}

static int report(const struct init *i, const char *token)
{
	if (i->json)
		return print_json_text(json_pack("{s:s, s:s, s:s}", "directory", i->folder.folder,
						 "manager", i->address, "token", token));
	printf("The manager listens on %s, and this user is its operator. Run on the other "
	       "machine:\n\n"
	       "  dxp join %s %s\n\n"
	       "`dxp grant NAME XPU` permits the machine that joined as NAME to use an xPU, `dxp "
	       "token create` makes more\ntokens, `dxp down` stops the manager.\n",
	       i->address, i->address, token);
	return EXIT_DONE;
}

/* Reads the address of a manager that runs already. */
static bool address_read(struct init *i)
{
	char path[PATH_BYTES];

	if (!folder_path(&i->folder, "manager", path))
		return false;
	if (!file_head(path, i->address, sizeof(i->address))) {
		print_fail("cannot read %s", path);
		return false;
	}
	i->address[strcspn(i->address, "\n")] = '\0';
	return true;
}

static bool manager_start(struct init *i)
{
	char bind[UDP_ADDRESS_TEXT_BYTES];
	struct authority a = {
		.folder = &i->folder, .bind = bind, .grants = i->grants, .name = i->name};

	if (!bind_choose(i, bind) || !authority_acquire(&i->folder))
		return false;
	if (!authority_start(&a)) {
		folder_clear(&i->folder);
		return false;
	}
	snprintf(i->address, sizeof(i->address), "%s", a.address);
	return true;
}

static int init_run(struct init *i)
{
	char token[TOKEN_TEXT_BYTES], reason[CONTROL_TEXT_BYTES];

	if (setenv("DXP_CONFIG", "", 1) != 0)
		return print_fail("out of memory");
	const bool running =
		authority_exists(&i->folder) && folder_load(&i->folder) && folder_alive(&i->folder);
	if (!(running ? address_read(i) : manager_start(i)))
		return EXIT_FAILED;
	int status = token_make(i, token, reason);
	/* A manager that was killed just before counts as running until the kernel has ended it. */
	if (status == DXP_ETIMEDOUT && running && !folder_alive(&i->folder)) {
		if (!manager_start(i))
			return EXIT_FAILED;
		status = token_make(i, token, reason);
	}
	status = status == DXP_OK ? report(i, token) : print_fail("%s", reason);
	keys_erase(token, sizeof(token));
	return status;
}

/* Completes the options of init. */
static void init_default(struct init *i)
{
	i->grants = i->grants ? i->grants : "explicit";
	i->role = i->role ? i->role : "xpu";
	i->port = i->port == PORT_NONE ? WIRE_PORT : i->port;
	i->uses = i->uses ? i->uses : 1;
	i->seconds = i->seconds ? i->seconds : 24 * 3600;
}

/* Returns whether an option of init was given. */
static bool init_given(const struct init *i)
{
	return i->bind || i->grants || i->name || i->role || i->port != PORT_NONE || i->uses ||
	       i->seconds || i->json;
}

/* Returns whether an option of export and import was given. */
static bool move_given(const struct manager_move *m)
{
	return m->key || m->state || m->store || m->ca || m->certificate || m->tls_key;
}

/* Runs `export FILE` or `import FILE`. */
static int move_run(struct init *i, const struct manager_move *m, const char *word,
		    const char *file)
{
	const bool import = strcmp(word, "import") == 0;

	if (init_given(i)) {
		print_fail("`dxp manager %s` has only the options --dir, --key, --state and "
			   "--store...; the others are for `dxp manager init`",
			   word);
		return EXIT_USAGE;
	}
	const bool needed = !m->key || !m->state;
	if (needed && !folder_open(&i->folder, i->directory, false))
		return EXIT_FAILED;
	int status = manager_move(m, &i->folder, import, file);
	if (needed)
		folder_close(&i->folder);
	return status;
}

int command_manager(int argc, char **argv)
{
	static struct manager_move move;
	static struct init i = {.port = PORT_NONE};
	const struct option_row rows[] = {
		DIRECTORY_NEW_ROWS(i.directory),
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
		MANAGER_MOVE_ROWS(move),
		JSON_ROW(i.json)};
	const struct usage usage = {
		"manager", "init | export FILE | import FILE",
		"init: starts a manager that admits machines by token, makes this user its "
		"operator, and prints the line that another\n"
		"machine runs to join. Run again, it starts the manager if needed and prints "
		"another line. `dxp down` stops it.\n"
		"export, import: move the registry of a fabric between stores (SQLite and etcd) "
		"through a file with all its secrets.\n"
		"No manager may run, and the target must be empty.",
		ACCEPTS(rows, 1, 2)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const char *word = args.at[0];
	if (args.count == 2 && (strcmp(word, "export") == 0 || strcmp(word, "import") == 0))
		return move_run(&i, &move, word, args.at[1]);
	if (move_given(&move)) {
		print_fail("--key, --state and --store... are for `dxp manager export` and "
			   "`import`; for a manager with its registry in etcd or in another folder "
			   "run dxp-manager");
		return EXIT_USAGE;
	}
	init_default(&i);
	if (strcmp(word, "init") != 0 || args.count != 1 ||
	    channel_role_parse(i.role) == ROLE_NONE ||
	    (strcmp(i.grants, "any") != 0 && strcmp(i.grants, "explicit") != 0)) {
		print_fail("write `dxp manager init`, `export FILE` or `import FILE`; --grants is "
			   "any or explicit, --role is host, xpu or operator");
		return EXIT_USAGE;
	}
	if (!process_table_check() || !folder_open(&i.folder, i.directory, true))
		return EXIT_FAILED;
	int status = init_run(&i);
	folder_close(&i.folder);
	return status;
}
