/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxp-manager: command line and exit codes around src/manager/server.h. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "base/log.h"
#include "base/program.h"
#include "base/service.h"
#include "manager/server.h"

#define DEFAULT_BIND "127.0.0.1"

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_BUSY = 3,
	EXIT_KEY = 4,
	EXIT_STATE = 5
};

static const char help[] =
	"Usage: dxp-manager --key FILE --state DIR [OPTION]...\n"
	"The manager of a fabric: assigns node ids, keeps the node table, and decides which host "
	"may use which xPU.\n"
	"\n"
	"      --key FILE          the fabric's key: 64 hexadecimal digits, readable by its owner "
	"only (mode 600)\n"
	"      --new-key           create FILE with a new key if it does not exist\n"
	"      --state DIR         folder of the registry (manager.db); created if it does not "
	"exist\n"
	"      --bind ADDR[:PORT]  address to listen on, default " DEFAULT_BIND
	":4795; port 0 lets the system choose;\n"
	"                          other machines reach the manager only at an address of this "
	"machine\n"
	"      --grants any        any host may use any xPU (default)\n"
	"      --grants explicit   a host may use the xPUs that `dxp grant HOST XPU` permits; "
	"grants are kept in DIR\n"
	"      --ready-fd N        when ready, write the address and a newline to file descriptor "
	"N and close it;\n"
	"                          without this option, print \"listening on ADDRESS\" to standard "
	"output\n"
	"  -v, --verbose           log each step; same as DXP_LOG=info\n"
	"  -h, --help              this text\n"
	"      --version           version\n"
	"\n"
	"SIGTERM and SIGINT stop it; nodes continue without the manager and reconnect when it is "
	"back.\n"
	"Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 address or state "
	"folder in use,\n"
	"4 key file unusable, 5 state folder unusable.\n";

struct arguments {
	const char *key, *state, *bind;
	enum grants_policy policy;
	bool new_key;
	int ready_fd; /* -1: standard output */
};

static struct server *server;

static void on_signal(int number)
{
	server_stop(server);
}

static int usage(const char *what)
{
	fprintf(stderr, "dxp-manager: %s\nTry 'dxp-manager --help'.\n", what);
	return EXIT_USAGE;
}

static bool option_number_parse(const char *text, int *out)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < 0 || value > 1 << 20)
		return false;
	*out = (int)value;
	return true;
}

enum {
	OPTION_KEY = 256,
	OPTION_NEW_KEY,
	OPTION_STATE,
	OPTION_BIND,
	OPTION_GRANTS,
	OPTION_READY_FD,
	OPTION_VERSION
};

static const struct option long_options[] = {
	{"key", required_argument, NULL, OPTION_KEY},
	{"new-key", no_argument, NULL, OPTION_NEW_KEY},
	{"state", required_argument, NULL, OPTION_STATE},
	{"bind", required_argument, NULL, OPTION_BIND},
	{"grants", required_argument, NULL, OPTION_GRANTS},
	{"ready-fd", required_argument, NULL, OPTION_READY_FD},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

/* Parses one option. Returns -1 to continue, otherwise the program's exit code. */
static int option_parse(int option, struct arguments *a)
{
	switch (option) {
	case OPTION_KEY: a->key = optarg; return -1;
	case OPTION_NEW_KEY: a->new_key = true; return -1;
	case OPTION_STATE: a->state = optarg; return -1;
	case OPTION_BIND: a->bind = optarg; return -1;
	case OPTION_GRANTS:
		a->policy = strcmp(optarg, "explicit") == 0 ? GRANTS_EXPLICIT : GRANTS_ANY;
		return a->policy == GRANTS_ANY && strcmp(optarg, "any") != 0
			       ? usage("--grants is any or explicit")
			       : -1;
	case OPTION_READY_FD:
		return option_number_parse(optarg, &a->ready_fd)
			       ? -1
			       : usage("--ready-fd needs the number of a file descriptor");
	case 'v': log_level_set(LOG_LEVEL_INFO); return -1;
	case 'h': fputs(help, stdout); return EXIT_GOOD;
	case OPTION_VERSION: puts("dxp-manager " DXP_VERSION); return EXIT_GOOD;
	default: fprintf(stderr, "Try 'dxp-manager --help'.\n"); return EXIT_USAGE;
	}
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
	if (!a->key || !a->state)
		return usage("--key and --state are needed");
	return -1;
}

static int key_get(const struct arguments *a, uint8_t key[FABRIC_KEY_BYTES])
{
	int status = a->new_key ? keyfile_create(a->key, key) : DXP_EEXIST;

	return status == DXP_EEXIST ? keyfile_read(a->key, key) : status;
}

static int open_exit_code(int status)
{
	switch (status) {
	case DXP_EBUSY: return EXIT_BUSY;
	case DXP_EACCESS:
	case DXP_EMALFORMED:
	case DXP_EUNSUPPORTED: return EXIT_STATE;
	case DXP_ENOMEM: log_error("not enough memory"); return EXIT_FAILED;
	default: return EXIT_FAILED;
	}
}

static void signals_set(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

static void ready_report(const struct arguments *a)
{
	char text[UDP_ADDRESS_TEXT_BYTES], line[UDP_ADDRESS_TEXT_BYTES + 1];
	struct udp_address address;

	server_address(server, &address);
	address_format(&address, text);
	if (a->ready_fd < 0) {
		printf("listening on %s\n", text);
		program_output_check();
	}
	snprintf(line, sizeof(line), "%s\n", text);
	service_ready(a->ready_fd, line);
}

int main(int argc, char **argv)
{
	struct arguments a = {.bind = DEFAULT_BIND, .ready_fd = -1};
	struct server_options options = {0};

	program_begin("dxp-manager");
	int code = arguments_parse(argc, argv, &a);
	if (code >= 0)
		return code;
	if (address_parse(a.bind, WIRE_PORT, &options.bind) != DXP_OK)
		return usage("--bind needs an address such as 127.0.0.1:4795 or [::1]:4795");
	if (key_get(&a, options.key) != DXP_OK)
		return EXIT_KEY;
	options.state_folder = a.state;
	options.policy = a.policy;
	int status = server_open(&options, &server);
	if (status != DXP_OK)
		return open_exit_code(status);
	signals_set();
	ready_report(&a);
	server_run(server);
	server_report(server);
	server_close(server);
	return EXIT_GOOD;
}
