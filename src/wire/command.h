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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

#define COMMAND_BYTES_MAX 2048 /* one NAP */
#define COMMAND_WAITS_MAX 8
#define COMMAND_KEPT_BYTES(message_bytes) \
	(512u + (message_bytes)) /* counted for a command until it has ended, by hosts and xPUs */
#define COMMAND_ARGS_MAX      DXP_ARGUMENTS_MAX
#define COMMAND_VALUE_BYTES   1024 /* of one argument's value */
#define COMMAND_NAME_BYTES    512  /* a kernel's name and its zero */
#define COMMAND_PACKAGE_BYTES 2000 /* a package that rides along in BUILD */
#define COMMAND_LOG_PART      1536 /* bytes of what FETCH fetches in one reply */
#define COMMAND_PRINT_BYTES   1900 /* of what a kernel printed in one PRINT */
#define COMMAND_IMAGE_BYTES   48   /* a struct dxp_image as bytes */
#define COMMAND_SAMPLER_BYTES 12   /* a struct dxp_sampler as bytes */
#define COMMAND_PACKED_BYTES  (COMMAND_ARGS_MAX * COMMAND_IMAGE_BYTES) /* all of a RUN, unpacked */
#define COMMAND_EVENT_BYTES                                                                     \
	41                    /* one EVENT; to a host, several may follow each other in one NAP \
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
	COMMAND_BUILD,   /* a package (wire/package.h), in device memory or riding along */
	COMMAND_FETCH,   /* a part of what the node knows of a program or its device */
	COMMAND_RELEASE, /* a program */
	/* asynchronous: end in COMMAND_EVENT */
	COMMAND_RUN,
	COMMAND_SEND,   /* PUT to a peer, then EVENT to it */
	COMMAND_SIGNAL, /* nothing but EVENT to a peer, when the waits are done */
	/* the other way */
	COMMAND_REPLY,
	COMMAND_EVENT, /* also host to xPU, of what the host does itself; on any queue pair */
	/* synchronous, as those above */
	COMMAND_NIC, /* a NIC function for this host's kernels: the one it has, or a fresh one where
			it has none or the NIC has stopped it */
	/* asynchronous, as RUN: the xPU moves data between memory of the node that asks, or of
	 * another xPU, and its own, by reading and writing over there (S-03, S-05) */
	COMMAND_BRIDGE,
	/* asynchronous, in order with RUN on the engine's lane */
	COMMAND_WRITE, /* bytes that ride along, to device memory */
	COMMAND_COPY,  /* a box within device memory */
	COMMAND_FILL,
	COMMAND_MARK,  /* nothing but its event */
	COMMAND_CLOCK, /* synchronous: what time it is there */
	COMMAND_PRINT, /* xPU to host: what a kernel printed; before the kernel's EVENT */
	COMMAND_HURRY, /* host to xPU, no answer: events up to this one are waited for, so their
			  ends come at once though they were marked as lazy */
	COMMAND_BEGUN, /* xPU to host: a command is running, and has been for a while */
};

enum command_fetch {
	FETCH_LOG,    /* of a program's build */
	FETCH_ABOUT,  /* records about its kernels (dxp/about.h) */
	FETCH_BINARY, /* the device's */
	FETCH_DEVICE, /* records about the device; program 0 */
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
	COMMAND_ARG_IMAGE,
	COMMAND_ARG_SAMPLER,
};

#define COMMAND_NO_ADDRESS UINT64_MAX /* BUFFER: a null pointer; FETCH: into the reply */

/* `value` of a decoded argument lies in the message that was decoded. */
struct command_argument {
	uint8_t kind;         /* enum command_argument_kind */
	uint32_t bytes;       /* BYTES: 1 .. COMMAND_VALUE_BYTES; LOCAL: size; IMAGE, SAMPLER: of
				 value */
	uint64_t address;     /* BUFFER, IMAGE: device address */
	const uint8_t *value; /* BYTES; IMAGE, SAMPLER: see command_image_put and .._sampler_put */
};

/* One command; which fields count is told by `op`. command_decode clears all but `text` and
 * `arguments`, which are long: of these only what counts is set. */
struct command {
	uint8_t op;
	uint8_t wait_count;
	uint8_t lazy; /* asynchronous ones: 1: their EVENT may come late, together with others */
	uint32_t sequence; /* synchronous ones: repeated in the reply */
	uint64_t event;    /* asynchronous ones; 0: no EVENT wanted */
	uint32_t oldest;   /* count of the oldest event of this host on this xPU that anybody may
			      still wait for */
	uint64_t waits[COMMAND_WAITS_MAX];

	uint16_t reply_qp;     /* OPEN: the host's queue pair for replies and events */
	uint32_t reply_magic;  /* OPEN */
	uint64_t address;      /* FREE, BUILD (package), SEND and COPY (from), WRITE and FILL (to),
				  FETCH (to, or COMMAND_NO_ADDRESS: into the reply) */
	uint64_t bytes;        /* ALLOC, BUILD, SEND, FETCH (at most so many) */
	uint32_t program;      /* FETCH, RELEASE, RUN */
	uint8_t what;          /* FETCH: enum command_fetch */
	uint64_t skip;         /* FETCH: the part begins behind so many bytes */
	uint32_t upto;         /* HURRY: count of an event */
	const uint8_t *data;   /* WRITE: bytes, 1 .. DXP_INLINE_BYTES; FILL: pattern, 1 ..
				  DXP_PATTERN_MAX; BUILD: the package itself, or none where it lies
				  in device memory. Of a decoded command: in the message. */
	uint32_t data_bytes;   /* of them */
	struct dxp_box box;    /* COPY; FILL: its to_ side */
	uint16_t to_node;      /* SEND, SIGNAL; BRIDGE: where the other memory is: an xPU, or the
				  host that asks */
	uint32_t to_key;       /* SEND: key of the peer's device memory; BRIDGE OUT, THROUGH: of the
				  memory that is written over there */
	uint64_t to_address;   /* SEND; BRIDGE OUT, THROUGH: offset under to_key; COPY: device
				  address */
	uint32_t from_key;     /* BRIDGE IN, THROUGH: of the memory that is read over there */
	uint64_t from_address; /* BRIDGE IN, THROUGH: offset under from_key */
	uint8_t path, mode;    /* BRIDGE: enum command_bridge_path, command_bridge_mode; `address`
				  is the device's (IN, OUT; THROUGH: 0), `bytes` how many */
	uint32_t piece_bytes;  /* BRIDGE: as bridge_order; 0: the xPU chooses */
	uint8_t dimensions;    /* RUN: 1 .. 3 */
	uint64_t global[3], local[3], offset[3];
	uint8_t argument_count;
	char text[COMMAND_NAME_BYTES]; /* RUN: kernel name */
	struct command_argument arguments[COMMAND_ARGS_MAX];
};

struct command_reply {
	uint8_t op; /* the command's */
	uint32_t sequence;
	int32_t status;                 /* enum dxp_status */
	uint32_t memory_key;            /* OPEN: the host's key to device memory, for PUT and GET;
					   NIC: its key for who addresses that function */
	uint64_t memory_bytes;          /* OPEN */
	uint64_t free_bytes;            /* OPEN, ALLOC, FREE */
	uint32_t compute_units;         /* OPEN */
	uint8_t memory_kind;            /* OPEN: enum dxp_memory_kind */
	uint8_t streams;                /* OPEN: 1: BRIDGE THROUGH works */
	uint32_t buffers, buffer_bytes; /* OPEN: of each ring of its bridge; 0 without one */
	char text[COMMAND_TEXT_BYTES];  /* OPEN: the engine's device */
	uint64_t address;               /* ALLOC */
	uint32_t program;               /* BUILD: id, also when status is DXP_EBUILD (for FETCH) */
	int32_t native;                 /* BUILD: as struct command_event's */
	uint32_t log_bytes;             /* BUILD: whole log */
	uint32_t about_bytes;           /* BUILD: records about its kernels; 0: none */
	uint64_t binary_bytes;          /* BUILD; 0: none, or not known yet */
	uint8_t function;               /* NIC */
	uint32_t qp_magic[COMMAND_QPS]; /* NIC; OPEN: of the node's function 0, for data */
	uint64_t clock_ns;              /* CLOCK: link_now_ns() there */
	uint64_t total;                 /* FETCH: bytes of the whole */
	uint32_t part_bytes;            /* FETCH: in `part`; BUILD: log and records, one behind
					   the other, where both fit into `part`; else 0 */
	uint8_t part[COMMAND_LOG_PART]; /* FETCH, BUILD */
};

struct command_event {
	uint64_t event;
	int32_t status;
	int32_t native; /* what the device's driver said, in its numbers; 0: nothing */
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
 * are then terminated. Where it fails, what is in *c means nothing: a large struct is filled in
 * place. Pointers of *c lead into `data`. */
int command_decode(const uint8_t *data, size_t bytes, struct command *c);
int command_reply_decode(const uint8_t *data, size_t bytes, struct command_reply *r);
int command_event_decode(const uint8_t *data, size_t bytes, struct command_event *e);

/* BEGUN: the name of the event that will be its end; not 0. */
int command_begun_encode(uint64_t event, uint8_t *out);
int command_begun_decode(const uint8_t *data, size_t bytes, uint64_t *event);

/* PRINT: any bytes, 1 .. COMMAND_PRINT_BYTES; decoded, *text lies in `data`. */
int command_print_encode(const void *text, size_t text_bytes, uint8_t *out);
int command_print_decode(const uint8_t *data, size_t bytes, const uint8_t **text,
			 size_t *text_bytes);

/* The `value` of an argument of these kinds. */
void command_image_put(const struct dxp_image *image, uint8_t out[COMMAND_IMAGE_BYTES]);
void command_image_take(const uint8_t value[COMMAND_IMAGE_BYTES], struct dxp_image *out);
void command_sampler_put(const struct dxp_sampler *sampler, uint8_t out[COMMAND_SAMPLER_BYTES]);
void command_sampler_take(const uint8_t value[COMMAND_SAMPLER_BYTES], struct dxp_sampler *out);

enum command_box_side { BOX_FROM, BOX_TO };
/* The pitches of one side, where 0 stands for "next to each other". */
void command_box_pitches(const struct dxp_box *b, enum command_box_side side, uint64_t *row_pitch,
			 uint64_t *slice_pitch);
/* Bytes from the first to behind the last of one side. False: a length is 0, a pitch is smaller
 * than what it holds, or the number does not fit 64 bits. COPY and FILL that decode have a span. */
bool command_box_span(const struct dxp_box *b, enum command_box_side side, uint64_t *bytes);

#endif
