/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a process and the program that runs a NIC, over a UNIX packet socket
 * (SOCK_SEQPACKET). Each request gets one answer, in order; descriptors are ancillary data; numbers
 * are big-endian. docs/reference/window.md "Attaching". */
#ifndef WIRE_ATTACH_H
#define WIRE_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/device.h>

#include "wire/limits.h"

#define ATTACH_MAGIC     0x44585041u /* "DXPA" */
#define ATTACH_VERSION   3
#define ATTACH_BYTES_MAX 1024 /* in either direction */
#define ATTACH_FDS_MAX   3
#define ATTACH_ROWS      4  /* per answer; eight answers list all 32 queue pairs */
#define ATTACH_AREAS_MAX 16 /* per answer: a whole lookup table */

/* Values of `qp` in a request: queue pairs to open. */
/* all of the function; on a socket for one queue pair (vfN.Q): that one */
#define ATTACH_QP_ALL 0
#define ATTACH_QP(q)  ((q) + 1)
#define ATTACH_QP_ANY 255 /* any free one */

/* Comments list the request's members, then the answer. */
enum attach_type {
	/* Opens a function, or one queue pair. Request: function (0: any), qp, label. Answer:
	 * function, qp (first opened), node; descriptors: memfd of the window, eventfd of the NIC
	 * (the user writes 1, the NIC never reads it), wakeup of the user. The wakeup is one of two
	 * nonblocking datagram sockets; with an eventfd or a pipe, the user could block the NIC's
	 * write: by a flag that both ends share, or by a read into missing memory, which holds the
	 * pipe's lock. */
	ATTACH_OPEN = 1,
	ATTACH_REGISTER, /* memfd: offset, bytes, rights; answer: key */
	ATTACH_REVOKE,
	ATTACH_LOOKUP, /* to the lookup table: vaddr, bytes, key, offset */
	ATTACH_FIND,   /* a user's queue pair by label and qp; answer: target */
	ATTACH_ARM,    /* on 1: the NIC does not sleep; 0: disarms */
	/* Management: only for the user that runs the NIC, and root, on a connection without a
	 * function. */
	/* queue pairs from (function, qp) on; answer: at most ATTACH_ROWS rows, in order */
	ATTACH_LIST,
	ATTACH_WEIGHT, /* value 1 .. 64 */
	ATTACH_LIMIT,  /* value in bytes per second, 0: none */
	ATTACH_RESET,  /* closes a function; its users get DXP_ECLOSED */
	/* function, qp; answer: lookup table and registers of the window */
	ATTACH_AREAS,
	ATTACH_PRIORITY, /* value 0 normal, 1 high */
};

struct attach_request {
	uint8_t type; /* enum attach_type */
	uint8_t function;
	uint8_t qp;
	uint8_t on;
	uint32_t rights, key;
	uint64_t vaddr, offset, bytes, value;
	/* of the user, [A-Za-z0-9._-]; empty only in OPEN */
	char label[FABRIC_NAME_BYTES];
};

/* A row of `dxp vf`: adjacent queue pairs of a function that one user has opened, or that are
 * free. */
struct attach_row {
	uint8_t function, qp, qps; /* `qps` queue pairs from `qp` on */
	uint8_t state;             /* enum dxp_function_state; 0: no user */
	uint8_t weight, priority, armed;
	uint32_t error; /* in the window */
	uint32_t pid;   /* of the user; 0: the NIC's own program, or no user */
	uint32_t regions;
	uint64_t mapped_bytes; /* of the user's regions, mapped in the NIC's program */
	uint64_t limit_bytes_per_s;
	char label[FABRIC_NAME_BYTES];
	struct dxp_function_counters counters;
};

struct attach_area {
	uint64_t vaddr, bytes, offset;
	uint32_t key;
};

struct attach_answer {
	uint8_t type;   /* of the request; 0: it did not parse */
	int32_t status; /* enum dxp_status; what follows is sent only with DXP_OK */
	uint8_t function, qp;
	uint16_t node;
	uint32_t key;
	struct dxp_target target;
	/* LIST: requests that did not parse, of any process, since the start */
	uint64_t malformed;
	uint8_t row_count;
	struct attach_row rows[ATTACH_ROWS];
	uint8_t area_count;
	struct attach_area areas[ATTACH_AREAS_MAX];
	/* AREAS: placed by peers' PUTs in memory of this user */
	uint64_t total_bytes;
	/* AREAS: as stored by the device, but magic and reserved words are 0 */
	struct dxp_registers registers;
};

/* `out` has ATTACH_BYTES_MAX bytes. Return the length. */
size_t attach_request_encode(const struct attach_request *r, uint8_t *out);
size_t attach_answer_encode(const struct attach_answer *a, uint8_t *out);

/* DXP_EMALFORMED, or DXP_EUNSUPPORTED for another version. *out is written only on success; fields
 * that the type lacks become 0. */
int attach_request_decode(const uint8_t *data, size_t bytes, struct attach_request *out);
int attach_answer_decode(const uint8_t *data, size_t bytes, struct attach_answer *out);

#endif
