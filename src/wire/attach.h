/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a process and the program that runs a NIC, over a UNIX packet socket
 * (SOCK_SEQPACKET). Each request gets one answer, in order. File descriptors are ancillary data.
 * Numbers are big-endian. docs/reference/window.md "Attaching". */
#ifndef WIRE_ATTACH_H
#define WIRE_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/device.h>

#include "wire/limits.h"

#define ATTACH_MAGIC     0x44585041u /* "DXPA" */
#define ATTACH_VERSION   3
#define ATTACH_BYTES_MAX 1024 /* bytes per message, in either direction */
#define ATTACH_FDS_MAX   3
#define ATTACH_ROWS      4  /* rows per answer; eight answers list all 32 queue pairs of a NIC */
#define ATTACH_AREAS_MAX 16 /* areas per answer: as many as a lookup table has */

/* Values of `qp` in a request: which queue pairs to open. */
/* all queue pairs of the function; on a socket for one queue pair (vfN.Q): that queue pair */
#define ATTACH_QP_ALL 0
#define ATTACH_QP(q)  ((q) + 1) /* queue pair `q` */
#define ATTACH_QP_ANY 255       /* any queue pair that is free */

/* Types of requests. A comment lists the members of the request that are used, then the answer. */
enum attach_type {
	/* Opens a function, or one queue pair of it. Request: function (0: any), qp, label. Answer:
	 * function, qp (the first opened one), node. Descriptors: memfd of the window; eventfd of
	 * the NIC (the user writes 1; the NIC never reads it); wakeup descriptor of the user. The
	 * wakeup descriptor is one of two nonblocking datagram sockets. The user reads and drops
	 * its content. With an eventfd or a pipe, the user could block the NIC's write: by a flag
	 * that both ends share, or by a read into missing memory, which holds the pipe's lock. */
	ATTACH_OPEN = 1,
	ATTACH_REGISTER, /* registers a memfd: offset, bytes, rights; answer: key */
	ATTACH_REVOKE,   /* revokes a key */
	ATTACH_LOOKUP,   /* adds an area to the lookup table: vaddr, bytes, key, offset */
	ATTACH_FIND,     /* finds a user's queue pair by label and qp; answer: target */
	ATTACH_ARM,      /* on 1: arms the function (its NIC does not sleep); 0: disarms it */
	/* Requests to manage the NIC. Only the user that runs the NIC, and root, may send them, on
	 * a connection that has opened no function. */
	/* lists queue pairs from (function, qp) on; answer: ATTACH_ROWS rows at most, in order */
	ATTACH_LIST,
	ATTACH_WEIGHT, /* sets the function's weight: value 1 .. 64 */
	ATTACH_LIMIT,  /* sets the function's limit: value in bytes per second, 0: none */
	ATTACH_RESET,  /* closes a function; its users get DXP_ECLOSED */
	/* function, qp; answer: lookup table and registers of the window of this queue pair */
	ATTACH_AREAS,
	ATTACH_PRIORITY, /* sets the function's priority: value 0 normal, 1 high */
};

struct attach_request {
	uint8_t type; /* enum attach_type */
	uint8_t function;
	uint8_t qp;
	uint8_t on;
	uint32_t rights, key;
	uint64_t vaddr, offset, bytes, value;
	/* name of the user, [A-Za-z0-9._-]; it may be empty only in OPEN */
	char label[FABRIC_NAME_BYTES];
};

/* A row of `dxp vf`: adjacent queue pairs of a function that one user has opened, or that are
 * free. */
struct attach_row {
	uint8_t function, qp, qps; /* the row has `qps` queue pairs, from `qp` on */
	uint8_t state;             /* enum dxp_function_state; 0: no user */
	uint8_t weight, priority, armed;
	uint32_t error; /* error code in the window */
	uint32_t pid;   /* process id of the user; 0: the NIC's own program, or no user */
	uint32_t regions;
	uint64_t mapped_bytes; /* bytes of the user's regions mapped in the NIC's program */
	uint64_t limit_bytes_per_s;
	char label[FABRIC_NAME_BYTES];
	struct dxp_function_counters counters;
};

struct attach_area {
	uint64_t vaddr, bytes, offset;
	uint32_t key;
};

struct attach_answer {
	uint8_t type;   /* type of the request; 0: the request did not parse */
	int32_t status; /* enum dxp_status; the members below are sent only with DXP_OK */
	uint8_t function, qp;
	uint16_t node;
	uint32_t key;
	struct dxp_target target;
	/* LIST: requests of any process that did not parse, since the program started */
	uint64_t malformed;
	uint8_t row_count;
	struct attach_row rows[ATTACH_ROWS];
	uint8_t area_count;
	struct attach_area areas[ATTACH_AREAS_MAX];
	/* AREAS: bytes that PUTs of peers placed in memory of this window's user */
	uint64_t total_bytes;
	/* AREAS: registers as the device stored them, except that magic and reserved words are 0 */
	struct dxp_registers registers;
};

/* Encode to `out`, of ATTACH_BYTES_MAX bytes; return the length. */
size_t attach_request_encode(const struct attach_request *r, uint8_t *out);
size_t attach_answer_encode(const struct attach_answer *a, uint8_t *out);

/* Return DXP_OK, DXP_EMALFORMED, or DXP_EUNSUPPORTED for another version. *out is written only on
 * success. Fields that this type of message does not have become 0. */
int attach_request_decode(const uint8_t *data, size_t bytes, struct attach_request *out);
int attach_answer_decode(const uint8_t *data, size_t bytes, struct attach_answer *out);

#endif
