/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints each answer as it arrives, then time and bytes: text, or JSON lines {"photo": ...} and a
 * last {"summary": ...}. */
#ifndef CLASSIFY_REPORT_H
#define CLASSIFY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "backend.h"
#include "labels.h"
#include "run.h"

#define REPORT_SAMPLES_MAX 4096 /* photos in the medians; later ones are left out */

struct report {
	FILE *out;
	bool json;
	bool stream; /* photos are frames of a stream */
	int32_t top;
	const struct model *model;
	const struct plan *plan;
	struct backend *backend;
	struct labels labels;
	uint32_t photos;
	uint64_t setup_ns;      /* building kernels, uploading constants */
	uint64_t run_ns;        /* first upload to last answer */
	uint64_t run_cpu_ns;    /* of this program during run_ns */
	uint64_t run_nic_bytes; /* payload of this program's NIC and the xPUs during run_ns */
	uint32_t sample_count;
	uint64_t total_ns[REPORT_SAMPLES_MAX];
	uint64_t stage_ns[STAGES_MAX][REPORT_SAMPLES_MAX];
	uint64_t link_ns[STAGES_MAX][REPORT_SAMPLES_MAX];
};

void report_layers(FILE *out, const struct model *m);
void report_photo(struct report *r, const char *path, const struct run_result *result);
void report_summary(struct report *r, const struct run_bytes *bytes);

#endif
