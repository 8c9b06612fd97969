/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes packets of in-network computing: a decoded one encodes to a packet with a right ICRC and
 * the same fields. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/inc.h"

#define SPACE 65536

static const struct roce_path path = {0x0a4d0001, 0x0a4d00f1, 0xc000, ROCE_PORT};

static size_t packet_again(const struct inc_packet *p, uint8_t *out)
{
	uint8_t trailer[INC_TRAILER_BYTES];
	struct inc_header h = p->header;
	struct datagram d;
	size_t bytes;

	if (p->header.kind == 0)
		h.req_id = p->roce.psn;
	inc_packet_encode(&h, p->roce.opcode, p->roce.qkey, p->roce.dest_qp, p->roce.source_qp,
			  &path, p->payload, p->payload_bytes, &d, trailer);
	memcpy(out, d.header, d.header_bytes);
	bytes = d.header_bytes;
	for (size_t i = 0; i < d.slice_count; i++) {
		memcpy(out + bytes, d.slices[i].base, d.slices[i].bytes);
		bytes += d.slices[i].bytes;
	}
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t again[SPACE + 64];
	struct inc_packet p, q;

	(void)roce_icrc_right(&path, data, bytes);
	(void)roce_icrc_right_ip(data, bytes);
	if (bytes > SPACE || inc_packet_decode(data, bytes, &p) != DXP_OK)
		return 0;
	assert(p.payload_bytes <= bytes);
	size_t again_bytes = packet_again(&p, again);
	assert(again_bytes == bytes);
	assert(roce_icrc_right(&path, again, again_bytes));
	assert(inc_packet_decode(again, again_bytes, &q) == DXP_OK);
	assert(memcmp(&p.header, &q.header, sizeof(p.header)) == 0);
	assert(q.payload_bytes == p.payload_bytes);
	assert(p.payload_bytes == 0 || memcmp(p.payload, q.payload, p.payload_bytes) == 0);
	return 0;
}
