/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends jobs. The key goes first, so that no program of the job has access any more when the grant
 * of an xPU is free for another job. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/job.h"

static bool matches(const char *pattern, const char *name)
{
	const size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	return strcmp(pattern, name) == 0;
}

/* Makes one request as the operator. DXP_ENOENT counts as done. */
static bool request(struct job *j, uint8_t command, const char *host, const char *xpu)
{
	struct control *q = &j->operator_keys;

	q->token = NULL;
	q->request = (struct channel_request){.command = command};
	snprintf(q->request.name, sizeof(q->request.name), "%s", host);
	snprintf(q->request.xpu, sizeof(q->request.xpu), "%s", xpu);
	int status = control_request(q);
	if (status == DXP_OK) {
		j->removed++;
	} else if (status != DXP_ENOENT) {
		print_fail("cannot end job %s: %s", host, q->text);
		return false;
	}
	return true;
}

/* Removes the key of a name, or of all hosts of the grants that match. A job whose begin failed may
 * have a key without a grant. */
static bool keys_end(struct job *j, const struct grants_row *rows, size_t count)
{
	const char *last = "";
	bool good = true;

	if (!strchr(j->name, '*'))
		return request(j, CHANNEL_NODE_REMOVE, j->name, "");
	for (size_t i = 0; i < count; i++) {
		if (!matches(j->name, rows[i].host) || strcmp(rows[i].host, last) == 0)
			continue;
		last = rows[i].host;
		good = request(j, CHANNEL_NODE_REMOVE, last, "") && good;
	}
	return good;
}

static bool grants_end(struct job *j, const struct grants_row *rows, size_t count)
{
	bool good = true;

	for (size_t i = 0; good && i < count; i++)
		if (matches(j->name, rows[i].host))
			good = request(j, CHANNEL_REVOKE, rows[i].host, rows[i].xpu);
	return good;
}

/* Returns true for the files of a job, and for incomplete ones that a killed program has left. */
static bool of_job(const char *name)
{
	static const char *const files[] = {"manager", "manager.pub", "fabric.key", "node.key"};

	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		const size_t length = strlen(files[i]);
		if (strncmp(name, files[i], length) == 0 && (!name[length] || name[length] == '.'))
			return true;
	}
	return false;
}

bool job_folder_remove(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *all = folder < 0 ? NULL : fdopendir(folder);

	if (folder < 0 && errno == ENOENT)
		return true;
	for (struct dirent *e; all && (e = readdir(all));)
		if (of_job(e->d_name))
			unlinkat(folder, e->d_name, 0);
	if (all)
		closedir(all);
	else if (folder >= 0)
		close(folder);
	if (all && rmdir(path) == 0)
		return true;
	print_fail("cannot remove the folder %s: %s; remove it by hand", path, strerror(errno));
	return false;
}

bool job_end(struct job *j)
{
	struct inquiry q = {.fabric = &j->fabric, .kind = QUERY_GRANTS};
	const struct grants_row *rows;
	struct query *grants;

	if (inquiry_run(&q, &grants) != DXP_OK)
		return print_fail("cannot end job %s: %s", j->name, q.text) == EXIT_DONE;
	const size_t count = query_grants(grants, &rows);
	const bool good = keys_end(j, rows, count) && grants_end(j, rows, count);
	query_destroy(grants);
	/* The folder shows that keys or grants are left. */
	return good && (!j->folder || job_folder_remove(j->folder));
}
