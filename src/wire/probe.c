/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/probe.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/manage_entry.h"

#define BODY_MIN 9 /* body of the shortest PROBE, and of a reply */

size_t probe_encode(uint64_t number, size_t bytes, uint16_t source, uint16_t target,
		    struct mac *mac, uint8_t *out)
{
	const size_t body_bytes = bytes - WIRE_COMMON_BYTES - MAC_BYTES;

	assert(bytes >= PROBE_BYTES_MIN && bytes <= PROBE_BYTES_MAX);
	put_be64(out + WIRE_COMMON_BYTES, number);
	memset(out + WIRE_COMMON_BYTES + 8, 0, body_bytes - 8);
	return manage_seal(WIRE_PROBE, source, target, body_bytes, mac, out);
}

size_t probe_reply_encode(const struct probe_reply *reply, uint16_t source, uint16_t target,
			  struct mac *mac, uint8_t *out)
{
	put_be64(out + WIRE_COMMON_BYTES, reply->number);
	out[WIRE_COMMON_BYTES + 8] = reply->pause_s;
	return manage_seal(WIRE_PROBE_REPLY, source, target, BODY_MIN, mac, out);
}

int probe_decode(struct manage_body body, uint64_t *number)
{
	if (body.key || body.bytes < BODY_MIN)
		return DXP_EMALFORMED;
	for (size_t i = 8; i < body.bytes; i++)
		if (body.data[i] != 0)
			return DXP_EMALFORMED;
	*number = get_be64(body.data);
	return DXP_OK;
}

int probe_reply_decode(struct manage_body body, struct probe_reply *out)
{
	if (body.key || body.bytes != BODY_MIN)
		return DXP_EMALFORMED;
	out->number = get_be64(body.data);
	out->pause_s = body.data[8];
	return DXP_OK;
}
