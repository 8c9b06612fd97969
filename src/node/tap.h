/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node sends and receives, for somebody who watches: either a tracer in another process,
 * through a ring in shared memory that the tracer made, or a file that the node itself writes
 * (DXP_TRACE). The node never waits: what finds no room is counted.
 *
 * Ring: records of multiples of 8 bytes, contiguous; a filler ends a lap early. Invariant:
 * 0 <= tail - head <= ring_bytes. The node writes `tail` and believes of the rest only what it
 * checked when it attached; the tracer writes `head`. */
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
#define TAP_DATA_BYTES 4096 /* where the records begin */

struct tap_ring {
	/* written once, by the tracer */
	uint64_t magic;
	uint32_t version;
	uint32_t ring_bytes; /* a power of two, TAP_RING_BYTES_MIN .. TAP_RING_BYTES_MAX */
	uint32_t snap_bytes; /* 1 .. LINK_DATAGRAM_BYTES_MAX */
	uint32_t pid;        /* of the tracer, for people */
	/* by the node */
	alignas(64) _Atomic uint64_t tail;
	_Atomic uint64_t dropped; /* datagrams that found no room, all together */
	_Atomic uint32_t taken;   /* not 0: the node writes here */
	/* by the tracer */
	alignas(64) _Atomic uint64_t head;
};

/* One datagram; `captured_bytes` of it follow. */
struct tap_record {
	uint32_t bytes;          /* of the record with all that follows it, a multiple of 8 */
	uint32_t captured_bytes; /* TAP_FILLER: nothing here, the next record opens the next lap */
	uint32_t datagram_bytes;
	uint8_t outbound, ecn;
	uint8_t cause;    /* enum datagram_cause */
	uint8_t fate;     /* bits of enum link_fate */
	uint64_t time_ns; /* since 1970 */
	uint64_t dropped; /* of the whole trace, before this one */
	struct wire_address from, to;
	uint32_t reserved;
};

#define TAP_FILLER UINT32_MAX

_Static_assert(sizeof(struct tap_record) % 8 == 0, "records stay aligned");

/* The node's side: nothing, a ring, or a file. */
struct tap;

/* `own` is the address that the node is reached at. `program` and `name` say who it is. DXP_TRACE
 * opens its file here; one that cannot be written is logged, and the node goes on without.
 * DXP_ENOMEM. */
struct tap_options {
	struct wire_address own;
	const char *name;
	uint32_t number; /* of the node in its process, from 1 */
};
int tap_open(const struct tap_options *options, struct tap **out);
void tap_close(struct tap *t);

/* The node is reached at another address from now on. */
void tap_moved(struct tap *t, const struct wire_address *own);

/* Looks whether the file `name` in `folder` is a ring of a living tracer, and takes it or leaves
 * it. */
void tap_look(struct tap *t, int folder, const char *name);

/* What the link should call; NULL: nobody watches. */
const struct link_tap *tap_link(const struct tap *t);

/* What the node's own file still holds in memory leaves. */
void tap_flush(struct tap *t);

/* When tap_look should be called though nobody asks: has the tracer died? UINT64_MAX: there is
 * none. */
uint64_t tap_deadline(const struct tap *t);

/* Also the tracer's: a record as a packet of a pcapng file; `comment` holds its text. */
void tap_packet(const struct tap_record *r, struct pcapng_packet *out,
		char comment[PCAPNG_TEXT_BYTES]);

#endif
