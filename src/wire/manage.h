/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames between a node and its manager (X-09 .. X-11), as bytes: the common header, a body, and a
 * MAC. The MAC is 16 bytes of HMAC-SHA-256 over header and body, where time stamps, counters and
 * crc count as zero. Its key is the fabric key. If the sender has a key pair, the key is instead
 * the secret that the sender shares with the manager. The body of a request then ends with the
 * sender's public key. docs/guide/manager.md has the protocol.
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
 * Every body begins with `request` and `nonce`. `request` grows with each request (0: the frame
 * answers no request). The sender draws `nonce` at its start. The manager's answer repeats both, so
 * a sender can reject old answers and answers to other senders. JOIN, RENEW, LEAVE and TABLE_ACK
 * also state the manager's epoch. */
#ifndef WIRE_MANAGE_H
#define WIRE_MANAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/mac.h"
#include "wire/frame.h"
#include "wire/ids.h"

#define MANAGE_TEXT_BYTES 192 /* bytes of the text in a REFUSE or ANSWER, with the final zero */

/* Kinds of rows. GONE and REVOKED remove a row: the node has left, or the reader of the table may
 * not use the node any more. */
enum manage_kind { MANAGE_GONE = 0, MANAGE_HOST = 1, MANAGE_XPU = 2, MANAGE_REVOKED = 3 };

/* Abilities of a node beyond version 1, as bits. The manager passes unknown bits on. */
#define MANAGE_CAPABILITIES_NONE  0u
#define MANAGE_CAPABILITY_BRIDGED (1u << 0) /* only DMA engines reach the node's memory */
/* Other nodes reach this node at the address in its JOIN, not at the address from which it
 * sends. */
#define MANAGE_CAPABILITY_ADVERTISED (1u << 1)
#define MANAGE_CAPABILITY_PROBED     (1u << 2) /* the node answers PROBE (wire/probe.h) */
#define MANAGE_CAPABILITY_SWITCH     (1u << 3) /* the node uses a switch for allreduces */
/* Bits 8 to 31: the node's release, one byte each for major, minor and patch. 0: a release from
 * before these bits. */
#define MANAGE_RELEASE_SHIFT 8

/* Role of a public key. ROLE_HOST may join as a host; ROLE_XPU may also join as an xPU;
 * ROLE_OPERATOR may also make tokens and grants. */
enum manage_role { ROLE_NONE = 0, ROLE_HOST = 1, ROLE_XPU = 2, ROLE_OPERATOR = 3 };

/* A row of the node table. `granted` and `magic` depend on the node that receives the row. */
struct node_entry {
	uint16_t id;
	uint8_t kind; /* enum manage_kind */
	bool alive;   /* the node holds a lease */
	/* The reader is a host, the row an xPU: this host may use the xPU. The reader is an xPU,
	 * the row a host: this host may use the reader. Both are xPUs: true. */
	bool granted;
	uint32_t capabilities;
	/* magic of the node's service queue pair; 0: the reader may not use the node */
	uint32_t magic;
	uint64_t incarnation;
	uint64_t memory_bytes;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct udp_address address;
	char name[FABRIC_NAME_BYTES];   /* [A-Za-z0-9._-], never empty */
	char engine[FABRIC_NAME_BYTES]; /* printable; may be empty */
	char device[FABRIC_DEVICE_BYTES];
	/* Role and public key of the node's machine or user. ROLE_NONE: the node joined with the
	 * fabric key. */
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

/* `run` of a request is the epoch of the manager's run, which the sender knows from earlier
 * answers; 0: unknown. The manager accepts only its own epoch, so datagrams recorded before its
 * restart have no effect. */
struct manage_join {
	uint64_t request, nonce, run;
	/* id: the node's previous id, or 0. address: used only with MANAGE_CAPABILITY_ADVERTISED.
	 * alive, granted, role and key are not used. */
	struct node_entry self;
	const uint8_t *key; /* public key of the sender or NULL, see struct manage_renew */
};

struct manage_lease {
	uint64_t request, nonce;
	uint64_t epoch;    /* number of this run of the manager; random, so never repeated */
	uint64_t sequence; /* number of the newest change */
	uint64_t lease_ns; /* ns from the time at which the node sent the request */
	uint16_t node;
};

/* Body of RENEW, LEAVE and TABLE_ACK. */
struct manage_renew {
	uint64_t request, nonce, run;
	uint64_t incarnation;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct manage_progress progress;
	/* Public key of the sender. The secret that it shares with the manager is then the key of
	 * the mac. NULL: the fabric key is the key of the mac. Decoders do not set this member, see
	 * manage_body. */
	const uint8_t *key;
};

enum manage_action { MANAGE_GRANT = 1, MANAGE_REVOKE = 2 };

struct manage_assign {
	uint64_t request, nonce;
	/* epoch and version of the grants that the sender learned from a REFUSE; with older values
	 * the request changes nothing, so a replay has no effect */
	uint64_t epoch, version;
	uint8_t action;
	char host[FABRIC_NAME_BYTES]; /* a node's name or "*" */
	char xpu[FABRIC_NAME_BYTES];
};

struct manage_status {
	uint64_t request, nonce;
	uint16_t first;     /* requests rows with this id or a higher id */
	const uint8_t *key; /* public key of the sender or NULL, see struct manage_renew */
};

/* Body of REFUSE and ANSWER. */
struct manage_answer {
	uint64_t request, nonce;
	int32_t status; /* enum dxp_status */
	/* DXP_EBUSY: ns until the lease of the other node expires, unless that node renews it */
	uint64_t retry_ns;
	/* epoch of the manager; version of the grants, which the next ASSIGN must state */
	uint64_t epoch, version;
	char text[MANAGE_TEXT_BYTES];
};

/* First fields of NODE_TABLE and NODE_DELTA. NODE_TABLE: rows with first <= id < next, not older
 * than sequence `from`; next 0: all further rows; `to` equals `from`. NODE_DELTA: changes after
 * `from` up to `to`; first and next are 0. */
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

/* Reads rows one by one. manage_rows_decode() has checked their lengths. */
struct manage_reader {
	const uint8_t *at, *end;
	uint16_t left;
};

bool manage_name_valid(const char *name);

#define MANAGE_RELEASE_BYTES 12 /* "255.255.255" and the final zero */
/* Writes the release of a node, such as "0.1.0"; "" if it is unknown. Returns `out`. */
const char *manage_release_format(uint32_t capabilities, char out[MANAGE_RELEASE_BYTES]);

/* bytes of the longest frame except NODE_TABLE and NODE_DELTA, for buffers of requests and
 * answers */
#define MANAGE_FRAME_BYTES 512

/* Encode header, body and mac into `out`, which has MANAGE_FRAME_BYTES, or FABRIC_DATAGRAM_BYTES
 * for rows. Return the length. `source` and `target` are node ids. The structs must hold values
 * that a decoder accepts (asserted). */
size_t manage_join_encode(const struct manage_join *join, struct mac *mac, uint8_t *out);
size_t manage_lease_encode(const struct manage_lease *lease, struct mac *mac, uint8_t *out);
size_t manage_renew_encode(uint8_t type, uint16_t source, const struct manage_renew *renew,
			   struct mac *mac, uint8_t *out);
size_t manage_assign_encode(const struct manage_assign *assign, struct mac *mac, uint8_t *out);
size_t manage_status_encode(const struct manage_status *status, struct mac *mac, uint8_t *out);

/* Encodes a REFUSE or ANSWER. mac is NULL if the request had a wrong key: 16 zero bytes are then in
 * the place of the MAC. Cuts the text so that the frame has at most bytes_max (>=
 * MANAGE_ANSWER_MIN) bytes. */
#define MANAGE_ANSWER_MIN 93
size_t manage_answer_encode(uint8_t type, uint16_t target, const struct manage_answer *answer,
			    size_t bytes_max, struct mac *mac, uint8_t *out);

void manage_rows_begin(struct manage_writer *w, uint8_t *out, size_t out_bytes);
/* This function and manage_rows_remove() return false, and write nothing, if the row does not
 * fit. */
bool manage_rows_add(struct manage_writer *w, const struct node_entry *entry);
/* Appends a row that removes a node. `kind` is MANAGE_GONE or MANAGE_REVOKED. */
bool manage_rows_remove(struct manage_writer *w, uint16_t id, enum manage_kind kind);
size_t manage_rows_finish(struct manage_writer *w, uint8_t type, uint16_t target,
			  const struct manage_rows *rows, struct mac *mac);

/* Checks header, crc and mac of a management frame. *header and *body are valid after DXP_OK and
 * DXP_EAUTH.
 * Errors: DXP_EMALFORMED: not a valid management frame; DXP_EIO: damaged in transit; DXP_EAUTH: the
 * MAC was made with another key. */
struct manage_body {
	const uint8_t *data;
	size_t bytes;
	const uint8_t *key; /* public key that the sender states; NULL: the body has none */
};
int manage_open(const uint8_t *data, size_t bytes, struct mac *mac, struct wire_header *header,
		struct manage_body *body);

/* The two halves of manage_open(), for a receiver that selects the mac by the public key in the
 * body. */
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

/* Checks all rows, so that manage_rows_next() cannot fail. The ids of a NODE_TABLE must grow and
 * lie in [first, next). */
int manage_rows_decode(uint8_t type, struct manage_body body, struct manage_rows *out,
		       struct manage_reader *reader);
/* Reads the next row; returns false if no row is left. If *removed is true, only entry->id is
 * set. */
bool manage_rows_next(struct manage_reader *reader, struct node_entry *entry, bool *removed);

/* Reads `request` and `nonce`, the first 16 bytes of a body, even if the body is not authentic. */
bool manage_prefix(struct manage_body body, uint64_t *request, uint64_t *nonce);

#endif
