/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/tap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "node/stats_place.h"

#define PATH_BYTES   4096
#define BUFFER_BYTES (1u << 20) /* bytes: one write() for a few thousand datagrams */

struct tap_file {
	FILE *out;
	uint64_t seen, missing;
	uint64_t last_ns;
	union {
		struct tap_record record;
		uint8_t bytes[sizeof(struct tap_record) + DATAGRAM_BYTES_MAX + 8];
	} room;
	uint8_t block[PCAPNG_BLOCK_MAX];
};

/* Expands "%p" and the node's number; false: too long. */
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

/* Returns the file, locked and empty; -1: failed, logged. */
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

void tap_file_open(const char *name, uint32_t number, uint32_t *snap_bytes, struct tap_file **out)
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

struct tap_record *tap_file_record(struct tap_file *f)
{
	return &f->room.record;
}

void tap_file_write(struct tap_file *f, const struct tap_record *r)
{
	char comment[PCAPNG_TEXT_BYTES];
	struct pcapng_packet p;

	tap_packet(r, &p, comment);
	f->seen++;
	f->last_ns = r->time_ns;
	block_write(f, pcapng_packet(f->block, &p));
}

void tap_file_flush(struct tap_file *f)
{
	f->missing += fflush(f->out) != 0;
}

void tap_file_close(struct tap_file *f)
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
