/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 framing: BTH, for UD also DETH, and the invariant CRC (ICRC) behind the payload.
 *
 * The ICRC covers IP and UDP headers, with ones where routers change, so both sides need addresses
 * and ports. Sent packets have Identification 0 and Don't Fragment, which a check without the IP
 * header assumes. In a GSO batch, kernel or NIC number by Identification; the ICRC still uses 0,
 * and INC_FLAG_TRAIN marks them. N-03, IBTA annex A17; docs/reference/wire.md. */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crc32.h"
#include "base/datagram.h"

#define ROCE_PORT         4791
#define ROCE_BTH_BYTES    12
#define ROCE_DETH_BYTES   8
#define ROCE_AETH_BYTES   4
#define ROCE_ICRC_BYTES   4
#define ROCE_QP_MULTICAST 0xffffffu
/* UDP source port of a host's first endpoint; others follow */
#define ROCE_SOURCE_PORT  0xc000u
#define ROCE_SOURCE_PORTS 0x4000u

enum roce_opcode { ROCE_RC_SEND_ONLY = 0x04, ROCE_RC_ACK = 0x11, ROCE_UD_SEND_ONLY = 0x64 };

/* BTH, DETH and AETH: X(field, offset, bytes), from the UDP payload's start. */
#define ROCE_FIELDS(X)           \
	X(BTH_OPCODE, 0, 1)      \
	X(BTH_FLAGS, 1, 1)       \
	X(BTH_PKEY, 2, 2)        \
	X(BTH_RESERVED, 4, 1)    \
	X(BTH_DEST_QP, 5, 3)     \
	X(BTH_ACK_REQUEST, 8, 1) \
	X(BTH_PSN, 9, 3)         \
	X(DETH_QKEY, 12, 4)      \
	X(DETH_RESERVED, 16, 1)  \
	X(DETH_SOURCE_QP, 17, 3) \
	X(AETH_SYNDROME, 12, 1)  \
	X(AETH_MSN, 13, 3)

struct roce_header {
	uint8_t opcode;
	uint8_t pad_bytes; /* 0 .. 3, before the ICRC */
	bool ack_request;
	uint32_t dest_qp, psn;    /* 24 bits */
	uint32_t qkey, source_qp; /* UD; RC: 0 */
	/* RC_ACK: enum roce_syndrome in bits 5 .. 7, timer or code below */
	uint8_t syndrome;
	uint32_t msn; /* RC_ACK */
};

#define ROCE_PSN_MASK 0xffffffu

/* Bits 5 .. 7 of the AETH syndrome. */
enum roce_syndrome {
	ROCE_AETH_ACK = 0x00,
	/* bits 0 .. 4: time until the next try, see roce_rnr_ns() */
	ROCE_AETH_RNR = 0x20,
	ROCE_AETH_NAK = 0x60, /* bits 0 .. 4: enum roce_nak */
	ROCE_AETH_KIND_MASK = 0xe0,
	ROCE_AETH_CODE_MASK = 0x1f,
	ROCE_AETH_NO_CREDITS = 0x1f /* ACK without end-to-end credits */
};
enum roce_nak {
	ROCE_NAK_SEQUENCE = 0,
	ROCE_NAK_INVALID_REQUEST = 1,
	ROCE_NAK_ACCESS = 2,
	ROCE_NAK_OPERATION = 3,
	ROCE_NAKS = 5
};

/* Wait after an RNR NAK with this code (0 .. 31). */
uint64_t roce_rnr_ns(unsigned code);

/* Source and destination of a packet. Numbers are in host byte order. */
struct roce_path {
	uint32_t from_ip, to_ip;
	uint16_t from_port, to_port;
};

/* 0: an unsupported opcode. */
size_t roce_header_bytes(uint8_t opcode);

/* Encodes with P_Key 0xffff, version 0, MigReq 0. Returns the length. */
size_t roce_header_encode(const struct roce_header *h, uint8_t *out);

/* Does not check the ICRC; *payload_bytes excludes pad and ICRC. DXP_EMALFORMED: too short, or an
 * invalid opcode, version or pad. */
int roce_header_decode(const uint8_t *data, size_t bytes, struct roce_header *h,
		       size_t *payload_bytes);

/* ICRC of `pieces`, from BTH to pad; the first has the whole BTH. Stored least significant byte
 * first. */
#define ROCE_PIECES_MAX 8
struct roce_piece {
	const uint8_t *data;
	size_t bytes;
};
uint32_t roce_icrc(const struct roce_path *path, const struct roce_piece *pieces, size_t count);

/* Returns the ICRC of `front`, then shift->bytes bytes with CRC-32 `crc`. */
uint32_t roce_icrc_joined(const struct roce_path *path, const struct roce_piece *front,
			  const struct crc32_shift *shift, uint32_t crc);

/* Checks the ICRC at the end of a UDP payload. */
bool roce_icrc_right(const struct roce_path *path, const uint8_t *data, size_t bytes);

/* Checks a packet from its IP header on, IPv6 or IPv4 without options, with that header's
 * Identification and fragment bits. */
bool roce_icrc_right_ip(const uint8_t *ip, size_t bytes);

/* ---- IPv4 or IPv6 ---- */

/* Source and destination of a packet. Both addresses are IPv4 (mapped) or both are IPv6. */
struct roce_ends {
	struct udp_address from, to;
};

/* Do what roce_icrc() and roce_icrc_right() do, for IPv4 or IPv6. */
uint32_t roce_ends_icrc(const struct roce_ends *ends, const struct roce_piece *pieces,
			size_t count);
bool roce_ends_icrc_right(const struct roce_ends *ends, const uint8_t *data, size_t bytes);

#define ROCE_TRAILER_BYTES 8 /* pad and ICRC */

/* Builds a datagram: header with the payload's pad_bytes, payload (not copied), `trailer`. */
void roce_datagram_encode(const struct roce_header *h, const struct roce_ends *ends,
			  const void *payload, size_t payload_bytes, struct datagram *d,
			  uint8_t trailer[ROCE_TRAILER_BYTES]);

#endif
