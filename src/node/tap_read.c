/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/tap_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/util.h"
#include "node/stats_folder.h"

struct tap_reader {
	struct stats_file *stats;
	struct tap_ring *ring;
	uint64_t head;
	uint32_t ring_bytes, wanted;
	int folder, stats_fd, fd;
	bool placed; /* true: the ring has its final name */
	char name[STATS_PATH_BYTES];
	union {
		struct tap_record record;
		uint8_t bytes[sizeof(struct tap_record) + DATAGRAM_BYTES_MAX + 8];
	} copy; /* copy of a record, which the node cannot change after the check */
};

static size_t map_bytes(const struct tap_reader *t)
{
	return TAP_DATA_BYTES + (size_t)t->ring_bytes;
}

/* Returns the id of the process that made the current ring; 0: there is no ring; UINT32_MAX:
 * unknown. */
static uint32_t other_tracer(const struct tap_reader *t)
{
	struct tap_ring front;
	int fd = descriptor_raise(
		openat(t->folder, t->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	uint32_t pid = 0;

	if (fd < 0)
		return 0;
	if (!stats_orphaned(fd))
		pid = pread(fd, &front, sizeof(front), 0) == (ssize_t)sizeof(front) && front.pid
			      ? front.pid
			      : UINT32_MAX;
	close(fd);
	return pid;
}

/* Makes the ring under a temporary name, and gives it its final name when it is complete and
 * locked. */
static int ring_make(struct tap_reader *t, uint32_t snap_bytes)
{
	char draft[STATS_PATH_BYTES + 32];

	snprintf(draft, sizeof(draft), ".%s.%d", t->name, (int)getpid());
	t->fd = descriptor_raise(
		openat(t->folder, draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (t->fd < 0)
		return DXP_EIO;
	struct stat folder;
	/* If root traces a user's node, that user must be able to open the ring. */
	if (fstat(t->folder, &folder) == 0 && folder.st_uid != geteuid() &&
	    fchown(t->fd, folder.st_uid, folder.st_gid) != 0) {
		unlinkat(t->folder, draft, 0);
		return DXP_EACCESS;
	}
	void *map = MAP_FAILED;
	if (posix_fallocate(t->fd, 0, (off_t)map_bytes(t)) == 0)
		map = mmap(NULL, map_bytes(t), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (map == MAP_FAILED || stats_lock(t->fd) != 0) {
		unlinkat(t->folder, draft, 0);
		return DXP_EIO;
	}
	t->ring = map;
	t->ring->version = TAP_VERSION;
	t->ring->ring_bytes = t->ring_bytes;
	t->ring->snap_bytes = snap_bytes;
	t->ring->pid = (uint32_t)getpid();
	t->ring->magic = TAP_MAGIC;
	int error = linkat(t->folder, draft, t->folder, t->name, 0) == 0 ? 0 : errno;
	unlinkat(t->folder, draft, 0);
	t->placed = error == 0;
	return error == 0 ? DXP_OK : error == EEXIST ? DXP_EBUSY : DXP_EIO;
}

static void node_notify(struct tap_reader *t)
{
	/* Release: a node that sees the new number sees a complete ring. */
	t->wanted = atomic_fetch_add_explicit(&t->stats->tap_wanted, 1, memory_order_acq_rel) + 1;
}

static int attach(struct tap_reader *t, const struct stats_view *node, uint32_t snap_bytes,
		  uint32_t *other)
{
	int status = stats_file_open(node->path, &t->folder, &t->stats_fd);

	if (status != DXP_OK) {
		t->folder = t->stats_fd = -1;
		return status;
	}
	void *map = mmap(NULL, sizeof(struct stats_file), PROT_READ | PROT_WRITE, MAP_SHARED,
			 t->stats_fd, 0);
	if (map == MAP_FAILED)
		return DXP_EIO;
	t->stats = map;
	stats_tap_of(node->path, t->name);
	*other = other_tracer(t);
	if (*other)
		return DXP_EBUSY;
	unlinkat(t->folder, t->name, 0); /* a dead tracer may have left this file */
	status = ring_make(t, snap_bytes);
	if (status == DXP_EBUSY)
		*other = other_tracer(t);
	if (status == DXP_OK)
		node_notify(t);
	return status;
}

int tap_attach(const struct stats_view *node, uint32_t ring_bytes, uint32_t snap_bytes,
	       struct tap_reader **out, uint32_t *other)
{
	struct tap_reader *t = calloc(1, sizeof(*t));

	*other = 0;
	if (!t)
		return DXP_ENOMEM;
	t->folder = t->stats_fd = t->fd = -1;
	t->ring_bytes = ring_bytes;
	int status = attach(t, node, snap_bytes, other);
	if (status != DXP_OK) {
		tap_detach(t);
		return status;
	}
	*out = t;
	return DXP_OK;
}

void tap_stop(struct tap_reader *t)
{
	if (!t->placed)
		return;
	unlinkat(t->folder, t->name, 0);
	node_notify(t);
	t->placed = false;
}

void tap_detach(struct tap_reader *t)
{
	if (!t)
		return;
	tap_stop(t);
	if (t->ring)
		munmap(t->ring, map_bytes(t));
	if (t->stats)
		munmap(t->stats, sizeof(struct stats_file));
	if (t->fd >= 0)
		close(t->fd);
	if (t->stats_fd >= 0)
		close(t->stats_fd);
	if (t->folder >= 0)
		close(t->folder);
	free(t);
}

enum tap_answer tap_answered(const struct tap_reader *t)
{
	if (stats_orphaned(t->stats_fd))
		return TAP_GONE;
	/* Pairs with the node's release: if tap_seen has this value, `busy` shows what the node
	 * decided. */
	if (atomic_load_explicit(&t->stats->tap_seen, memory_order_acquire) != t->wanted)
		return TAP_REQUESTED;
	return atomic_load_explicit(&t->ring->busy, memory_order_relaxed) ? TAP_BUSY : TAP_REFUSED;
}

static const uint8_t *ring_at(const struct tap_reader *t, uint64_t position)
{
	return (const uint8_t *)t->ring + TAP_DATA_BYTES + (position & (t->ring_bytes - 1));
}

static void head_set(struct tap_reader *t, uint64_t head)
{
	t->head = head;
	/* Pairs with the node's acquire: the records before `head` were read, so the node may
	 * overwrite them. */
	atomic_store_explicit(&t->ring->head, head, memory_order_release);
}

/* Returns true if the record lies within `available` bytes and does not cross the ring's end. */
static bool record_right(const struct tap_reader *t, const struct tap_record *r, uint64_t available)
{
	uint64_t lap = t->ring_bytes - (t->head & (t->ring_bytes - 1));
	uint64_t most = min_u64(available, lap);

	return r->bytes >= sizeof(*r) && r->bytes % 8 == 0 && r->bytes <= most &&
	       r->captured_bytes <= r->bytes - sizeof(*r) &&
	       r->captured_bytes <= r->datagram_bytes && r->datagram_bytes <= DATAGRAM_BYTES_MAX;
}

/* Skips a filler; returns false if the filler is invalid. */
static bool filler_skip(struct tap_reader *t, uint64_t *available)
{
	uint64_t lap = t->ring_bytes - (t->head & (t->ring_bytes - 1));
	uint32_t words[2];

	memcpy(words, ring_at(t, t->head), sizeof(words));
	if (words[1] != TAP_FILLER)
		return true;
	if (words[0] != lap || lap >= *available)
		return false;
	head_set(t, t->head + lap);
	*available -= lap;
	return true;
}

const struct tap_record *tap_next(struct tap_reader *t, bool *broken)
{
	/* Pairs with the node's release: the records before `tail` are complete. */
	uint64_t tail = atomic_load_explicit(&t->ring->tail, memory_order_acquire);
	uint64_t available = tail - t->head;
	struct tap_record *r = &t->copy.record;

	if (available == 0)
		return NULL;
	bool was_broken = *broken;
	*broken = true;
	if (available > t->ring_bytes || available % 8 != 0 || !filler_skip(t, &available) ||
	    available < sizeof(*r) || t->ring_bytes - (t->head & (t->ring_bytes - 1)) < sizeof(*r))
		return NULL;
	memcpy(r, ring_at(t, t->head), sizeof(*r));
	if (!record_right(t, r, available))
		return NULL;
	memcpy(r + 1, ring_at(t, t->head) + sizeof(*r), r->captured_bytes);
	*broken = was_broken;
	return r;
}

void tap_release(struct tap_reader *t)
{
	head_set(t, t->head + t->copy.record.bytes);
}

uint64_t tap_dropped(const struct tap_reader *t)
{
	return atomic_load_explicit(&t->ring->dropped, memory_order_relaxed);
}
