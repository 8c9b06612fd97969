/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a captured RoCEv2 packet for rc_checker.h, from IP header to ICRC. Written from the
 * InfiniBand specification (release 1.2.1, chapter 9, annex A17) without code of src/, so that an
 * error there is not repeated here. */
#ifndef SUPPORT_RC_FRAME_H
#define SUPPORT_RC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RC_FRAME_PORT 4791

enum { RC_FRAME_SEND_ONLY = 0x04, RC_FRAME_ACK = 0x11, RC_FRAME_UD = 0x64 };

struct rc_frame {
	uint8_t from[16], to[16]; /* an IPv4 address is mapped as ::ffff:a.b.c.d */
	uint16_t from_port, to_port;
	uint8_t opcode;
	bool ack_request;
	uint32_t dest_qp, psn;
	uint32_t qkey, source_qp; /* only of UD packets */
	uint8_t syndrome;         /* only of acknowledgements */
	uint32_t msn;             /* only of acknowledgements */
	const uint8_t *payload;
	size_t payload_bytes;
};

/* Returns NULL, or the text of the rule that the packet breaks. Sets *icrc if the ICRC is wrong. */
const char *rc_frame_parse(const uint8_t *ip, size_t bytes, struct rc_frame *out, bool *icrc);

/* IPv4 addresses are mapped as in struct rc_frame. */
struct rc_frame_path {
	uint8_t from[16], to[16];
	uint16_t from_port, to_port;
};
struct rc_frame_path rc_frame_path_v4(uint32_t from_ip, uint32_t to_ip, uint16_t from_port,
				      uint16_t to_port);

#define RC_FRAME_HEADERS 48 /* of IPv6 and UDP */

/* Writes IP and UDP headers and the UDP payload to `out`, as a Linux socket does. Returns the
 * packet's bytes. */
size_t rc_frame_make(const struct rc_frame_path *path, const uint8_t *data, size_t bytes,
		     uint8_t *out);

#endif
