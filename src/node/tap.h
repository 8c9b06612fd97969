/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces a node's datagrams: into a file (DXP_TRACE), or for a tracer process into a ring in shared
 * memory, which the tracer made. The node never waits; it counts datagrams for which there is no
 * space.
 *
 * The ring contains contiguous records, whose sizes are multiples of 8 bytes. If a record does not
 * fit before the ring's end, a filler skips the rest. Invariant: 0 <= tail - head <= ring_bytes.
 * The node writes `tail`. It trusts only the sizes that it checked and copied when it attached. The
 * tracer writes `head`. */
#ifndef NODE_TAP_H
#define NODE_TAP_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link/udp.h"
#include "wire/pcapng.h"

#define TAP_MAGIC      0x3150415454505844ull /* "DXPTTAP1" in memory */
#define TAP_VERSION    1
#define TAP_DATA_BYTES 4096 /* bytes before the first record */

struct tap_ring {
	/* The tracer writes the fields up to `pid` once. */
	uint64_t magic;
	uint32_t version;
	uint32_t ring_bytes; /* a power of two, TAP_RING_BYTES_MIN .. TAP_RING_BYTES_MAX */
	uint32_t snap_bytes; /* 1 .. DATAGRAM_BYTES_MAX */
	uint32_t pid;        /* process id of the tracer, for display */
	/* The node writes the fields up to `busy`. */
	alignas(64) _Atomic uint64_t tail;
	_Atomic uint64_t dropped; /* datagrams for which there was no space */
	_Atomic uint32_t busy;    /* not 0: the node writes to this ring */
	/* The tracer writes this field. */
	alignas(64) _Atomic uint64_t head;
};

/* One datagram; its first `captured_bytes` bytes follow. */
struct tap_record {
	uint32_t bytes; /* size of record and data together, a multiple of 8 */
	/* TAP_FILLER: the record has no data, and the next record is at the ring's start */
	uint32_t captured_bytes;
	uint32_t datagram_bytes;
	uint8_t outbound, ecn;
	uint8_t cause;    /* enum datagram_cause */
	uint8_t fate;     /* bits of enum link_fate */
	uint64_t time_ns; /* ns since 1970 */
	uint64_t dropped; /* datagrams that are missing before this one */
	struct udp_address from, to;
	uint32_t reserved;
};

#define TAP_FILLER UINT32_MAX

_Static_assert(sizeof(struct tap_record) % 8 == 0, "records stay aligned");

/* Functions that the node calls. */
struct tap;

struct tap_options {
	struct udp_address own;
	const char *name;
	uint32_t number; /* number of the node in its process; the first one has 1 */
};

/* Opens the tap, and the file of DXP_TRACE if that is set. Errors of the file are only logged.
 * `own`: the node's address; `name`: its name. DXP_ENOMEM. */
int tap_open(const struct tap_options *options, struct tap **out);
void tap_close(struct tap *t);

/* Sets the node's new address, which later records contain. */
void tap_moved(struct tap *t, const struct udp_address *own);

/* Attaches the ring `name` in `folder` if its tracer runs; otherwise detaches the ring. */
void tap_look(struct tap *t, int folder, const char *name);

/* Returns the hooks for the link; NULL: no ring and no file is in use. */
const struct link_tap *tap_link(const struct tap *t);

void tap_flush(struct tap *t);

/* Returns the time in ns at which to call tap_look to detect a dead tracer; UINT64_MAX: no
 * tracer. */
uint64_t tap_deadline(const struct tap *t);

/* Converts a record to a pcapng packet. `comment` is the buffer for the packet's text. The tracer
 * uses this function too. */
void tap_packet(const struct tap_record *r, struct pcapng_packet *out,
		char comment[PCAPNG_TEXT_BYTES]);

#endif
