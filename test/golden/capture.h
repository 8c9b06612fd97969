/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes frames as pcapng with reproducible bytes: raw IPv4 from 10.0.0.1 to 10.0.0.2, 1 us between
 * packets. */
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

/* Exits with a message on failure. */
void capture_open(struct capture *c, const char *folder, const char *name);
void capture_frame(struct capture *c, const uint8_t *frame, size_t bytes, uint16_t to_port);
/* Exits with a message on failure. */
void capture_close(struct capture *c);

void sessions_write(const char *folder);
void manager_write(const char *folder);
void inc_write(const char *folder);

#endif
