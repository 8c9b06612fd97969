/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a captured RoCEv2 packet for rc_checker.h, from its IP header to its ICRC. It shares no
 * code with src/, so that an error of src/ is not repeated here. It was written from the InfiniBand
 * specification (release 1.2.1, chapter 9) and its annex A17. */
#ifndef SUPPORT_RC_FRAME_H
#define SUPPORT_RC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RC_FRAME_PORT 4791

enum { RC_FRAME_SEND_ONLY = 0x04, RC_FRAME_ACK = 0x11, RC_FRAME_UD = 0x64 };

struct rc_frame {
	uint8_t from[16], to[16]; /* IPv6 addresses; an IPv4 address is mapped as ::ffff:a.b.c.d */
	uint16_t from_port, to_port;
	uint8_t opcode;
	bool ack_request;
	uint32_t dest_qp, psn;
	uint32_t qkey, source_qp; /* set for UD packets only */
	uint8_t syndrome;         /* only of acknowledgements */
	uint32_t msn;             /* only of acknowledgements */
	const uint8_t *payload;
	size_t payload_bytes;
};

/* Parses a packet. Returns NULL, or the text of the rule that it breaks. Sets *icrc if the ICRC is
 * wrong. */
const char *rc_frame_parse(const uint8_t *ip, size_t bytes, struct rc_frame *out, bool *icrc);

/* Addresses and ports of a packet. An IPv4 address is mapped as in struct rc_frame. */
struct rc_frame_path {
	uint8_t from[16], to[16];
	uint16_t from_port, to_port;
};
struct rc_frame_path rc_frame_path_v4(uint32_t from_ip, uint32_t to_ip, uint16_t from_port,
				      uint16_t to_port);

#define RC_FRAME_HEADERS 48 /* bytes of IPv6 and UDP headers */

/* Writes IP and UDP headers and the UDP payload to `out`, as a Linux socket does. Returns the
 * packet's bytes. */
size_t rc_frame_make(const struct rc_frame_path *path, const uint8_t *data, size_t bytes,
		     uint8_t *out);

#endif
