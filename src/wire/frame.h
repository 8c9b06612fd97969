/* SPDX-License-Identifier: BSD-3-Clause */
/* RLTP frames as bytes, in network byte order. docs/reference/wire.md has the same tables;
 * test/unit/frame.c compares both. Sources, C-08.
 *
 * A datagram is one frame and nothing more. The parts of a frame, in this order:
 * - the common header, 32 bytes
 * - for reliable data, the data extension, 32 bytes
 * - with WIRE_FLAG_IMM, 8 bytes of immediate data
 * - with WIRE_FLAG_TRAILER, 8 bytes of trailer
 * - the body or payload, payload_bytes bytes */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/limits.h"

#define WIRE_VERSION          1
#define WIRE_VERSION_SEALED   2 /* of frames in sessions with protection */
#define WIRE_COMMON_BYTES     32
#define WIRE_DATA_BYTES       64 /* with the extension: one cache line */
#define WIRE_IMM_BYTES        8
#define WIRE_TRAILER_BYTES    8
#define WIRE_HEADER_BYTES_MAX (WIRE_DATA_BYTES + WIRE_IMM_BYTES + WIRE_TRAILER_BYTES)

/* Kinds: C control, R reliable data, M management. */
#define WIRE_TYPE_LIST(X)       \
	X(HELLO, 0x01, C)       \
	X(HELLO_ACK, 0x02, C)   \
	X(RESET, 0x03, C)       \
	X(PING, 0x04, C)        \
	X(PONG, 0x05, C)        \
	X(PMTU_PROBE, 0x06, C)  \
	X(PMTU_ACK, 0x07, C)    \
	X(BYE, 0x08, C)         \
	X(REJECT, 0x09, C)      \
	X(COOKIE, 0x0a, C)      \
	X(ACK, 0x10, C)         \
	X(NACK, 0x11, C)        \
	X(CREDIT, 0x12, C)      \
	X(RESYNC, 0x13, R)      \
	X(NAP, 0x20, R)         \
	X(PUT, 0x21, R)         \
	X(GET_REQ, 0x22, R)     \
	X(GET_RSP, 0x23, R)     \
	X(ATOMIC, 0x24, R)      \
	X(ATOMIC_RSP, 0x25, R)  \
	X(CFG_RD, 0x26, R)      \
	X(CFG_RD_RSP, 0x27, R)  \
	X(CFG_WR, 0x28, R)      \
	X(CFG_WR_RSP, 0x29, R)  \
	X(JOIN, 0x40, M)        \
	X(LEASE, 0x41, M)       \
	X(RENEW, 0x42, M)       \
	X(LEAVE, 0x43, M)       \
	X(NODE_TABLE, 0x44, M)  \
	X(NODE_DELTA, 0x45, M)  \
	X(TABLE_ACK, 0x46, M)   \
	X(ASSIGN, 0x47, M)      \
	X(REFUSE, 0x48, M)      \
	X(STATUS, 0x49, M)      \
	X(ANSWER, 0x4a, M)      \
	X(STATS, 0x4b, M)       \
	X(STATS_PAGE, 0x4c, M)  \
	X(CHANNEL, 0x4d, M)     \
	X(GRANTS, 0x50, M)      \
	X(GRANTS_PAGE, 0x51, M) \
	X(PROBE, 0x52, M)       \
	X(PROBE_REPLY, 0x53, M) \
	X(EVENTS, 0x54, M)      \
	X(EVENTS_PAGE, 0x55, M) \
	X(REPORT, 0x56, M)

#define WIRE_TYPE_ENUM(name, value, kind) WIRE_##name = value,
enum wire_type { WIRE_TYPE_LIST(WIRE_TYPE_ENUM) };
#undef WIRE_TYPE_ENUM

/* Flags of the common header. In version 1, a frame with unknown bits is malformed. */
enum wire_flag {
	WIRE_FLAG_AR = 1 << 0,      /* acknowledge at once; CREDIT: requests credits */
	WIRE_FLAG_ACKV = 1 << 1,    /* cum_ack is valid */
	WIRE_FLAG_RTX = 1 << 2,     /* retransmission */
	WIRE_FLAG_FIRST = 1 << 3,   /* of its message */
	WIRE_FLAG_LAST = 1 << 4,    /* of its message */
	WIRE_FLAG_SOL = 1 << 5,     /* the target gets an event after the message */
	WIRE_FLAG_FENCE = 1 << 6,   /* reserved for ordered placement */
	WIRE_FLAG_IMM = 1 << 7,     /* 8 bytes of immediate data follow the header */
	WIRE_FLAG_NACK = 1 << 8,    /* ACK: a new hole (X-05's NACK field) */
	WIRE_FLAG_BMP = 1 << 9,     /* ACK: a bitmap follows */
	WIRE_FLAG_PROBE = 1 << 10,  /* tail loss probe */
	WIRE_FLAG_CRCP = 1 << 11,   /* crc covers the bytes after the header too */
	WIRE_FLAG_CREDIT = 1 << 12, /* ACK: credit fields are valid */
	/* Last packet of a NAP, or of a PUT with SOL: 8 bytes for higher software (trailer) follow
	 * extension and immediate data. */
	WIRE_FLAG_TRAILER = 1 << 13,
};
#define WIRE_FLAGS_KNOWN 0x3fffu
/* Only in sealed frames, see wire_sealed_decode(). */
#define WIRE_FLAG_PHASE_SEEN 0x4000u /* parity of the newest key phase received */
#define WIRE_FLAG_PHASE      0x8000u /* parity of this frame's key phase */

/* Features of a HELLO's sender; the first nodes have none. Receivers ignore unknown bits. */
enum wire_feature {
	WIRE_FEATURE_ATOMIC = 1 << 0,  /* and its answer */
	WIRE_FEATURE_TRAILER = 1 << 1, /* WIRE_FLAG_TRAILER */
	WIRE_FEATURE_HELD = 1 << 2,    /* NACK with WIRE_NACK_HELD */
	WIRE_FEATURE_WAIT = 1 << 3,    /* NACK with WIRE_NACK_WAIT */
	WIRE_FEATURE_COOKIE = 1 << 4,  /* answers a COOKIE */
	WIRE_FEATURE_MACHINE = 1 << 5, /* hello_machine is valid */
	/* accepts frames with up to WIRE_LONG_PAYLOAD_MAX bytes of payload */
	WIRE_FEATURE_LONG = 1 << 6,
};
/* of all nodes; WIRE_FEATURE_LONG depends on the socket */
#define WIRE_FEATURES                                                               \
	((uint32_t)WIRE_FEATURE_ATOMIC | WIRE_FEATURE_TRAILER | WIRE_FEATURE_HELD | \
	 WIRE_FEATURE_WAIT | WIRE_FEATURE_COOKIE | WIRE_FEATURE_MACHINE)

/* Common header: X(field, offset, bytes). */
#define WIRE_COMMON_FIELDS(X)   \
	X(VERSION_HEADER, 0, 1) \
	X(TYPE, 1, 1)           \
	X(FLAGS, 2, 2)          \
	X(DST_SESSION, 4, 4)    \
	X(SRC_NODE, 8, 2)       \
	X(DST_NODE, 10, 2)      \
	X(PSN, 12, 4)           \
	X(TX_TS, 16, 4)         \
	X(CUM_ACK, 20, 4)       \
	X(LEN, 24, 2)           \
	X(CE_COUNT, 26, 2)      \
	X(CRC, 28, 4)

/* Data extension, from the frame's start. */
#define WIRE_DATA_FIELDS(X)    \
	X(DST_QP, 32, 2)       \
	X(DST_FUNCTION, 34, 1) \
	X(VC_TC, 35, 1)        \
	X(QP_MAGIC, 36, 4)     \
	X(MSG_ID, 40, 4)       \
	X(SUB, 44, 4)          \
	X(ADDR, 48, 8)         \
	X(KEY, 56, 4)          \
	X(MSG_LEN, 60, 4)

/* Body of an ACK, from the frame's start. */
#define WIRE_ACK_FIELDS(X)            \
	X(ACK_ECHO_TS, 32, 4)         \
	X(ACK_ECHO_PSN, 36, 4)        \
	X(ACK_HOLD, 40, 4)            \
	X(ACK_SACK_OFF, 44, 2)        \
	X(ACK_SACK_WORDS, 46, 1)      \
	X(ACK_RX_LEVEL, 47, 1)        \
	X(ACK_RWND, 48, 2)            \
	X(ACK_DUP_COUNT, 50, 2)       \
	X(ACK_RX_COUNT, 52, 4)        \
	X(ACK_CREDIT_QP, 56, 2)       \
	X(ACK_CREDIT_RESERVED, 58, 2) \
	X(ACK_CREDIT_LIMIT, 60, 4)    \
	X(ACK_BITMAP, 64, 8)

#define WIRE_NACK_FIELDS(X)     \
	X(NACK_CODE, 32, 1)     \
	X(NACK_RESERVED, 33, 1) \
	X(NACK_QP, 34, 2)       \
	X(NACK_MSG_ID, 36, 4)   \
	X(NACK_PSN, 40, 4)      \
	X(NACK_RETRY_US, 44, 4)

#define WIRE_HELLO_FIELDS(X)         \
	X(HELLO_INCARNATION, 32, 8)  \
	X(HELLO_EPOCH, 40, 4)        \
	X(HELLO_SESSION, 44, 4)      \
	X(HELLO_PSN, 48, 4)          \
	X(HELLO_RWND, 52, 2)         \
	X(HELLO_PAYLOAD, 54, 2)      \
	X(HELLO_FEATURES, 56, 4)     \
	X(HELLO_MACHINE, 60, 4)      \
	X(HELLO_UUID, 64, 16)        \
	X(HELLO_TOKEN, 80, 8)        \
	X(HELLO_ECHO_SESSION, 88, 4) \
	X(HELLO_ECHO_PSN, 92, 4)     \
	X(HELLO_NAP_CREDIT, 96, 2)   \
	X(HELLO_RECOVERY, 98, 1)     \
	X(HELLO_PROTECT, 99, 1)      \
	X(HELLO_MACHINE_LOW, 100, 4) \
	X(HELLO_TAG, 104, 16)

/* Last fields of a HELLO in a session with protection. They take the place of HELLO_TAG. */
#define WIRE_HELLO_SEALED_FIELDS(X) \
	X(HELLO_KEY, 104, 32)       \
	X(HELLO_KEY_TAG, 136, 16)   \
	X(HELLO_SEALED_TAG, 152, 16)

/* A HELLO has its cookie here. A HELLO_ACK has HELLO_ECHO_SESSION and HELLO_ECHO_PSN here. */
#define WIRE_HELLO_COOKIE_FIELDS(X) X(HELLO_COOKIE, 88, 8)

#define WIRE_RESET_FIELDS(X)    \
	X(RESET_SESSION, 32, 4) \
	X(RESET_CODE, 36, 4)    \
	X(RESET_TOKEN, 40, 8)

#define WIRE_REJECT_FIELDS(X)    \
	X(REJECT_SESSION, 32, 4) \
	X(REJECT_CODE, 36, 1)    \
	X(REJECT_PROTECT, 37, 1) \
	X(REJECT_ECHO, 38, 2)    \
	X(REJECT_PROOF, 40, 16)

#define WIRE_COOKIE_FIELDS(X)    \
	X(COOKIE_SESSION, 32, 4) \
	X(COOKIE_PSN, 36, 4)     \
	X(COOKIE_VALUE, 40, 8)   \
	X(COOKIE_PROOF, 48, 16)

#define WIRE_PING_FIELDS(X) X(PING_OPAQUE, 32, 8)

/* A PMTU_ACK has only these; in a PMTU_PROBE zeros follow. */
#define WIRE_PMTU_FIELDS(X)  \
	X(PMTU_ID, 32, 4)    \
	X(PMTU_BYTES, 36, 2) \
	X(PMTU_RESERVED, 38, 2)

#define WIRE_BYE_FIELDS(X)  \
	X(BYE_TOKEN, 32, 8) \
	X(BYE_CODE, 40, 4)  \
	X(BYE_RESERVED, 44, 4)

/* One of the entries of a CREDIT. */
#define WIRE_CREDIT_FIELDS(X)     \
	X(CREDIT_QP, 32, 2)       \
	X(CREDIT_RESERVED, 34, 2) \
	X(CREDIT_LIMIT, 36, 4)

/* The fields follow the data extension. */
#define WIRE_GET_FIELDS(X)         \
	X(GET_REPLY_ADDR, 64, 8)   \
	X(GET_REPLY_KEY, 72, 4)    \
	X(GET_REPLY_MSG_ID, 76, 4) \
	X(GET_LENGTH, 80, 8)

/* The fields follow the data extension. */
#define WIRE_ATOMIC_FIELDS(X)         \
	X(ATOMIC_OP, 64, 1)           \
	X(ATOMIC_RESERVED, 65, 3)     \
	X(ATOMIC_REPLY_MSG_ID, 68, 4) \
	X(ATOMIC_OPERAND, 72, 8)      \
	X(ATOMIC_SWAP, 80, 8)

#define WIRE_OFFSET_ENUM(field, offset, bytes) WIRE_OFF_##field = offset,
enum wire_offset {
	WIRE_COMMON_FIELDS(WIRE_OFFSET_ENUM) WIRE_DATA_FIELDS(WIRE_OFFSET_ENUM) WIRE_ACK_FIELDS(
		WIRE_OFFSET_ENUM) WIRE_NACK_FIELDS(WIRE_OFFSET_ENUM)
		WIRE_HELLO_FIELDS(WIRE_OFFSET_ENUM) WIRE_RESET_FIELDS(WIRE_OFFSET_ENUM)
			WIRE_PING_FIELDS(WIRE_OFFSET_ENUM) WIRE_PMTU_FIELDS(
				WIRE_OFFSET_ENUM) WIRE_BYE_FIELDS(WIRE_OFFSET_ENUM)
				WIRE_CREDIT_FIELDS(WIRE_OFFSET_ENUM) WIRE_GET_FIELDS(
					WIRE_OFFSET_ENUM) WIRE_ATOMIC_FIELDS(WIRE_OFFSET_ENUM)
					WIRE_HELLO_SEALED_FIELDS(WIRE_OFFSET_ENUM)
						WIRE_REJECT_FIELDS(WIRE_OFFSET_ENUM)
							WIRE_HELLO_COOKIE_FIELDS(WIRE_OFFSET_ENUM)
								WIRE_COOKIE_FIELDS(WIRE_OFFSET_ENUM)
};
#undef WIRE_OFFSET_ENUM

#define WIRE_ACK_BODY_BYTES  32
#define WIRE_NACK_BODY_BYTES 16
#define WIRE_HELLO_BYTES     88 /* body of HELLO and HELLO_ACK */
#define WIRE_TAG_BYTES       16 /* at the end of HELLO */
/* body of HELLO and HELLO_ACK in a session with protection */
#define WIRE_HELLO_SEALED_BYTES 136
#define WIRE_HELLO_SEALED_FRAME (WIRE_COMMON_BYTES + WIRE_HELLO_SEALED_BYTES)
#define WIRE_REJECT_BYTES       24
#define WIRE_COOKIE_BYTES       32
#define WIRE_SEAL_BYTES         16 /* tag at the end of a sealed frame */
#define WIRE_RESET_BYTES        16
#define WIRE_PING_BYTES         8
/* body of PMTU_ACK, and of PMTU_PROBE without padding */
#define WIRE_PMTU_BYTES   8
#define WIRE_BYE_BYTES    16
#define WIRE_CREDIT_BYTES 8 /* per entry */
#define WIRE_GET_BYTES    24
#define WIRE_ATOMIC_BYTES 24
/* body of an answer: the previous value; a rejection has none */
#define WIRE_ATOMIC_OLD 8

/* Bytes before key or tag, whichever comes first. */
#define WIRE_HELLO_TAG_OFFSET WIRE_OFF_HELLO_TAG

/* Protection of the packets of a session; the values are on the wire. */
enum wire_protect {
	WIRE_PROTECT_NONE = 0, /* checksum */
	/* tag: others can read the payload, but not change or replay it */
	WIRE_PROTECT_INTEGRITY = 1,
	/* tag, and all behind the common header is encrypted */
	WIRE_PROTECT_ENCRYPT = 2,
};
#define WIRE_PROTECT_LAST WIRE_PROTECT_ENCRYPT

/* A decoded header: the common header and, for reliable data, its extension. */
struct wire_header {
	uint8_t type;
	uint8_t header_bytes; /* before body or payload: 32, 64, 72 or 80 */
	uint16_t flags;
	uint32_t dst_session;
	uint16_t src_node, dst_node;
	uint32_t psn;
	uint32_t tx_ts;
	uint32_t cum_ack;
	uint16_t payload_bytes;
	uint16_t ce_count;
	/* Only in reliable data: */
	uint16_t dst_qp;
	uint8_t dst_function;
	uint8_t vc_tc;
	uint32_t qp_magic;
	uint32_t msg_id;
	uint32_t sub;
	uint64_t addr;
	uint32_t key;
	uint32_t msg_bytes;
	uint64_t imm;     /* with WIRE_FLAG_IMM */
	uint64_t trailer; /* with WIRE_FLAG_TRAILER */
};

/* `key` of a PUT into the receive area of registers. */
#define WIRE_KEY_REGISTERS 0

/* Values on the wire. */
enum wire_nack {
	WIRE_NACK_RNR = 1,      /* no receive buffer; retry after retry_us */
	WIRE_NACK_WINDOW = 2,   /* outside the receiver's window */
	WIRE_NACK_SESSION = 3,  /* unknown session */
	WIRE_NACK_KEY = 4,      /* unknown memory key */
	WIRE_NACK_MAGIC = 5,    /* of the queue pair */
	WIRE_NACK_BOUNDS = 6,   /* outside the region */
	WIRE_NACK_RIGHTS = 7,   /* not permitted by the key */
	WIRE_NACK_RESOURCE = 8, /* above a limit of the receiver */
	WIRE_NACK_CLOSING = 9,
	WIRE_NACK_VERSION = 10,
	WIRE_NACK_UNSUPPORTED = 11,
	/* not placed yet; unless acknowledged first, retransmit after retry_us */
	WIRE_NACK_HELD = 12,
	WIRE_NACK_DEVICE = 13, /* the device with the memory failed */
	/* no receive buffer; `granted` limits the message's packets */
	WIRE_NACK_WAIT = 14,
	/* REJECT: the receiver requires another protection */
	WIRE_NACK_PROTECTION = 15,
};

struct wire_ack {
	uint32_t echo_ts, echo_psn, hold; /* echo_ts, hold: units of WIRE_TS_NS */
	uint16_t sack_off;
	uint8_t sack_words;
	uint8_t rx_level; /* of the receive buffer, 0 .. WIRE_RX_LEVEL_MAX */
	uint16_t rwnd, dup_count;
	uint32_t rx_count;
	bool credit; /* WIRE_FLAG_CREDIT: the next two are valid */
	/* queue pair of credit_limit, see struct wire_credit_entry */
	uint16_t credit_qp;
	uint32_t credit_limit;
	const uint8_t *bitmap; /* big-endian, in the datagram */
};

struct wire_nack_body {
	uint8_t code;
	/* WIRE_NACK_WAIT: see wire_nack_position() */
	uint16_t qp;
	uint32_t msg_id, psn;
	union {
		uint32_t retry_us;
		uint32_t granted; /* WIRE_NACK_WAIT: packets of the message */
	};
};

/* Returns `qp` of a NACK with WIRE_NACK_WAIT: function and queue pair in one number. */
static inline uint16_t wire_nack_position(uint32_t function, uint32_t qp)
{
	return (uint16_t)(function << 8 | qp);
}

/* A sender's loss recovery, to which the receiver adapts; values on the wire. */
enum wire_recovery {
	WIRE_RECOVERY_RACK = 0,    /* by time, with bitmaps */
	WIRE_RECOVERY_IRN = 1,     /* by gap, with bitmaps */
	WIRE_RECOVERY_GBN_NAK = 2, /* go-back-N, by NACK */
	WIRE_RECOVERY_GBN_RTO = 3, /* go-back-N, by timeout */
};
#define WIRE_RECOVERY_LAST WIRE_RECOVERY_GBN_RTO

struct wire_hello {
	uint64_t incarnation; /* of the process; grows with each restart */
	/* of the session; grows within an incarnation */
	uint32_t epoch;
	uint32_t session; /* dst_session of packets to the sender */
	uint32_t psn;     /* sender's first */
	uint16_t rwnd;    /* packets in flight that the sender accepts */
	/* largest data payload that the sender accepts on this path */
	uint16_t payload_bytes;
	uint32_t features; /* enum wire_feature */
	uint8_t uuid[16];
	uint64_t token; /* secret; a RESET of `session` must carry it */
	/* HELLO_ACK: of the answered HELLO; HELLO: see wire_hello_cookie */
	uint32_t echo_session, echo_psn;
	uint16_t nap_credit; /* per queue pair, before the sender's first CREDIT */
	uint8_t recovery;    /* enum wire_recovery */
	uint8_t protect;     /* enum wire_protect */
	/* The same for all processes of one boot of one kernel; 0: unknown. */
	uint64_t machine;
	uint8_t tag[WIRE_TAG_BYTES]; /* zero in a fabric without a key */
};

struct wire_reset {
	uint32_t session; /* unknown to the RESET's sender */
	uint32_t code;    /* enum wire_nack */
	uint64_t token;
};

/* Answers a sealed frame of an unknown session, or a HELLO with an unacceptable protection. */
struct wire_reject {
	uint32_t session; /* unknown, or hello_session of the answered HELLO */
	uint8_t code;     /* WIRE_NACK_SESSION or WIRE_NACK_PROTECTION */
	/* WIRE_NACK_PROTECTION: required enum wire_protect */
	uint8_t protect;
	uint16_t echo; /* WIRE_NACK_SESSION: low bits of the answered frame's counter */
	uint8_t proof[WIRE_TAG_BYTES];
};

/* Answers a HELLO above a limit of the receiver: with `value`, the HELLO counts under another
 * limit. */
struct wire_cookie {
	uint32_t session, psn; /* of the answered HELLO */
	uint64_t value;        /* not 0 */
	uint8_t proof[WIRE_TAG_BYTES];
};

/* Or the answer to one. */
struct wire_pmtu {
	uint32_t id;
	uint16_t bytes; /* UDP payload of the probe, with padding */
};

struct wire_bye {
	uint64_t token; /* from the receiver's HELLO */
	uint32_t code;  /* 0, or enum wire_nack */
};

/* NAPs of a stream to this queue pair may be sent if their number precedes `limit`, as wrapping
 * serial numbers. A limit only grows. */
struct wire_credit_entry {
	uint16_t qp; /* function << 8 | queue pair; decoders check both */
	uint32_t limit;
};

/* Grants credits; with WIRE_FLAG_AR it requests them, as its sender waits for a higher limit. */
struct wire_credit {
	uint32_t count; /* 1 .. WIRE_CREDIT_ENTRIES_MAX */
	struct wire_credit_entry entries[WIRE_CREDIT_ENTRIES_MAX];
};

struct wire_get {
	uint64_t reply_addr;
	uint32_t reply_key, reply_msg_id;
	uint64_t bytes;
};

struct wire_atomic {
	/* DXP_OP_FETCH_ADD .. FETCH_XOR; the receiver rejects others */
	uint8_t op;
	uint32_t reply_msg_id;
	uint64_t operand, swap; /* `swap`: only COMPARE_SWAP */
};

#define WIRE_RX_LEVEL_MAX 31

/* ns per unit of tx_ts, echo_ts and hold; wraps after 274 s */
#define WIRE_TS_NS 64
/* hold: no packet since the last ACK, so no time to echo */
#define WIRE_HOLD_NONE UINT32_MAX

bool wire_type_known(uint8_t type);
bool wire_type_reliable(uint8_t type);
bool wire_type_data(uint8_t type);
bool wire_type_management(uint8_t type);
const char *wire_type_name(uint8_t type);       /* "PUT"; "?": unknown */
const char *wire_nack_name(uint8_t code);       /* "bad key"; "?": unknown */
const char *wire_protect_name(uint8_t protect); /* "encrypt"; "?": unknown */
/* False: other text. */
bool wire_protect_parse(const char *text, uint8_t *out);

/* Writes header_bytes bytes with crc 0, for wire_crc_set(). */
void wire_header_encode(const struct wire_header *header, uint8_t *out);

/* wire_crc_begin(), with WIRE_FLAG_CRCP crc32c() for each part of the payload, then
 * wire_crc_set(). */
uint32_t wire_crc_begin(const uint8_t *header, size_t header_bytes);
void wire_crc_set(uint8_t *header, uint32_t crc);

/* The body is in place: sets CRCP, length and crc. `tail` continues the body (padding of a
 * PMTU_PROBE). */
void wire_control_seal(uint8_t *frame, size_t frame_bytes);
void wire_control_seal_tail(uint8_t *frame, size_t frame_bytes, const void *tail,
			    size_t tail_bytes);

/* Length of the frame whose common header starts here, perhaps above `bytes`; 0: too short, or
 * another version. Checks nothing else. */
size_t wire_frame_bytes(const uint8_t *data, size_t bytes);

/* Version of an unsupported frame; 0: supported, or too short. Version and type have the same
 * offsets in all versions. */
uint8_t wire_other_version(const uint8_t *data, size_t bytes);

/* Checks all lengths and the crc first; *header is written only on success. The payload starts at
 * data + header->header_bytes. DXP_EMALFORMED: too short, trailing bytes, an unknown version, type
 * or flag, or flags or header length do not fit the type. DXP_EIO: wrong crc. */
int wire_header_decode(const uint8_t *data, size_t bytes, struct wire_header *header);

/* Turns an encoded frame into a sealed one: version, `phases` (WIRE_FLAG_PHASE and _SEEN), length
 * with the tag, and the low half of the counter in place of the checksum. */
void wire_seal_header(uint8_t *frame, uint16_t phases, uint32_t counter);
/* Checks lengths, type and flags, and decodes the common header, which is not authentic yet.
 * payload_bytes excludes the tag. DXP_EMALFORMED. */
int wire_sealed_decode(const uint8_t *data, size_t bytes, struct wire_header *header);
/* The data extension, after the frame was opened (checked and decrypted). */
void wire_opened_decode(const uint8_t *opened, struct wire_header *header);
static inline bool wire_is_sealed(const uint8_t *data, size_t bytes)
{
	return bytes > 0 && data[0] >> 4 == WIRE_VERSION_SEALED;
}

/* 0: none. */
static inline uint64_t wire_hello_cookie(const struct wire_hello *hello)
{
	return (uint64_t)hello->echo_session << 32 | hello->echo_psn;
}

/* Copies `bytes` of a HELLO or HELLO_ACK; fields that change when it is sent again, such as the
 * cookie, become zero. */
void wire_hello_constant(const uint8_t *frame, size_t bytes, uint8_t *out);

/* `body` follows the header; `flags` are the header's. DXP_EMALFORMED: wrong length or field;
 * nothing is written. Encoders write as many bytes as the constants above state: an ack
 * WIRE_ACK_BODY_BYTES and the bitmap, a credit WIRE_CREDIT_BYTES per entry. With ack->credit, the
 * caller sets WIRE_FLAG_CREDIT. */
int wire_ack_decode(const uint8_t *body, size_t bytes, uint16_t flags, struct wire_ack *ack);
void wire_ack_encode(const struct wire_ack *ack, uint8_t *body);
int wire_nack_decode(const uint8_t *body, size_t bytes, struct wire_nack_body *nack);
void wire_nack_encode(const struct wire_nack_body *nack, uint8_t *body);
int wire_hello_decode(const uint8_t *body, size_t bytes, struct wire_hello *hello);
void wire_hello_encode(const struct wire_hello *hello, uint8_t *body);
int wire_reset_decode(const uint8_t *body, size_t bytes, struct wire_reset *reset);
void wire_reset_encode(const struct wire_reset *reset, uint8_t *body);
int wire_reject_decode(const uint8_t *body, size_t bytes, struct wire_reject *reject);
void wire_reject_encode(const struct wire_reject *reject, uint8_t *body);
int wire_cookie_decode(const uint8_t *body, size_t bytes, struct wire_cookie *cookie);
void wire_cookie_encode(const struct wire_cookie *cookie, uint8_t *body);
int wire_ping_decode(const uint8_t *body, size_t bytes, uint64_t *opaque); /* PING and PONG */
void wire_ping_encode(uint64_t opaque, uint8_t *body);
int wire_pmtu_probe_decode(const uint8_t *body, size_t bytes, struct wire_pmtu *pmtu);
int wire_pmtu_ack_decode(const uint8_t *body, size_t bytes, struct wire_pmtu *pmtu);
void wire_pmtu_encode(const struct wire_pmtu *pmtu,
		      uint8_t *body); /* PMTU_PROBE and PMTU_ACK, without padding */
int wire_bye_decode(const uint8_t *body, size_t bytes, struct wire_bye *bye);
void wire_bye_encode(const struct wire_bye *bye, uint8_t *body);
int wire_credit_decode(const uint8_t *body, size_t bytes, struct wire_credit *credit);
void wire_credit_encode(const struct wire_credit *credit, uint8_t *body);
int wire_get_decode(const uint8_t *body, size_t bytes, struct wire_get *get);
void wire_get_encode(const struct wire_get *get, uint8_t *body);
int wire_atomic_decode(const uint8_t *body, size_t bytes, struct wire_atomic *atomic);
void wire_atomic_encode(const struct wire_atomic *atomic, uint8_t *body);

#endif
