/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxpd: command line and exit codes around src/xpu/daemon.h. */
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "base/program.h"
#include "base/service.h"
#include "base/util.h"
#include "cmd/dxpd_measure.h"
#include "cmd/dxpd_options.h"
#include "host/config.h"
#include "worker/zygote.h"

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

static _Atomic int stop;

static void on_signal(int number)
{
	stop = 1;
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
	case DXP_EACCESS:
	case DXP_EAUTH: return EXIT_KEY;
	case DXP_EBUSY: return EXIT_BUSY;
	case DXP_ETIMEDOUT: return EXIT_SILENT;
	default: return EXIT_FAILED;
	}
}

static int daemon_serve(struct daemon *b, const struct dxpd_arguments *a)
{
	uint64_t deadline_ns = a->timeout_s ? clock_now_ns() + a->timeout_s * S_NS : UINT64_MAX;
	int status = daemon_join(b, deadline_ns);

	if (status != DXP_OK)
		return join_exit_code(status);
	service_ready(a->ready_fd, "\n");
	status = daemon_run(b);
	return status == DXP_OK ? EXIT_GOOD : join_exit_code(status);
}

/* Writes the path of the folder that holds the key file. */
static bool key_folder(const char *key, char out[PATH_MAX])
{
	const char *slash = strrchr(key, '/');
	const int length = slash ? (int)(slash - key) : 0;

	return snprintf(out, PATH_MAX, "%.*s%s", length, key, slash ? "/." : ".") < PATH_MAX;
}

/* Reads the key file, and also the key pair in its folder if there is one. */
static int key_read(const struct dxpd_arguments *a, struct config *fabric)
{
	char folder[PATH_MAX];

	if (keyfile_read(a->key, fabric->key) != DXP_OK)
		return EXIT_KEY;
	snprintf(fabric->key_file, sizeof(fabric->key_file), "%s", a->key);
	if (!key_folder(a->key, folder) || config_identity(folder, fabric) != DXP_OK) {
		log_error("%s", dxp_fabric_error(NULL));
		return EXIT_KEY;
	}
	return -1;
}

/* Reads a folder that `dxp join` has written: the folder of the key file if there is one, otherwise
 * the folder of --dir or the default folder. */
static int folder_read(struct dxpd_arguments *a, struct config *fabric)
{
	char folder[PATH_MAX];
	struct dxp_fabric_options where = {.directory = a->directory};

	if (a->key && key_folder(a->key, folder))
		where.directory = folder;
	int status = config_resolve(&where, fabric);
	if (status == DXP_OK) {
		a->daemon.manager = fabric->manager;
		a->daemon.other_managers = fabric->other_managers;
		return -1;
	}
	if (status == DXP_ENOENT && !a->directory) {
		log_error("--manager and --key are needed, or `manager` and `key` in section "
			  "[dxpd] of /etc/dxp/dxp.conf, or a fabric that this user has joined: "
			  "`dxp join HOST TOKEN`; see `dxpd --help`");
		return EXIT_USAGE;
	}
	log_error("%s", dxp_fabric_error(NULL));
	return EXIT_KEY;
}

/* Finds the fabric. Returns -1, or an exit code after a message. */
static int fabric_find(struct dxpd_arguments *a, struct config *fabric)
{
	*fabric = (struct config){0};
	const int code = a->manager_given ? key_read(a, fabric) : folder_read(a, fabric);

	a->daemon.fabric_key = fabric->key;
	a->daemon.identity = fabric->keyed ? &fabric->identity : NULL;
	a->daemon.identity_file = fabric->identity_file;
	a->daemon.key_file = fabric->key_file;
	return code;
}

int main(int argc, char **argv)
{
	struct dxpd_arguments a;
	struct config fabric;
	struct daemon *daemon;

	program_begin("dxpd");
	if (argc > 1 && strcmp(argv[1], ZYGOTE_ARGUMENT) == 0)
		return zygote_main(argc - 2, argv + 2);
	int code = dxpd_options_parse(argc, argv, &a);
	if (code >= 0)
		return code;
	if (a.verbose)
		log_level_set(LOG_LEVEL_INFO);
	if (a.measure) {
		int status = dxpd_measure(a.daemon.engine, a.daemon.memory_bytes);
		return status == DXP_OK ? EXIT_GOOD : open_exit_code(status);
	}
	code = fabric_find(&a, &fabric);
	if (code >= 0)
		return code;
	a.daemon.stop = &stop;
	program_signals_set(on_signal);
	program_descriptors_raise(); /* each host of an xPU needs a descriptor */
	int status = daemon_open(&a.daemon, &daemon);
	keys_erase(&fabric, sizeof(fabric)); /* the nodes have copies */
	if (status != DXP_OK)
		return open_exit_code(status);
	code = daemon_serve(daemon, &a);
	daemon_close(daemon);
	return code;
}
