/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench bridge`: device memory that only DMA engines reach, used locally and over the network
 * (S-07 .. S-09). Four routes, transfers of 2 bytes to 1 GiB, buffers of 16 KiB to 16 MiB;
 * pipelined and sequential, pulled by the xPU and pushed by PUT and GET. References: an xPU without
 * a bridge, and the DMA alone. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

#define LARGEST       (1ull << 30)
#define LARGEST_QUICK (16ull << 20)
#define LARGEST_LEAST (1ull << 20)
/* Memories of the largest transfer's size at one time: two here, one behind the local engine, one
 * in each of four daemons, one spare. */
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
	uint64_t room = memory_available();
	char text[TABLE_BYTES_TEXT];

	while (bytes > LARGEST_LEAST && bytes * MEMORIES > room)
		bytes /= 2;
	if (bytes < wanted)
		report_note("largest transfer: %s, for want of memory", table_bytes(bytes, text));
	return bytes;
}

static uint8_t *pages_get(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool bridge_memory_open(struct bridge_place *p)
{
	p->from = pages_get(p->largest);
	p->to = pages_get(p->largest);
	if (p->from && p->to) {
		memset(p->from, 1, p->largest);
		return true;
	}
	log_error("no memory for transfers of %llu bytes; `dxp bench bridge --quick` needs less",
		  (unsigned long long)p->largest);
	bridge_memory_close(p);
	return false;
}

void bridge_memory_close(struct bridge_place *p)
{
	if (p->from)
		munmap(p->from, p->largest);
	if (p->to)
		munmap(p->to, p->largest);
	p->from = p->to = NULL;
}

/* Returns the engine name of the default board: preset `fast`, without kernels, since those need
 * memory of their own. Its description is a file in memory that stays open until the process exits.
 * NULL: logged. */
static const char *board_default(void)
{
	static const char text[] = "preset = fast\ncompute = none\n";
	static char name[64];
	int fd = memfd_create("dxp-bench-board", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1)) {
		log_error("no memory for the description of a board: %m");
		return NULL;
	}
	snprintf(name, sizeof(name), "board:/proc/%d/fd/%d", (int)getpid(), fd);
	return name;
}

int bench_bridge(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"Memory behind DMA engines: local DMA, and bridged to the network, as shares of "
		"the slowest stage.\nOn loopback unless --lab says otherwise. The largest "
		"transfers need 8 GiB of memory.",
		BENCH_OPTIONS_LAB_ONLY "es", &o);

	if (status >= 0)
		return status;
	if (!o.engine)
		o.engine = board_default();
	if (!o.engine)
		return 1;
	if (!o.lab)
		o.lab = "loopback";
	if (o.sizes)
		return bridge_sizes_print(&o);
	report_begin(o.json, "Memory behind DMA");
	status = bridge_local(&o);
	return status | bridge_remote(&o);
}
