/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/rc_capture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* magic number of a pcap file: times in ns, in this machine's byte order */
#define MAGIC_NS 0xa1b23c4du
#define RAW_IP   101

static FILE *file;

void rc_capture_open(const char *name)
{
	const char *folder = getenv("DXP_RC_CAPTURES");
	const uint32_t header[6] = {MAGIC_NS, 2 | 4u << 16, 0, 0, 65535, RAW_IP};
	char path[4096];

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s.pcap", folder, name);
	file = fopen(path, "wb");
	assert(file);
	fwrite(header, sizeof(header), 1, file);
}

void rc_capture_write(const uint8_t *ip, size_t bytes, uint64_t now_ns)
{
	const uint32_t header[4] = {(uint32_t)(now_ns / 1000000000),
				    (uint32_t)(now_ns % 1000000000), (uint32_t)bytes,
				    (uint32_t)bytes};

	if (!file)
		return;
	fwrite(header, sizeof(header), 1, file);
	fwrite(ip, bytes, 1, file);
}

void rc_capture_close(void)
{
	if (file)
		fclose(file);
	file = NULL;
}
