/* SPDX-License-Identifier: BSD-3-Clause */
/* What hosts and xPUs say to each other in NAPs on an xPU's service queue pair: commands, replies
 * and events, as bytes. Big-endian, no alignment. docs/wire.md "Commands"; sources,
 *
 *
 * A command names the event that its end will be (0: nobody will ask), and the events it waits for.
 * Events carry in their name who asked and who runs: host << 48 | xPU << 32 | count. Count grows
 * with each command of a host to an xPU and never repeats while the host lives, over CLOSE and OPEN
 * too: other xPUs may still remember. Every command with an event ends in exactly one EVENT to the
 * host; SEND and SIGNAL tell the node they are addressed to as well, after the data. Replies answer
 * the synchronous commands by `sequence`. */
#ifndef WIRE_COMMAND_H
#define WIRE_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#define COMMAND_BYTES_MAX     2048 /* one NAP */
#define COMMAND_WAITS_MAX     8
#define COMMAND_ARGS_MAX      32
#define COMMAND_VALUE_BYTES   16
#define COMMAND_NAME_BYTES    128  /* a kernel's name and its zero */
#define COMMAND_OPTIONS_BYTES 1024 /* build options and their zero */
#define COMMAND_LOG_PART      1536 /* bytes of a build log in one reply */
#define COMMAND_EVENT_BYTES                                                                     \
	37                    /* one EVENT; to a host, several may follow each other in one NAP \
			       */
#define COMMAND_TEXT_BYTES 96 /* device name in the reply to OPEN and its zero */
#define COMMAND_QPS        4  /* queue pairs of a function */

enum command_op {
	/* synchronous: answered by COMMAND_REPLY, no event, no waits */
	COMMAND_OPEN = 1, /* take the xPU: everything below needs it; repeats are allowed and change
			     nothing */
	COMMAND_CLOSE,    /* free memory and programs, cancel what has not run */
	COMMAND_ALLOC,
	COMMAND_FREE,
	COMMAND_BUILD,   /* source lies in device memory */
	COMMAND_LOG,     /* one part of a program's build log */
	COMMAND_RELEASE, /* a program */
	/* asynchronous: end in COMMAND_EVENT */
	COMMAND_RUN,
	COMMAND_SEND,   /* PUT to a peer, then EVENT to it */
	COMMAND_SIGNAL, /* nothing but EVENT to a peer, when the waits are done */
	/* the other way */
	COMMAND_REPLY,
	COMMAND_EVENT,
	/* synchronous, as those above */
	COMMAND_NIC, /* a NIC function for this host's kernels: the one it has, or a fresh one where
			it has none or the NIC has stopped it */
	/* asynchronous, as RUN: the xPU moves data between memory of the node that asks, or of
	 * another xPU, and its own, by reading and writing over there (S-03, S-05) */
	COMMAND_BRIDGE,
};

/* The numbers are those of enum bridge_path and enum bridge_mode. */
enum command_bridge_path { COMMAND_BRIDGE_IN, COMMAND_BRIDGE_OUT, COMMAND_BRIDGE_THROUGH };
enum command_bridge_mode { COMMAND_BRIDGE_PIPELINED, COMMAND_BRIDGE_SEQUENTIAL };

#define EVENT_NAME(host, xpu, count) \
	((uint64_t)(host) << 48 | (uint64_t)(xpu) << 32 | (uint32_t)(count))
#define EVENT_HOST(event)  ((uint16_t)((event) >> 48))
#define EVENT_XPU(event)   ((uint16_t)((event) >> 32))
#define EVENT_COUNT(event) ((uint32_t)(event))

enum command_argument_kind {
	COMMAND_ARG_BYTES,
	COMMAND_ARG_BUFFER,
	COMMAND_ARG_LOCAL,
	COMMAND_ARG_NIC, /* the window of the function that COMMAND_NIC gave */
};

struct command_argument {
	uint8_t kind;     /* enum command_argument_kind */
	uint32_t bytes;   /* BYTES: 1 .. 16; LOCAL: size */
	uint64_t address; /* BUFFER: device address */
	uint8_t value[COMMAND_VALUE_BYTES];
};

/* One command; which fields count is told by `op`. */
struct command {
	uint8_t op;
	uint8_t wait_count;
	uint8_t lazy; /* asynchronous ones: 1: their EVENT may come late, together with others */
	uint32_t sequence; /* synchronous ones: repeated in the reply */
	uint64_t event;    /* asynchronous ones; 0: no EVENT wanted */
	uint32_t oldest;   /* count of the oldest event of this host on this xPU that anybody may
			      still wait for */
	uint64_t waits[COMMAND_WAITS_MAX];

	uint16_t reply_qp;                /* OPEN: the host's queue pair for replies and events */
	uint32_t reply_magic;             /* OPEN */
	uint64_t address;                 /* FREE, BUILD (source), SEND (from) */
	uint64_t bytes;                   /* ALLOC, BUILD, SEND */
	uint32_t program;                 /* LOG, RELEASE, RUN */
	uint32_t offset;                  /* LOG */
	char text[COMMAND_OPTIONS_BYTES]; /* BUILD: options; RUN: kernel name (COMMAND_NAME_BYTES)
					   */
	uint16_t to_node;    /* SEND, SIGNAL; BRIDGE: where the other memory is: an xPU, or the host
				that asks */
	uint32_t to_key;     /* SEND: key of the peer's device memory; BRIDGE OUT, THROUGH: of the
				memory that is written over there */
	uint64_t to_address; /* SEND; BRIDGE OUT, THROUGH: offset under to_key */
	uint32_t from_key;   /* BRIDGE IN, THROUGH: of the memory that is read over there */
	uint64_t from_address; /* BRIDGE IN, THROUGH: offset under from_key */
	uint8_t path, mode;    /* BRIDGE: enum command_bridge_path, command_bridge_mode; `address`
				  is the device's (IN, OUT; THROUGH: 0), `bytes` how many */
	uint32_t piece_bytes;  /* BRIDGE: as bridge_order; 0: the xPU chooses */
	uint8_t dimensions;    /* RUN: 1 .. 3 */
	uint64_t global[3], local[3];
	uint8_t argument_count;
	struct command_argument arguments[COMMAND_ARGS_MAX];
};

struct command_reply {
	uint8_t op; /* the command's */
	uint32_t sequence;
	int32_t status;                 /* enum dxp_status */
	uint32_t memory_key;            /* OPEN: key of the whole device memory, for PUT and GET;
					   NIC: its key for who addresses that function */
	uint64_t memory_bytes;          /* OPEN */
	uint64_t free_bytes;            /* OPEN, ALLOC, FREE */
	uint32_t compute_units;         /* OPEN */
	uint8_t memory_kind;            /* OPEN: enum dxp_memory_kind */
	uint8_t streams;                /* OPEN: 1: BRIDGE THROUGH works */
	uint32_t buffers, buffer_bytes; /* OPEN: of each ring of its bridge; 0 without one */
	char text[COMMAND_TEXT_BYTES];  /* OPEN: the engine's device */
	uint64_t address;               /* ALLOC */
	uint32_t program;               /* BUILD: id, also when status is DXP_EBUILD (for LOG) */
	uint32_t log_bytes;             /* BUILD: whole log; LOG: bytes in `log` */
	uint8_t log[COMMAND_LOG_PART];  /* LOG */
	uint8_t function;               /* NIC */
	uint32_t qp_magic[COMMAND_QPS]; /* NIC */
};

struct command_event {
	uint64_t event;
	int32_t status;
	uint64_t queued_ns, started_ns, ended_ns; /* the xPU's clock */
};

/* Encoders return the bytes written, at most COMMAND_BYTES_MAX, or a negative status: DXP_EINVAL
 * when a field is out of its bounds or it does not all fit. `out` has room for COMMAND_BYTES_MAX.
 */
int command_encode(const struct command *c, uint8_t *out);
int command_reply_encode(const struct command_reply *r, uint8_t *out);
int command_event_encode(const struct command_event *e, uint8_t *out);

/* The op of a message, or 0 when it is empty. */
uint8_t command_op(const uint8_t *data, size_t bytes);

/* DXP_EMALFORMED unless every length and every bound above holds and nothing is left over; texts
 * are then terminated. */
int command_decode(const uint8_t *data, size_t bytes, struct command *c);
int command_reply_decode(const uint8_t *data, size_t bytes, struct command_reply *r);
int command_event_decode(const uint8_t *data, size_t bytes, struct command_event *e);

#endif
