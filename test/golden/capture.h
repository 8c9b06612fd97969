/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes frames as a capture (pcapng) that is the same, byte for byte, whenever it is written: raw
 * IPv4, one microsecond between packets, from 10.0.0.1 to 10.0.0.2. */
#ifndef TEST_GOLDEN_CAPTURE_H
#define TEST_GOLDEN_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct capture {
	FILE *file;
	uint64_t time_us;
	uint16_t from_port;
	bool dont_fragment;
};

/* Exits with a message when the file cannot be created. */
void capture_open(struct capture *c, const char *folder, const char *name);
void capture_frame(struct capture *c, const uint8_t *frame, size_t bytes, uint16_t to_port);
/* Exits with a message when not all could be written. */
void capture_close(struct capture *c);

/* The captures. */
void sessions_write(const char *folder);
void manager_write(const char *folder);
void inc_write(const char *folder);

#endif
