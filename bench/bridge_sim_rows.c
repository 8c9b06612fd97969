/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints one row a run. Bandwidth is in MB/s of 10^6 bytes, as in the source. */
#include "bench/bridge_sim_rows.h"

#include <stdio.h>

#include "bench/report.h"

#define MB 1e6

static const char *bytes_text(char *out, size_t space, uint64_t bytes)
{
	if (bytes >= 1u << 20 && bytes % (1u << 20) == 0)
		snprintf(out, space, "%llu MiB", (unsigned long long)(bytes >> 20));
	else if (bytes >= 1024 && bytes % 1024 == 0)
		snprintf(out, space, "%llu KiB", (unsigned long long)(bytes >> 10));
	else
		snprintf(out, space, "%llu B", (unsigned long long)bytes);
	return out;
}

/* The slowest stage, if limited, is the peer, so the ratio is the share of its limit. */
static struct report_row row_of(const char *name, const char *contender, const char *metric,
				const struct bridge_sim_result *r)
{
	return (struct report_row){
		.bench = "bridge-sim",
		.lab = "simulated",
		.name = name,
		.contender = contender,
		.peer = r->bottleneck > 0 ? "slowest stage" : NULL,
		.peer_value = r->bottleneck / MB,
		.metric = metric,
		.unit = "MB/s",
		.value = r->bytes_per_s / MB,
		.samples = 1,
		.more = {{"us", r->us},
			 {"buffers_in", r->peaks.to_device},
			 {"buffers_out", r->peaks.from_device},
			 {"ring_kib", (double)r->peaks.ring_bytes / 1024}},
	};
}

void bridge_sim_row_size(const struct bridge_sim_case *c, const struct bridge_sim_result *r)
{
	char name[64], size[24], buffer[24];

	snprintf(name, sizeof(name), "%s %s", c->path->name,
		 bytes_text(size, sizeof(size), c->bytes));
	struct report_row row = row_of(name, bytes_text(buffer, sizeof(buffer), c->buffer_bytes),
				       "bandwidth by sizes", r);
	row.x_name = "bytes";
	row.x = (double)c->bytes;
	report_row(&row);
}

void bridge_sim_row_source(const struct bridge_sim_case *c, const struct bridge_sim_result *r,
			   const char *contender, double reported)
{
	const char *metric = "bandwidth beside the source";
	char name[64], size[24];

	snprintf(name, sizeof(name), "%s %s", c->path->name,
		 bytes_text(size, sizeof(size), c->bytes));
	struct report_row row = row_of(name, contender, metric, r);
	report_row(&row);
	if (reported <= 0)
		return;
	row = row_of(name, "the source, measured", metric, r);
	row.value = reported / MB;
	row.more[0].name = NULL;
	report_row(&row);
}

void bridge_sim_row_naive(const char *name, const struct bridge_sim_case *c,
			  const struct bridge_sim_result *r, double naive)
{
	char text[96];

	snprintf(text, sizeof(text), "%s %.0f MB, %s", c->path->name, (double)c->bytes / MB, name);
	struct report_row row =
		row_of(text, "pipelined, simulated", "bandwidth beside the naive version", r);
	row.peer = "naive, simulated";
	row.peer_value = naive / MB;
	report_row(&row);
}

void bridge_sim_row_mode(const struct bridge_sim_case *c, const struct bridge_sim_result *r)
{
	char name[64], size[24], contender[48];

	snprintf(name, sizeof(name), "%s %s", c->path->name,
		 bytes_text(size, sizeof(size), c->bytes));
	snprintf(contender, sizeof(contender), "%s, %s",
		 c->mode == BRIDGE_SEQUENTIAL ? "sequential" : "pipelined",
		 bytes_text(size, sizeof(size), c->buffer_bytes));
	struct report_row row = row_of(name, contender, "bandwidth by modes", r);
	report_row(&row);
}

void bridge_sim_row_reads(const struct bridge_sim_case *c, const struct bridge_sim_result *r)
{
	char name[64], size[24], buffer[24], contender[64];

	snprintf(name, sizeof(name), "%s %s, %u outstanding", c->path->name,
		 bytes_text(size, sizeof(size), c->bytes), c->fills);
	snprintf(contender, sizeof(contender), "buffers of %s, reads of %llu us",
		 bytes_text(buffer, sizeof(buffer), c->buffer_bytes),
		 (unsigned long long)(c->stages.read.latency_ns / 1000));
	struct report_row row = row_of(name, contender, "bandwidth by outstanding reads", r);
	row.x_name = "reads";
	row.x = c->fills;
	report_row(&row);
}
