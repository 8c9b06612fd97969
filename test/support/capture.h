/* SPDX-License-Identifier: BSD-3-Clause */
/* A strict reader of files of wire/pcapng.h. It checks every length, padding, option and checksum,
 * and rejects everything that the writer never writes. It shares no code with the writer, so that
 * the two can disagree. */
#ifndef SUPPORT_CAPTURE_H
#define SUPPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"

#define CAPTURE_INTERFACES 8
#define CAPTURE_TEXT       128

struct capture_packet {
	uint32_t interface;
	uint64_t time_ns;
	struct udp_address from, to;
	const uint8_t *payload; /* in `bytes` of struct capture */
	uint32_t captured_bytes, bytes;
	uint16_t udp_checksum;
	uint8_t ecn;
	bool outbound;
	uint64_t dropped;
	char comment[CAPTURE_TEXT + 1];
};

struct capture {
	uint8_t *bytes; /* content of the file, allocated by capture_load */
	struct capture_packet *packets;
	uint32_t packet_count;
	uint32_t interface_count;
	struct {
		char name[CAPTURE_TEXT + 1];
		/* longest captured packet in bytes, with link headers, as the file states it */
		uint32_t snap_bytes;
		bool summed;
		uint64_t seen, dropped;
	} interfaces[CAPTURE_INTERFACES];
	char program[CAPTURE_TEXT + 1];
	char wrong[160]; /* first error and its position, or "" */
};

/* Return false on an error, described in `wrong`. The packets point into `bytes`, which must stay
 * valid. */
bool capture_parse(struct capture *c, const uint8_t *bytes, size_t count);
bool capture_load(struct capture *c, const char *path);
void capture_free(struct capture *c);

#endif
