/* SPDX-License-Identifier: BSD-3-Clause */
/* golden-captures FOLDER: writes the captures with which the dissectors are tested. */
#include "test/golden/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define LINKTYPE_IPV4 228
#define IP_BYTES      20
#define UDP_BYTES     8
#define FROM_PORT     40000
#define TIME_FIRST_US 1700000000000000ull

static void block_write(struct capture *c, uint32_t type, const void *body, uint32_t bytes)
{
	static const uint8_t zeros[4];
	uint32_t padding = (4 - bytes % 4) % 4;
	uint32_t total = 12 + bytes + padding;

	fwrite(&type, 4, 1, c->file);
	fwrite(&total, 4, 1, c->file);
	fwrite(body, bytes, 1, c->file);
	fwrite(zeros, padding, 1, c->file);
	fwrite(&total, 4, 1, c->file);
}

void capture_open(struct capture *c, const char *folder, const char *name)
{
	static const uint32_t section[] = {0x1a2b3c4d, 1, UINT32_MAX, UINT32_MAX};
	static const uint32_t interface[] = {LINKTYPE_IPV4, 0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	c->file = fopen(path, "wb");
	c->time_us = TIME_FIRST_US;
	c->from_port = FROM_PORT;
	c->dont_fragment = false;
	if (!c->file) {
		perror(path);
		exit(1);
	}
	block_write(c, 0x0a0d0d0a, section, sizeof(section));
	block_write(c, 1, interface, sizeof(interface));
}

static uint16_t ip_checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < IP_BYTES; i += 2)
		sum += get_be16(header + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void ip_udp_encode(const struct capture *c, uint8_t *out, size_t bytes, uint16_t to_port)
{
	static const uint8_t addresses[] = {10, 0, 0, 1, 10, 0, 0, 2};

	memset(out, 0, IP_BYTES + UDP_BYTES);
	out[0] = 0x45;
	put_be16(out + 2, (uint16_t)(IP_BYTES + UDP_BYTES + bytes));
	out[6] = c->dont_fragment ? 0x40 : 0;
	out[8] = 64;
	out[9] = 17;
	memcpy(out + 12, addresses, sizeof(addresses));
	put_be16(out + 10, ip_checksum(out));
	put_be16(out + IP_BYTES, c->from_port);
	put_be16(out + IP_BYTES + 2, to_port);
	put_be16(out + IP_BYTES + 4, (uint16_t)(UDP_BYTES + bytes));
}

void capture_frame(struct capture *c, const uint8_t *frame, size_t bytes, uint16_t to_port)
{
	uint8_t body[20 + IP_BYTES + UDP_BYTES + 9216];
	uint32_t packet = (uint32_t)(IP_BYTES + UDP_BYTES + bytes);
	uint32_t head[] = {0, (uint32_t)(c->time_us >> 32), (uint32_t)c->time_us, packet, packet};

	memcpy(body, head, sizeof(head));
	ip_udp_encode(c, body + sizeof(head), bytes, to_port);
	memcpy(body + sizeof(head) + IP_BYTES + UDP_BYTES, frame, bytes);
	block_write(c, 6, body, (uint32_t)sizeof(head) + packet);
	c->time_us++;
}

void capture_close(struct capture *c)
{
	if (ferror(c->file) || fclose(c->file) != 0) {
		perror("golden-captures: cannot write");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	sessions_write(argv[1]);
	manager_write(argv[1]);
	inc_write(argv[1]);
	return 0;
}
