/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters that a node publishes in a shared memory file, for `dxp top` and other readers.
 * docs/guide/observe.md describes the file.
 *
 * The file is a header page, then rows of sessions. `sequence` makes snapshots consistent. It is a
 * seqlock, so the writer never waits: the number is odd during a write, and a reader that finds it
 * odd or changed reads again. The writer keeps the file locked (F_OFD_SETLK) until it exits. A file
 * without lock is stale, even if its process id is in use again. */
#ifndef NODE_STATS_H
#define NODE_STATS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/stats_fields.h"

#define STATS_MAGIC        0x3153544154505844ull /* "DXPTATS1" in memory */
#define STATS_HEADER_BYTES 8192

struct stats_file {
	/* The writer writes the fields up to `reserved` once. */
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes, session_bytes, session_fields, node_fields, qps;
	uint32_t pid;
	uint32_t reserved;
	/* A tracer increments `tap_wanted` when it attaches or stops. The node then looks for a
	 * ring beside this file, and copies the number to tap_seen. */
	alignas(64) _Atomic uint32_t tap_wanted;
	alignas(64) _Atomic uint32_t tap_seen;
	alignas(64) _Atomic uint32_t sequence;
	alignas(64) struct stats_node node;
};

_Static_assert(sizeof(struct stats_file) <= STATS_HEADER_BYTES, "the header page is too short");
_Static_assert(sizeof(struct stats_node) % 8 == 0 && sizeof(struct stats_session) % 8 == 0,
	       "no holes: other programs read this");

static inline uint64_t stats_file_bytes(uint32_t rows)
{
	return STATS_HEADER_BYTES + (uint64_t)rows * sizeof(struct stats_session);
}

static inline const struct stats_session *stats_file_row(const struct stats_file *file,
							 uint32_t row)
{
	const uint8_t *rows = (const uint8_t *)file + STATS_HEADER_BYTES;

	return (const struct stats_session *)(const void *)(rows +
							    row * sizeof(struct stats_session));
}

/* Functions that the writer, the node, calls. */
struct stats;

struct stats_options {
	const char *name; /* name of the node */
	bool xpu;
};

/* Creates and locks the file. DXP_EUNSUPPORTED: DXP_STATS is empty; DXP_EIO, DXP_ENOMEM: logged at
 * level info, because a node works without it. */
int stats_open(const struct stats_options *options, struct stats **out);

/* Removes the file. `s` may be NULL. */
void stats_close(struct stats *s);

/* Write one snapshot. stats_begin returns the part of the node, with its previous values. stats_row
 * returns the next row of a session, or NULL if there is no space. stats_commit publishes the
 * snapshot. */
struct stats_node *stats_begin(struct stats *s);
struct stats_session *stats_row(struct stats *s);
void stats_commit(struct stats *s);

/* For the tap: return the mapped header, and the location of the tracer's ring. */
struct stats_file *stats_map(struct stats *s);
int stats_folder(const struct stats *s);
const char *stats_tap_name(const struct stats *s);

#endif
