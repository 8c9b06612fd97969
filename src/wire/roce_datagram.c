/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 datagrams, IPv4 or IPv6. */
#include <string.h>

#include "base/bytes.h"
#include "wire/roce6.h"

static bool is_v4(const struct udp_address *a)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a->ip, mapped, sizeof(mapped)) == 0;
}

static struct roce_path path_v4(const struct roce_ends *ends)
{
	return (struct roce_path){get_be32(ends->from.ip + 12), get_be32(ends->to.ip + 12),
				  ends->from.port, ends->to.port};
}

uint32_t roce_ends_icrc(const struct roce_ends *ends, const struct roce_piece *pieces, size_t count)
{
	struct roce_path path = path_v4(ends);

	return is_v4(&ends->to) ? roce_icrc(&path, pieces, count) : roce_icrc6(ends, pieces, count);
}

bool roce_ends_icrc_right(const struct roce_ends *ends, const uint8_t *data, size_t bytes)
{
	struct roce_piece piece = {data, bytes - ROCE_ICRC_BYTES};

	if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return false;
	return roce_ends_icrc(ends, &piece, 1) ==
	       __builtin_bswap32(get_be32(data + bytes - ROCE_ICRC_BYTES));
}

void roce_datagram_encode(const struct roce_header *h, const struct roce_ends *ends,
			  const void *payload, size_t payload_bytes, struct datagram *d,
			  uint8_t trailer[ROCE_TRAILER_BYTES])
{
	struct roce_header padded = *h;
	struct roce_piece pieces[3];

	padded.pad_bytes = -payload_bytes & 3;
	d->to = ends->to;
	d->ecn = 0;
	d->segment_bytes = 0;
	d->cause = DATAGRAM_CAUSE_NONE;
	d->slice_count = 0;
	d->header_bytes = (uint16_t)roce_header_encode(&padded, d->header);
	if (payload_bytes > 0)
		d->slices[d->slice_count++] = (struct datagram_slice){payload, payload_bytes};
	memset(trailer, 0, padded.pad_bytes);
	pieces[0] = (struct roce_piece){d->header, d->header_bytes};
	pieces[1] = (struct roce_piece){payload, payload_bytes};
	pieces[2] = (struct roce_piece){trailer, padded.pad_bytes};
	put_be32(trailer + padded.pad_bytes, __builtin_bswap32(roce_ends_icrc(ends, pieces, 3)));
	d->slices[d->slice_count++] =
		(struct datagram_slice){trailer, padded.pad_bytes + (size_t)ROCE_ICRC_BYTES};
}
