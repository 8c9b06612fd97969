/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/nodes.h"

#define EACH_NS (S_NS / 2)

void progress_begin(struct progress *p, const char *what, uint64_t total_bytes)
{
	uint64_t now_ns = clock_now_ns();

	*p = (struct progress){.what = what,
			       .total = total_bytes,
			       .begin_ns = now_ns,
			       .next_ns = isatty(STDERR_FILENO) ? now_ns + S_NS : UINT64_MAX};
}

static bool due(struct progress *p, uint64_t now_ns)
{
	if (now_ns < p->next_ns)
		return false;
	p->next_ns = now_ns + EACH_NS;
	p->shown = true;
	return true;
}

void progress_count(struct progress *p, uint64_t done, uint64_t total)
{
	if (!due(p, clock_now_ns()))
		return;
	fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " \033[K", p->what, done, total);
	fflush(stderr);
}

void progress_step(struct progress *p, uint64_t moved_bytes)
{
	uint64_t now_ns = clock_now_ns();
	char moved[16], total[16];

	if (!due(p, now_ns))
		return;
	double mb_per_s = (double)moved_bytes * 1e3 / (double)(now_ns - p->begin_ns);
	nodes_bytes_format(moved_bytes, moved);
	if (p->total)
		fprintf(stderr, "\r%s: %s of %s, %.0f MB/s \033[K", p->what, moved,
			nodes_bytes_format(p->total, total), mb_per_s);
	else
		fprintf(stderr, "\r%s: %s, %.0f MB/s \033[K", p->what, moved, mb_per_s);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
