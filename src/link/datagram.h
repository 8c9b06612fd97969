/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_DATAGRAM_H
#define LINK_DATAGRAM_H

#include <string.h>

#include "link/udp.h"
#include "wire/frame.h"

/* `frame` must not change until the datagram is sent. */
static inline void datagram_place(struct datagram *out, const struct udp_address *to,
				  const uint8_t *frame, size_t frame_bytes)
{
	out->to = *to;
	out->ecn = 0;
	out->segment_bytes = 0;
	out->header_bytes = WIRE_COMMON_BYTES;
	memcpy(out->header, frame, WIRE_COMMON_BYTES);
	out->slice_count = 1;
	out->slices[0] =
		(struct datagram_slice){frame + WIRE_COMMON_BYTES, frame_bytes - WIRE_COMMON_BYTES};
}

#endif
