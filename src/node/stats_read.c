/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/stats_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/util.h"
#include "node/stats_clean.h"
#include "node/stats_folder.h"
#include "node/tap.h"

#define READ_TRIES 100 /* attempts to read a consistent snapshot; a write takes microseconds */

struct reading {
	struct stats_list *list;
	void (*complain)(void *context, const char *text);
	void *context;
	bool no_memory;
};

static void complain(void *context, const char *text)
{
	struct reading *r = context;

	r->list->refused++;
	if (r->complain)
		r->complain(r->context, text);
}

static void leave_out(struct reading *r, const char *path, const char *why)
{
	char text[STATS_PATH_BYTES + 160];

	snprintf(text, sizeof(text), "%s is ignored: %s", path, why);
	complain(r, text);
}

static bool read_all(int fd, void *out, size_t bytes, size_t offset)
{
	return pread(fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Returns NULL, or the reason why the header is invalid. */
static const char *header_wrong(const struct stats_file *f)
{
	if (f->magic != STATS_MAGIC)
		return "it is not a file of counters";
	if (f->version != STATS_VERSION || f->header_bytes != STATS_HEADER_BYTES ||
	    f->session_bytes != sizeof(struct stats_session) ||
	    f->session_fields != STATS_SESSION_FIELDS || f->node_fields != STATS_NODE_FIELDS ||
	    f->qps != STATS_QPS)
		return "another version of Direct xPU wrote it; use the `dxp` of that version";
	return NULL;
}

static bool rows_fit(const struct stats_file *f, uint64_t file_bytes)
{
	return f->node.session_rows <= STATS_SESSIONS_MAX &&
	       stats_file_bytes(f->node.session_rows) <= file_bytes;
}

static const char *file_wrong(int fd, uid_t owner)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a regular file";
	if (st.st_uid != owner)
		return "its owner is not the owner of its folder";
	if ((uint64_t)st.st_size < STATS_HEADER_BYTES)
		return "it is too short for a file of counters";
	return NULL;
}

static uint32_t sequence_of(struct stats_file *f)
{
	return atomic_load_explicit(&f->sequence, memory_order_relaxed);
}

/* Returns the present size of the file, which may have grown since the last call. */
static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Reads one consistent snapshot. Returns NULL, or the reason why the file is rejected. The caller
 * frees the rows. */
static const char *snapshot_read(int fd, struct stats_file *f, struct stats_session **rows)
{
	for (int tries = 0; tries < READ_TRIES; tries++) {
		uint32_t after;
		if (!read_all(fd, f, sizeof(*f), 0))
			return "it cannot be read";
		const char *wrong = header_wrong(f);
		if (wrong)
			return wrong;
		if (sequence_of(f) % 2 != 0)
			continue;
		if (!rows_fit(f, size_of(fd)))
			return "it is shorter than its header states";
		size_t row_bytes = f->node.session_rows * sizeof(**rows);
		*rows = malloc(row_bytes + 1);
		if (!*rows)
			return "not enough memory for it";
		bool whole = read_all(fd, *rows, row_bytes, STATS_HEADER_BYTES);
		atomic_thread_fence(memory_order_acquire);
		whole = whole &&
			read_all(fd, &after, sizeof(after), offsetof(struct stats_file, sequence));
		if (whole && after == sequence_of(f))
			return NULL;
		free(*rows);
		*rows = NULL;
	}
	return "its writer stopped in the middle of writing";
}

/* Replaces control characters, which could contain terminal escapes, because another user may have
 * written the file. */
static void text_clean(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
	for (; *text; text++) {
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
	}
}

static int view_add(struct reading *r, const struct stats_file *f, struct stats_session *rows,
		    const char *path)
{
	struct stats_list *l = r->list;
	struct stats_view *views = realloc(l->views, (l->count + 1) * sizeof(*views));

	if (!views)
		return DXP_ENOMEM;
	l->views = views;
	struct stats_view *v = &views[l->count++];
	*v = (struct stats_view){.pid = f->pid, .node = f->node, .sessions = rows};
	v->age_ns = clock_now_ns() - f->node.published_ns;
	snprintf(v->path, sizeof(v->path), "%s", path);
	text_clean(v->node.name, sizeof(v->node.name));
	text_clean(v->node.program, sizeof(v->node.program));
	text_clean(v->node.address, sizeof(v->node.address));
	for (uint32_t i = 0; i < v->node.session_rows; i++)
		text_clean(rows[i].peer, sizeof(rows[i].peer));
	return DXP_OK;
}

static void file_read(struct reading *r, const struct stats_folder *listed, int fd,
		      const char *path)
{
	struct stats_session *rows = NULL;
	struct stats_file file;
	const char *wrong = file_wrong(fd, listed->owner);

	if (!wrong)
		wrong = snapshot_read(fd, &file, &rows);
	if (wrong) {
		leave_out(r, path, wrong);
	} else if (view_add(r, &file, rows, path) != DXP_OK) {
		r->no_memory = true;
		free(rows);
	}
}

static bool ends_in(const char *name, const char *end)
{
	size_t bytes = strlen(name), end_bytes = strlen(end);

	return bytes > end_bytes && strcmp(name + bytes - end_bytes, end) == 0;
}

static void entry_read(struct reading *r, const struct stats_folder *listed, const char *name)
{
	char path[STATS_PATH_BYTES];
	int length = snprintf(path, sizeof(path), "%s/%s", listed->path, name);
	int fd = descriptor_raise(
		openat(listed->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));

	if (fd < 0) {
		if (errno != ENOENT)
			leave_out(r, path, strerror(errno));
		return;
	}
	if (length >= (int)sizeof(path))
		leave_out(r, listed->path, "a name in it is too long");
	else if (stats_leftover(fd) && listed->owner == geteuid())
		unlinkat(listed->folder, name, 0);
	else if (ends_in(name, ".stats") && !stats_leftover(fd))
		file_read(r, listed, fd, path);
	close(fd);
}

static void folder_read(void *context, const struct stats_folder *listed)
{
	struct reading *r = context;
	int copy = fcntl(listed->folder, F_DUPFD_CLOEXEC, DESCRIPTOR_FIRST);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!folder) {
		if (copy >= 0)
			close(copy);
		leave_out(r, listed->path, strerror(errno));
		return;
	}
	while ((entry = readdir(folder)) != NULL && r->list->count < STATS_NODES_MAX) {
		if (entry->d_name[0] != '.' &&
		    (ends_in(entry->d_name, ".stats") || ends_in(entry->d_name, ".tap")))
			entry_read(r, listed, entry->d_name);
	}
	closedir(folder);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct stats_view *)a)->path, ((const struct stats_view *)b)->path);
}

int stats_read(struct stats_list *out, void (*complaint)(void *context, const char *text),
	       void *context)
{
	struct reading r = {.list = out, .complain = complaint, .context = context};

	*out = (struct stats_list){0};
	stats_folders(folder_read, complain, &r);
	if (r.no_memory) {
		stats_list_free(out);
		return DXP_ENOMEM;
	}
	if (out->count)
		qsort(out->views, out->count, sizeof(*out->views), by_path);
	return DXP_OK;
}

void stats_list_free(struct stats_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		free(list->views[i].sessions);
		free(list->views[i].paths);
	}
	free(list->views);
	*list = (struct stats_list){0};
}

int stats_file_open(const char *path, int *folder, int *fd)
{
	char parent[STATS_PATH_BYTES];
	struct stat st;

	snprintf(parent, sizeof(parent), "%s", path);
	char *slash = strrchr(parent, '/');
	if (!slash)
		return DXP_ENOENT;
	*slash = '\0';
	*folder = descriptor_raise(open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (*folder < 0)
		return DXP_ENOENT;
	*fd = descriptor_raise(
		openat(*folder, slash + 1, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (*fd < 0) {
		int status = errno == ENOENT ? DXP_ENOENT : DXP_EACCESS;
		close(*folder);
		return status;
	}
	if (fstat(*folder, &st) == 0 && !file_wrong(*fd, st.st_uid) && !stats_orphaned(*fd))
		return DXP_OK;
	close(*fd);
	close(*folder);
	return DXP_ENOENT;
}

void stats_tap_of(const char *path, char out[STATS_PATH_BYTES])
{
	const char *slash = strrchr(path, '/');

	snprintf(out, STATS_PATH_BYTES, "%s", slash ? slash + 1 : path);
	char *dot = strrchr(out, '.');
	if (dot)
		snprintf(dot, (size_t)(out + STATS_PATH_BYTES - dot), ".tap");
}
