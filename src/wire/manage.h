/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames between a node and its manager (X-09 .. X-11), as bytes: the common header, a body, and 16
 * bytes of HMAC-SHA-256 over both (time stamps, counters and crc as zero). Its key is the fabric
 * key or, for a sender with a key pair, the secret that it shares with the manager; the body of a
 * request then ends with its public key. docs/guide/manager.md has the protocol.
 *
 *   JOIN       node -> manager  identity             answer: LEASE or REFUSE
 *   RENEW      node -> manager  table progress       answer: LEASE or REFUSE
 *   LEAVE      node -> manager                       answer: ANSWER
 *   TABLE_ACK  node -> manager  table progress
 *   NODE_TABLE manager -> node  all rows, in pages
 *   NODE_DELTA manager -> node  changed rows
 *   ASSIGN     key holder -> manager  grant, revoke  answer: ANSWER or REFUSE
 *   STATUS     key holder -> manager  page of rows   answer: NODE_TABLE or REFUSE
 *
 * Every body begins with `request`, which grows with each request (0: not requested), and `nonce`,
 * drawn at the sender's start. The manager repeats both, so a sender rejects old answers and
 * answers to other senders. JOIN, RENEW, LEAVE and TABLE_ACK also state the manager's epoch. */
#ifndef WIRE_MANAGE_H
#define WIRE_MANAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/mac.h"
#include "wire/frame.h"
#include "wire/ids.h"

#define MANAGE_TEXT_BYTES 192 /* bytes; text of a REFUSE or ANSWER, with the final zero */

/* GONE and REVOKED remove a row: the node has left, or this viewer may not use it any more. */
enum manage_kind { MANAGE_GONE = 0, MANAGE_HOST = 1, MANAGE_XPU = 2, MANAGE_REVOKED = 3 };

/* Abilities of a node beyond version 1. Unknown bits are passed on. */
#define MANAGE_CAPABILITIES_NONE  0u
#define MANAGE_CAPABILITY_BRIDGED (1u << 0) /* only DMA engines reach the memory */
/* Others reach the node at the address of its JOIN, not at the one that it sends from. */
#define MANAGE_CAPABILITY_ADVERTISED (1u << 1)
/* Bits 8 to 31: the node's release, as major, minor and patch; 0: it is from before they existed.
 */
#define MANAGE_RELEASE_SHIFT 8

/* Role of a public key; each includes those before it: to join as a host, to join as an xPU, to
 * make tokens and grants. */
enum manage_role { ROLE_NONE = 0, ROLE_HOST = 1, ROLE_XPU = 2, ROLE_OPERATOR = 3 };

/* A row of the node table. `granted` and `magic` depend on the reader. */
struct node_entry {
	uint16_t id;
	uint8_t kind; /* enum manage_kind */
	bool alive;   /* holds a lease */
	bool granted; /* host reads xPU: this host may use it; xPU reads host: the host may use this
			 xPU; xPU reads xPU: true */
	uint32_t capabilities;
	uint32_t magic; /* magic of its service queue pair; 0: not granted */
	uint64_t incarnation;
	uint64_t memory_bytes;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct udp_address address;
	char name[FABRIC_NAME_BYTES];   /* [A-Za-z0-9._-], never empty */
	char engine[FABRIC_NAME_BYTES]; /* printable; may be empty */
	char device[FABRIC_DEVICE_BYTES];
	/* Role and public key of its machine or user; ROLE_NONE: it joined with the fabric key. */
	uint8_t role; /* enum manage_role */
	uint8_t key[PUBLIC_KEY_BYTES];
};

/* State of a node's copy of the table. cursor 0: complete as of `sequence` of `epoch`. Otherwise a
 * full table of `sequence` is being received, and rows with id >= cursor are missing. epoch 0: no
 * table yet. */
struct manage_progress {
	uint64_t epoch, sequence;
	uint16_t cursor;
};

/* `run` of a request is the epoch of the manager's run, known from its answers; 0: unknown. The
 * manager accepts its own only, so datagrams recorded before its restart have no effect. */
struct manage_join {
	uint64_t request, nonce, run;
	/* id: the previous one, or 0. address: with CAPABILITY_ADVERTISED, otherwise unused. alive,
	 * granted, role and key are unused. */
	struct node_entry self;
	const uint8_t *key; /* see manage_renew */
};

struct manage_lease {
	uint64_t request, nonce;
	uint64_t epoch;    /* number of this run of the manager; random, so never repeated */
	uint64_t sequence; /* number of the newest change */
	uint64_t lease_ns; /* ns, counted from the time at which the node sent the request */
	uint16_t node;
};

/* RENEW, LEAVE and TABLE_ACK. */
struct manage_renew {
	uint64_t request, nonce, run;
	uint64_t incarnation;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct manage_progress progress;
	/* public key of the sender, whose secret with the manager is the key of the mac; NULL: the
	 * fabric key is. Decoders leave it: see manage_body. */
	const uint8_t *key;
};

enum manage_action { MANAGE_GRANT = 1, MANAGE_REVOKE = 2 };

struct manage_assign {
	uint64_t request, nonce;
	uint64_t epoch, version; /* epoch and version of the grants as known from REFUSE, so that a
				    replay changes nothing */
	uint8_t action;
	char host[FABRIC_NAME_BYTES]; /* a node's name or "*" */
	char xpu[FABRIC_NAME_BYTES];
};

struct manage_status {
	uint64_t request, nonce;
	uint16_t first;     /* requests rows from this id on */
	const uint8_t *key; /* see manage_renew */
};

/* REFUSE and ANSWER. */
struct manage_answer {
	uint64_t request, nonce;
	int32_t status;    /* enum dxp_status */
	uint64_t retry_ns; /* DXP_EBUSY: time until the other node's lease expires unless renewed */
	uint64_t epoch,
		version; /* epoch of the manager; version of the grants, for the next ASSIGN */
	char text[MANAGE_TEXT_BYTES];
};

/* Start of NODE_TABLE and NODE_DELTA. NODE_TABLE: rows with first <= id < next as of `from` or
 * later; next 0: all further rows; `to` equals `from`. NODE_DELTA: changes after `from` up to `to`;
 * first and next are 0. */
struct manage_rows {
	uint64_t request, nonce;
	uint64_t epoch, from, to;
	uint16_t first, next;
	uint16_t count;
};

/* Appends rows to a manage_rows until the datagram is full. */
struct manage_writer {
	uint8_t *frame;
	size_t used, space;
	uint16_t count;
};

/* Reads rows, whose lengths manage_rows_decode() has checked. */
struct manage_reader {
	const uint8_t *at, *end;
	uint16_t left;
};

bool manage_name_valid(const char *name);

#define MANAGE_RELEASE_BYTES 12 /* "255.255.255" and the final zero */
/* Writes the release of a node, such as "0.1.0"; "" if it is unknown. Returns `out`. */
const char *manage_release_format(uint32_t capabilities, char out[MANAGE_RELEASE_BYTES]);

/* bytes; longest frame except NODE_TABLE and NODE_DELTA, for buffers of requests and answers */
#define MANAGE_FRAME_BYTES 512

/* Encode header, body and mac into `out` of MANAGE_FRAME_BYTES, or FABRIC_DATAGRAM_BYTES for rows;
 * return the length. `source` and `target` are node ids. The structs must be valid for a decoder
 * (asserted). */
size_t manage_join_encode(const struct manage_join *join, struct mac *mac, uint8_t *out);
size_t manage_lease_encode(const struct manage_lease *lease, struct mac *mac, uint8_t *out);
size_t manage_renew_encode(uint8_t type, uint16_t source, const struct manage_renew *renew,
			   struct mac *mac, uint8_t *out);
size_t manage_assign_encode(const struct manage_assign *assign, struct mac *mac, uint8_t *out);
size_t manage_status_encode(const struct manage_status *status, struct mac *mac, uint8_t *out);

/* mac NULL, for a request with a wrong key: writes 16 zero bytes, which prove nothing. Cuts the
 * text so that the frame has at most bytes_max (>= MANAGE_ANSWER_MIN) bytes. */
#define MANAGE_ANSWER_MIN 93
size_t manage_answer_encode(uint8_t type, uint16_t target, const struct manage_answer *answer,
			    size_t bytes_max, struct mac *mac, uint8_t *out);

void manage_rows_begin(struct manage_writer *w, uint8_t *out, size_t out_bytes);
/* Return false, and write nothing, if the row does not fit. */
bool manage_rows_add(struct manage_writer *w, const struct node_entry *entry);
/* `kind` is GONE or REVOKED. */
bool manage_rows_remove(struct manage_writer *w, uint16_t id, enum manage_kind kind);
size_t manage_rows_finish(struct manage_writer *w, uint8_t type, uint16_t target,
			  const struct manage_rows *rows, struct mac *mac);

/* Checks header, crc and mac of a management frame. *header and *body are valid for DXP_OK and
 * DXP_EAUTH.
 * Errors: DXP_EMALFORMED: not a valid management frame; DXP_EIO: damaged in transit; DXP_EAUTH:
 *         sealed with another key. */
struct manage_body {
	const uint8_t *data;
	size_t bytes;
	const uint8_t *key; /* public key that the sender states; NULL: none */
};
int manage_open(const uint8_t *data, size_t bytes, struct mac *mac, struct wire_header *header,
		struct manage_body *body);

/* The two halves of manage_open, for a receiver that selects the mac by the stated key. */
int manage_parse(const uint8_t *data, size_t bytes, struct wire_header *header,
		 struct manage_body *body);
bool manage_authentic(const uint8_t *data, struct manage_body body, struct mac *mac);

/* Decode a body. DXP_EMALFORMED: wrong length or invalid field; the output is unchanged. */
int manage_join_decode(struct manage_body body, struct manage_join *out);
int manage_lease_decode(struct manage_body body, struct manage_lease *out);
int manage_renew_decode(struct manage_body body, struct manage_renew *out);
int manage_assign_decode(struct manage_body body, struct manage_assign *out);
int manage_status_decode(struct manage_body body, struct manage_status *out);
int manage_answer_decode(struct manage_body body, struct manage_answer *out);

/* Checks all rows, so that manage_rows_next() cannot fail. Ids of a NODE_TABLE must grow strictly
 * and lie in [first, next). */
int manage_rows_decode(uint8_t type, struct manage_body body, struct manage_rows *out,
		       struct manage_reader *reader);
/* Reads the next row; false: no more. With *removed, only entry->id is set. */
bool manage_rows_next(struct manage_reader *reader, struct node_entry *entry, bool *removed);

/* Reads the first 16 bytes of a body, even if it is not authentic. */
bool manage_prefix(struct manage_body body, uint64_t *request, uint64_t *nonce);

#endif
