/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxp-manager: command line and exit codes around src/manager/server.h. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/file_replace.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "base/program.h"
#include "base/service.h"
#include "cmd/manager_options.h"
#include "manager/server.h"
#include "manager/transfer.h"

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_BUSY = 3,
	EXIT_KEY = 4,
	EXIT_STATE = 5
};

static struct server *server;

static void on_signal(int number)
{
	server_stop(server);
}

static int key_get(const struct manager_arguments *a, uint8_t key[FABRIC_KEY_BYTES])
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

/* Writes the manager's address to the file of --announce. */
static bool announce(const char *path, const char *line)
{
	const bool written = file_replace(path, line, 0644);

	if (!written)
		log_error("cannot write the address to %s: %m; choose another --announce", path);
	return written;
}

/* Writes to *out the address that nodes use. Returns whether --advertise set it; otherwise nodes
 * use the address that the manager listens on. */
static bool advertised(const struct manager_arguments *a, const struct udp_address *own,
		       struct udp_address *out)
{
	static const struct udp_address none;

	*out = a->advertise;
	out->port = out->port ? out->port : own->port;
	return !address_equal(&a->advertise, &none);
}

/* Prints how machines and hosts get access. */
static void access_report(const struct manager_arguments *a, const char *address)
{
	if (a->chosen)
		printf("machines join by %s, and hosts use %s; --admit and --grants change this\n",
		       a->admission == ADMIT_TOKEN ? "tokens (`dxp token create`)"
						   : "the fabric key",
		       a->policy == GRANTS_EXPLICIT ? "the xPUs that `dxp grant` permits"
						    : "any xPU");
	if (server_operator_token(server))
		printf("to become its operator: dxp join %s $(cat %s/operator.token)\n", address,
		       a->state);
}

static bool ready_report(const struct manager_arguments *a)
{
	char own_text[UDP_ADDRESS_TEXT_BYTES], text[UDP_ADDRESS_TEXT_BYTES];
	char line[UDP_ADDRESS_TEXT_BYTES + 1];
	struct udp_address own, address;

	server_address(server, &own);
	const bool other = advertised(a, &own, &address);
	address_format(&own, own_text);
	address_format(other ? &address : &own, text);
	snprintf(line, sizeof(line), "%s\n", text);
	if (a->announce && !announce(a->announce, line))
		return false;
	if (a->ready_fd < 0) {
		printf("listening on %s%s%s%s\n", own_text, other ? ", advertised as " : "",
		       other ? text : "", server_active(server) ? "" : ", standing by");
		access_report(a, text);
		program_output_check();
	}
	service_ready(a->ready_fd, line);
	return true;
}

/* Prints what was moved, and what was left out. */
static void transfer_report(const struct manager_arguments *a, const struct transfer *t)
{
	const size_t events = t->events - t->events_left_out;
	char text[KEY_TEXT_BYTES];
	uint8_t key[KEYS_BYTES];

	printf("%s %zu nodes, %zu keys, %zu tokens, %zu grants and %zu events %s %s\n",
	       a->export_file ? "exported" : "imported", t->nodes, t->keys, t->tokens, t->grants,
	       events, a->export_file ? "to" : "from",
	       a->export_file ? a->export_file : a->import_file);
	if (t->events_left_out)
		printf("%zu older events were left out: etcd keeps the newest %d\n",
		       t->events_left_out, ETCD_EVENTS_MAX);
	if (a->import_file && events > a->events)
		printf("a manager keeps the newest %u events; to keep all, start it with --events "
		       "%zu\n",
		       a->events, events);
	if (keys_public(t->private_key, key))
		printf("the managers' key moves too, so machines need not join again: %s\n",
		       key_format(key, text));
}

/* Moves the registry to or from a file. Returns the exit code. */
static int transfer(const struct manager_arguments *a, const struct server_options *options)
{
	struct transfer t = {0};
	int status = a->export_file ? transfer_export(options, a->export_file, &t)
				    : transfer_import(options, a->import_file, &t);

	if (status != DXP_OK)
		return status == DXP_EEXIST ? EXIT_STATE : open_exit_code(status);
	transfer_report(a, &t);
	keys_erase(&t, sizeof(t));
	return program_output_check() ? EXIT_GOOD : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct server_options options = {0};
	struct manager_arguments a;

	program_begin("dxp-manager");
	int code = manager_options_parse(argc, argv, &a);
	if (code >= 0)
		return code;
	if (a.verbose)
		log_level_set(LOG_LEVEL_INFO);
	if (key_get(&a, options.key) != DXP_OK)
		return EXIT_KEY;
	options.bind = a.bind;
	options.state_folder = a.state;
	options.policy = a.policy;
	options.admission = a.admission;
	options.operator_token = a.operator_token;
	options.events = a.events;
	options.etcd = a.etcd;
	options.tls = a.tls;
	options.advertise = a.advertise;
	if (a.export_file || a.import_file) {
		code = transfer(&a, &options);
		keys_erase(options.key, sizeof(options.key));
		return code;
	}
	int status = server_open(&options, &server);
	keys_erase(options.key, sizeof(options.key)); /* the server has a copy */
	if (status != DXP_OK)
		return open_exit_code(status);
	program_signals_set(on_signal);
	code = EXIT_STATE;
	if (ready_report(&a)) {
		code = server_run(server) == DXP_OK ? EXIT_GOOD : EXIT_STATE;
		server_report(server);
	}
	server_close(server);
	return code;
}
