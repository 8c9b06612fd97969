/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints each photo's answer as it arrives, then a summary of time and bytes. The output is text,
 * or JSON with one object a line: {"photo": ...} for each answer, then {"summary": ...}. */
#ifndef CLASSIFY_REPORT_H
#define CLASSIFY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "backend.h"
#include "labels.h"
#include "run.h"

#define REPORT_SAMPLES_MAX 4096 /* photos in the medians; later photos are not included */

struct report {
	FILE *out;
	bool json;
	bool stream; /* the photos are frames of a stream */
	int32_t top;
	const struct model *model;
	const struct plan *plan;
	struct backend *backend;
	struct labels labels;
	uint32_t photos;
	uint64_t setup_ns;      /* time to build the kernels and upload the constants */
	uint64_t run_ns;        /* from the first photo's upload to the last answer */
	uint64_t run_cpu_ns;    /* CPU time of this program during run_ns */
	uint64_t run_nic_bytes; /* payload between this program's NIC and the xPUs during run_ns */
	uint32_t sample_count;
	uint64_t total_ns[REPORT_SAMPLES_MAX];
	uint64_t stage_ns[STAGES_MAX][REPORT_SAMPLES_MAX];
	uint64_t link_ns[STAGES_MAX][REPORT_SAMPLES_MAX];
};

void report_layers(FILE *out, const struct model *m);
void report_photo(struct report *r, const char *path, const struct run_result *result);
void report_summary(struct report *r, const struct run_bytes *bytes);

#endif
