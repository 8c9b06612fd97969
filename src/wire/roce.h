/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 around a payload: BTH, for UD also DETH, and the invariant CRC behind it. IPv4 only.
 *
 * The ICRC covers the IP and UDP headers (with what routers change taken as ones), so whoever seals
 * or checks a packet must know its addresses and ports. Identification is 0 and Don't Fragment is
 * set in all that we send; a packet of which a plain socket cannot tell is checked as if so. In a
 * train (GSO) the kernel or the NIC numbers the packets it cuts: their ICRC still counts the field
 * as 0, and INC_FLAG_TRAIN says so. Source: N-03, IBTA annex A17; docs/wire.md. */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crc32.h"

#define ROCE_PORT         4791
#define ROCE_BTH_BYTES    12
#define ROCE_DETH_BYTES   8
#define ROCE_AETH_BYTES   4
#define ROCE_ICRC_BYTES   4
#define ROCE_QP_MULTICAST 0xffffffu
#define ROCE_SOURCE_PORT  0xc000u /* of a host's first endpoint; the next has the next one */
#define ROCE_SOURCE_PORTS 0x4000u

enum roce_opcode { ROCE_RC_SEND_ONLY = 0x04, ROCE_RC_ACK = 0x11, ROCE_UD_SEND_ONLY = 0x64 };

/* Offsets from the start of the UDP payload: X(field, offset, bytes). */
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
	uint32_t qkey, source_qp; /* UD; 0 in RC */
	uint32_t msn;             /* RC_ACK */
};

/* Where a packet goes and comes from: host order. */
struct roce_path {
	uint32_t from_ip, to_ip;
	uint16_t from_port, to_port;
};

/* Bytes of the headers of an opcode; 0: one that we do not speak. */
size_t roce_header_bytes(uint8_t opcode);

/* P_Key 0xffff, version 0, MigReq 0. Returns the header's bytes. */
size_t roce_header_encode(const struct roce_header *h, uint8_t *out);

/* DXP_EMALFORMED: too short, another opcode, version or pad than there can be. Does not look at the
 * ICRC. *payload_bytes: without pad and ICRC. */
int roce_header_decode(const uint8_t *data, size_t bytes, struct roce_header *h,
		       size_t *payload_bytes);

/* The ICRC of the packet that the `pieces` make in order, pad included, the ICRC itself not; the
 * first piece holds at least the BTH. Stored least significant byte first. */
#define ROCE_PIECES_MAX 8
struct roce_piece {
	const uint8_t *data;
	size_t bytes;
};
uint32_t roce_icrc(const struct roce_path *path, const struct roce_piece *pieces, size_t count);

/* The same of `front` and, behind it, shift->bytes (payload and pad) whose CRC-32 is known. */
uint32_t roce_icrc_joined(const struct roce_path *path, const struct roce_piece *front,
			  const struct crc32_shift *shift, uint32_t crc);

/* Of a whole UDP payload with its ICRC at the end. */
bool roce_icrc_right(const struct roce_path *path, const uint8_t *data, size_t bytes);

/* Of a whole IPv4 packet without options, for those who see its header: whatever its Identification
 * and fragment bits say counts. */
bool roce_icrc_right_ip(const uint8_t *ip, size_t bytes);

#endif
