/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "node/stats_folder.h"
#include "wire/frame.h"

/* ---- the file ----
 * DXP_TRACE=FILE: a node writes its datagrams to a file. "%p" in FILE becomes the process id.
 * Further nodes of a process write FILE.2, FILE.3 ... DXP_TRACE_SNAP=BYTES bounds the kept bytes of
 * each datagram (default TAP_SNAP_BYTES). */

#define PATH_BYTES   4096
#define BUFFER_BYTES (1u << 20) /* bytes: one write() for a few thousand datagrams */

struct tap_file {
	FILE *out;
	uint64_t seen, missing;
	uint64_t last_ns;
	union {
		struct tap_record record;
		uint8_t bytes[sizeof(struct tap_record) + DATAGRAM_BYTES_MAX + 8];
	} space;
	uint8_t block[PCAPNG_BLOCK_MAX];
};

/* Replaces "%p" and appends the node's number; returns false if the path is too long. */
static bool path_make(const char *pattern, uint32_t number, char out[PATH_BYTES])
{
	size_t at = 0;
	int added = 0;

	for (; *pattern && at < PATH_BYTES; pattern += added < 0 ? 0 : 1) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			added = snprintf(out + at, PATH_BYTES - at, "%d", (int)getpid());
			at += (size_t)added;
			pattern++;
		} else {
			out[at++] = *pattern;
		}
	}
	if (at < PATH_BYTES && number > 1)
		at += (size_t)snprintf(out + at, PATH_BYTES - at, ".%u", number);
	if (at >= PATH_BYTES)
		return false;
	out[at] = '\0';
	return true;
}

static bool snap_read(uint32_t *out)
{
	const char *text = getenv("DXP_TRACE_SNAP");
	char *end;

	*out = TAP_SNAP_BYTES;
	if (!text || !*text)
		return true;
	unsigned long value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value < 1 || value > DATAGRAM_BYTES_MAX) {
		log_error("DXP_TRACE_SNAP is 1 to %d bytes, not '%s'; nothing is traced",
			  DATAGRAM_BYTES_MAX, text);
		return false;
	}
	*out = (uint32_t)value;
	return true;
}

/* Returns a locked and empty file, or -1 after an error, which is logged. */
static int file_create(const char *path)
{
	int fd = descriptor_raise(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));

	if (fd < 0) {
		log_error("cannot write %s (DXP_TRACE): %s", path, strerror(errno));
		return -1;
	}
	if (stats_lock(fd) == 0 && ftruncate(fd, 0) == 0)
		return fd;
	log_error("another process writes %s (DXP_TRACE); add %%p to the name", path);
	close(fd);
	return -1;
}

static void block_write(struct tap_file *f, size_t bytes)
{
	if (fwrite(f->block, 1, bytes, f->out) != bytes)
		f->missing++;
}

static void front_write(struct tap_file *f, const char *name, uint32_t snap_bytes)
{
	block_write(f, pcapng_section(f->block, "Direct xPU, DXP_TRACE"));
	block_write(f, pcapng_interface(f->block, name, "a node's NIC, before UDP", snap_bytes));
}

/* Opens the file if DXP_TRACE is set, and sets *snap_bytes. If DXP_TRACE is not set, or after an
 * error (logged), *out is NULL. */
static void tap_file_open(const char *name, uint32_t number, uint32_t *snap_bytes,
			  struct tap_file **out)
{
	const char *pattern = getenv("DXP_TRACE");
	char path[PATH_BYTES];
	uint32_t snap;

	*out = NULL;
	if (!pattern || !*pattern || !snap_read(&snap))
		return;
	if (!path_make(pattern, number, path)) {
		log_error("the name in DXP_TRACE is too long; nothing is traced");
		return;
	}
	int fd = file_create(path);
	if (fd < 0)
		return;
	struct tap_file *f = calloc(1, sizeof(*f));
	if (f)
		f->out = fdopen(fd, "w");
	if (!f || !f->out) {
		log_error("not enough memory for DXP_TRACE; nothing is traced");
		close(fd);
		free(f);
		return;
	}
	setvbuf(f->out, NULL, _IOFBF, BUFFER_BYTES);
	front_write(f, name, snap);
	*snap_bytes = snap;
	*out = f;
}

static struct tap_record *tap_file_record(struct tap_file *f)
{
	return &f->space.record;
}

static void tap_file_write(struct tap_file *f, const struct tap_record *r)
{
	char comment[PCAPNG_TEXT_BYTES];
	struct pcapng_packet p;

	tap_packet(r, &p, comment);
	f->seen++;
	f->last_ns = r->time_ns;
	block_write(f, pcapng_packet(f->block, &p));
}

static void tap_file_flush(struct tap_file *f)
{
	f->missing += fflush(f->out) != 0;
}

static void tap_file_close(struct tap_file *f)
{
	if (!f)
		return;
	block_write(f, pcapng_statistics(f->block, 0, f->last_ns, f->seen, f->missing));
	bool failed = f->missing || fflush(f->out) != 0;
	if (fclose(f->out) != 0 || failed)
		log_error("the file of DXP_TRACE is incomplete; check that its file system is not "
			  "full");
	free(f);
}

struct tap {
	struct link_tap link;
	struct udp_address own;
	/* ns; added to monotonic times to get times since 1970; constant while tracing */
	uint64_t wall_ns;
	uint32_t snap_bytes;

	/* The fields up to `look_ns` are about a tracer's ring. */
	struct tap_ring *ring; /* NULL: no ring is attached */
	int fd;                /* file of the ring; its lock shows that the tracer runs */
	uint32_t ring_bytes;
	uint64_t tail, dropped;
	uint64_t look_ns;

	struct tap_file *file; /* file of DXP_TRACE; NULL: none */
};

static uint64_t wall_offset(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec - clock_now_ns();
}

static size_t ring_map_bytes(uint32_t ring_bytes)
{
	return TAP_DATA_BYTES + (size_t)ring_bytes;
}

static uint8_t *ring_at(const struct tap *t, uint64_t position)
{
	return (uint8_t *)t->ring + TAP_DATA_BYTES + (position & (t->ring_bytes - 1));
}

/* Returns space for a record of `bytes`. NULL: there is no space; the datagram is counted as
 * dropped. */
static struct tap_record *ring_reserve(struct tap *t, uint32_t bytes)
{
	/* Pairs with the tracer's release: the tracer has copied the data before `head`. */
	uint64_t head = atomic_load_explicit(&t->ring->head, memory_order_acquire);
	uint32_t left = t->ring_bytes - (uint32_t)(t->tail & (t->ring_bytes - 1));
	uint32_t filler = left < bytes ? left : 0;

	/* The tracer may write anything to `head`. An impossible value counts as a full ring. */
	if (t->tail - head > t->ring_bytes || t->ring_bytes - (t->tail - head) < filler + bytes) {
		t->dropped++;
		atomic_store_explicit(&t->ring->dropped, t->dropped, memory_order_relaxed);
		return NULL;
	}
	if (filler) {
		const uint32_t words[2] = {filler, TAP_FILLER};
		memcpy(ring_at(t, t->tail), words, sizeof(words));
		t->tail += filler;
	}
	return (struct tap_record *)(void *)ring_at(t, t->tail);
}

static void ring_commit(struct tap *t, uint32_t bytes)
{
	t->tail += bytes;
	/* Pairs with the tracer's acquire: the record is complete before `tail` includes it. */
	atomic_store_explicit(&t->ring->tail, t->tail, memory_order_release);
}

static struct tap_record *record_begin(struct tap *t, uint32_t datagram_bytes, uint32_t *bytes)
{
	uint32_t captured = (uint32_t)min_u64(datagram_bytes, t->snap_bytes);
	struct tap_record *r;

	*bytes = (uint32_t)sizeof(*r) + (captured + 7) / 8 * 8;
	r = t->ring ? ring_reserve(t, *bytes) : tap_file_record(t->file);
	if (r)
		*r = (struct tap_record){.bytes = *bytes,
					 .captured_bytes = captured,
					 .datagram_bytes = datagram_bytes,
					 .dropped = t->dropped};
	return r;
}

static void record_end(struct tap *t, const struct tap_record *r)
{
	if (t->ring)
		ring_commit(t, r->bytes);
	else
		tap_file_write(t->file, r);
}

static uint32_t datagram_bytes(const struct datagram *d)
{
	size_t bytes = d->header_bytes;

	for (unsigned i = 0; i < d->slice_count; i++)
		bytes += d->slices[i].bytes;
	return (uint32_t)bytes;
}

static bool is_repeat(const struct datagram *d)
{
	return d->header_bytes >= WIRE_COMMON_BYTES &&
	       get_be16(d->header + WIRE_OFF_FLAGS) & WIRE_FLAG_RTX;
}

static void sent(void *context, const struct datagram *d, unsigned fate, uint64_t at_ns)
{
	struct tap *t = context;
	uint32_t bytes, total = datagram_bytes(d);
	struct tap_record *r = record_begin(t, total, &bytes);

	if (!r)
		return;
	r->outbound = 1;
	r->ecn = d->ecn;
	r->cause = is_repeat(d) ? d->cause : DATAGRAM_CAUSE_NONE;
	r->fate = (uint8_t)fate;
	r->time_ns = at_ns + t->wall_ns;
	r->from = t->own;
	r->to = d->to;
	pcapng_datagram_gather(d, (uint8_t *)(r + 1), r->captured_bytes, &total);
	record_end(t, r);
}

static void received(void *context, const struct datagram_arrival *a)
{
	struct tap *t = context;
	uint32_t bytes;
	struct tap_record *r = record_begin(t, (uint32_t)a->bytes, &bytes);

	if (!r)
		return;
	r->ecn = a->ecn;
	r->time_ns = a->arrived_ns + t->wall_ns;
	r->from = a->from;
	r->to = t->own;
	memcpy(r + 1, a->data, r->captured_bytes);
	record_end(t, r);
}

int tap_open(const struct tap_options *options, struct tap **out)
{
	struct tap *t = calloc(1, sizeof(*t));

	if (!t)
		return DXP_ENOMEM;
	t->link = (struct link_tap){sent, received, t};
	t->own = options->own;
	t->fd = -1;
	t->look_ns = UINT64_MAX;
	t->wall_ns = wall_offset();
	tap_file_open(options->name, options->number, &t->snap_bytes, &t->file);
	*out = t;
	return DXP_OK;
}

void tap_moved(struct tap *t, const struct udp_address *own)
{
	t->own = *own;
}

static void ring_leave(struct tap *t)
{
	if (!t->ring)
		return;
	munmap(t->ring, ring_map_bytes(t->ring_bytes));
	close(t->fd);
	t->ring = NULL;
	t->fd = -1;
	t->look_ns = UINT64_MAX;
}

void tap_close(struct tap *t)
{
	if (!t)
		return;
	ring_leave(t);
	tap_file_close(t->file);
	free(t);
}

static bool ring_right(const struct tap_ring *r, uint64_t file_bytes)
{
	return r->magic == TAP_MAGIC && r->version == TAP_VERSION &&
	       r->ring_bytes >= TAP_RING_BYTES_MIN && r->ring_bytes <= TAP_RING_BYTES_MAX &&
	       (r->ring_bytes & (r->ring_bytes - 1)) == 0 && r->snap_bytes >= 1 &&
	       r->snap_bytes <= DATAGRAM_BYTES_MAX && file_bytes >= ring_map_bytes(r->ring_bytes);
}

/* Maps a ring if its header is valid and its tracer runs. */
static bool ring_map(struct tap *t, int fd)
{
	/* Reads only the header, because the sizes are not checked yet. */
	struct tap_ring front;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || stats_orphaned(fd) ||
	    pread(fd, &front, sizeof(front), 0) != (ssize_t)sizeof(front) ||
	    !ring_right(&front, (uint64_t)st.st_size))
		return false;
	void *map = mmap(NULL, ring_map_bytes(front.ring_bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
	if (map == MAP_FAILED)
		return false;
	t->ring = map;
	t->fd = fd;
	t->ring_bytes = front.ring_bytes;
	t->snap_bytes = front.snap_bytes;
	t->tail = t->dropped = 0;
	atomic_store_explicit(&t->ring->busy, 1, memory_order_relaxed);
	t->wall_ns = wall_offset();
	t->look_ns = clock_now_ns() + TAP_LOOK_NS;
	return true;
}

void tap_look(struct tap *t, int folder, const char *name)
{
	if (t->file)
		/* DXP_TRACE has priority over a tracer's ring */
		return;
	if (t->ring && !stats_orphaned(t->fd)) {
		struct stat now, had;
		t->look_ns = clock_now_ns() + TAP_LOOK_NS;
		if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
		    fstat(t->fd, &had) == 0 && now.st_ino == had.st_ino)
			return;
	}
	bool lost = t->ring && stats_orphaned(t->fd);
	ring_leave(t);
	int fd = descriptor_raise(
		openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (fd < 0)
		return;
	if (ring_map(t, fd))
		return;
	if (lost || stats_orphaned(fd))
		unlinkat(folder, name, 0); /* the tracer of this ring has died */
	close(fd);
}

const struct link_tap *tap_link(const struct tap *t)
{
	return t->ring || t->file ? &t->link : NULL;
}

void tap_flush(struct tap *t)
{
	if (t->file)
		tap_file_flush(t->file);
}

uint64_t tap_deadline(const struct tap *t)
{
	return t->look_ns;
}

static void comment_add(char comment[PCAPNG_TEXT_BYTES], const char *text)
{
	size_t length = strlen(comment);

	snprintf(comment + length, PCAPNG_TEXT_BYTES - length, "%s%s", length ? "; " : "", text);
}

void tap_packet(const struct tap_record *r, struct pcapng_packet *out,
		char comment[PCAPNG_TEXT_BYTES])
{
	static const char *const causes[DATAGRAM_CAUSES] = {
		[DATAGRAM_CAUSE_GAP] = "retransmission: gap",
		[DATAGRAM_CAUSE_PROBE] = "retransmission: tail probe",
		[DATAGRAM_CAUSE_TIMEOUT] = "retransmission: timeout",
		[DATAGRAM_CAUSE_BUSY] = "retransmission: receiver was busy",
		[DATAGRAM_CAUSE_HELD] = "retransmission: receiver holds it",
	};
	static const char *const fates[] = {
		"DXP_FAULT: dropped, never on the wire", "DXP_FAULT: sent twice",
		"DXP_FAULT: one bit flipped after this", "DXP_FAULT: delayed"};

	comment[0] = '\0';
	if (r->cause < DATAGRAM_CAUSES && causes[r->cause])
		comment_add(comment, causes[r->cause]);
	for (unsigned i = 0; i < ARRAY_COUNT(fates); i++) {
		if (r->fate & 1u << i)
			comment_add(comment, fates[i]);
	}
	*out = (struct pcapng_packet){
		.time_ns = r->time_ns,
		.from = r->from,
		.to = r->to,
		.data = (const uint8_t *)(r + 1),
		.captured_bytes = r->captured_bytes,
		.bytes = r->datagram_bytes,
		.outbound = r->outbound != 0,
		.ecn = r->ecn & 3,
		.comment = comment,
	};
}
