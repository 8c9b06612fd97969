/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
	struct capture *c;
	/* first byte of the options, next byte to read, end of the block's body */
	const uint8_t *start, *at, *end;
	bool ended;
};

static uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static uint64_t le64(const uint8_t *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool wrong(struct capture *c, const char *what)
{
	snprintf(c->wrong, sizeof(c->wrong), "%s, after %u packets", what, c->packet_count);
	return false;
}

static uint64_t time_at(const uint8_t *p)
{
	return (uint64_t)le32(p) << 32 | le32(p + 4);
}

/* Returns false on an error, and after the end option, which must be the last of the block. */
static bool option_next(struct cursor *o, uint16_t *code, const uint8_t **value, uint16_t *bytes)
{
	if (o->end - o->at < 4)
		return wrong(o->c, "options without an end");
	*code = le16(o->at);
	*bytes = le16(o->at + 2);
	*value = o->at + 4;
	o->at += 4;
	if (*code == 0) {
		o->ended = *bytes == 0 && o->at == o->end;
		return !o->ended && wrong(o->c, "something after the end of options");
	}
	uint32_t padded = (*bytes + 3u) / 4 * 4;
	if ((size_t)(o->end - o->at) < padded)
		return wrong(o->c, "an option longer than its block");
	for (uint32_t i = *bytes; i < padded; i++) {
		if (o->at[i] != 0)
			return wrong(o->c, "padding that is not zero");
	}
	o->at += padded;
	return true;
}

static bool text_dequeue(struct capture *c, char *out, const uint8_t *value, uint16_t bytes)
{
	if (bytes == 0 || bytes > CAPTURE_TEXT || memchr(value, 0, bytes))
		return wrong(c, "a text that is empty, too long or holds a zero");
	memcpy(out, value, bytes);
	out[bytes] = '\0';
	return true;
}

static bool section(struct cursor *o)
{
	uint16_t code, bytes;
	const uint8_t *value;

	if (o->end - o->at < 16 || le32(o->at) != 0x1a2b3c4d || le16(o->at + 4) != 1 ||
	    le16(o->at + 6) != 0 || le64(o->at + 8) != UINT64_MAX)
		return wrong(o->c, "section header");
	o->at += 16;
	while (option_next(o, &code, &value, &bytes)) {
		if (code != 4 || !text_dequeue(o->c, o->c->program, value, bytes))
			return wrong(o->c, "an option of the section");
	}
	return o->ended;
}

static bool interface(struct cursor *o)
{
	struct capture *c = o->c;
	char description[CAPTURE_TEXT + 1];
	uint16_t code, bytes;
	const uint8_t *value;
	bool nanoseconds = false;

	if (c->interface_count == CAPTURE_INTERFACES || o->end - o->at < 8 || le16(o->at) != 1 ||
	    le16(o->at + 2) != 0)
		return wrong(c, "interface description");
	uint32_t i = c->interface_count++;
	c->interfaces[i].snap_bytes = le32(o->at + 4);
	o->at += 8;
	while (option_next(o, &code, &value, &bytes)) {
		bool good = false;
		if (code == 2)
			good = text_dequeue(c, c->interfaces[i].name, value, bytes);
		else if (code == 3)
			good = text_dequeue(c, description, value, bytes);
		else if (code == 9)
			good = nanoseconds = bytes == 1 && *value == 9;
		if (!good)
			return wrong(c, "an option of an interface");
	}
	return o->ended && (nanoseconds || wrong(c, "an interface without nanoseconds"));
}

static uint16_t ones_sum(uint32_t sum, const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void address_read(struct udp_address *a, const uint8_t *ip)
{
	memset(a, 0, sizeof(*a));
	a->ip[10] = a->ip[11] = 0xff;
	memcpy(a->ip + 12, ip, 4);
}

static bool udp(struct capture *c, struct capture_packet *p, const uint8_t *h, const uint8_t *end,
		uint32_t addresses_sum)
{
	if (end - h < 8 || be16(h + 4) != p->bytes + 8)
		return wrong(c, "UDP length");
	p->from.port = be16(h);
	p->to.port = be16(h + 2);
	p->udp_checksum = be16(h + 6);
	p->payload = h + 8;
	if (p->captured_bytes < p->bytes)
		return p->udp_checksum == 0 || wrong(c, "a checksum of what is not there");
	uint32_t sum = addresses_sum + 17 + 8 + p->bytes;
	if (p->udp_checksum == 0 || ones_sum(sum, h, 8 + p->bytes) != 0xffff)
		return wrong(c, "UDP checksum");
	return true;
}

static bool ipv4(struct capture *c, struct capture_packet *p, const uint8_t *h, const uint8_t *end)
{
	if (end - h < 20 || h[0] != 0x45 || be16(h + 2) != p->bytes + 28 || be16(h + 4) != 0 ||
	    be16(h + 6) != 0x4000 || h[8] == 0 || h[9] != 17 || ones_sum(0, h, 20) != 0xffff)
		return wrong(c, "IPv4 header");
	p->ecn = h[1];
	address_read(&p->from, h + 12);
	address_read(&p->to, h + 16);
	return udp(c, p, h + 20, end, ones_sum(0, h + 12, 8));
}

static bool ipv6(struct capture *c, struct capture_packet *p, const uint8_t *h, const uint8_t *end)
{
	if (end - h < 40 || h[0] != 0x60 || (h[1] & 0x0f) != 0 || h[2] || h[3] ||
	    be16(h + 4) != p->bytes + 8 || h[6] != 17 || h[7] == 0)
		return wrong(c, "IPv6 header");
	p->ecn = h[1] >> 4;
	memcpy(p->from.ip, h + 8, 16);
	memcpy(p->to.ip, h + 24, 16);
	return udp(c, p, h + 40, end, ones_sum(0, h + 8, 32));
}

static bool frame(struct capture *c, struct capture_packet *p, const uint8_t *h, uint32_t captured,
		  uint32_t bytes)
{
	bool v4 = captured >= 14 && be16(h + 12) == 0x0800;
	uint32_t headers = 14 + (v4 ? 20 : 40) + 8;

	if (captured < headers || bytes < captured || (!v4 && be16(h + 12) != 0x86dd) ||
	    h[0] != 2 || h[6] != 2)
		return wrong(c, "Ethernet header");
	p->captured_bytes = captured - headers;
	p->bytes = bytes - headers;
	return (v4 ? ipv4 : ipv6)(c, p, h + 14, h + captured) &&
	       (p->ecn <= 3 || wrong(c, "more than two bits of ECN"));
}

static bool packet_options(struct cursor *o, struct capture_packet *p)
{
	uint16_t code, bytes;
	const uint8_t *value;
	bool flagged = false;

	while (option_next(o, &code, &value, &bytes)) {
		bool good = false;
		if (code == 1) {
			good = text_dequeue(o->c, p->comment, value, bytes);
		} else if (code == 2) {
			uint32_t flags = bytes == 4 ? le32(value) : 0;
			good = flagged = flags == 1 || flags == 2;
			p->outbound = flags == 2;
		} else if (code == 4) {
			good = bytes == 8;
			p->dropped = good ? le64(value) : 0;
		}
		if (!good)
			return wrong(o->c, "an option of a packet");
	}
	return o->ended && (flagged || wrong(o->c, "a packet without direction"));
}

static bool packet(struct cursor *o)
{
	struct capture *c = o->c;
	struct capture_packet *p;

	if (o->end - o->at < 20)
		return wrong(c, "a short packet block");
	uint32_t captured = le32(o->at + 12), padded = (captured + 3) / 4 * 4;
	if ((size_t)(o->end - o->at) - 20 < padded)
		return wrong(c, "a packet longer than its block");
	c->packets = realloc(c->packets, (c->packet_count + 1) * sizeof(*c->packets));
	p = &c->packets[c->packet_count];
	*p = (struct capture_packet){.interface = le32(o->at), .time_ns = time_at(o->at + 4)};
	if (p->interface >= c->interface_count)
		return wrong(c, "a packet of no interface");
	if (!frame(c, p, o->at + 20, captured, le32(o->at + 16)))
		return false;
	for (uint32_t i = captured; i < padded; i++) {
		if (o->at[20 + i] != 0)
			return wrong(c, "padding that is not zero");
	}
	o->at += 20 + padded;
	if (!packet_options(o, p))
		return false;
	c->packet_count++;
	return true;
}

static bool statistics(struct cursor *o)
{
	uint16_t code, bytes;
	const uint8_t *value;
	uint32_t i = o->end - o->at >= 12 ? le32(o->at) : CAPTURE_INTERFACES;

	if (i >= o->c->interface_count || o->c->interfaces[i].summed)
		return wrong(o->c, "statistics of no interface, or told twice");
	o->c->interfaces[i].summed = true;
	o->at += 12;
	while (option_next(o, &code, &value, &bytes)) {
		if (bytes != 8 || (code != 4 && code != 5))
			return wrong(o->c, "an option of statistics");
		*(code == 4 ? &o->c->interfaces[i].seen : &o->c->interfaces[i].dropped) =
			le64(value);
	}
	return o->ended;
}

static bool block(struct capture *c, const uint8_t *at, uint32_t bytes, bool first)
{
	struct cursor o = {.c = c, .start = at, .at = at + 8, .end = at + bytes - 4};
	uint32_t type = le32(at);

	if (first != (type == 0x0a0d0d0a))
		return wrong(c, "one section, and it comes first");
	switch (type) {
	case 0x0a0d0d0a: return section(&o);
	case 1: return interface(&o);
	case 5: return statistics(&o);
	case 6: return packet(&o);
	default: return wrong(c, "a block of unknown type");
	}
}

bool capture_parse(struct capture *c, const uint8_t *bytes, size_t count)
{
	size_t at = 0;

	*c = (struct capture){0};
	while (at < count) {
		uint32_t length = count - at >= 12 ? le32(bytes + at + 4) : 0;
		if (length < 12 || length % 4 != 0 || length > count - at ||
		    le32(bytes + at + length - 4) != length)
			return wrong(c, "block lengths");
		if (!block(c, bytes + at, length, at == 0))
			return false;
		at += length;
	}
	return at > 0 || wrong(c, "an empty file");
}

bool capture_load(struct capture *c, const char *path)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes;

	*c = (struct capture){0};
	if (!in || fseek(in, 0, SEEK_END) != 0)
		return wrong(c, "no such file");
	size_t count = (size_t)ftell(in);
	rewind(in);
	bytes = malloc(count + 1);
	count = fread(bytes, 1, count, in);
	fclose(in);
	bool good = capture_parse(c, bytes, count);
	c->bytes = bytes;
	return good;
}

void capture_free(struct capture *c)
{
	free(c->packets);
	free(c->bytes);
	*c = (struct capture){0};
}
