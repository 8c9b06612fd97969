/* SPDX-License-Identifier: BSD-3-Clause */
/* The function window: the memory through which somebody drives a NIC function. It holds offsets
 * and indices, never pointers, so that it can lie in memory shared with another process or a
 * device; the embedded NIC uses the very same layout. Sources: C-12 .. C-16, C-23, C-26 .. C-29,
 * C-36; docs/design.md "The NIC".
 *
 * Who writes what: the user writes `doorbells`, `descriptors` and the two consumer indices; the
 * engine writes everything else. Doorbell protocol, user:   claim index i by compare-and-swap on
 * producer, after i - consumer < 32 was seen; write descriptor slot i % 32 and doorbell i % 32;
 * release-store lap(i) into its lap word. engine:   acquire-load lap word of slot consumer % 32;
 * equal to lap(consumer)? copy the descriptor, believe only the copy, release-store consumer + 1.
 * Event protocol is the same with roles exchanged. A lap word never repeats until 2^32 laps, so
 * stale slots are known. */
#ifndef NIC_WINDOW_H
#define NIC_WINDOW_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/limits.h"

#define NIC_WINDOW_MAGIC   0x57505844u /* "DXPW" */
#define NIC_WINDOW_VERSION 1

enum nic_op {
	NIC_OP_NAP = 1,   /* message into the receive ring of a queue pair */
	NIC_OP_PUT,       /* local list into remote list */
	NIC_OP_GET,       /* remote list into local list */
	NIC_OP_CFG_READ,  /* registers of the peer into local list */
	NIC_OP_CFG_WRITE, /* immediate data into registers of the peer */
};

enum nic_descriptor_flag {
	NIC_FLAG_INLINE = 1 << 0, /* the payload follows the head in place of a source list */
	NIC_FLAG_NOTIFY = 1 << 1, /* PUT: raise a receive event at the target, with imm */
};

/* One piece of registered memory. */
struct nic_entry {
	uint64_t offset; /* from the region's start; CFG: register index times 4 */
	uint32_t bytes;
	uint32_t key;
};

/* A chain descriptor: the head, then src_count + dst_count entries, or inline_bytes of payload and
 * dst_count entries before it. Only the totals of both lists must agree. */
struct nic_descriptor {
	uint8_t op;    /* enum nic_op */
	uint8_t flags; /* enum nic_descriptor_flag */
	uint8_t qp;    /* own queue pair, 0 .. 3 */
	uint8_t dst_function;
	uint16_t dst_node;
	uint16_t dst_qp;
	uint32_t dst_magic;
	uint16_t src_count, dst_count;
	uint64_t context; /* comes back in the completion */
	uint64_t imm;     /* NAP, PUT with NIC_FLAG_NOTIFY: comes with the receive event */
	uint32_t inline_bytes;
	uint32_t reserved[7];
};
_Static_assert(sizeof(struct nic_descriptor) == 64, "the head is one cache line");

struct nic_doorbell {
	uint32_t bytes; /* length of the descriptor in its slot (C-14) */
	_Atomic uint32_t lap;
};

enum nic_event_type { NIC_EVENT_SENT = 1, NIC_EVENT_NAP, NIC_EVENT_PUT };

struct nic_event {
	uint64_t context; /* SENT: the descriptor's */
	uint64_t imm;
	uint32_t bytes;
	uint16_t qp; /* own queue pair */
	uint16_t src_node;
	uint16_t src_qp; /* NAP: function << 8 | queue pair that sent it */
	uint8_t type;    /* enum nic_event_type */
	int8_t status;   /* enum dxp_status */
	_Atomic uint32_t lap;
};
_Static_assert(sizeof(struct nic_event) == 32, "two events to a cache line");

/* One direction of events: slots written by the engine, consumer by the user. */
struct nic_event_ring {
	alignas(64) _Atomic uint32_t consumer; /* user */
	alignas(64) struct nic_event slots[NIC_EVENTS];
};

struct nic_window {
	/* page 0: what the user may read about the function */
	uint32_t magic, version, bytes;
	uint32_t function;
	uint32_t qp_magic[NIC_QPS_PER_FUNCTION];
	_Atomic uint32_t node;

	/* page 1: status */
	alignas(4096) _Atomic uint32_t error;  /* sticky enum dxp_status, negated; 0 is none */
	_Atomic uint32_t need_wakeup;          /* the engine sleeps: ring its eventfd */
	alignas(64) _Atomic uint32_t consumer; /* doorbells taken */
	_Atomic uint64_t put_bytes; /* total placed by PUT, monotonic (P-02 regtotallen) */

	/* page 2: doorbells */
	alignas(4096) _Atomic uint32_t producer; /* doorbells claimed */
	alignas(64) struct nic_doorbell doorbells[NIC_DOORBELLS];

	/* events, NAP buffers (C-29: 2 KiB aligned; buffer i belongs to receive slot i),
	 * descriptors */
	alignas(4096) struct nic_event_ring sent;
	alignas(4096) struct nic_event_ring received;
	alignas(4096) uint8_t nap[NIC_EVENTS][NIC_NAP_BYTES_MAX];
	alignas(4096) uint8_t descriptors[NIC_DOORBELLS][NIC_DESCRIPTOR_BYTES];
};

/* The lap word of free-running index i in a ring of `size` entries: never 0, which is what fresh
 * memory holds. */
static inline uint32_t nic_lap(uint32_t i, uint32_t size)
{
	return i / size + 1;
}

#endif
