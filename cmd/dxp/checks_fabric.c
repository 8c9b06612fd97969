/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the fabric's folder, key and manager, and the functions offered here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/checks.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/reach.h"
#include "host/config.h"
#include "link/local.h"
#include "node/offer_folder.h"
#include "node/stats_folder.h"

#define NICS_MAX 256

static void check_folder(struct check *c, const char *folder)
{
	struct stat s;

	if (stat(folder, &s) != 0)
		check_set(c, errno == ENOENT ? CHECK_OK : CHECK_FAIL, "folder",
			  errno == ENOENT ? "`dxp up` creates it" : "choose another with DXP_DIR",
			  "%s: %s", folder, strerror(errno));
	else if (!S_ISDIR(s.st_mode) || access(folder, W_OK | X_OK) != 0)
		check_set(c, CHECK_FAIL, "folder", "choose another with DXP_DIR",
			  "%s is not a folder of this user", folder);
	else
		check_set(c, CHECK_OK, "folder", NULL, "%s", folder);
}

static void check_key(struct check *c, const char *folder, const char *given)
{
	char path[PATH_BYTES + 16];
	struct stat s;

	snprintf(path, sizeof(path), "%s%s", given ? given : folder, given ? "" : "/fabric.key");
	if (stat(path, &s) != 0)
		check_set(c, CHECK_WARN, "fabric key",
			  "start a fabric with `dxp up`, or copy its key there", "%s: %s", path,
			  strerror(errno));
	else if (s.st_mode & 077)
		check_set(c, CHECK_FAIL, "fabric key", "chmod 600 it",
			  "other users can open %s (mode %03o)", path, s.st_mode & 0777);
	else
		check_set(c, CHECK_OK, "fabric key", NULL, "%s, accessible to this user only",
			  path);
}

static void check_manager(struct check *c, const struct session_options *options)
{
	struct inquiry q = {.fabric = &options->fabric, .kind = QUERY_NODES, .timeout_ns = S_NS};
	const struct node_entry *rows;
	struct query *a;
	size_t alive = 0, xpus = 0;
	uint64_t begin = clock_now_ns();
	int status = inquiry_run(&q, &a);
	char address[UDP_ADDRESS_TEXT_BYTES], rule[REACH_RULE_BYTES];
	struct config config;

	if (status == DXP_ETIMEDOUT && config_resolve(&options->fabric, &config) == DXP_OK) {
		check_set(c, CHECK_FAIL, "manager", reach_rule(&config.manager, rule),
			  "UDP %s does not answer; check that a manager runs there",
			  address_format(&config.manager, address));
		return;
	}
	if (status != DXP_OK) {
		/* a missing fabric is not an error of the machine, so it is only a warning */
		check_set(c, status == DXP_ENOENT ? CHECK_WARN : CHECK_FAIL, "manager", NULL, "%s",
			  q.text);
		return;
	}
	double ms = (double)(clock_now_ns() - begin) / 1e6;
	size_t count = query_nodes(a, &rows);
	for (size_t i = 0; i < count; i++) {
		xpus += rows[i].kind == MANAGE_XPU;
		alive += rows[i].kind == MANAGE_XPU && rows[i].alive;
	}
	check_set(c, alive < xpus ? CHECK_WARN : CHECK_OK, "manager",
		  alive < xpus ? "`dxp doctor --all` names the dead xPUs" : NULL,
		  "answered in %.1f ms; %zu of %zu xPUs alive", ms, alive, xpus);
	query_destroy(a);
}

/* Counts the NICs whose programs listen; *orphans counts folders without a program. */
static uint32_t nics_count(uint32_t *orphans)
{
	struct offer_folder *folders = calloc(NICS_MAX, sizeof(*folders));
	uint32_t found = folders ? offer_folders(folders, NICS_MAX) : 0, alive = 0;
	const struct offer_scope any = {.only = false};
	char path[OFFER_PATH_BYTES];
	int fd;

	for (uint32_t i = 0; i < found; i++) {
		if (!offer_socket_path(folders[i].folder, any, path))
			continue;
		int status = local_connect(path, S_NS, &fd);
		if (status == DXP_OK)
			close(fd);
		alive += status == DXP_OK;
		*orphans += status == DXP_ENOENT;
	}
	free(folders);
	return alive;
}

static void check_functions(struct check *c)
{
	char folder[STATS_PATH_BYTES];
	uint32_t orphans = 0;
	int fd, status = stats_run_folder_open(&fd, folder);

	if (status == DXP_EUNSUPPORTED) {
		check_set(c, CHECK_OK, "functions", "unset DXP_RUN to offer functions",
			  "DXP_RUN is empty, so no functions are offered");
		return;
	}
	if (status != DXP_OK) {
		check_set(c, CHECK_WARN, "functions",
			  "set DXP_RUN to a folder that you own, mode 700",
			  "no folder for the sockets of functions");
		return;
	}
	close(fd);
	uint32_t alive = nics_count(&orphans);
	check_set(c, orphans ? CHECK_WARN : CHECK_OK, "functions",
		  orphans ? "remove these folders, or restart the programs that created them"
		  : alive ? "see `dxp vf`"
			  : "`dxp up` starts some",
		  "%s: %u NICs offer functions, %u folders belong to programs that have exited",
		  folder, alive, orphans);
}

unsigned checks_fabric(struct check *out, const struct session_options *options)
{
	char folder[PATH_BYTES];
	unsigned count = 0;

	if (config_directory_find(options->fabric.directory, folder, sizeof(folder)) != DXP_OK) {
		check_set(&out[count++], CHECK_FAIL, "folder", NULL, "%s", dxp_fabric_error(NULL));
		return count;
	}
	check_folder(&out[count++], folder);
	check_key(&out[count++], folder, options->fabric.key_file);
	check_manager(&out[count++], options);
	check_functions(&out[count++]);
	return count;
}
