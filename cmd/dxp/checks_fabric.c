/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of the fabric, its key, its manager. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "cmd/dxp/checks.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/inquiry.h"
#include "host/config.h"
#include "link/udp.h"

static void check_folder(struct check *c, const char *folder)
{
	struct stat s;

	if (stat(folder, &s) != 0)
		check_set(c, errno == ENOENT ? CHECK_OK : CHECK_FAIL, "folder",
			  errno == ENOENT ? "`dxp up` makes it" : "choose another with DXP_DIR",
			  "%s: %s", folder, strerror(errno));
	else if (!S_ISDIR(s.st_mode) || access(folder, W_OK | X_OK) != 0)
		check_set(c, CHECK_FAIL, "folder", "choose another with DXP_DIR",
			  "%s is no folder of yours", folder);
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
			  "%s is open to others (mode %03o)", path, s.st_mode & 0777);
	else
		check_set(c, CHECK_OK, "fabric key", NULL, "%s, yours alone", path);
}

static void check_manager(struct check *c, const struct session_options *options)
{
	struct inquiry q = {.fabric = &options->fabric, .kind = ASK_NODES, .timeout_ns = S_NS};
	const struct node_entry *rows;
	struct ask *a;
	size_t alive = 0;
	uint64_t begin = link_now_ns();
	int status = inquiry_run(&q, &a);

	if (status != DXP_OK) {
		/* No fabric at all is no fault of the machine. */
		check_set(c, status == DXP_ENOENT ? CHECK_WARN : CHECK_FAIL, "manager", NULL, "%s",
			  q.text);
		return;
	}
	double ms = (double)(link_now_ns() - begin) / 1e6;
	size_t count = ask_nodes(a, &rows);
	for (size_t i = 0; i < count; i++)
		alive += rows[i].alive;
	check_set(c, CHECK_OK, "manager", NULL, "answers within %.1f ms; %zu of %zu nodes alive",
		  ms, alive, count);
	ask_destroy(a);
}

unsigned checks_fabric(struct check *out, const struct session_options *options)
{
	char folder[PATH_BYTES];
	unsigned count = 0;

	if (config_directory(options->fabric.directory, folder, sizeof(folder)) != DXP_OK) {
		check_set(&out[count++], CHECK_FAIL, "folder", NULL, "%s", dxp_fabric_error(NULL));
		return count;
	}
	check_folder(&out[count++], folder);
	check_key(&out[count++], folder, options->fabric.key_file);
	check_manager(&out[count++], options);
	return count;
}
