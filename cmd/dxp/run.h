/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of `dxp run`. Environment variables pass settings to programs
 * (docs/guide/opencl.md). Each of their processes writes its results to a file in a folder. */
#ifndef CMD_DXP_RUN_H
#define CMD_DXP_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#define RUN_NODES_MAX 256

/* Totals over all processes of the program for one node. */
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

/* Reads the summaries in a folder; skips lines that do not parse. */
void run_report_read(const char *folder, struct run_report *out);
/* Prints the summary. `signal` is the signal that killed the program, so that its last commands are
 * not counted; 0: it exited. */
void run_report_show(const struct run_report *r, double seconds, int signal);
json_t *run_report_json(const struct run_report *r, double seconds, int status);

/* Instructions of one source line, over all nodes and processes. */
struct run_profile_row {
	char function[64];
	uint32_t line;              /* line in the program's text; 0: the code belongs to no line */
	uint64_t warp_instructions; /* instructions that cores issued, each for one warp */
	uint64_t instructions;      /* instructions summed over work-items */
	char text[128];             /* text of the source line */
};

struct run_profile {
	struct run_profile_row *rows; /* the largest first */
	size_t count, space;
	uint64_t warp_instructions, instructions;
	/* number of nodes whose engine counts no instructions; name and engine of the first of
	 * these nodes */
	uint32_t without;
	char without_node[32], without_engine[32];
};

/* Reads the profiles in a folder; skips lines that do not parse. */
void run_profile_read(const char *folder, struct run_profile *out);
void run_profile_free(struct run_profile *p);
void run_profile_show(const struct run_profile *p);
json_t *run_profile_json(const struct run_profile *p);

/* Merges the traces in a folder into one. Returns false after it has printed the reason. */
bool run_trace_join(const char *folder, const char *path);

#endif
