/* SPDX-License-Identifier: BSD-3-Clause */
/* NAPs between hosts and xPUs on the service queue pair: commands, replies, events. Big-endian, no
 * alignment. docs/reference/wire.md "Commands"; sources.
 *
 * A command names its completion event (0: none) and those for which it waits: host << 48 | xPU <<
 * 32 | count, of requesting host and executing xPU. The count grows with each command and never
 * repeats while the host runs, even over CLOSE and OPEN, as other xPUs may still refer to it. Each
 * command with an event sends exactly one EVENT to the host; SEND and SIGNAL also one to their
 * target, after the data. A reply to a synchronous command has its `sequence`. */
#ifndef WIRE_COMMAND_H
#define WIRE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

#define COMMAND_BYTES_MAX 2048 /* one NAP */
#define COMMAND_WAITS_MAX 8
/* Counted by hosts and xPUs for a pending command. Arguments beyond COMMAND_ARGS_FREE add to the
 * 512 that an xPU keeps anyway. */
#define COMMAND_KEPT_BYTES(message_bytes) (512u + (message_bytes))
#define COMMAND_KEPT_ARGUMENTS(count) \
	((count) > COMMAND_ARGS_FREE ? 16u * ((count)-COMMAND_ARGS_FREE) : 0u)
#define COMMAND_ARGS_FREE     8u
#define COMMAND_ARGS_MAX      DXP_ARGUMENTS_MAX
#define COMMAND_VALUE_BYTES   1024 /* of one argument */
#define COMMAND_NAME_BYTES    512  /* kernel's name, with the final zero */
#define COMMAND_PACKAGE_BYTES 2000 /* package inside BUILD */
#define COMMAND_LOG_PART      1536 /* data in one reply to FETCH */
#define COMMAND_PRINT_BYTES   1900 /* output in one PRINT */
#define COMMAND_FAILURE_BYTES 256  /* sentence in FAILED, with the final zero */
#define COMMAND_IMAGE_BYTES   48   /* encoded struct dxp_image */
#define COMMAND_SAMPLER_BYTES 12   /* encoded struct dxp_sampler */
#define COMMAND_PACKED_BYTES \
	(COMMAND_ARGS_MAX * COMMAND_IMAGE_BYTES) /* all image values of a RUN */
/* bytes; a NAP to a host may hold several EVENTs */
#define COMMAND_EVENT_BYTES 41
/* device name in the reply to OPEN, with the final zero */
#define COMMAND_TEXT_BYTES 96
#define COMMAND_QPS        4 /* queue pairs per function */
/* per operation of the switches: all members of an ALLREDUCE cut it into the same pieces */
#define COMMAND_ALLREDUCE_PIECE (1u << 20)

enum command_op {
	/* Synchronous: answered by COMMAND_REPLY, without event and waits. */
	COMMAND_OPEN = 1, /* must come first; idempotent */
	COMMAND_CLOSE,    /* frees memory and programs; cancels what has not started */
	COMMAND_ALLOC,
	COMMAND_FREE,
	COMMAND_BUILD,   /* a package (wire/package.h), inline or in device memory */
	COMMAND_FETCH,   /* part of the data about a program or its device */
	COMMAND_RELEASE, /* of a program */
	/* Asynchronous: completed by COMMAND_EVENT. */
	COMMAND_RUN,
	COMMAND_SEND,   /* PUT to a peer, then EVENT to the peer */
	COMMAND_SIGNAL, /* only EVENT to a peer, after `waits` */
	COMMAND_REPLY,
	/* from xPU to host; or of a host's own events, on any queue pair */
	COMMAND_EVENT,
	/* synchronous: */
	/* opens a NIC function for this host's kernels, unless a working one is open */
	COMMAND_NIC,
	/* asynchronous: the xPU moves data by GET and PUT between its memory and the requesting
	 * node's or another xPU's (S-03, S-05) */
	COMMAND_BRIDGE,
	/* asynchronous, in order with RUN on the engine's queue: */
	COMMAND_WRITE, /* inline bytes to device memory */
	COMMAND_COPY,  /* within device memory */
	COMMAND_FILL,
	COMMAND_MARK,  /* asynchronous: only completes its event, as soon as `waits` have */
	COMMAND_CLOCK, /* synchronous: the node's clock */
	COMMAND_PRINT, /* xPU to host: output, before the kernel's EVENT */
	/* host to xPU, no answer: send delayed EVENTs up to `upto` now */
	COMMAND_HURRY,
	COMMAND_BEGUN,    /* xPU to host: a command has been running for some time */
	COMMAND_FAILED,   /* xPU to host: sentence about a failed command; precedes its EVENT */
	COMMAND_SWITCHES, /* synchronous: joins or leaves a group of switches (enum
			     command_switches) */
	/* asynchronous: this xPU's part of an allreduce by switches (dxp/inc.h) */
	COMMAND_ALLREDUCE,
	/* xPU to host: an ALLREDUCE lost its switches; it waits for SETTLE */
	COMMAND_LOST,
	/* asynchronous: completes such an ALLREDUCE, after `waits` */
	COMMAND_SETTLE,
	COMMAND_CYCLES, /* xPU to host: cycles of a launch; precedes its EVENT */
};

/* Steps of SWITCHES. The xPU answers OPEN and SHARE with its next contribution to an exchange among
 * all members; the host gives those of all to each, with SHARE. An empty answer ends the exchange:
 * the group exists. */
enum command_switches { SWITCHES_OPEN, SWITCHES_SHARE, SWITCHES_CLOSE };

enum command_fetch {
	FETCH_LOG,    /* of a build */
	FETCH_ABOUT,  /* records about kernels (dxp/about.h) */
	FETCH_BINARY, /* of the program, for the device */
	FETCH_DEVICE, /* records about the device; `program` is 0 */
	/* records of a profile; the first FETCH starts the counting */
	FETCH_PROFILE,
};

/* The values of enum bridge_path and enum bridge_mode. */
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
	COMMAND_ARG_NIC, /* window of COMMAND_NIC's function */
	COMMAND_ARG_IMAGE,
	COMMAND_ARG_SAMPLER,
};

/* BUFFER: a null pointer; FETCH: the reply carries the data. */
#define COMMAND_NO_ADDRESS UINT64_MAX

/* After decoding, `value` points into the message. */
struct command_argument {
	uint8_t kind; /* enum command_argument_kind */
	/* BYTES: length of `value`, 1 .. COMMAND_VALUE_BYTES; IMAGE, SAMPLER: length of `value`;
	 * LOCAL: local memory; BUFFER: accessible, 0: to the end of the allocation. */
	uint32_t bytes;
	uint64_t address; /* BUFFER, IMAGE: device address */
	/* IMAGE, SAMPLER: of command_image_put() or command_sampler_put(). */
	const uint8_t *value;
};

/* `op` selects the valid fields. command_decode() clears all but `text` and `arguments`, whose used
 * part it sets. */
struct command {
	uint8_t op;
	uint8_t wait_count;
	/* asynchronous; 1: the EVENT may be delayed, to share a message */
	uint8_t lazy;
	uint32_t sequence; /* synchronous; repeated in the reply */
	uint64_t event;    /* asynchronous: completion event; 0: send no EVENT */
	/* oldest event of this host on this xPU for which a later command may wait */
	uint32_t oldest;
	uint64_t waits[COMMAND_WAITS_MAX];

	uint16_t reply_qp;    /* OPEN: host's, for replies and events */
	uint32_t reply_magic; /* OPEN: of reply_qp */
	/* Device address. FREE: allocation; BUILD: package; SEND, COPY: source; WRITE, FILL:
	 * destination; FETCH: destination, or COMMAND_NO_ADDRESS. */
	uint64_t address;
	uint64_t bytes;   /* ALLOC, BUILD, SEND: length; FETCH: length at most */
	uint32_t program; /* FETCH, RELEASE, RUN: program id */
	uint8_t what;     /* FETCH: enum command_fetch. SWITCHES: enum command_switches. */
	uint64_t skip;    /* FETCH: offset of the part in bytes */
	uint32_t upto;    /* HURRY: count in the name of the last event to send now */
	/* WRITE: 1 .. DXP_INLINE_BYTES bytes. FILL: pattern of 1 .. DXP_PATTERN_MAX bytes. BUILD:
	 * package inside the message, or NULL. SWITCHES_SHARE: contributions of all members. After
	 * decoding, points into the message. */
	const uint8_t *data;
	uint32_t data_bytes;
	struct dxp_rect rect; /* COPY; FILL: only to_ fields */
	/* SEND, SIGNAL: gets the EVENT; BRIDGE: has the other memory, an xPU or the requesting
	 * host. */
	uint16_t to_node;
	/* SEND: of the target's device memory; BRIDGE OUT, THROUGH: of the memory to write. */
	uint32_t to_key;
	/* SEND; BRIDGE OUT, THROUGH: in the memory of to_key. COPY: destination on the device. */
	uint64_t to_address;
	uint32_t from_key;     /* BRIDGE IN, THROUGH: of the memory to read */
	uint64_t from_address; /* BRIDGE IN, THROUGH: in it */
	/* BRIDGE: enum command_bridge_path, command_bridge_mode; `address` on the device (THROUGH:
	 * 0), `bytes`: length. */
	uint8_t path, mode;
	/* BRIDGE: as in struct bridge_order; 0: the xPU chooses */
	uint32_t piece_bytes;
	uint32_t group;           /* SWITCHES, ALLREDUCE: the host's number for the group */
	uint16_t member, members; /* SWITCHES_OPEN: this xPU's number in the group, and the count */
	/* ALLREDUCE: enum dxp_inc_type, enum dxp_inc_op; `address` is the input, `to_address` the
	 * output, `bytes` the length of each */
	uint8_t type, reduction;
	uint64_t settles;   /* SETTLE: event of the ALLREDUCE to complete */
	int32_t status;     /* SETTLE: result of the ALLREDUCE, enum dxp_status */
	uint8_t dimensions; /* RUN: number of dimensions, 1 .. 3 */
	uint64_t global[3], local[3], offset[3];
	uint8_t argument_count;
	char text[COMMAND_NAME_BYTES]; /* RUN: kernel name */
	struct command_argument arguments[COMMAND_ARGS_MAX];
};

struct command_reply {
	uint8_t op; /* answered */
	uint32_t sequence;
	int32_t status; /* enum dxp_status */
	/* OPEN: for the host's PUT and GET of device memory; NIC: for peers of the function. */
	uint32_t memory_key;
	uint64_t memory_bytes;  /* OPEN */
	uint64_t free_bytes;    /* OPEN, ALLOC, FREE: of device memory */
	uint32_t compute_units; /* OPEN */
	uint8_t memory_kind;    /* OPEN: enum dxp_memory_kind */
	uint8_t streams;        /* OPEN: 1: BRIDGE THROUGH is possible */
	/* OPEN: per ring, and their length; 0: no bridge */
	uint32_t buffers, buffer_bytes;
	char text[COMMAND_TEXT_BYTES]; /* OPEN: device */
	uint64_t address;              /* ALLOC: on the device */
	uint32_t program;              /* BUILD: valid for FETCH even after DXP_EBUILD */
	int32_t native;                /* BUILD: see struct command_event */
	uint32_t log_bytes;            /* BUILD */
	uint32_t about_bytes;          /* BUILD: records about kernels; 0: none */
	uint64_t binary_bytes;         /* BUILD: 0: none, or not known yet */
	uint8_t function;              /* NIC: opened */
	/* NIC: of the opened function's queue pairs; OPEN: of the node's function 0. */
	uint32_t qp_magic[COMMAND_QPS];
	uint64_t clock_ns; /* CLOCK: value of clock_now_ns() on the node */
	uint64_t total;    /* FETCH: length of the whole data, of which `part` is a piece */
	/* FETCH, SWITCHES: length of `part`. BUILD: length of log and records in `part` if both
	 * fit, else 0. */
	uint32_t part_bytes;
	/* FETCH: a piece of the data. BUILD: log and records. SWITCHES: contribution of this
	 * member, or the reason of a failure. */
	uint8_t part[COMMAND_LOG_PART];
};

struct command_event {
	uint64_t event;
	int32_t status;
	int32_t native;                           /* of the device's driver, or 0 */
	uint64_t queued_ns, started_ns, ended_ns; /* of the xPU's clock */
};

/* `out` has COMMAND_BYTES_MAX bytes. Return the length. DXP_EINVAL: a field out of bounds, or too
 * long. */
int command_encode(const struct command *c, uint8_t *out);
int command_reply_encode(const struct command_reply *r, uint8_t *out);
int command_event_encode(const struct command_event *e, uint8_t *out);

uint8_t command_op(const uint8_t *data, size_t bytes);

/* Pointers in *c point into `data`, texts end with a zero. DXP_EMALFORMED: a wrong length or bound,
 * or bytes remain; *c is then undefined, because this large struct is filled in place. */
int command_decode(const uint8_t *data, size_t bytes, struct command *c);
int command_reply_decode(const uint8_t *data, size_t bytes, struct command_reply *r);
int command_event_decode(const uint8_t *data, size_t bytes, struct command_event *e);

/* BEGUN; `event` is the command's, not 0. */
int command_begun_encode(uint64_t event, uint8_t *out);
int command_begun_decode(const uint8_t *data, size_t bytes, uint64_t *event);

/* FAILED; `event` is the command's, not 0. The text has 1 .. COMMAND_FAILURE_BYTES - 1 bytes
 * without control characters. */
int command_failed_encode(uint64_t event, const char *text, uint8_t *out);
int command_failed_decode(const uint8_t *data, size_t bytes, uint64_t *event,
			  char text[COMMAND_FAILURE_BYTES]);

/* CYCLES; the event and `cycles` are not 0. */
int command_cycles_encode(uint64_t event, const struct dxp_event_cycles *cycles, uint8_t *out);
int command_cycles_decode(const uint8_t *data, size_t bytes, uint64_t *event,
			  struct dxp_event_cycles *cycles);

struct command_lost {
	uint64_t event;      /* name of the ALLREDUCE's event, not 0 */
	uint64_t done_bytes; /* bytes of the output, from its start, that all members have */
	int32_t status;      /* reason of the loss, enum dxp_status, negative */
};

int command_lost_encode(const struct command_lost *l, uint8_t *out);
int command_lost_decode(const uint8_t *data, size_t bytes, struct command_lost *out);

/* PRINT: 1 .. COMMAND_PRINT_BYTES bytes of any value. The decoded *text points into `data`. */
int command_print_encode(const void *text, size_t text_bytes, uint8_t *out);
int command_print_decode(const uint8_t *data, size_t bytes, const uint8_t **text,
			 size_t *text_bytes);

/* `value` of IMAGE and SAMPLER arguments. */
void command_image_put(const struct dxp_image *image, uint8_t out[COMMAND_IMAGE_BYTES]);
void command_image_get(const uint8_t value[COMMAND_IMAGE_BYTES], struct dxp_image *out);
void command_sampler_put(const struct dxp_sampler *sampler, uint8_t out[COMMAND_SAMPLER_BYTES]);
void command_sampler_get(const uint8_t value[COMMAND_SAMPLER_BYTES], struct dxp_sampler *out);

enum command_rect_side { RECT_FROM, RECT_TO };
/* Row and slice pitch of one side; 0 in `r` becomes the pitch without gaps. */
void command_rect_pitches(const struct dxp_rect *r, enum command_rect_side side,
			  uint64_t *row_pitch, uint64_t *slice_pitch);
/* Bytes from the first to the last byte of one side. false: a length is 0, a pitch is too small, or
 * above 64 bits; never for decoded COPY and FILL. */
bool command_rect_span(const struct dxp_rect *r, enum command_rect_side side, uint64_t *bytes);

#endif
