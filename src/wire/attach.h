/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process says to the program that runs a NIC, over a UNIX socket of packets
 * (SOCK_SEQPACKET): one request, one answer, in order. File descriptors ride beside the bytes.
 * Big-endian, like all else that is encoded here; lengths are checked once. docs/window.md
 * "Attaching". */
#ifndef WIRE_ATTACH_H
#define WIRE_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/device.h>

#include "base/limits.h"

#define ATTACH_MAGIC     0x44585041u /* "DXPA" */
#define ATTACH_VERSION   1
#define ATTACH_BYTES_MAX 1024 /* of one message, either way */
#define ATTACH_FDS_MAX   3
#define ATTACH_ROWS      4  /* of one answer: all functions take two */
#define ATTACH_AREAS_MAX 16 /* of one answer: a whole lookup table */

enum attach_type {
	/* Function (0: any), label. Answer: function, node; beside it the window's memfd, the
	 * engine's eventfd (the user writes 1 to it: kick; nobody reads it), and what becomes
	 * readable when the user sleeps and is told: one of two sockets of datagrams, not blocking,
	 * from which the user reads and drops what is there. No eventfd and no pipe: its other
	 * owner could make the engine's write block, by a flag that both share or by a read into
	 * memory that is not there, which holds the pipe's lock. */
	ATTACH_OPEN = 1,
	ATTACH_REGISTER, /* memfd beside; offset, bytes, rights; answer: key */
	ATTACH_REVOKE,   /* key */
	ATTACH_LOOKUP,   /* vaddr, bytes, key, offset */
	ATTACH_FIND,     /* label, qp; answer: target */
	ATTACH_ARM,      /* on */
	/* For who may manage the NIC (same user or root), on a connection that has opened nothing.
	 */
	ATTACH_LIST,   /* function: the first of ATTACH_ROWS; answer: rows */
	ATTACH_WEIGHT, /* function, value: 1 .. 64 */
	ATTACH_LIMIT,  /* function, value: bytes per second, 0: none */
	ATTACH_RESET,  /* function: closed, its user reads DXP_ECLOSED, free again */
	ATTACH_AREAS,  /* function; answer: its lookup table and registers */
};

struct attach_request {
	uint8_t type; /* enum attach_type */
	uint8_t function;
	uint8_t qp;
	uint8_t on;
	uint32_t rights, key;
	uint64_t vaddr, offset, bytes, value;
	char label[FABRIC_NAME_BYTES]; /* [A-Za-z0-9._-]; OPEN: may be empty */
};

/* A function, for `dxp vf`. */
struct attach_row {
	uint8_t function, state; /* enum dxp_function_state, 0: free */
	uint8_t weight, armed;
	uint32_t error; /* as in the window */
	uint32_t pid;   /* 0: the NIC's own program, or nobody */
	uint32_t regions;
	uint64_t mapped_bytes; /* of them, in the NIC's program */
	uint64_t limit_bytes_per_s;
	char label[FABRIC_NAME_BYTES];
	struct dxp_function_counters counters;
};

struct attach_area {
	uint64_t vaddr, bytes, offset;
	uint32_t key;
};

struct attach_answer {
	uint8_t type;   /* of the request; 0: of one that does not parse */
	int32_t status; /* enum dxp_status; the fields below are sent with DXP_OK only */
	uint8_t function;
	uint16_t node;
	uint32_t key;
	struct dxp_target target;
	uint64_t malformed; /* LIST: requests that did not parse, of all processes */
	uint8_t row_count;
	struct attach_row rows[ATTACH_ROWS];
	uint8_t area_count;
	struct attach_area areas[ATTACH_AREAS_MAX];
	uint64_t total_bytes;           /* AREAS: placed here by PUTs of others */
	struct dxp_registers registers; /* AREAS: as the device left them, but for the magic and
					   what is reserved: 0 */
};

/* Both return the bytes written to `out`, which has ATTACH_BYTES_MAX. */
size_t attach_request_encode(const struct attach_request *r, uint8_t *out);
size_t attach_answer_encode(const struct attach_answer *a, uint8_t *out);

/* DXP_OK, DXP_EMALFORMED, or DXP_EUNSUPPORTED: of another version; *out is written only on success,
 * and holds 0 where the type has no such field. */
int attach_request_decode(const uint8_t *data, size_t bytes, struct attach_request *out);
int attach_answer_decode(const uint8_t *data, size_t bytes, struct attach_answer *out);

#endif
