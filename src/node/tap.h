/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces a node's datagrams, for a tracer in another process through a ring in shared memory made
 * by the tracer, or into a file (DXP_TRACE). The node never waits: datagrams without space are
 * counted.
 *
 * Ring: contiguous records, multiples of 8 bytes; a filler closes a lap early. Invariant: 0 <= tail
 * - head <= ring_bytes. The node writes `tail`, and trusts only the sizes that it checked and
 * copied when it attached. The tracer writes `head`. */
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
#define TAP_DATA_BYTES 4096 /* offset of the records */

struct tap_ring {
	/* written once, by the tracer */
	uint64_t magic;
	uint32_t version;
	uint32_t ring_bytes; /* a power of two, TAP_RING_BYTES_MIN .. TAP_RING_BYTES_MAX */
	uint32_t snap_bytes; /* 1 .. DATAGRAM_BYTES_MAX */
	uint32_t pid;        /* of the tracer, for display */
	/* written by the node */
	alignas(64) _Atomic uint64_t tail;
	_Atomic uint64_t dropped; /* datagrams without space, in total */
	_Atomic uint32_t busy;    /* not 0: the node writes here */
	/* written by the tracer */
	alignas(64) _Atomic uint64_t head;
};

/* One datagram; its first `captured_bytes` bytes follow. */
struct tap_record {
	uint32_t bytes;          /* of record and data, a multiple of 8 */
	uint32_t captured_bytes; /* TAP_FILLER: no data; the next record starts the next lap */
	uint32_t datagram_bytes;
	uint8_t outbound, ecn;
	uint8_t cause;    /* enum datagram_cause */
	uint8_t fate;     /* bits of enum link_fate */
	uint64_t time_ns; /* since 1970 */
	uint64_t dropped; /* datagrams dropped from the trace before this one */
	struct udp_address from, to;
	uint32_t reserved;
};

#define TAP_FILLER UINT32_MAX

_Static_assert(sizeof(struct tap_record) % 8 == 0, "records stay aligned");

/* The node's side: off, a ring, or a file. */
struct tap;

/* Opens the tap, and DXP_TRACE's file: if that fails, it is logged, and the node continues without.
 * `own`: the node's address; `name`: its name. DXP_ENOMEM. */
struct tap_options {
	struct udp_address own;
	const char *name;
	uint32_t number; /* of the node in its process, from 1 */
};
int tap_open(const struct tap_options *options, struct tap **out);
void tap_close(struct tap *t);

/* Sets a new address of the node. */
void tap_moved(struct tap *t, const struct udp_address *own);

/* Attaches the ring `name` in `folder` if its tracer runs; detaches it if not. */
void tap_look(struct tap *t, int folder, const char *name);

/* Returns the hooks for the link; NULL: tracing is off. */
const struct link_tap *tap_link(const struct tap *t);

/* Writes the buffered part of the node's own file. */
void tap_flush(struct tap *t);

/* Returns when to call tap_look to detect a dead tracer; UINT64_MAX: no tracer. */
uint64_t tap_deadline(const struct tap *t);

/* Converts a record to a pcapng packet; `comment`: buffer for its text. The tracer uses it too. */
void tap_packet(const struct tap_record *r, struct pcapng_packet *out,
		char comment[PCAPNG_TEXT_BYTES]);

#endif
