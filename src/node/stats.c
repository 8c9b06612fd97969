/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of a node's counter file. The file gets its final name only when it is complete and
 * locked, so a reader never finds a partial file. Disk blocks are reserved before they are written.
 * So if the file system is full, rows are missing, but no SIGBUS occurs. */
#include "node/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "node/stats_clean.h"
#include "node/stats_folder.h"

#define NAME_BYTES 48

struct stats {
	struct stats_file *file; /* mapped at its maximum size */
	int fd, folder;
	uint32_t space; /* rows of sessions for which disk blocks are reserved */
	bool full;      /* true: the file system has no space for more rows */
	char name[NAME_BYTES], tap_name[NAME_BYTES];
};

/* Makes the names "PID-N", because a process may have several nodes. */
static void names_draw(struct stats *s)
{
	static _Atomic uint32_t last;
	uint32_t number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;

	snprintf(s->name, sizeof(s->name), "%d-%u.stats", (int)getpid(), number);
	snprintf(s->tap_name, sizeof(s->tap_name), "%d-%u.tap", (int)getpid(), number);
}

static void program_name(char out[FABRIC_NAME_BYTES])
{
	snprintf(out, FABRIC_NAME_BYTES, "%s", program_invocation_short_name);
}

static void header_fill(struct stats *s, const struct stats_options *options)
{
	struct stats_file *f = s->file;

	f->version = STATS_VERSION;
	f->header_bytes = STATS_HEADER_BYTES;
	f->session_bytes = sizeof(struct stats_session);
	f->session_fields = STATS_SESSION_FIELDS;
	f->node_fields = STATS_NODE_FIELDS;
	f->qps = STATS_QPS;
	f->pid = (uint32_t)getpid();
	snprintf(f->node.name, sizeof(f->node.name), "%s", options->name ? options->name : "");
	program_name(f->node.program);
	f->node.xpu = options->xpu;
	f->magic = STATS_MAGIC;
}

static int reserve(struct stats *s, uint32_t rows)
{
	/* posix_fallocate returns the error instead of setting errno. */
	int error = posix_fallocate(s->fd, 0, (off_t)stats_file_bytes(rows));

	if (error == 0)
		s->space = rows;
	return error;
}

static int file_make(struct stats *s, const struct stats_options *options)
{
	char draft[NAME_BYTES + 8];

	snprintf(draft, sizeof(draft), ".%s.new", s->name);
	/* the file may be left from a crashed process with the same process id */
	unlinkat(s->folder, draft, 0);
	s->fd = descriptor_raise(
		openat(s->folder, draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (s->fd < 0)
		return errno;
	int error = reserve(s, STATS_SESSIONS_MIN);
	if (error == 0) {
		void *map = mmap(NULL, stats_file_bytes(STATS_SESSIONS_MAX), PROT_READ | PROT_WRITE,
				 MAP_SHARED, s->fd, 0);
		error = map == MAP_FAILED ? errno : 0;
		s->file = error ? NULL : map;
	}
	if (error == 0) {
		header_fill(s, options);
		if (stats_lock(s->fd) != 0 || renameat(s->folder, draft, s->folder, s->name) != 0)
			error = errno;
	}
	if (error)
		unlinkat(s->folder, draft, 0);
	return error;
}

int stats_open(const struct stats_options *options, struct stats **out)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->fd = s->folder = -1;
	names_draw(s);
	int status = stats_folder_open(&s->folder);
	if (status == DXP_OK) {
		stats_clean(s->folder);
		int error = file_make(s, options);
		if (error) {
			log_info("cannot publish counters: %s", strerror(error));
			status = DXP_EIO;
		}
	}
	if (status != DXP_OK) {
		stats_close(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void stats_close(struct stats *s)
{
	if (!s)
		return;
	if (s->file) {
		unlinkat(s->folder, s->name, 0);
		munmap(s->file, stats_file_bytes(STATS_SESSIONS_MAX));
	}
	if (s->fd >= 0)
		close(s->fd);
	if (s->folder >= 0)
		close(s->folder);
	free(s);
}

struct stats_node *stats_begin(struct stats *s)
{
	struct stats_file *f = s->file;
	uint32_t sequence = atomic_load_explicit(&f->sequence, memory_order_relaxed);

	atomic_store_explicit(&f->sequence, sequence | 1, memory_order_relaxed);
	/* Pairs with the reader's acquire fence: a reader that sees any store after this fence also
	 * sees the odd number. */
	atomic_thread_fence(memory_order_release);
	f->node.session_rows = 0;
	return &f->node;
}

struct stats_session *stats_row(struct stats *s)
{
	struct stats_node *n = &s->file->node;
	uint32_t row = n->session_rows;

	if (row == s->space && !s->full) {
		uint32_t wanted = (uint32_t)min_u64(2ull * s->space, STATS_SESSIONS_MAX);
		s->full = wanted == s->space || reserve(s, wanted) != 0;
	}
	if (row == s->space)
		return NULL;
	n->session_rows = row + 1;
	uint8_t *rows = (uint8_t *)s->file + STATS_HEADER_BYTES;
	return (struct stats_session *)(void *)(rows + row * sizeof(struct stats_session));
}

void stats_commit(struct stats *s)
{
	uint32_t sequence = atomic_load_explicit(&s->file->sequence, memory_order_relaxed);

	/* Pairs with the reader's acquire fence: a reader that sees this even number sees a
	 * complete snapshot. */
	atomic_store_explicit(&s->file->sequence, sequence + 1, memory_order_release);
}

struct stats_file *stats_map(struct stats *s)
{
	return s->file;
}

int stats_folder(const struct stats *s)
{
	return s->folder;
}

const char *stats_tap_name(const struct stats *s)
{
	return s->tap_name;
}
