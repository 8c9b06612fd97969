/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 framing of a payload: BTH, for UD also DETH, and the invariant CRC (ICRC) after the
 * payload.
 *
 * The ICRC covers the IP and UDP headers, but fields that routers change count as ones. So both
 * sides need the packet's addresses and ports. Sent packets have Identification 0 and Don't
 * Fragment set; a check that does not see the IP header assumes these values. In a GSO batch the
 * kernel or NIC numbers the packets by Identification. Their ICRC still uses Identification 0, and
 * INC_FLAG_TRAIN marks them. Source: N-03, IBTA annex A17; docs/reference/wire.md. */
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
/* UDP source port of a host's first endpoint; each further endpoint has the next port */
#define ROCE_SOURCE_PORT  0xc000u
#define ROCE_SOURCE_PORTS 0x4000u

enum roce_opcode { ROCE_RC_SEND_ONLY = 0x04, ROCE_RC_ACK = 0x11, ROCE_UD_SEND_ONLY = 0x64 };

/* Fields of BTH, DETH and AETH: X(field, offset, bytes), from the start of the UDP payload. */
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
	uint8_t pad_bytes; /* 0 .. 3, between payload and ICRC */
	bool ack_request;
	uint32_t dest_qp, psn;    /* 24 bits */
	uint32_t qkey, source_qp; /* UD only; in RC packets both are 0 */
	/* RC_ACK: enum roce_syndrome in bits 5 .. 7, a timer or code in the lower bits */
	uint8_t syndrome;
	uint32_t msn; /* RC_ACK: message sequence number */
};

#define ROCE_PSN_MASK 0xffffffu

/* Kinds of acknowledgements: bits 5 .. 7 of the AETH syndrome. */
enum roce_syndrome {
	ROCE_AETH_ACK = 0x00,
	/* bits 0 .. 4: code of the time until the next try; roce_rnr_ns() converts it */
	ROCE_AETH_RNR = 0x20,
	ROCE_AETH_NAK = 0x60, /* bits 0 .. 4: enum roce_nak */
	ROCE_AETH_KIND_MASK = 0xe0,
	ROCE_AETH_CODE_MASK = 0x1f,
	ROCE_AETH_NO_CREDITS = 0x1f /* code of an ACK without end-to-end credits */
};
enum roce_nak {
	ROCE_NAK_SEQUENCE = 0,
	ROCE_NAK_INVALID_REQUEST = 1,
	ROCE_NAK_ACCESS = 2,
	ROCE_NAK_OPERATION = 3,
	ROCE_NAKS = 5
};

/* Returns how long a requester waits after an RNR NAK with this code (0 .. 31). */
uint64_t roce_rnr_ns(unsigned code);

/* Source and destination of a packet. Numbers are in host byte order. */
struct roce_path {
	uint32_t from_ip, to_ip;
	uint16_t from_port, to_port;
};

/* Returns the header length of an opcode; 0: unsupported. */
size_t roce_header_bytes(uint8_t opcode);

/* Encodes a header, with P_Key 0xffff, version 0, MigReq 0. Returns the header length. */
size_t roce_header_encode(const struct roce_header *h, uint8_t *out);

/* Decodes a header; does not check the ICRC. *payload_bytes excludes pad and ICRC. DXP_EMALFORMED:
 * the packet is too short, or has an invalid opcode, version or pad. */
int roce_header_decode(const uint8_t *data, size_t bytes, struct roce_header *h,
		       size_t *payload_bytes);

/* roce_icrc() returns the ICRC of a packet. `pieces` hold the packet from the BTH to the pad,
 * without the ICRC. The first piece contains the whole BTH. A packet stores the ICRC least
 * significant byte first. */
#define ROCE_PIECES_MAX 8
struct roce_piece {
	const uint8_t *data;
	size_t bytes;
};
uint32_t roce_icrc(const struct roce_path *path, const struct roce_piece *pieces, size_t count);

/* Returns the ICRC of a packet: `front`, then shift->bytes bytes of payload and pad. `crc` is the
 * CRC-32 of these bytes. */
uint32_t roce_icrc_joined(const struct roce_path *path, const struct roce_piece *front,
			  const struct crc32_shift *shift, uint32_t crc);

/* Checks the ICRC at the end of a UDP payload. */
bool roce_icrc_right(const struct roce_path *path, const uint8_t *data, size_t bytes);

/* Checks the ICRC of a packet that starts at its IP header: IPv6, or IPv4 without options. Uses the
 * Identification and fragment bits of that header. */
bool roce_icrc_right_ip(const uint8_t *ip, size_t bytes);

/* ---- IPv4 or IPv6 ---- */

/* Source and destination of a packet. Both addresses are IPv4 (mapped) or both are IPv6. */
struct roce_ends {
	struct udp_address from, to;
};

/* Do what roce_icrc() and roce_icrc_right() do, for addresses of IPv4 or IPv6. */
uint32_t roce_ends_icrc(const struct roce_ends *ends, const struct roce_piece *pieces,
			size_t count);
bool roce_ends_icrc_right(const struct roce_ends *ends, const uint8_t *data, size_t bytes);

#define ROCE_TRAILER_BYTES 8 /* pad and ICRC */

/* Builds a datagram in `d`: the header with the pad_bytes that the payload needs, the payload (not
 * copied), then `trailer`. */
void roce_datagram_encode(const struct roce_header *h, const struct roce_ends *ends,
			  const void *payload, size_t payload_bytes, struct datagram *d,
			  uint8_t trailer[ROCE_TRAILER_BYTES]);

#endif
