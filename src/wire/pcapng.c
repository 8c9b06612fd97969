/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/pcapng.h"

#include <string.h>

#include "base/bytes.h"
#include "base/util.h"

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum option_code {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_RESOLUTION = 9,
	PACKET_FLAGS = 2,
	PACKET_DROPPED = 4,
	STATISTICS_RECEIVED = 4,
	STATISTICS_DROPPED = 5,
};

#define ORDER_MAGIC    0x1a2b3c4du
#define LENGTH_UNKNOWN UINT64_MAX
#define LINK_ETHERNET  1
#define NANOSECONDS    9 /* resolution: 10^-9 s */
#define FLAG_INBOUND   1u
#define FLAG_OUTBOUND  2u
#define ETHERNET_BYTES 14
#define IPV4_BYTES     20
#define IPV6_BYTES     40
#define UDP_BYTES      8
#define PROTOCOL_UDP   17
#define TIME_TO_LIVE   64
#define DONT_FRAGMENT  0x4000
#define OPTION_SPACE   4 /* before each value: code and length */

/* A block under construction; little-endian, as this machine. */
struct block {
	uint8_t *start, *at;
};

static void put(struct block *b, const void *bytes, size_t count)
{
	if (count)
		memcpy(b->at, bytes, count);
	b->at += count;
}

static void put_u16(struct block *b, uint16_t v)
{
	put(b, &v, sizeof(v));
}

static void put_u32(struct block *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_u64(struct block *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static void pad(struct block *b)
{
	while ((b->at - b->start) % 4 != 0)
		*b->at++ = 0;
}

static struct block block_begin(uint8_t *out, enum block_type type)
{
	struct block b = {out, out};

	put_u32(&b, type);
	put_u32(&b, 0); /* set by block_end() */
	return b;
}

static size_t block_end(struct block *b)
{
	uint32_t bytes = (uint32_t)(b->at - b->start) + 4;

	put_u32(b, bytes);
	memcpy(b->start + 4, &bytes, sizeof(bytes));
	return bytes;
}

static void option(struct block *b, enum option_code code, const void *value, size_t bytes)
{
	put_u16(b, (uint16_t)code);
	put_u16(b, (uint16_t)bytes);
	put(b, value, bytes);
	pad(b);
}

static void option_text(struct block *b, enum option_code code, const char *text)
{
	if (text && *text)
		option(b, code, text, strnlen(text, PCAPNG_TEXT_BYTES));
}

static void option_u64(struct block *b, enum option_code code, uint64_t v)
{
	option(b, code, &v, sizeof(v));
}

static void options_end(struct block *b)
{
	put_u16(b, OPTION_END);
	put_u16(b, 0);
}

/* Writes the high word first, even in little-endian files. */
static void put_time(struct block *b, uint64_t time_ns)
{
	put_u32(b, (uint32_t)(time_ns >> 32));
	put_u32(b, (uint32_t)time_ns);
}

size_t pcapng_section(uint8_t *out, const char *program)
{
	struct block b = block_begin(out, BLOCK_SECTION);

	put_u32(&b, ORDER_MAGIC);
	put_u16(&b, 1); /* version 1.0 */
	put_u16(&b, 0);
	put_u64(&b, LENGTH_UNKNOWN);
	option_text(&b, SECTION_APPLICATION, program);
	options_end(&b);
	return block_end(&b);
}

size_t pcapng_interface(uint8_t *out, const char *name, const char *description,
			uint32_t snap_bytes)
{
	const uint8_t resolution = NANOSECONDS;
	struct block b = block_begin(out, BLOCK_INTERFACE);

	put_u16(&b, LINK_ETHERNET);
	put_u16(&b, 0);
	put_u32(&b, snap_bytes ? snap_bytes + PCAPNG_HEADERS : 0);
	option_text(&b, INTERFACE_NAME, name);
	option_text(&b, INTERFACE_DESCRIPTION, description);
	option(&b, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
	options_end(&b);
	return block_end(&b);
}

size_t pcapng_statistics(uint8_t *out, uint32_t interface, uint64_t time_ns, uint64_t seen,
			 uint64_t dropped)
{
	struct block b = block_begin(out, BLOCK_STATISTICS);

	put_u32(&b, interface);
	put_time(&b, time_ns);
	option_u64(&b, STATISTICS_RECEIVED, seen);
	option_u64(&b, STATISTICS_DROPPED, dropped);
	options_end(&b);
	return block_end(&b);
}

/* Sums words for RFC 1071, without folding the carries. */
static uint64_t sum_add(uint64_t sum, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		sum += get_be16(bytes + i);
	return count % 2 ? sum + (uint64_t)(bytes[count - 1] << 8) : sum;
}

static uint16_t sum_fold(uint64_t sum)
{
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~sum;
}

static bool both_v4(const struct udp_address *a)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a->ip, mapped, sizeof(mapped)) == 0;
}

/* Makes a locally administered address: 02:00, and the low bytes of the IP address. */
static void put_mac(uint8_t *out, const struct udp_address *a)
{
	out[0] = 2;
	out[1] = 0;
	memcpy(out + 2, a->ip + 12, 4);
}

static void ipv4_write(uint8_t *ip, const struct pcapng_packet *p, uint32_t udp_bytes)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 4 << 4 | IPV4_BYTES / 4;
	ip[1] = p->ecn;
	put_be16(ip + 2, (uint16_t)(IPV4_BYTES + udp_bytes));
	put_be16(ip + 6, DONT_FRAGMENT);
	ip[8] = TIME_TO_LIVE;
	ip[9] = PROTOCOL_UDP;
	memcpy(ip + 12, p->from.ip + 12, 4);
	memcpy(ip + 16, p->to.ip + 12, 4);
	put_be16(ip + 10, sum_fold(sum_add(0, ip, IPV4_BYTES)));
}

static void ipv6_write(uint8_t *ip, const struct pcapng_packet *p, uint32_t udp_bytes)
{
	put_be32(ip, 6u << 28 | (uint32_t)p->ecn << 20);
	put_be16(ip + 4, (uint16_t)udp_bytes);
	ip[6] = PROTOCOL_UDP;
	ip[7] = TIME_TO_LIVE;
	memcpy(ip + 8, p->from.ip, 16);
	memcpy(ip + 24, p->to.ip, 16);
}

static void udp_write(uint8_t *udp, const struct pcapng_packet *p, uint32_t udp_bytes)
{
	put_be16(udp, p->from.port);
	put_be16(udp + 2, p->to.port);
	put_be16(udp + 4, (uint16_t)udp_bytes);
	put_be16(udp + 6, 0);
	if (p->captured_bytes < p->bytes)
		return;
	/* pseudo header: protocol, length, both addresses */
	uint64_t sum = PROTOCOL_UDP + udp_bytes;
	size_t skip = both_v4(&p->from) && both_v4(&p->to) ? 12 : 0;
	sum = sum_add(sum, p->from.ip + skip, 16 - skip);
	sum = sum_add(sum, p->to.ip + skip, 16 - skip);
	sum = sum_add(sum, udp, UDP_BYTES);
	uint16_t checksum = sum_fold(sum_add(sum, p->data, p->captured_bytes));
	put_be16(udp + 6, checksum ? checksum : 0xffff); /* 0 means no checksum */
}

/* Returns their length. */
static uint32_t headers_write(uint8_t out[PCAPNG_HEADERS], const struct pcapng_packet *p)
{
	bool v4 = both_v4(&p->from) && both_v4(&p->to);
	uint8_t *ip = out + ETHERNET_BYTES, *udp = ip + (v4 ? IPV4_BYTES : IPV6_BYTES);
	uint32_t udp_bytes = UDP_BYTES + p->bytes;

	put_mac(out, &p->to);
	put_mac(out + 6, &p->from);
	put_be16(out + 12, v4 ? 0x0800 : 0x86dd);
	(v4 ? ipv4_write : ipv6_write)(ip, p, udp_bytes);
	udp_write(udp, p, udp_bytes);
	return (uint32_t)(udp + UDP_BYTES - out);
}

static void packet_options(struct block *b, const struct pcapng_packet *p)
{
	const uint32_t flags = p->outbound ? FLAG_OUTBOUND : FLAG_INBOUND;

	option_text(b, OPTION_COMMENT, p->comment);
	option(b, PACKET_FLAGS, &flags, sizeof(flags));
	if (p->dropped)
		option_u64(b, PACKET_DROPPED, p->dropped);
	options_end(b);
}

size_t pcapng_packet(uint8_t *out, const struct pcapng_packet *p)
{
	struct block b = block_begin(out, BLOCK_PACKET);
	uint8_t headers[PCAPNG_HEADERS];
	uint32_t header_bytes = headers_write(headers, p);

	put_u32(&b, p->interface);
	put_time(&b, p->time_ns);
	put_u32(&b, header_bytes + p->captured_bytes);
	put_u32(&b, header_bytes + p->bytes);
	put(&b, headers, header_bytes);
	put(&b, p->data, p->captured_bytes);
	pad(&b);
	packet_options(&b, p);
	return block_end(&b);
}

size_t pcapng_datagram_gather(const struct datagram *d, uint8_t *out, size_t space, uint32_t *bytes)
{
	size_t total = d->header_bytes, kept = min_u64(space, d->header_bytes);

	memcpy(out, d->header, kept);
	for (unsigned i = 0; i < d->slice_count; i++) {
		size_t piece = min_u64(space - kept, d->slices[i].bytes);
		if (piece)
			memcpy(out + kept, d->slices[i].base, piece);
		kept += piece;
		total += d->slices[i].bytes;
	}
	*bytes = (uint32_t)total;
	return kept;
}

size_t pcapng_datagram(uint8_t *out, const struct pcapng_packet *p, const struct datagram *d,
		       uint32_t snap_bytes)
{
	uint8_t data[DATAGRAM_BYTES_MAX];
	size_t space = snap_bytes ? min_u64(snap_bytes, sizeof(data)) : sizeof(data);
	struct pcapng_packet packet = *p;

	packet.to = d->to;
	packet.ecn = d->ecn;
	packet.data = data;
	packet.captured_bytes = (uint32_t)pcapng_datagram_gather(d, data, space, &packet.bytes);
	return pcapng_packet(out, &packet);
}
