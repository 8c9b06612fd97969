/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp run`: the parts that its files share. What programs find is told by environment variables
 * (docs/opencl.md); what they did comes back in files of a folder, one for each of their
 * processes. */
#ifndef CMD_DXP_RUN_H
#define CMD_DXP_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#define RUN_NODES_MAX 256

/* What all processes of the program did with one node. */
struct run_row {
	char node[32];
	uint64_t commands, kernels, failed;
	uint64_t in_bytes, out_bytes, from_bytes, to_bytes;
	uint64_t device_ns, network_ns;
};

struct run_report {
	struct run_row rows[RUN_NODES_MAX];
	uint32_t count;
	uint32_t processes;
};

/* Reads the summaries in a folder; what does not parse is left out. */
void run_report_read(const char *folder, struct run_report *out);
/* `signal`: what ended the program, whose last commands are not counted then; 0: it ended by
 * itself. */
void run_report_show(const struct run_report *r, double seconds, int signal);
json_t *run_report_json(const struct run_report *r, double seconds, int status);

/* Makes one trace of those in a folder. False: said why. */
bool run_trace_join(const char *folder, const char *path);

#endif
