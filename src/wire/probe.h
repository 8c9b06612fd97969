/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames by which nodes measure the paths between them; docs/reference/wire.md has the tables. They
 * are sealed like the other management frames (wire/manage.h), with the fabric key.
 *
 *   PROBE        node -> node  zero bytes make it as long as the path is to carry
 *   PROBE_REPLY  node -> node  the number of the PROBE; never longer than it */
#ifndef WIRE_PROBE_H
#define WIRE_PROBE_H

#include "wire/manage.h"

/* shortest PROBE, and a PROBE_REPLY */
#define PROBE_BYTES_MIN (WIRE_COMMON_BYTES + 9 + MAC_BYTES)
/* longest data packet */
#define PROBE_BYTES_MAX (WIRE_DATA_BYTES + WIRE_PAYLOAD_MAX)

struct probe_reply {
	uint64_t number;
	uint8_t pause_s; /* s without another PROBE */
};

/* Encode into `out`, and return the length: a PROBE has `bytes`, PROBE_BYTES_MIN ..
 * PROBE_BYTES_MAX; a reply PROBE_BYTES_MIN. */
size_t probe_encode(uint64_t number, size_t bytes, uint16_t source, uint16_t target,
		    struct mac *mac, uint8_t *out);
size_t probe_reply_encode(const struct probe_reply *reply, uint16_t source, uint16_t target,
			  struct mac *mac, uint8_t *out);

/* Decode a body of manage_open(). DXP_EMALFORMED: wrong length or field; the output is
 * unchanged. */
int probe_decode(struct manage_body body, uint64_t *number);
int probe_reply_decode(struct manage_body body, struct probe_reply *out);

#endif
