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

#define MANAGE_TEXT_BYTES 192 /* of REFUSE or ANSWER, with the final zero */

/* GONE and REVOKED remove a row: the node left, or the reader may not use it any more. */
enum manage_kind { MANAGE_GONE = 0, MANAGE_HOST = 1, MANAGE_XPU = 2, MANAGE_REVOKED = 3 };

/* Abilities of a node beyond version 1, as bits. The manager passes unknown bits on. */
#define MANAGE_CAPABILITIES_NONE  0u
#define MANAGE_CAPABILITY_BRIDGED (1u << 0) /* only DMA engines reach the memory */
/* reached at the address in its JOIN, not at the one it sends from */
#define MANAGE_CAPABILITY_ADVERTISED (1u << 1)
#define MANAGE_CAPABILITY_PROBED     (1u << 2) /* the node answers PROBE (wire/probe.h) */
#define MANAGE_CAPABILITY_SWITCH     (1u << 3) /* the node uses a switch for allreduces */
/* the node replaces its fabric key by that of a LEASE */
#define MANAGE_CAPABILITY_REKEYED (1u << 4)
/* handshakes of data sessions use the node's key pair, if the peer's has this bit too */
#define MANAGE_CAPABILITY_BOUND (1u << 5)
/* Bits 8 to 31: the node's release, one byte each for major, minor and patch. 0: a release from
 * before these bits. */
#define MANAGE_RELEASE_SHIFT 8

/* ROLE_HOST may join as a host, ROLE_XPU also as an xPU; ROLE_OPERATOR may also make tokens and
 * grants. */
enum manage_role { ROLE_NONE = 0, ROLE_HOST = 1, ROLE_XPU = 2, ROLE_OPERATOR = 3 };

/* `granted` and `magic` depend on the receiving node. */
struct node_entry {
	uint16_t id;
	uint8_t kind; /* enum manage_kind */
	bool alive;   /* holds a lease */
	/* Host and xPU, either as the reader: this host may use this xPU. Both xPUs: true. */
	bool granted;
	uint32_t capabilities;
	/* service queue pair; 0: the reader may not use the node */
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

/* A node's copy of the table. cursor 0: complete as of `sequence` of `epoch`; else a full table is
 * being received, without rows from id `cursor` on. epoch 0: none yet. */
struct manage_progress {
	uint64_t epoch, sequence;
	uint16_t cursor;
};

/* `run`: the manager's epoch, as known from answers; 0: unknown. The manager accepts only its own,
 * so datagrams from before its restart have no effect. */
struct manage_join {
	uint64_t request, nonce, run;
	/* id: the previous one, or 0. address: only with MANAGE_CAPABILITY_ADVERTISED. alive,
	 * granted, role and key are unused. */
	struct node_entry self;
	const uint8_t *key; /* or NULL, see struct manage_renew */
};

#define MANAGE_SEALED_KEY_BYTES 60 /* a fabric key, nonce and tag (keys/fabric_key.h) */

/* The fabric key after rotations, for a node with a key pair and MANAGE_CAPABILITY_REKEYED. */
struct manage_rekey {
	uint32_t generation; /* 0: the key was never rotated, or the node cannot read it */
	uint32_t use_ms;     /* time after which nodes send with this key; 0: at once */
	uint32_t former_ms;  /* time in which nodes still accept the former key; 0: they do not */
	uint8_t sealed[MANAGE_SEALED_KEY_BYTES];
};

struct manage_lease {
	uint64_t request, nonce;
	uint64_t epoch;    /* of this run of the manager; random, so never repeated */
	uint64_t sequence; /* newest change */
	uint64_t lease_ns; /* length of the lease, counted from when the node sent the request */
	uint16_t node;
	struct manage_rekey rekey;
};

/* RENEW, LEAVE and TABLE_ACK. */
struct manage_renew {
	uint64_t request, nonce, run;
	uint64_t incarnation;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct manage_progress progress;
	/* Sender's public key; the mac's key is then the secret shared with the manager. NULL: the
	 * fabric key. Not set by decoders, see manage_body. */
	const uint8_t *key;
};

enum manage_action { MANAGE_GRANT = 1, MANAGE_REVOKE = 2 };

struct manage_assign {
	uint64_t request, nonce;
	/* of the grants, from a REFUSE; older values change nothing, so a replay has no effect */
	uint64_t epoch, version;
	uint8_t action;
	char host[FABRIC_NAME_BYTES]; /* name or "*" */
	char xpu[FABRIC_NAME_BYTES];
};

struct manage_status {
	uint64_t request, nonce;
	uint16_t first;     /* rows from this id on */
	const uint8_t *key; /* or NULL, see struct manage_renew */
};

/* REFUSE and ANSWER. */
struct manage_answer {
	uint64_t request, nonce;
	int32_t status; /* enum dxp_status */
	/* DXP_EBUSY: until the other node's lease expires without renewal */
	uint64_t retry_ns;
	/* of the manager; of the grants, for the next ASSIGN */
	uint64_t epoch, version;
	char text[MANAGE_TEXT_BYTES];
};

/* NODE_TABLE: rows with first <= id < next, not older than `from`, which `to` equals; next 0: all
 * further. NODE_DELTA: changes after `from` up to `to`; first and next are 0. */
struct manage_rows {
	uint64_t request, nonce;
	uint64_t epoch, from, to;
	uint16_t first, next;
	uint16_t count;
};

/* Appends rows until the datagram is full. */
struct manage_writer {
	uint8_t *frame;
	size_t used, space;
	uint16_t count;
};

/* manage_rows_decode() has checked their lengths. */
struct manage_reader {
	const uint8_t *at, *end;
	uint16_t left;
};

bool manage_name_valid(const char *name);

#define MANAGE_RELEASE_BYTES 12 /* "255.255.255", with the final zero */
/* "0.1.0"; "": unknown. Returns `out`. */
const char *manage_release_format(uint32_t capabilities, char out[MANAGE_RELEASE_BYTES]);

/* "direct" or "bridged" for an xPU, "" for a host. */
const char *manage_memory_text(const struct node_entry *entry);

/* longest frame except NODE_TABLE and NODE_DELTA */
#define MANAGE_FRAME_BYTES 512

/* Encode header, body and mac into `out`, of MANAGE_FRAME_BYTES, or FABRIC_DATAGRAM_BYTES for rows;
 * return the length. `source` and `target` are node ids. Values must be acceptable to a decoder
 * (asserted). */
size_t manage_join_encode(const struct manage_join *join, struct mac *mac, uint8_t *out);
size_t manage_lease_encode(const struct manage_lease *lease, struct mac *mac, uint8_t *out);
size_t manage_renew_encode(uint8_t type, uint16_t source, const struct manage_renew *renew,
			   struct mac *mac, uint8_t *out);
size_t manage_assign_encode(const struct manage_assign *assign, struct mac *mac, uint8_t *out);
size_t manage_status_encode(const struct manage_status *status, struct mac *mac, uint8_t *out);

/* REFUSE or ANSWER. mac NULL, after a wrong key: 16 zero bytes. Cuts the text to bytes_max (>=
 * MANAGE_ANSWER_MIN). */
#define MANAGE_ANSWER_MIN 93
size_t manage_answer_encode(uint8_t type, uint16_t target, const struct manage_answer *answer,
			    size_t bytes_max, struct mac *mac, uint8_t *out);

void manage_rows_begin(struct manage_writer *w, uint8_t *out, size_t out_bytes);
/* False: no space; nothing is written. So does manage_rows_remove(). */
bool manage_rows_add(struct manage_writer *w, const struct node_entry *entry);
/* `kind`: MANAGE_GONE or MANAGE_REVOKED. */
bool manage_rows_remove(struct manage_writer *w, uint16_t id, enum manage_kind kind);
size_t manage_rows_finish(struct manage_writer *w, uint8_t type, uint16_t target,
			  const struct manage_rows *rows, struct mac *mac);

struct manage_body {
	const uint8_t *data;
	size_t bytes;
	const uint8_t *key; /* as stated; NULL: none */
};
/* Checks header, crc and mac. *header and *body are valid after DXP_OK and DXP_EAUTH. Errors:
 * DXP_EMALFORMED: no management frame; DXP_EIO: damaged; DXP_EAUTH: another key. */
int manage_open(const uint8_t *data, size_t bytes, struct mac *mac, struct wire_header *header,
		struct manage_body *body);

/* Halves of manage_open(), for a mac that depends on the public key in the body. */
int manage_parse(const uint8_t *data, size_t bytes, struct wire_header *header,
		 struct manage_body *body);
bool manage_authentic(const uint8_t *data, struct manage_body body, struct mac *mac);

/* DXP_EMALFORMED: wrong length or field; the output is unchanged. */
int manage_join_decode(struct manage_body body, struct manage_join *out);
int manage_lease_decode(struct manage_body body, struct manage_lease *out);
int manage_renew_decode(struct manage_body body, struct manage_renew *out);
int manage_assign_decode(struct manage_body body, struct manage_assign *out);
int manage_status_decode(struct manage_body body, struct manage_status *out);
int manage_answer_decode(struct manage_body body, struct manage_answer *out);

/* Checks all rows, so manage_rows_next() cannot fail. Ids of a NODE_TABLE grow and lie in [first,
 * next). */
int manage_rows_decode(uint8_t type, struct manage_body body, struct manage_rows *out,
		       struct manage_reader *reader);
/* False: none is left. If *removed, only entry->id is set. */
bool manage_rows_next(struct manage_reader *reader, struct node_entry *entry, bool *removed);

/* The first 16 bytes of a body, even if it is not authentic. */
bool manage_prefix(struct manage_body body, uint64_t *request, uint64_t *nonce);

#endif
