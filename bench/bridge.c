/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench bridge`: measures device memory that only DMA engines reach, locally and over the
 * network (S-07 .. S-09). References are an xPU without a bridge, and the DMA alone. */
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

/* Preset `fast`, without kernels, which need memory of their own. The description is a memory file
 * that stays open until exit. Returns NULL, logged, on failure. */
static const char *board_default(void)
{
	static const char text[] = "preset = fast\ncompute = none\n";
	static char name[64];
	int fd = memfd_create("dxp-bench-board", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1)) {
		log_error("cannot store the description of a board: %m");
		return NULL;
	}
	snprintf(name, sizeof(name), "board:/proc/%d/fd/%d", (int)getpid(), fd);
	return name;
}

int bench_bridge(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(argc, argv,
					 "Memory behind DMA engines: local DMA, and bridged to the "
					 "network, as shares of the slowest stage.\n"
					 "Uses loopback unless --lab names another lab. The "
					 "largest transfers need 8 GiB of memory.",
					 BENCH_OPTIONS_LAB_ONLY "es", &o);

	if (status >= 0)
		return status;
	if (!o.engine)
		o.engine = board_default();
	if (!o.engine)
		return 1;
	const bool delayed = !o.lab;
	if (!o.lab)
		o.lab = "loopback";
	if (o.sizes)
		return bridge_sizes_print(&o);
	report_begin(o.json, "Memory behind DMA");
	status = bridge_local(&o);
	status |= bridge_remote(&o);
	return delayed ? status | bridge_reads(&o) : status;
}
