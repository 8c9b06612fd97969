/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the largest transfer, allocates host memory for it, and names the routes. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

#define LARGEST       (1ull << 30)
#define LARGEST_QUICK (16ull << 20)
#define LARGEST_LEAST (1ull << 20)
/* Blocks of the largest size that exist at one time: two here, one in the local engine, one in each
 * of four daemons, one spare. */
#define MEMORIES 8

const char *bridge_route_name(unsigned route)
{
	static const char *const names[ROUTES] = {"host to device", "device to host", "round trip",
						  "device to device"};

	return names[route];
}

static uint64_t memory_available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long long kb = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %llu kB", &kb) != 1)
		;
	if (f)
		fclose(f);
	return (uint64_t)kb << 10;
}

uint64_t bridge_largest(const struct bench_options *o)
{
	uint64_t wanted = o->quick ? LARGEST_QUICK : LARGEST, bytes = wanted;
	uint64_t space = memory_available();
	char text[TABLE_BYTES_TEXT];

	while (bytes > LARGEST_LEAST && bytes * MEMORIES > space)
		bytes /= 2;
	if (bytes < wanted)
		report_note("largest transfer: %s, limited by free memory",
			    table_bytes(bytes, text));
	return bytes;
}

static uint8_t *pages_get(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool bridge_memory_open(struct bridge_setup *p)
{
	p->from = pages_get(p->largest);
	p->to = pages_get(p->largest);
	if (p->from && p->to) {
		memset(p->from, 1, p->largest);
		return true;
	}
	log_error("not enough memory for transfers of %llu bytes; `dxp bench bridge --quick` "
		  "needs less",
		  (unsigned long long)p->largest);
	bridge_memory_close(p);
	return false;
}

void bridge_memory_close(struct bridge_setup *p)
{
	if (p->from)
		munmap(p->from, p->largest);
	if (p->to)
		munmap(p->to, p->largest);
	p->from = p->to = NULL;
}
