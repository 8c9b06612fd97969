/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames between a node and the manager of its fabric (X-09 .. X-11), as bytes. Each is one
 * datagram: the common header, a body, and 16 bytes of HMAC-SHA-256 with the fabric key over the
 * header (time stamps, counters and crc taken as zero) and the body. docs/manager.md tells the
 * protocol; this file knows only offsets, lengths and what a field may hold.
 *
 *   JOIN       node -> manager  who I am                          answered by LEASE or REFUSE
 *   RENEW      node -> manager  I live, my table is at ...        answered by LEASE or REFUSE
 *   LEAVE      node -> manager  I go                              answered by ANSWER
 *   TABLE_ACK  node -> manager  my table is at ...
 *   NODE_TABLE, NODE_DELTA      manager -> node  rows of the table: everything in pages, or what
 * changed ASSIGN     anybody with the key: grant or revoke              answered by ANSWER or
 * REFUSE STATUS     anybody with the key: one page of the whole table  answered by NODE_TABLE or
 * REFUSE
 *
 * Every body begins with `request`, a number that grows with each request of its sender (0 in what
 * the manager sends unasked), and `nonce`, drawn by the asking process at its start; the manager
 * repeats both, so that neither an old answer nor one to somebody else is believed. */
#ifndef WIRE_MANAGE_H
#define WIRE_MANAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/mac.h"
#include "wire/address.h"
#include "wire/frame.h"
#include "wire/ids.h"

#define MANAGE_TEXT_BYTES 192 /* the sentence of a REFUSE or ANSWER, and its zero */

enum manage_kind { MANAGE_HOST = 1, MANAGE_XPU = 2 };

/* What a node can do beyond version 1; unknown bits are carried along. */
#define MANAGE_CAPABILITIES_NONE  0u
#define MANAGE_CAPABILITY_BRIDGED (1u << 0) /* an xPU's memory is behind DMA engines */

/* A row of the node table. `granted` and `magic` are as its reader may see them. */
struct node_entry {
	uint16_t id;
	uint8_t kind; /* enum manage_kind */
	bool alive;   /* holds a lease */
	bool granted; /* host reading about an xPU: I may use it; xPU about a host: it may use me;
			 xPU about an xPU: true */
	uint32_t capabilities;
	uint32_t magic; /* of its service queue pair; 0 where not granted */
	uint64_t incarnation;
	uint64_t memory_bytes;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct wire_address address;
	char name[FABRIC_NAME_BYTES];   /* [A-Za-z0-9._-], never empty */
	char engine[FABRIC_NAME_BYTES]; /* printable; may be empty */
	char device[FABRIC_DEVICE_BYTES];
};

/* How far a node's copy of the table is. cursor 0: complete as of `sequence` of `epoch`. Otherwise
 * a full table that was begun at `sequence` is under way, and rows with id >= cursor are missing.
 * epoch 0: nothing yet. */
struct manage_progress {
	uint64_t epoch, sequence;
	uint16_t cursor;
};

struct manage_join {
	uint64_t request, nonce;
	struct node_entry
		self; /* id: the one held before, or 0; address, alive and granted mean nothing */
};

struct manage_lease {
	uint64_t request, nonce;
	uint64_t epoch;    /* of this run of the manager; random, so that none comes back */
	uint64_t sequence; /* of the newest change */
	uint64_t lease_ns; /* counted by the node from when it sent the request */
	uint16_t node;     /* the node's id */
};

/* RENEW, LEAVE and TABLE_ACK. */
struct manage_renew {
	uint64_t request, nonce;
	uint64_t incarnation;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct manage_progress progress;
};

enum manage_action { MANAGE_GRANT = 1, MANAGE_REVOKE = 2 };

struct manage_assign {
	uint64_t request, nonce;
	uint64_t epoch, version; /* of the grants as the asker knows them (REFUSE tells), so that a
				    replay changes nothing */
	uint8_t action;
	char host[FABRIC_NAME_BYTES]; /* a node's name or "*" */
	char xpu[FABRIC_NAME_BYTES];
};

struct manage_status {
	uint64_t request, nonce;
	uint16_t first; /* rows with id >= first are wanted */
};

/* REFUSE and ANSWER. */
struct manage_answer {
	uint64_t request, nonce;
	int32_t status;    /* enum dxp_status */
	uint64_t retry_ns; /* DXP_EBUSY: when the other's lease ends unless renewed, from now */
	uint64_t epoch, version; /* of the manager, and of the grants for the next ASSIGN */
	char text[MANAGE_TEXT_BYTES];
};

/* The front of NODE_TABLE and NODE_DELTA.
 * NODE_TABLE: rows with first <= id < next as of `from` or later; next 0: to the end. `to` is
 * `from`. NODE_DELTA: what changed after `from` up to `to`; first and next are 0. */
struct manage_rows {
	uint64_t request, nonce;
	uint64_t epoch, from, to;
	uint16_t first, next;
	uint16_t count;
};

/* Writes rows behind a manage_rows until the datagram is full. */
struct manage_writer {
	uint8_t *frame;
	size_t used, room;
	uint16_t count;
};

/* Reads rows one after another; every length has been checked by manage_rows_decode. */
struct manage_reader {
	const uint8_t *at, *end;
	uint16_t left;
};

bool manage_name_valid(const char *name);

/* The longest frame of each kind but the row carriers; buffers for requests and answers have this
 * size. */
#define MANAGE_FRAME_BYTES 512

/* Encoders write header, body and mac into `out` (MANAGE_FRAME_BYTES, or FABRIC_DATAGRAM_BYTES for
 * rows) and return the frame's length. `source` and `target` are node ids. The structs must hold
 * what a decoder would accept (asserted). */
size_t manage_join_encode(const struct manage_join *join, struct mac *mac, uint8_t *out);
size_t manage_lease_encode(const struct manage_lease *lease, struct mac *mac, uint8_t *out);
size_t manage_renew_encode(uint8_t type, uint16_t source, const struct manage_renew *renew,
			   struct mac *mac, uint8_t *out);
size_t manage_assign_encode(const struct manage_assign *assign, struct mac *mac, uint8_t *out);
size_t manage_status_encode(const struct manage_status *status, struct mac *mac, uint8_t *out);

/* mac NULL: sixteen zero bytes instead, which proves nothing (wrong key). The text is cut so that
 * the frame has at most bytes_max (>= MANAGE_ANSWER_MIN). */
#define MANAGE_ANSWER_MIN 93
size_t manage_answer_encode(uint8_t type, uint16_t target, const struct manage_answer *answer,
			    size_t bytes_max, struct mac *mac, uint8_t *out);

void manage_rows_begin(struct manage_writer *w, uint8_t *out, size_t out_bytes);
/* False, and nothing written, when the row does not fit. */
bool manage_rows_add(struct manage_writer *w, const struct node_entry *entry);
bool manage_rows_remove(struct manage_writer *w, uint16_t id);
size_t manage_rows_finish(struct manage_writer *w, uint8_t type, uint16_t target,
			  const struct manage_rows *rows, struct mac *mac);

/* Checks header, crc and mac of a management frame; *header and *body are written on DXP_OK and on
 * DXP_EAUTH. DXP_EMALFORMED: not a management frame or not a sound one; DXP_EIO: damaged on the
 * way; DXP_EAUTH: sound, but sealed with another key. */
struct manage_body {
	const uint8_t *data;
	size_t bytes;
};
int manage_open(const uint8_t *data, size_t bytes, struct mac *mac, struct wire_header *header,
		struct manage_body *body);

/* Body decoders: DXP_OK, or DXP_EMALFORMED with the output untouched. A body has exactly its
 * length. */
int manage_join_decode(struct manage_body body, struct manage_join *out);
int manage_lease_decode(struct manage_body body, struct manage_lease *out);
int manage_renew_decode(struct manage_body body, struct manage_renew *out);
int manage_assign_decode(struct manage_body body, struct manage_assign *out);
int manage_status_decode(struct manage_body body, struct manage_status *out);
int manage_answer_decode(struct manage_body body, struct manage_answer *out);

/* Checks all rows, so that manage_rows_next cannot fail. Ids grow strictly in a NODE_TABLE and lie
 * in [first, next). */
int manage_rows_decode(uint8_t type, struct manage_body body, struct manage_rows *out,
		       struct manage_reader *reader);
/* The next row; false at the end. *removed: only entry->id is set. */
bool manage_rows_next(struct manage_reader *reader, struct node_entry *entry, bool *removed);

/* The first 16 bytes that every body begins with, also of one that is not authentic. */
bool manage_prefix(struct manage_body body, uint64_t *request, uint64_t *nonce);

#endif
