/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/rc_frame.h"

#include <string.h>

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static uint32_t number(const uint8_t *p, unsigned bytes)
{
	uint32_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | *p++;
	return v;
}

static void store(uint8_t *p, uint32_t v, unsigned bytes)
{
	while (bytes-- > 0) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

/* ---- ICRC: annex A17.3.3, bit by bit ---- */

static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (unsigned i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	return crc;
}

/* Routers may change the byte, so the ICRC does not cover it. `udp`: offset of the UDP header. */
static bool varies(size_t at, size_t udp)
{
	bool v6 = udp == 40;

	if (at == udp + 6 || at == udp + 7 || at == udp + 8 + 4)
		return true; /* UDP checksum; reserved byte of the BTH (resv8a) */
	/* flow label and hop limit; icrc_of masks the traffic class */
	if (v6)
		return at == 2 || at == 3 || at == 7;
	return at == 1 || at == 8 || at == 10 || at == 11;
}

static uint32_t icrc_of(const uint8_t *ip, size_t bytes, size_t udp)
{
	uint32_t crc = 0xffffffff;

	for (unsigned i = 0; i < 8; i++)
		crc = crc_byte(crc, 0xff);
	for (size_t i = 0; i < bytes - 4; i++) {
		uint8_t byte = varies(i, udp) ? 0xff : ip[i];

		if (udp == 40 && i == 0)
			byte |= 0x0f;
		if (udp == 40 && i == 1)
			byte = 0xff;
		crc = crc_byte(crc, byte);
	}
	return ~crc;
}

static const char *ipv4_parse(const uint8_t *ip, size_t bytes, struct rc_frame *f)
{
	uint32_t sum = 0;

	if (ip[0] != 0x45)
		return "the IPv4 header has options";
	if (number(ip + 2, 2) != bytes)
		return "IPv4's total length differs from the packet";
	if (ip[9] != 17)
		return "the protocol is not UDP";
	for (unsigned i = 0; i < 20; i += 2)
		sum += number(ip + i, 2);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	if (sum != 0xffff)
		return "IPv4's checksum is wrong";
	memcpy(f->from, mapped, 12);
	memcpy(f->to, mapped, 12);
	memcpy(f->from + 12, ip + 12, 4);
	memcpy(f->to + 12, ip + 16, 4);
	return NULL;
}

static const char *ipv6_parse(const uint8_t *ip, size_t bytes, struct rc_frame *f)
{
	if (number(ip + 4, 2) + 40 != bytes)
		return "IPv6's payload length differs from the packet";
	if (ip[6] != 17)
		return "the next header is not UDP";
	memcpy(f->from, ip + 8, 16);
	memcpy(f->to, ip + 24, 16);
	return NULL;
}

static const char *bth_parse(const uint8_t *bth, size_t bytes, struct rc_frame *f)
{
	unsigned pad = bth[1] >> 4 & 3;
	size_t headers = 12;

	f->opcode = bth[0];
	f->dest_qp = number(bth + 5, 3);
	f->ack_request = bth[8] & 0x80;
	f->psn = number(bth + 9, 3);
	if (bth[1] & 0x0f)
		return "the transport version is not 0";
	if (bth[4] & 0x3f || bth[8] & 0x7f)
		return "reserved bits of BTH are set";
	if (!(number(bth + 2, 2) & 0x7fff))
		return "the P_Key is invalid";
	if (bytes % 4)
		return "the length is no multiple of 4";
	switch (f->opcode) {
	case RC_FRAME_SEND_ONLY: break;
	case RC_FRAME_ACK: headers += 4; break;
	case RC_FRAME_UD: headers += 8; break;
	default: return "the opcode is unknown";
	}
	if (bytes < headers + pad + 4)
		return "the packet is shorter than its headers";
	if (f->opcode == RC_FRAME_ACK) {
		f->syndrome = bth[12];
		f->msn = number(bth + 13, 3);
	} else if (f->opcode == RC_FRAME_UD) {
		f->qkey = number(bth + 12, 4);
		f->source_qp = number(bth + 17, 3);
	}
	f->payload = bth + headers;
	f->payload_bytes = bytes - headers - pad - 4;
	return NULL;
}

const char *rc_frame_parse(const uint8_t *ip, size_t bytes, struct rc_frame *out, bool *icrc)
{
	size_t udp = bytes > 0 && ip[0] >> 4 == 6 ? 40 : 20;
	const char *wrong;

	*icrc = false;
	memset(out, 0, sizeof(*out));
	if (bytes < udp + 8 + 12 + 4)
		return "the packet is shorter than its headers";
	wrong = udp == 40 ? ipv6_parse(ip, bytes, out) : ipv4_parse(ip, bytes, out);
	if (wrong)
		return wrong;
	out->from_port = (uint16_t)number(ip + udp, 2);
	out->to_port = (uint16_t)number(ip + udp + 2, 2);
	if (number(ip + udp + 4, 2) != bytes - udp)
		return "UDP's length differs from the packet";
	wrong = bth_parse(ip + udp + 8, bytes - udp - 8, out);
	if (wrong)
		return wrong;
	uint32_t crc = icrc_of(ip, bytes, udp);
	uint8_t little[4] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
			     (uint8_t)(crc >> 24)};
	*icrc = memcmp(little, ip + bytes - 4, 4) != 0;
	return *icrc ? "the ICRC is wrong" : NULL;
}

/* ---- captures of simulated networks ---- */

struct rc_frame_path rc_frame_path_v4(uint32_t from_ip, uint32_t to_ip, uint16_t from_port,
				      uint16_t to_port)
{
	struct rc_frame_path path = {.from_port = from_port, .to_port = to_port};

	memcpy(path.from, mapped, 12);
	memcpy(path.to, mapped, 12);
	store(path.from + 12, from_ip, 4);
	store(path.to + 12, to_ip, 4);
	return path;
}

static size_t ipv4_make(const struct rc_frame_path *path, size_t bytes, uint8_t *out)
{
	uint32_t sum = 0;

	memset(out, 0, 20);
	out[0] = 0x45;
	store(out + 2, (uint32_t)bytes + 28, 2);
	out[6] = 0x40; /* Don't Fragment */
	out[8] = 64;
	out[9] = 17;
	memcpy(out + 12, path->from + 12, 4);
	memcpy(out + 16, path->to + 12, 4);
	for (unsigned i = 0; i < 20; i += 2)
		sum += number(out + i, 2);
	sum = (sum & 0xffff) + (sum >> 16);
	store(out + 10, ~(sum + (sum >> 16)), 2);
	return 20;
}

static size_t ipv6_make(const struct rc_frame_path *path, size_t bytes, uint8_t *out)
{
	memset(out, 0, 8);
	out[0] = 0x60;
	store(out + 4, (uint32_t)bytes + 8, 2);
	out[6] = 17;
	out[7] = 64;
	memcpy(out + 8, path->from, 16);
	memcpy(out + 24, path->to, 16);
	return 40;
}

size_t rc_frame_make(const struct rc_frame_path *path, const uint8_t *data, size_t bytes,
		     uint8_t *out)
{
	size_t at = memcmp(path->from, mapped, 12) == 0 ? ipv4_make(path, bytes, out)
							: ipv6_make(path, bytes, out);

	store(out + at, path->from_port, 2);
	store(out + at + 2, path->to_port, 2);
	store(out + at + 4, (uint32_t)bytes + 8, 2);
	store(out + at + 6, 0, 2); /* UDP checksum 0: none, as A17.3.2 requires */
	memcpy(out + at + 8, data, bytes);
	return at + 8 + bytes;
}
