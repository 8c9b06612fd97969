/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the xPUs of a job. Pure. */
#ifndef CMD_DXP_JOB_CHOICE_H
#define CMD_DXP_JOB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/grants.h"
#include "wire/manage.h"

#define JOB_XPUS_MAX 256 /* xPUs of one job: more than one process uses at the same time */

struct job_wish {
	uint64_t count;     /* 1 .. JOB_XPUS_MAX */
	const char *engine; /* NULL: any engine */
	uint64_t memory;    /* bytes that each xPU has at least */
};

struct job_choice {
	size_t fitting;                 /* live xPUs that fit the wish */
	size_t vacant;                  /* those of them that no grant of another host names */
	char holder[FABRIC_NAME_BYTES]; /* host that has a fitting xPU; "": none */
	/* The first `count` vacant xPUs from index `start` on, wrapping; count is at most
	 * wish->count. */
	size_t count;
	char names[JOB_XPUS_MAX][FABRIC_NAME_BYTES];
};

struct job_fabric {
	const struct node_entry *nodes;
	size_t node_count;
	const struct grants_row *grants;
	size_t grant_count;
};

/* Returns a host other than `own` with a grant that names this xPU; NULL: none. A grant of '*' for
 * the xPU names no xPU. */
const char *job_holder(const struct job_fabric *f, const char *own, const char *xpu);

/* Chooses for the host `own`. Different values of `start` make jobs that begin at the same time
 * choose different xPUs. */
void job_choose(const struct job_fabric *f, const char *own, const struct job_wish *wish,
		uint64_t start, struct job_choice *out);

#endif
